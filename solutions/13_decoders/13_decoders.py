# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13 · Today's decoders
#
# The GPT from notebook 07 has GPT-2's layers (2019). Most decoders published since 2023 differ from it in four parts: the positions, the norm, the keys
# and values of attention, and the feed-forward layer. Their tokens consist of bytes, as in GPT-2, whereas the small GPT in 07 reads words. You will
# write these parts and the tokeniser, combine the parts into a decoder, load SmolLM2's 135 million parameters, and predict the cost of other decoders.
#
# **You need** notebooks 03 and 07. **Time** about 85 minutes for the core: nine exercises and one written question. Four *Further* sections (merges,
# a bug, experts, scaling laws) and an extension take about 40 minutes more.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [12 · One corpus, four models](../12_one_corpus/12_one_corpus.ipynb) · next: [14 · From base model to assistant](../14_assistant/14_assistant.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - tokenise any text with byte-level merges, as a published tokenizer does;
# - write RMSNorm, rotary positions, grouped-query attention with a cache, and SwiGLU;
# - load published weights into a decoder of your own and show that it gives the same logits as the original;
# - predict the parameters, the cache and the operations of a model from its configuration.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
from collections import Counter
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import silu

from coursekit import check, hint, predict, predictions, reveal
from coursekit.growing import run_cache, run_cached, run_module, whole_numbers

# %% [markdown]
# ## 1 · Tokens from bytes
#
# The vocabulary of BERT (notebook 06) is built from a fixed set of characters, so a word that contains any other character becomes [UNK]. GPT-2 starts from
# **bytes** instead (Radford et al. 2019). UTF-8 encodes every text as a sequence of numbers from 0 to 255. Therefore, 256 tokens can represent any text, and no
# character is unknown.

# %% tags=["demo"]
for text in ("cell", "café", "細胞", "🧬"):
    print(f"{text}: {len(text)} characters, {len(text.encode())} bytes: {list(text.encode())}")

# %% [markdown]
# Sequences of single bytes are long. **Byte-pair encoding** (BPE; Gage 1994), which Sennrich et al. (2016) applied to words, therefore merges frequent pairs of
# neighbours into new tokens. In each step, we count all pairs of neighbouring tokens and merge the most frequent pair into a new token. The result is the list
# of merges, in the order in which they were learned.

# %% [markdown]
# Here is a small example. A text consists of *aab* (twice) and *cab* (once). The pair (a, b) occurs three times, (a, a) twice and (c, a) once, so (a, b)
# becomes token 256. The word *aab* is now the pair (a, 256), which occurs twice, and *cab* is now the pair (c, 256), which occurs once. Hence, (a, 256) becomes
# token 257. Within a single sequence, a merge works as follows:

# %%
def merge(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """The sequence with every occurrence of the pair replaced by `new`, from left to right."""
    merged = []
    for token in ids:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new
        else:
            merged.append(token)
    return merged

merge([97, 98, 97, 98, 98], pair=(97, 98), new=256)

# %% [markdown]
# A new word is tokenised with the same list of merges. Among all pairs of neighbours in the word, merge the pair that was learned *earliest*, wherever it
# occurs. Repeat this step until no pair of the word is in the list. WordPiece follows a different rule, the longest match from the left (06).

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def cut_all(case: dict, cut) -> Int[Tensor, "words tokens"]:
    """The tokens of each word, padded with −1 so that they form one array."""
    merges = [tuple(pair) for pair in case["merges"].tolist()]
    rows = [whole_numbers(cut(word, merges), "bpe_encode")[:24] for word in case["words"]]
    return torch.tensor([row + [-1] * (24 - len(row)) for row in rows])

# %% nbgrader={"grade": false, "grade_id": "decoders-bpe_encode", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bpe_encode(word: str, merges: list[tuple[int, int]]) -> list[int]:
    """The tokens of a word.  (difficulty ●●○, 6 minutes)

    merges is a list as returned by bpe_train: the pair at index i becomes token 256 + i. Start
    from the bytes. Repeatedly merge the pair that comes earliest in the list, wherever it is
    in the word, until no pair of neighbours is in the list.
    """
    ### BEGIN SOLUTION
    place = {pair: i for i, pair in enumerate(merges)}
    ids = list(word.encode())
    while pairs := [pair for pair in pairwise(ids) if pair in place]:
        first = min(pairs, key=place.get)
        ids = merge(ids, first, 256 + place[first])
    return ids
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-bpe_encode-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("decoders.bpe_encode", lambda case: cut_all(case, bpe_encode))

# %% [markdown]
# We now use SmolLM2's own list of 48,900 merges. In the published file, the tokens are strings and have different ids; `read_merges` converts them. Before
# any merge, the **pre-tokeniser** splits the text into words, each with the space in front of it. No merge crosses the boundary between two words.

# %% tags=["demo"]
import numpy as np

from coursekit import byte_tokens, decoder_costs, published_decoders
from coursekit.datasets import read_table
from coursekit.models import load, tokenizer
from coursekit.pictures import decoder_tables
from coursekit.pictures import decoders as pictures
from coursekit.plots import use_style

use_style()
published = tokenizer("SmolLM2-135M-Instruct")
smollm2 = byte_tokens.read_merges(published)

def encode(text: str) -> list[int]:
    """SmolLM2's token ids of a text, computed by your bpe_encode."""
    return smollm2.encode(text, bpe_encode)

HARD = (
    "The prisoner sat in a dark cell.", "unforgettable", "  two  spaces", "line\nbreak\n\n",
    "isn't it? WE'LL see", "3.14159 and 2026", "café naïve Ærø", "細胞", "🧬 and 👩‍🔬", "a\tb",
    "antidisestablishmentarianism!!!",
)
same = [encode(text) == published(text, add_special_tokens=False).input_ids for text in HARD]
print(
    f"{sum(same)} of {len(HARD)} difficult texts have the same tokens with your functions "
    "as with SmolLM2's own tokenizer"
)

# %% tags=["demo"]
pictures.merges(smollm2.stages(" unforgettably", bpe_encode))

# %% [markdown]
# **Predict:** a text needs fewer tokens if it resembles the text from which the merges were learned. In the English sentence below, how many bytes does a
# token of SmolLM2 contain on average?

# %% tags=["demo"]
predict("decoders.bytes_per_token", ...)

# %% tags=["demo"]
SAME_IN = {
    "English": "The biologist found a sick cell in the blood of the old man.",
    "German": "Die Biologin fand eine kranke Zelle im Blut des alten Mannes.",
    "French": "La biologiste trouva une cellule malade dans le sang du vieil homme.",
    "Russian": "Биолог нашла больную клетку в крови старика.",
    "Chinese": "生物学家在老人的血液里发现了一个病变的细胞。",
    "Python": "def find_sick(blood):\n    return [cell for cell in blood if cell.sick]",
    "digits": "3141592653589793238462643383279502884197",
}
lengths = {name: (len(text.encode()), len(encode(text))) for name, text in SAME_IN.items()}
per_token = {name: size / tokens for name, (size, tokens) in lengths.items()}
reveal("decoders.bytes_per_token", per_token["English"])
pictures.fertility(lengths)

# %% [markdown]
# The figure shows one sentence in five languages, a Python function and a sequence of digits. A kind of text that was rare in the tokenizer's training data
# requires more tokens, and therefore more time, more money and more of the context. Each digit is a separate token here, because the pre-tokeniser never allows
# digits to be merged. One sentence per language is enough to show that there is a difference, but not how large it usually is.

# %% [markdown]
# ## 2 · Rotary positions
#
# The GPT from notebook 07 adds a learned vector for each position and cannot process positions beyond its table. Su et al. (2021) *rotate* the queries and keys
# instead. Two coordinates of a vector define a point in a plane; at position p, this point is rotated by the angle p · θ. A query at position i is rotated by
# iθ and a key at position j by jθ. The positions therefore affect the dot product of query and key only through (i − j)θ, that is, through the distance. This
# method is called **rotary position embedding** (RoPE).

# %% tags=["demo"]
pictures.turning()

# %% [markdown]
# A head has d coordinates and therefore d/2 planes, each with its own frequency: $\theta_i = b^{-2i/d}$ for i = 0 … d/2 − 1, with the base b = 10,000. These
# are the frequencies of the sinusoids in notebook 03. Plane i consists of the coordinates i and i + d/2, so the first half of a vector is rotated together with
# the second half:
#
# $$x'_i = x_i \cos p\theta_i - x_{i+d/2} \sin p\theta_i, \qquad x'_{i+d/2} = x_i \sin p\theta_i + x_{i+d/2} \cos p\theta_i$$

# %% nbgrader={"grade": false, "grade_id": "decoders-rotary", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotary(
    x: Float[Tensor, "... T d"], positions: Int[Tensor, "T"], base: float = 10_000.0
) -> Float[Tensor, "... T d"]:
    """Queries or keys, each rotated according to its position.  (difficulty ●●●, 9 minutes)

    positions are those of the T tokens and may be any integers. Plane i of the d/2 planes
    consists of the coordinates i and i + d/2 and is rotated by the angle position ·
    base^(−2i/d). d is even. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    d = x.shape[-1]
    angle = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)                  # T d/2
    first, second = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-rotary-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoders.rotary", lambda case: rotary(
    case["x"], case["positions"], case["base"]
), gradients=True)

# %% [markdown]
# We place the same query and the same key at every position of a text of 12 tokens. **Predict:** how many different values occur among the 12 × 12 scores?

# %% tags=["demo"]
predict("decoders.different_scores", ...)

# %% tags=["demo"]
random = torch.Generator().manual_seed(0)
query, key = torch.randn(2, 16, generator=random)

def scores_from(start: int) -> Float[Tensor, "i j"]:
    """The scores of the query and the key at twelve positions."""
    places = torch.arange(start, start + 12)
    return rotary(query.expand(12, 16), places) @ rotary(key.expand(12, 16), places).T

distance_scores = scores_from(0)
different = len({round(score, 3) for score in distance_scores.flatten().tolist()})
reveal("decoders.different_scores", different)
print(
    "largest difference in the scores when all positions are increased by 5,000: "
    f"{(scores_from(5000) - distance_scores).abs().max():.0e}"
)
pictures.distances(distance_scores)

# %% [markdown]
# Each diagonal has a single colour, because a score depends only on the distance: 23 distances, from −11 to 11, give 23 scores. The rotation has no learned parameters, and no table limits the length.
# However, a model does not necessarily *work* on texts longer than those in its training data, because the planes with low frequencies then reach angles that
# did not occur in training.
#
# Two remedies are common. The first is a larger base together with further training: SmolLM2 has b = 100,000 and was trained on texts of up to 8,192 tokens.
# The second is **RoPE scaling**, which reduces the frequencies, chiefly the low ones, so that the angles in a longer text stay within the familiar range (YaRN:
# Peng et al. 2024).

# %% [markdown]
# ## 3 · Fewer keys and values
#
# The cache from notebook 07 stores the keys and values of every head, layer and token, so it grows with the text. In **grouped-query attention** (GQA; Ainslie
# et al. 2023), several query heads share one head of keys and values. If all query heads share a single head of keys and values, the method is called
# multi-query attention (Shazeer 2019).

# %% tags=["demo"]
pictures.groups(heads=6, kv_heads=2)

# %% [markdown]
# We implement grouped-query attention in three steps. The first function receives the rotated queries and all keys and values. It computes the causal attention of
# notebook 07, except that the query heads of a group use the same head of keys and values.

# %% nbgrader={"grade": false, "grade_id": "decoders-grouped_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grouped_attention(
    q: Float[Tensor, "B H T d"], k: Float[Tensor, "B K S d"], v: Float[Tensor, "B K S d"]
) -> Float[Tensor, "B H T d"]:
    """Causal attention with shared keys and values.  (difficulty ●●○, 8 minutes)

    k and v belong to the S tokens of a text, and q belongs to the last T of them. H is a
    multiple of K: the first H / K query heads use head 0 of the keys and values, the next ones
    use head 1, and so on. Scores are divided by √d. A token attends to itself and to all
    tokens before it. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    share, T, S = q.shape[1] // k.shape[1], q.shape[2], k.shape[2]
    k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)   # B H S d
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5                         # B H T S
    later = torch.arange(S) > torch.arange(S - T, S)[:, None]
    return scores.masked_fill(later, -torch.inf).softmax(dim=-1) @ v
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-grouped_attention-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("decoders.grouped_attention", lambda case: grouped_attention(**case), gradients=True)

# %% [markdown]
# The second step is the cache of one layer. It stores keys that have already been rotated, so nothing has to be rotated twice.

# %% nbgrader={"grade": false, "grade_id": "decoders-cache", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Cache:
    """Keys and values of the tokens that a layer has processed.  (difficulty ●●○, 5 minutes)

    reset     discards everything that is stored. reset(cached=True) starts a text, whose keys
              and values are stored from then on; after reset(), as in a new Cache, nothing is
              stored.
    tokens    returns the number of tokens whose keys and values are stored.
    extend    receives the keys and values of new tokens, (B, K, T, d), and returns two
              tensors: the keys and the values of all tokens since the text started, in the
              order of the text. If no text has been started, these are only the new keys and
              values. Autograd must be able to differentiate the result.
    """

    def __init__(self):
        self.reset()

    def reset(self, cached: bool = False) -> None:
        ### BEGIN SOLUTION
        self.cached, self.past = cached, None
        ### END SOLUTION

    def tokens(self) -> int:
        ### BEGIN SOLUTION
        return 0 if self.past is None else self.past[0].shape[2]
        ### END SOLUTION

    def extend(
        self, k: Float[Tensor, "B K T d"], v: Float[Tensor, "B K T d"]
    ) -> tuple[Float[Tensor, "B K S d"], Float[Tensor, "B K S d"]]:
        ### BEGIN SOLUTION
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)
        if self.cached:
            self.past = k, v
        return k, v
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-cache-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("decoders.cache", lambda case: run_cache(Cache, case), gradients=["k", "v"])

# %% [markdown]
# The third step combines the two with `rotary`:

# %% nbgrader={"grade": false, "grade_id": "decoders-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GroupedAttention(torch.nn.Module):
    """grouped_attention with rotary positions and a cache.  (difficulty ●●○, 9 minutes)

    parts     query: dim → dim; key and value: dim → kv_heads · d; output: dim → dim, where
              d = dim / heads. No biases. cache: a Cache.
    forward   x contains the new tokens, (B, T, dim); the result has the same shape. The
              position of the first new token is the number of tokens in the cache. `rotary`
              rotates queries and keys with `base`; values are not rotated. Use `cache.extend`
              and grouped_attention.
    reset     reset(cached=True) starts a text, as in notebook 07; each later call continues
              it. After reset(), each call is a separate text, which starts at position 0.
    """

    def __init__(self, dim: int, heads: int, kv_heads: int, base: float = 10_000.0):
        super().__init__()
        self.cache = Cache()
        ### BEGIN SOLUTION
        self.d, self.base = dim // heads, base
        self.query = torch.nn.Linear(dim, dim, bias=False)
        self.key = torch.nn.Linear(dim, kv_heads * self.d, bias=False)
        self.value = torch.nn.Linear(dim, kv_heads * self.d, bias=False)
        self.output = torch.nn.Linear(dim, dim, bias=False)
        ### END SOLUTION

    def reset(self, cached: bool = False) -> None:
        self.cache.reset(cached)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        ### BEGIN SOLUTION
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)       # B H T d, twice B K T d
            for layer in (self.query, self.key, self.value)
        )
        before = self.cache.tokens()
        positions = torch.arange(before, before + x.shape[1])
        q, k = rotary(q, positions, self.base), rotary(k, positions, self.base)
        k, v = self.cache.extend(k, v)                                 # B K before+T d
        return self.output(grouped_attention(q, k, v).transpose(1, 2).flatten(2))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-attention-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("decoders.attention", lambda case: run_cached(GroupedAttention, case, "x", "other"))

# %% [markdown]
# **Predict:** SmolLM2 has 9 query heads and 3 heads of keys and values. How many times smaller is its cache than it would be with 9 heads of keys and values?

# %% tags=["demo"]
predict("decoders.cache", ...)

# %% tags=["demo"]
cache_sizes = {
    kv_heads: decoder_costs.cached_numbers(GroupedAttention(576, 9, kv_heads), dim=576)
    for kv_heads in (9, 3, 1)
}
reveal("decoders.cache", cache_sizes[9] / cache_sizes[3])
decoder_tables.print_caches(cache_sizes)

# %% [markdown]
# Your code stores the whole matrix of scores. **FlashAttention** (Dao et al. 2022) avoids this by computing the same result one block of keys at a time. For
# each query, it keeps only the highest score so far, the sum of the exponentials and the weighted sum of the values. When a higher score appears, both sums are
# rescaled. This method is called *online softmax* (Milakov and Gimelshein 2018):

# %% tags=["demo"]
def attend_in_blocks(
    scores: Float[Tensor, "T S"], values: Float[Tensor, "S d"], size: int
) -> Float[Tensor, "T d"]:
    """softmax(scores) @ values, computed with `size` keys at a time."""
    highest = torch.full((len(scores), 1), -torch.inf)
    total, output = torch.zeros(len(scores), 1), torch.zeros(len(scores), values.shape[1])
    for block, block_values in zip(scores.split(size, dim=1), values.split(size), strict=True):
        new_highest = torch.maximum(highest, block.amax(dim=1, keepdim=True))
        rescale, weights = (highest - new_highest).exp(), (block - new_highest).exp()
        total = rescale * total + weights.sum(dim=1, keepdim=True)
        output = rescale * output + weights @ block_values
        highest = new_highest
    return output / total

draw = torch.Generator().manual_seed(0)
some_scores, some_values = (
    5 * torch.randn(6, 100, generator=draw), torch.randn(100, 16, generator=draw)
)
online_error = (
    attend_in_blocks(some_scores, some_values, 16) - some_scores.softmax(dim=-1) @ some_values
).abs().max().item()
print(f"largest difference from the softmax over all keys at once: {online_error:.0e}")

# %% [markdown]
# PyTorch's `scaled_dot_product_attention` uses such an implementation if one is available. Programs that serve many users also save memory in a different way:
# **paged attention** stores the cache in small blocks that need not be adjacent, so that memory is allocated only as a text grows (Kwon et al. 2023).

# %% [markdown]
# ## 4 · A simpler norm and a gate
#
# Layer norm (03) subtracts the mean, divides by the standard deviation, and then scales and shifts the result. **RMSNorm** omits the mean and the shift and
# divides by the root mean square. In its authors' experiments, the results were no worse than with layer norm (Zhang and Sennrich 2019).
#
# $$\mathrm{RMSNorm}(x)_i = w_i \, \frac{x_i}{\sqrt{\frac{1}{D}\sum_j x_j^2 + \varepsilon}}$$

# %% [markdown]
# Shazeer (2020) compared activation functions for the feed-forward layer. The best variants have a gate: one projection determines how much of another
# projection passes through. With SiLU(x) = x · σ(x) as the activation function of the gate, the layer is called **SwiGLU**:
#
# $$\mathrm{SwiGLU}(x) = W_\text{down}\big(\mathrm{SiLU}(W_\text{gate}\,x) \odot W_\text{up}\,x\big)$$
#
# SwiGLU has three matrices instead of two. With an inner width of 8/3 D instead of 4 D, the number of parameters therefore stays the same. LLaMA (Touvron et
# al. 2023) and SmolLM2 use this width; most other models in section 7 use a larger width.

# %% nbgrader={"grade": false, "grade_id": "decoders-norm_and_gate", "locked": false, "schema_version": 3, "solution": true, "task": false} course={"formerly": "decoders-swiglu"}
def rms_norm(
    x: Float[Tensor, "... D"], weight: Float[Tensor, "D"], eps: float
) -> Float[Tensor, "... D"]:
    """Each vector, normalised by its root mean square.  (difficulty ●○○, 6 minutes for both)

    Divide each vector by its root mean square and multiply it by weight. eps is added to the
    mean square, under the square root. The mean of the vector is not subtracted. You may use
    `torch.nn.functional.rms_norm`. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return weight * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()
    ### END SOLUTION

class SwiGLU(torch.nn.Module):
    """A feed-forward layer with a gate.

    parts     gate and up: dim → inner; down: inner → dim. No biases. `silu` is imported.
    """

    def __init__(self, dim: int, inner: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.gate, self.up = (torch.nn.Linear(dim, inner, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(inner, dim, bias=False)
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        ### BEGIN SOLUTION
        return self.down(silu(self.gate(x)) * self.up(x))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-norm_and_gate-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} course={"formerly": "decoders-swiglu-check"}
check("decoders.norm_and_gate", lambda case: {
    **run_module(SwiGLU, case, "x", back_to=["x"]),
    "rms_norm": rms_norm(case["x"], case["norm"], case["eps"]),
}, gradients=["norm"])

# %% tags=["demo"]
x = torch.randn(2, 5, 32)
theirs = torch.nn.RMSNorm(32, eps=1e-5)(x)
print(
    "largest difference between rms_norm and torch.nn.RMSNorm: "
    f"{(rms_norm(x, torch.ones(32), 1e-5) - theirs).abs().max():.0e}"
)
centred = x - x.mean(dim=-1, keepdim=True)
layer = torch.nn.functional.layer_norm(x, (32,))
print(
    "largest difference between rms_norm and layer norm, for vectors of mean 0: "
    f"{(rms_norm(centred, torch.ones(32), 1e-5) - layer).abs().max():.0e}"
)

# %% [markdown]
# For vectors of mean 0, RMSNorm equals a layer norm whose shift is 0. RMSNorm saves little: D parameters for each norm and one pass over the activations.

# %% [markdown]
# ## 5 · The whole decoder
#
# Each layer has the structure of the pre-norm Block in notebook 03 but uses the new parts. The next cell defines this layer and, as a module, the norm. Read
# the cell once; it contains nothing new.

# %%
class RMSNorm(torch.nn.Module):
    def __init__(self, dim: int, eps: float):
        super().__init__()
        self.weight, self.eps = torch.nn.Parameter(torch.ones(dim)), eps

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        return rms_norm(x, self.weight, self.eps)

class Layer(torch.nn.Module):
    def __init__(
        self, dim: int, heads: int, kv_heads: int, inner: int, base: float, eps: float
    ):
        super().__init__()
        self.norm_attention, self.norm_feed_forward = RMSNorm(dim, eps), RMSNorm(dim, eps)
        self.attention = GroupedAttention(dim, heads, kv_heads, base)
        self.feed_forward = SwiGLU(dim, inner)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        x = x + self.attention(self.norm_attention(x))
        return x + self.feed_forward(self.norm_feed_forward(x))

# %% nbgrader={"grade": false, "grade_id": "decoders-decoder", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Decoder(torch.nn.Module):
    """A decoder like SmolLM2, which is a small LLaMA (Touvron et al. 2023).
    (difficulty ●●○, 7 minutes)

    parts     token: an nn.Embedding; layers: an nn.ModuleList of Layers; norm: an RMSNorm
              after the last layer. There is no table of positions. As in SmolLM2, the logits
              are computed with the table `token` (LLaMA 7B has a second table for them). There
              are no other parameters.
    forward   returns the logits, (B, T, vocabulary), for ids (B, T).
    reset     as in GroupedAttention, for all layers.
    """

    def __init__(
        self, vocabulary: int, dim: int, layers: int, heads: int, kv_heads: int, inner: int,
        base: float = 10_000.0, eps: float = 1e-5,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.layers = torch.nn.ModuleList(
            Layer(dim, heads, kv_heads, inner, base, eps) for _ in range(layers)
        )
        self.norm = RMSNorm(dim, eps)
        ### END SOLUTION

    def reset(self, cached: bool = False) -> None:
        ### BEGIN SOLUTION
        for layer in self.layers:
            layer.attention.reset(cached)
        ### END SOLUTION

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        ### BEGIN SOLUTION
        x = self.token(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.token.weight.T
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-decoder-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoders.decoder", lambda case: run_cached(
    Decoder, case, "ids", "other", gradient=["token.weight"]
))

# %% [markdown]
# Published weights use different names for the parameters. The next cell maps each published name to the corresponding part of your Decoder.

# %%
PLACES = {
    "embed_tokens": "token", "norm": "norm",
    "input_layernorm": "norm_attention", "post_attention_layernorm": "norm_feed_forward",
    "self_attn.q_proj": "attention.query", "self_attn.k_proj": "attention.key",
    "self_attn.v_proj": "attention.value", "self_attn.o_proj": "attention.output",
    "mlp.gate_proj": "feed_forward.gate", "mlp.up_proj": "feed_forward.up",
    "mlp.down_proj": "feed_forward.down",
}

# %% nbgrader={"grade": false, "grade_id": "decoders-own_names", "locked": false, "schema_version": 3, "solution": true, "task": false}
def own_names(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a LlamaForCausalLM, keyed by the parameter names in your Decoder.
    (difficulty ●●○, 5 minutes)

    Published names look like model.layers.7.self_attn.q_proj.weight and model.norm.weight. A
    model without a head has the same names without "model." in front. The values do not
    change. Leave out lm_head.weight, which in SmolLM2 is the embedding table again, and
    buffers such as model.layers.0.self_attn.rotary_emb.inv_freq, which old files contain.
    """
    ### BEGIN SOLUTION
    ours = {}
    for name, value in theirs.items():
        *path, part = name.removeprefix("model.").split(".")
        layer = []
        if path[0] == "layers":
            layer, path = path[:2], path[2:]
        place = PLACES.get(".".join(path))
        if place:
            ours[".".join([*layer, place, part])] = value
    return ours
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-own_names-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("decoders.own_names", lambda case: own_names(dict(sorted(case.items()))))

# %% [markdown]
# The decoder is now complete. SmolLM2 has 30 layers of width 576 and was trained on two trillion tokens (Ben Allal et al. 2025). The course's package contains
# its weights after instruction tuning. They are stored with four bits per weight in the matrices of the layers and with eight bits in the embedding table.

# %% tags=["demo"]
print("This takes a few seconds, or half a minute the first time.")
big = load("SmolLM2-135M-Instruct", head="causal-lm")
their_model, config = big.model.eval(), big.model.config
own = Decoder(
    vocabulary=config.vocab_size, dim=config.hidden_size, layers=config.num_hidden_layers,
    heads=config.num_attention_heads, kv_heads=config.num_key_value_heads,
    inner=config.intermediate_size, base=config.rope_parameters["rope_theta"],
    eps=config.rms_norm_eps,
).eval()
own.load_state_dict(own_names(their_model.state_dict()))
print(
    f"{sum(weight.numel() for weight in own.parameters()):,} parameters; "
    f"base {config.rope_parameters['rope_theta']:,.0f}"
)

# %% tags=["demo"]
TEXTS = (
    "The prisoner sat in a dark cell.",
    "The red blood cell carries oxygen.",
    "I will hike along the bank of a river.",
    "def square(x):\n    return x * x",
    "Zwei Zellen, 細胞, and 3.14.",
)
logit_error = {}
with torch.no_grad():
    for text in TEXTS:
        ids = torch.tensor([encode(text)])
        logit_error[text] = (own(ids) - their_model(ids).logits).abs().max().item()
        print(f"{logit_error[text]:.0e}  {text!r}")

# %% [markdown]
# For each text, the cell above prints the largest difference between your logits and those of the `transformers` library; the logits themselves reach about 20.
# Your code therefore computes the same function as the published model. Your decoder can also generate text:

# %% tags=["demo"]
from time import perf_counter

@torch.no_grad()
def write(ids: list[int], tokens: int, cached: bool) -> tuple[list[int], float]:
    """Choose the most probable token at each step. Return the new tokens and the number of
    tokens generated per second."""
    own.reset(cached)
    written, new, start = list(ids), torch.tensor([ids]), perf_counter()
    for _ in range(tokens):
        best = own(new)[0, -1].argmax().item()
        written.append(best)
        new = torch.tensor([[best]]) if cached else torch.tensor([written])
    seconds = perf_counter() - start
    own.reset()
    return written[len(ids) :], tokens / seconds

# %% tags=["demo"]
print("This takes five to ten seconds.")
beginning = encode("A cell is the smallest part of")
without_cache, slow = write(beginning, 20, cached=False)
with_cache, fast = write(beginning, 20, cached=True)
generated = their_model.generate(
    torch.tensor([beginning]), attention_mask=torch.ones(1, len(beginning), dtype=torch.long),
    max_new_tokens=20, do_sample=False, pad_token_id=published.eos_token_id, eos_token_id=None,
)[0, len(beginning) :].tolist()
print(published.decode(with_cache))
print(
    "the same 20 tokens as those from generate in transformers:",
    with_cache == without_cache == generated,
)
print(f"without cache: {slow:.1f} tokens per second\nwith cache: {fast:.1f} tokens per second")

# %% [markdown]
# Without the cache, every new token requires all earlier tokens to be processed again (07). The advantage of the cache should therefore grow with the length of
# the text; we measured it at one length only. The speeds depend on the machine, so only their ratio is meaningful.

# %% [markdown]
# Even with a cache, every new token requires a pass through all weights. In **speculative decoding** (Leviathan et al. 2023), a small model drafts several
# tokens, and the large model checks all of them in one pass. A token drafted with probability $q$, to which the large model gives the probability $p$, is
# accepted with probability $\min(1, p / q)$. Otherwise, a token is drawn in proportion to $\max(p - q, 0)$. The more similar the
# two models are, the more tokens are accepted. In any case, the output has exactly the distribution of the large model, as this example with five tokens shows:

# %% tags=["demo"]
p, q = torch.randn(2, 5, generator=draw).softmax(dim=-1)
decoder_tables.print_speculative(p, q)

# %% [markdown]
# **Question 1 · Replacing the tokenizer.** A colleague replaces the tokenizer of a trained decoder with a better one whose vocabulary has the same size. All shapes fit, and no error is
# raised. What will the model generate, and why? Which of the five parts in this notebook could you replace in a trained model without further training, and
# which could you not? (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "decoders-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The model will generate nonsense. Row i of the embedding table was learned for the old token i, and the new tokenizer assigns the id i to a different piece of
# text. The model therefore receives the vectors of the wrong tokens, and its predictions are also decoded into the wrong tokens. None of the five parts can be
# replaced freely, because the weights were learned together with them: rotary and learned positions lead to different scores, a layer norm subtracts a mean
# that RMSNorm keeps, and a gate needs a third matrix that does not exist. A part *can* be rewritten if the function stays the same. A norm's weight can be
# multiplied into the next matrix, and shared keys and values can be copied for each query head, which gives the same output with a larger cache. The opposite
# change, from many heads to few, requires further training (Ainslie et al. 2023 use 5 % of the original compute).
#
# *Marking: 1 point for stating that the rows of the embedding table belong to tokens of the old tokenizer; 1 point for stating that the weights were learned together with the parts, with an example of a change that preserves the function (copied keys and values, a norm's weight multiplied into the next matrix, …) or of one that requires training.*

# %% [markdown]
# **The same with a library.** Transformers loads the model and its tokenizer by name, the chat template puts a question into the format on which the model was
# tuned, and `generate` produces the answer. Here, `load` has already carried out the first step, using the course's package instead of the hub.

# %% tags=["demo"]
# their_model = AutoModelForCausalLM.from_pretrained(
#     "HuggingFaceTB/SmolLM2-135M-Instruct", dtype=torch.float32
# )
# published = AutoTokenizer.from_pretrained("HuggingFaceTB/SmolLM2-135M-Instruct")
question = [{"role": "user", "content": "What is a cell in biology? One sentence."}]
prompt = published.apply_chat_template(
    question, add_generation_prompt=True, return_tensors="pt", return_dict=True
)
SETTINGS = {
    "greedy": dict(do_sample=False),
    "temperature 0.7": dict(do_sample=True, temperature=0.7, top_k=0),
    "top-p 0.9": dict(do_sample=True, top_p=0.9, top_k=0),
    "top-k 20": dict(do_sample=True, top_k=20),
    "beams": dict(do_sample=False, num_beams=3),
}
print("This takes ten to fifteen seconds.")
print(published.decode(prompt.input_ids[0]))
torch.manual_seed(0)
for name, setting in SETTINGS.items():
    reply = their_model.generate(
        **prompt, max_new_tokens=30, pad_token_id=published.eos_token_id, **setting
    )
    print(
        f"{name}: "
        f"{published.decode(reply[0, prompt.input_ids.shape[1] :], skip_special_tokens=True)}"
    )

# %% [markdown]
# A pipeline combines the template, the tokenizer and `generate` in one call:

# %% tags=["demo"]
from transformers import pipeline

assistant = pipeline("text-generation", model=their_model, tokenizer=published)
print(assistant(
    question, max_new_tokens=30, do_sample=False, return_full_text=False
)[0]["generated_text"])

# %% [markdown]
# You know all of these settings from notebook 07. Whether the answers are *true* is a different question: 135 million parameters store few facts, even if the
# text is fluent.

# %% [markdown]
# ## 6 · What a configuration costs
#
# Before anyone trains or loads a model, its configuration already determines three costs. The **parameters** have to be stored. The **cache** has to be stored as
# well, and it grows with the text. Finally, every new token requires a number of operations. By convention, a multiplication and the addition that follows it
# count as two floating-point operations (**FLOPs**): if a matrix is multiplied by a vector, each weight costs two FLOPs.

# %% nbgrader={"grade": false, "grade_id": "decoders-costs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def costs(
    vocabulary: int, dim: int, layers: int, heads: int, kv_heads: int, inner: int,
    tied: bool, tokens: int,
) -> tuple[int, int, int]:
    """Parameters, cached numbers and FLOPs of a decoder like yours.
    (difficulty ●●○, 9 minutes)

    parameters  those of `Decoder`; if tied is False, there is a second table of the same size
                as the embedding table, with which the logits are computed.
    cache       how many numbers the caches of all layers store for a text of `tokens` tokens.
    FLOPs       for computing the logits of the last of `tokens` tokens; the keys and values of
                the tokens before it are in the cache. Count two for each weight of each matrix
                by which a vector is multiplied (looking up a token's vector costs nothing).
                In attention, count the dot products with the keys and the weighted sum of the
                values: in each query head, two for each coordinate of each key and of each
                value to which the token attends, including its own. Do not count anything
                else.

    Return three whole numbers. Do not build a model.
    """
    ### BEGIN SOLUTION
    shared = dim // heads * kv_heads   # the width of keys and of values
    matrices = 2 * dim * dim + 2 * dim * shared + 3 * dim * inner   # of one layer
    table = vocabulary * dim
    parameters = layers * (matrices + 2 * dim) + dim + (table if tied else 2 * table)
    cache = layers * 2 * shared * tokens
    flops = 2 * (layers * matrices + table) + layers * 4 * dim * tokens
    return parameters, cache, flops
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "decoders-costs-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoders.costs", lambda case: torch.tensor([
    whole_numbers(costs(**dict(zip(case, values))), "costs")
    for values in zip(*(setting.tolist() for setting in case.values()))
]))

# %% [markdown]
# Llama 3 8B has 32 layers of width 4,096, 32 query heads, 8 heads of keys and values, an inner width of 14,336 and a vocabulary of 128,256 tokens; its table for
# the logits is not tied. Weights and cache take two bytes per number.
#
# **Predict:** a GPU has 24 GB of memory (24 · 10⁹ bytes). After the weights have been loaded, for how many texts of 8,192 tokens can the remaining memory
# hold the cache? Use your function to work it out.

# %% tags=["demo"]
predict("decoders.texts_in_memory", ...)

# %% tags=["demo"]
fitting, weight_bytes, cache_bytes = decoder_costs.texts_in_memory(
    costs, decoder_costs.LLAMA_3_8B, memory=24e9, tokens=8192
)
reveal("decoders.texts_in_memory", fitting)
print(
    f"Llama 3 8B: weights {weight_bytes / 1e9:.1f} GB,",
    f"cache of one text {cache_bytes / 1e9:.2f} GB; {fitting:.0f} texts fit",
)
cost_rows = decoder_costs.predicted_and_built(costs, config)
counted_flops = decoder_costs.flops_of_next_token(own, before=127)
decoder_tables.print_costs(cost_rows, counted_flops)

# %% [markdown]
# The predicted numbers of parameters are exact for all five models, which have the same architecture and differ only in their settings. After a short text, a token costs about
# two FLOPs per parameter that is used in a matrix product, because nearly all the work is done by the matrices. Attention adds a term that grows with the text. For
# SmolLM2, which is narrow and has many layers, this term is the larger part after 8,192 tokens; for the models with 7 or 8 billion parameters, it is still the
# smaller part.

# %% [markdown]
# ## 7 · Decoders since 2018
#
# A configuration consists of a few settings, which determine the number of parameters. The next cell builds each model of the table on PyTorch's **meta device**, where
# tensors have shapes but no values, and counts its parameters. The context length and the number of training tokens are those stated by the model's authors;
# the year refers to the publication of the weights.

# %% tags=["demo"]
from IPython.display import display

MODELS = published_decoders.decoders(config)
decoders_table = published_decoders.table_of(MODELS)
display(decoders_table)

# %% [markdown]
# Between 2018 and 2023, nearly every column changes. From 2023 on, all models in this table have rotary positions, RMSNorm and a gate. The context has grown
# from LLaMA's 2,048 tokens to 202,752, and the training text from 1 to 36 trillion tokens.
#
# However, we selected the models in the table ourselves. A **census** avoids this: it contains all text decoders that have a class of their own in one version
# of the transformers library. We built each default configuration as a model on the meta device, without weights, and identified its features by the names of
# its modules (`python -m experiments decoders_census`). The year is that of the copyright notice in the code. Change the condition, and query the census:

# %% tags=["demo"]
census = read_table("results/decoders_census.csv").dropna(subset=["parameters"])
found = census[(census["year"] >= 2025) & census["experts"]]           # change the condition
print(f"{len(found)} of {len(census)} decoders")
display(found.sort_values("parameters").head(6).set_index("decoder").convert_dtypes().T)

# %% tags=["demo"]
shares = published_decoders.shares_of_ideas(census)
display(shares.map("{:.0%}".format))

# %% [markdown]
# Of the decoders published up to 2022, fewer than a third have rotary positions, and RMSNorm is rare. Since 2025, nearly all decoders have both, and about half have experts. **QK-norm**
# normalises queries and keys, which keeps the scores from growing without limit (Henry et al. 2020). With a **sliding window**, a token attends, in some layers,
# only to the last few thousand tokens. **MLA** compresses the keys and values into one short vector per token (DeepSeek-AI 2024). The memory of linear-time layers,
# such as linear attention or state-space layers (Gu and Dao 2023), does not grow with the text. Recognising such features by the names of modules is not fully reliable.

# %% [markdown]
# Your function `costs` describes one kind of decoder.
#
# **Predict:** for what fraction of the decoders in the census does it predict the number of parameters to within 1 %?

# %% tags=["demo"]
predict("decoders.within_one_percent", ...)

# %% tags=["demo"]
ratio, has_experts = published_decoders.predicted_over_built(costs, census)
reveal("decoders.within_one_percent", ((ratio - 1).abs() <= 0.01).sum() / len(census))
decoder_tables.print_ratios(ratio, has_experts, of=len(census))

# %% [markdown]
# For a decoder with experts, the function predicts far too few parameters, because it counts one feed-forward network per layer. The other decoders mostly
# differ from yours in smaller ways: in biases, in the width of a head or in a feed-forward layer without a gate. Before you apply a formula to a configuration,
# ask which of these features the model has.

# %% [markdown]
# For the cache per token in the table, we assume that each number takes 16 bits and that every layer stores all tokens. However, a layer with a sliding window needs
# to store only the latest tokens. Such a window is used in every layer of Mistral 7B, in every other layer of gpt-oss, and in five out of six layers of Gemma
# 3.
#
# Mixtral 8 × 7B has 46.7 billion parameters rather than 56 billion, because the experts of a layer share its attention. Each token uses 12.9 billion of these
# parameters (Jiang et al. 2024). DeepSeek-V3 uses 37 of its 671 billion (DeepSeek-AI 2024) and GLM-5 uses 40 of its 744 billion (GLM-5 Team 2026). GLM-5 also
# selects tokens: an indexer chooses 2,048 earlier tokens, and the heads attend only to these tokens.

# %% [markdown]
# The table contains only one model from 2026. The transformers library has classes for others, but we could not compare the settings of those models with the
# settings that their authors have published. Look up one of them and add a row for it:
# `MODELS[name] = published_decoders.Published(year, configuration, (positions, norm, activation), context, tokens)`.
#
# Sources: Radford et al. (2018, 2019), Touvron et al. (2023), Jiang et al. (2023, 2024), Grattafiori et al. (2024), Qwen (2024, 2025), DeepSeek-AI (2024), Ben Allal et al. (2025), Gemma Team (2025), Bakouch et al. (2025), OpenAI (2025) and GLM-5 Team (2026).

# %% [markdown]
# ## 8 · Further: learn the merges
#
# In section 1, we used merges that others had learned. The training itself takes about a dozen lines: count the pairs, merge the most frequent pair, and repeat.

# %% nbgrader={"grade": false, "grade_id": "decoders-bpe_train", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bpe_train(words: dict[str, int], merges: int) -> list[tuple[int, int]]:
    """The merged pairs, in the order in which they are learned.  (difficulty ●●○, 9 minutes)

    words maps each word to the number of times that it occurs in the text. A word starts as
    its UTF-8 bytes, word.encode(). In each step, the pair of neighbours that occurs most often
    in the whole text becomes a new token: the first is 256, the next 257. Both neighbours must
    be in the same word, and overlapping pairs count ("aaa" contains the pair aa twice). Among
    equally frequent pairs, choose the smallest, compared as tuples. If no pair is left, return
    fewer than `merges` pairs.
    """
    ### BEGIN SOLUTION
    rows, learned = {word: list(word.encode()) for word in words}, []
    while len(learned) < merges:
        counts = Counter()
        for word, ids in rows.items():
            for pair in pairwise(ids):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        new = 256 + len(learned)
        rows = {word: merge(ids, best, new) for word, ids in rows.items()}
        learned.append(best)
    return learned
    ### END SOLUTION

# %% course={"extra_credit": 3} nbgrader={"grade": true, "grade_id": "decoders-bpe_train-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("decoders.bpe_train", lambda case: bpe_train(
    dict(zip(case["words"], case["counts"].tolist(), strict=True)), case["merges"]
))

# %% [markdown]
# ## 9 · Further: find the bug
#
# Meta published LLaMA with queries and keys in which *adjacent* coordinates, 2i and 2i + 1, are rotated together. The transformers library, like your code,
# rotates the two halves together. If you load Meta's weights into the code of transformers, no error is raised, because all shapes fit. (A user asked about
# this difference in transformers issue 25199.)

# %%
def as_published_by_meta(x, positions, base=10_000.0):
    """Adjacent coordinates are rotated together."""
    by_halves = torch.cat([x[..., ::2], x[..., 1::2]], dim=-1)
    first, second = rotary(by_halves, positions, base).chunk(2, dim=-1)
    return torch.stack([first, second], dim=-1).flatten(-2)

def loaded_as_they_are(weight, heads):                     # the weight of `query` or `key`
    return weight

# %% [markdown]
# Reorder the rows of the matrix so that your `rotary` gives the same scores as Meta's code does with the original rows.

# %% nbgrader={"grade": false, "grade_id": "decoders-mended_rows", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_rows(weight: Float[Tensor, "Hd D"], heads: int) -> Float[Tensor, "Hd D"]:
    """loaded_as_they_are with the bug fixed.  (difficulty ●●○, 6 minutes)

    Each head has d rows, one for each coordinate of its queries (or keys). Within a head,
    rows 2i and 2i + 1 move to the positions i and i + d/2. `heads` is the number of heads in
    this matrix.
    """
    ### BEGIN SOLUTION
    by_head = weight.unflatten(0, (heads, -1))                                          # H d D
    return torch.cat([by_head[:, ::2], by_head[:, 1::2]], dim=1).flatten(0, 1)
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "decoders-mended_rows-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("decoders.mended_rows", lambda case: mended_rows(case["weight"], case["heads"]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def scores_of(query, key, turn, T: int = 24, d: int = 16, heads: int = 4) -> Float[Tensor, "H T T"]:
    """The scores of one text, given the query and key matrices and a function that rotates their outputs."""
    tokens = torch.randn(T, query.shape[1], generator=torch.Generator().manual_seed(1))
    q, k = (turn((tokens @ matrix.T).unflatten(-1, (heads, d)).transpose(0, 1), torch.arange(T)) for matrix in (query, key))
    return q @ k.transpose(-2, -1) / d**0.5

metas = torch.randn(2, 64, 32, generator=random) / 32**0.5
right_scores = scores_of(*metas, turn=as_published_by_meta)
row_errors = {}
for name, load_rows in {"loaded as they are": loaded_as_they_are, "reordered": mended_rows}.items():
    found = scores_of(*(load_rows(matrix, 4) for matrix in metas), turn=rotary)
    row_errors[name] = ((found - right_scores).abs().mean() / right_scores.abs().mean()).item()
    print(f"rows {name}: the scores are off by {row_errors[name]:.0%} of their mean absolute value")

# %% [markdown]
# The wrong scores are not random. A query and a key at the same position are rotated by the same angles, so their score is correct. At other distances, the
# scores are wrong. The published conversion script reorders the rows as you did.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [Two conventions for one rotation](../../docs/bugs/13_two_conventions_of_rotation.md).

# %% [markdown]
# ## 10 · Further: a mixture of experts
#
# In a **mixture of experts** (MoE; Shazeer et al. 2017), a layer contains many feed-forward networks, the **experts**, and each token uses only a few of them.
# Additional experts increase the number of parameters, but not the number of operations per token. A router, which is a linear layer, computes a score for each
# expert and each token. The k experts with the highest scores process the token, and their outputs are added with weights that are the softmax of *these* k
# scores (Jiang et al. 2024).

# %% [markdown]
# If the router sends every token to the same expert, the other experts learn nothing. Many models are therefore trained with a **load-balancing loss** (Fedus
# et al. 2022): E · Σ f_e P_e, summed over the E experts. Here, f_e is the fraction of all choices that fall on expert e, and P_e is the mean probability of
# this expert (softmax over all E scores). The loss is 1 if all experts are used equally.
#
# DeepSeek-V3 relies mainly on a different method (Wang et al. 2024). Each expert has a bias that is added to its scores when the k experts are chosen, but not
# when their weights are computed. The bias is lowered while the expert is overloaded.

# %% nbgrader={"grade": false, "grade_id": "decoders-route", "locked": false, "schema_version": 3, "solution": true, "task": false}
def route(
    scores: Float[Tensor, "T E"], k: int
) -> tuple[Float[Tensor, "T E"], Float[Tensor, ""]]:
    """The weight of each expert for each token, and the load-balancing loss, as a tuple.
    (difficulty ●●○, 7 minutes)

    For each token, the k experts with the highest scores are chosen. Their weights are the
    softmax of these k scores; all other weights are 0. The loss is E · Σ f_e P_e: f_e is the
    number of times e was chosen, divided by the total number of choices, T · k; P_e is the
    mean over the tokens of e's probability in the softmax of all E scores. Autograd must be
    able to differentiate the result.
    """
    ### BEGIN SOLUTION
    best = scores.topk(k, dim=-1)
    weights = torch.zeros_like(scores).scatter(-1, best.indices, best.values.softmax(dim=-1))
    E = scores.shape[-1]
    chosen = torch.bincount(best.indices.flatten(), minlength=E) / best.indices.numel()
    mean_probability = scores.softmax(dim=-1).mean(dim=0)
    return weights, E * (chosen * mean_probability).sum()
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "decoders-route-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("decoders.route", lambda case: route(case["scores"], case["k"]), gradients=True)

# %% [markdown]
# We test this loss on a toy problem. Each point, in eight dimensions, belongs to one of eight groups, and each group has its own linear map from a point to its target.
# There are eight linear experts, and each point uses two of them. The weight of the load-balancing loss is 0, 0.1 or 0.3, with five seeds for each weight:

# %% tags=["demo"]
from coursekit.experts import train_experts

torch.set_num_threads(1)               # for matrices this small, more threads are slower
print("This takes about ten seconds.")
experts_trained = {
    balance: [train_experts(route, balance, seed) for seed in range(5)]
    for balance in (0.0, 0.1, 0.3)
}
pictures.experts(experts_trained, alike=1 / 8)

# %% [markdown]
# For each of the five seeds, the load-balancing loss distributes the choices more evenly. However, five seeds do not show that this loss also reduces the
# error. In this problem, all groups are equally large, so a router has no reason to neglect an expert. In natural language, some topics are far more frequent
# than others.

# %% [markdown]
# ## 11 · Further: how loss falls with parameters and tokens
#
# Kaplan et al. (2020) trained decoders of many sizes and found that the loss falls as a power of the number of parameters N and as a power of the number of
# training tokens T. Such a relation is called a **scaling law**. Hoffmann et al. (2022) fitted
#
# $$L(N, T) = E + \frac{A}{N^\alpha} + \frac{B}{T^\beta}$$
#
# E is the lowest loss that any model can reach: the entropy of the language. For real text, E must also be fitted, and nobody can check the fitted value. For
# our language, we can compute E exactly: it is the bound from the earlier notebooks. The amount by which a model's loss exceeds E is the KL divergence between
# the language and the model.

# %% [markdown]
# We trained GPTs of four sizes on sentences in our language about prisons, biology and phones, which contain 486 different words. With five lengths of training
# and three seeds, there are 60 runs (`python -m experiments scaling`). Every sentence is newly generated. The learning rate rises and falls within each run.
# For each size, the peak learning rate is the best of four values, which we tried at one length of training with a different seed. Other lengths might need a
# different peak, which would distort the law.
#
# The shortest runs do not yet follow a power law, so we leave them out of the fit.

# %% tags=["demo"]
from scipy.optimize import least_squares

scaling = read_table("results/scaling.csv")
scaling["above"] = scaling["loss"] - scaling["bound"]   # nats per token, on fresh sentences
late = scaling[scaling["steps"] > 40]

def law(rows, logA, alpha, logB, beta):
    """Nats per token above the bound."""
    return (
        np.exp(logA - alpha * np.log(rows.parameters))
        + np.exp(logB - beta * np.log(rows.tokens))
    )

def fitted(rows):
    """The law whose logarithm is closest to the logarithms of the measured values."""
    return least_squares(
        lambda parts: np.log(law(rows, *parts) / rows.above), x0=(3, 0.5, 6, 0.5)
    ).x

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import mean_and_half

whole_law = fitted(late)
by_seed = np.array([fitted(rows) for _, rows in late.groupby("seed")])                         # seeds 4
exponents = {"α, of the parameters": mean_and_half(by_seed[:, 1]), "β, of the tokens": mean_and_half(by_seed[:, 3])}
print("Mean over three seeds, each fitted separately:")
for name, (mean, half) in exponents.items():
    print(f"  {name}: {mean:.2f} ± {half:.2f}")
wrong_by = np.exp(np.abs(np.log(law(late, *whole_law) / late["above"])).mean()) - 1
print(f"The law deviates from the {len(late)} runs to which it was fitted by {wrong_by:.0%} on average.")
print("The best N for a compute budget C grows as C to the power β / (α + β):")
powers = {}
for fewest in (160, 320, 40):
    laws = np.array([fitted(rows) for _, rows in scaling[scaling["steps"] >= fewest].groupby("seed")])
    powers[fewest] = mean_and_half(laws[:, 3] / (laws[:, 1] + laws[:, 3]))
    print("  fitted to runs of at least {} steps: {:.2f} ± {:.2f}".format(fewest, *powers[fewest]))

longest, before = (late[late["steps"] == steps] for steps in (1600, 640))
print("The longest runs, compared with the prediction of the law fitted to the shorter runs; nats above the bound, mean over three seeds:")
predicted, same_as_before = [], []                                 # seeds sizes: predicted / measured
for seed, rows in longest.groupby("seed"):
    shorter = fitted(late[(late["seed"] == seed) & (late["steps"] < 1600)])
    predicted.append(law(rows, *shorter).to_numpy() / rows["above"].to_numpy())
    same_as_before.append(before[before["seed"] == seed]["above"].to_numpy() / rows["above"].to_numpy())
for place, (size, rows) in enumerate(longest.groupby("parameters")):
    mean, half = mean_and_half(rows["above"])
    print(f"  {size:7,} parameters: measured {mean:.3f} ± {half:.3f}; the prediction is {np.mean(predicted, axis=0)[place]:.2f} times the measured value")
misses = {name: np.exp(np.abs(np.log(ratios)).mean(axis=1)) - 1 for name, ratios in {"law": predicted, "baseline": same_as_before}.items()}
for name, values in misses.items():
    print(f"  error of the {name + (' (no gain after 640 steps)' if name == 'baseline' else '')} for each seed: {', '.join(f'{value:.0%}' for value in values)}")

largest = late["parameters"].max()
corner = {"law": [], "baseline": []}                               # only the longest run of the largest model is left out
for _, rows in late.groupby("seed"):
    left_out = rows[(rows["parameters"] == largest) & (rows["steps"] == 1600)]
    others = rows[(rows["parameters"] < largest) & (rows["steps"] == 1600)].sort_values("parameters")
    next_smaller = others["above"].iloc[-1]
    corner["law"].append((law(left_out, *fitted(rows.drop(left_out.index))) / left_out["above"]).item())
    corner["baseline"].append((next_smaller / left_out["above"]).item())
print("The same comparison when only the longest run of the largest model is left out; predicted / measured for each seed:")
for name, ratios in corner.items():
    print(f"  {name + (' (same loss as the next smaller model)' if name == 'baseline' else '')}: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
pictures.scaling(scaling, late, lambda rows: law(rows, *whole_law), whole_law[1], whole_law[3])

# %% [markdown]
# On the left, the loss keeps falling for each size. After the longest training, the smallest model has the highest loss, and the two largest models cannot be
# distinguished. On the right, each budget of **compute**, about C = 6 N T operations (Kaplan et al. 2020), has a best size. A larger model would be trained on
# too few tokens, and a smaller model could not learn enough.

# %% [markdown]
# For each seed, the law fitted to the shorter runs predicts the longest runs better than the assumption of *no further gain*. That baseline is easy to beat.
# When only the longest run of the largest model is left out, the law predicts too low a loss for each seed. The law is no better than taking the loss of the
# next smaller model.
#
# The law is only approximate: its mean deviation from the runs is 13 %. The lead of the largest model over each smaller one, in nats, is larger after few
# tokens than after many. A sum of two terms cannot express this: in the law, the difference between two sizes is the same after any number of tokens.

# %% [markdown]
# **Checking the literature.** With ten times the compute, Kaplan et al. (2020) would make the model 5.4 times as large and the text 1.9 times as long, so N
# grows as C to the power 0.73. Hoffmann et al. (2022) would make both 3.2 times as large (a power of 0.50). One reason for the difference is that Hoffmann et
# al. matched the learning-rate schedule to the length of each run, as we do. Another reason is that Kaplan et al. did not count embeddings (Pearce and Song
# 2024).
#
# We measure a power of about 0.4 without the shortest runs and 0.27 with them. Both powers are clearly below 0.73 and no higher than about 0.50. Therefore, as
# the budget grows, the text should grow at least as fast as the model.

# %% [markdown]
# For real text, Hoffmann et al. (2022) fitted α = 0.34 and β = 0.28. These exponents imply a power of 0.45, not 0.50. According to Besiroglu et al. (2024),
# that fit had not converged; from data read off the paper's figure, they obtain 0.35 and 0.37, which imply 0.51. On average, our exponents are more than three
# times as large as these. A likely reason is that our language has a limited number of rules and is soon learned.

# %% [markdown]
# The rule of Hoffmann et al. amounts to about 20 tokens per parameter. SmolLM2 135M was trained on about 15,000 tokens per parameter, and Llama 3 8B on about
# 1,900. A scaling law describes the cheapest way to *train* a model. If a model is to generate many billions of tokens, a smaller model that is trained for
# longer costs less overall.

# %% [markdown]
# ## Extension: what four bits cost
#
# The matrices that you loaded were stored with four bits per weight. Storing weights with few bits is called **quantisation**. One method divides the weights
# into blocks. For each block, it stores one **scale** in higher precision, and each weight becomes an integer from −7 to 7. This exercise earns extra credit.

# %% nbgrader={"grade": false, "grade_id": "decoders-quantise", "locked": false, "schema_version": 3, "solution": true, "task": false}
def quantise(
    x: Float[Tensor, "N"], size: int
) -> tuple[Float[Tensor, "N"], Float[Tensor, "blocks"]]:
    """Integers from −7 to 7, and the scale of each block, as a tuple.
    (extension, ●●○, 6 minutes)

    A block consists of `size` consecutive numbers; N is a multiple of size. The scale of a
    block is its largest absolute value divided by 7. Each number x becomes the integer nearest
    to x / scale, as a float or an int; no x / scale lies midway between two integers. A block
    of zeros has the scale 0, and all its integers are 0.
    """
    ### BEGIN SOLUTION
    blocks = x.reshape(-1, size)
    scale = blocks.abs().amax(dim=1) / 7
    whole = (blocks / scale.clamp(min=1e-30)[:, None]).round()
    return whole.flatten(), scale
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "decoders-quantise-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("decoders.quantise", lambda case: quantise(case["x"], case["size"]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def dequantise(whole: Float[Tensor, "N"], scale: Float[Tensor, "blocks"]) -> Float[Tensor, "N"]:
    return (whole.reshape(len(scale), -1) * scale[:, None]).flatten()

REVIEWS = [encode(text) for text in read_table("opinions/opinions.csv").text[:32]]

@torch.no_grad()
def nats_per_token(model) -> Float[np.ndarray, "texts"]:
    """The mean loss on each of 32 texts of the course. Padding is on the right, where no real token attends to it."""
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(text) for text in REVIEWS], batch_first=True, padding_value=-1)
    log_p = model(ids[:, :-1].clamp(min=0)).log_softmax(dim=-1)
    real = ids[:, 1:] >= 0
    losses = -log_p.gather(-1, ids[:, 1:].clamp(min=0)[..., None])[..., 0] * real
    return (losses.sum(dim=1) / real.sum(dim=1)).numpy()

print("This takes ten to twenty seconds.")
exact = {name: value.clone() for name, value in own.state_dict().items()}
matrices = [name for name, value in exact.items() if value.ndim == 2 and name != "token.weight"]
loaded_loss, four_bits = nats_per_token(own), {}
for size in (16, 64, 192, 576):
    rounded = {name: dequantise(*quantise(exact[name].flatten(), size)).reshape(exact[name].shape) for name in matrices}
    off = sum((rounded[name] - exact[name]).square().sum() for name in matrices)
    all_of = sum(exact[name].square().sum() for name in matrices)
    own.load_state_dict(exact | rounded)
    four_bits[size] = (off / all_of).sqrt().item(), nats_per_token(own) - loaded_loss
own.load_state_dict(exact)
pictures.four_bits(four_bits, loaded_loss.mean())

# %% [markdown]
# A single large weight makes the steps of its whole block coarse, so larger blocks have larger errors. Smaller blocks need more scales: a scale of 16 bits adds
# 1 bit per weight in blocks of 16, but only 0.03 bits in blocks of 576. The loaded weights had already been rounded to four bits by a different rule (Q4_1: a
# scale and a minimum for each block). We therefore measure the cost of a second rounding.
#
# On these texts, every block size increases the loss (95 % intervals over 32 texts). Blocks of 576 weights, a whole row of most matrices, increase the loss
# more than blocks of 16; between blocks of 16 and 64, we see no difference.

# %% [markdown]
# Published models use several formats. **int8** and int4 store whole numbers with one scale for each row or block, as here. **NF4** has 16 levels that are spaced like the
# quantiles of a normal distribution, because weights are distributed almost normally (Dettmers et al. 2023). **FP8** and MXFP4 store small floating-point
# numbers; in MXFP4, blocks of 32 share one scale (Rouhani et al. 2023). The weights of gpt-oss were published in MXFP4 (OpenAI 2025).

# %% [markdown]
# Quantisation is not the only way to save memory. **bfloat16** stores each number in 16 bits: it keeps the exponent of a 32-bit float, and therefore its range, but only 8 bits of precision (Kalamkar et al. 2019). Many models are trained and published in this format.

# %% [markdown]
# ## Summary
#
# - With byte tokens, no text contains an unknown token. Merges are applied in the order in which they were learned.
# - RMSNorm is a layer norm without the mean and the shift.
# - Rotary position embeddings rotate queries and keys, so that positions affect scores only through distances.
# - If three query heads share one head of keys and values, the cache is a third as large.
# - In SwiGLU, a gate determines how much of another projection passes through.
# - A configuration determines parameters, cache and FLOPs. A short text costs about two FLOPs per weight and token; the cost of attention grows with the text.
# - With SmolLM2's weights, your Decoder gives the same logits as transformers and generates the same text.

# %% [markdown]
# ## References
#
# - Ainslie, J. et al. (2023). GQA: training generalized multi-query transformer models from multi-head checkpoints. *EMNLP*. arXiv:2305.13245.
# - Bakouch, E. et al. (2025). SmolLM3: smol, multilingual, long-context reasoner. Hugging Face. huggingface.co/blog/smollm3.
# - Ben Allal, L. et al. (2025). SmolLM2: when Smol goes big. Data-centric training of a small language model. arXiv:2502.02737.
# - Besiroglu, T., Erdil, E., Barnett, M. and You, J. (2024). Chinchilla scaling: a replication attempt. arXiv:2404.10102.
# - Dao, T., Fu, D. Y., Ermon, S., Rudra, A. and Ré, C. (2022). FlashAttention: fast and memory-efficient exact attention with IO-awareness. *NeurIPS* 35. arXiv:2205.14135.
# - DeepSeek-AI (2024). DeepSeek-V3 technical report. arXiv:2412.19437.
# - Dettmers, T., Pagnoni, A., Holtzman, A. and Zettlemoyer, L. (2023). QLoRA: efficient finetuning of quantized LLMs. *NeurIPS* 36. arXiv:2305.14314.
# - Fedus, W., Zoph, B. and Shazeer, N. (2022). Switch transformers: scaling to trillion parameter models with simple and efficient sparsity. *Journal of Machine Learning Research* 23(120), 1–39. arXiv:2101.03961.
# - Gage, P. (1994). A new algorithm for data compression. *The C Users Journal* 12(2), 23–38.
# - Gemma Team (2025). Gemma 3 technical report. arXiv:2503.19786.
# - GLM-5 Team (2026). GLM-5: from vibe coding to agentic engineering. arXiv:2602.15763.
# - Grattafiori, A. et al. (2024). The Llama 3 herd of models. arXiv:2407.21783.
# - Gu, A. and Dao, T. (2023). Mamba: linear-time sequence modeling with selective state spaces. arXiv:2312.00752.
# - Henry, A., Dachapally, P. R., Pawar, S. and Chen, Y. (2020). Query-key normalization for transformers. *Findings of EMNLP*. arXiv:2010.04245.
# - Hoffmann, J. et al. (2022). Training compute-optimal large language models. *NeurIPS* 35. arXiv:2203.15556.
# - Jiang, A. Q. et al. (2023). Mistral 7B. arXiv:2310.06825.
# - Jiang, A. Q. et al. (2024). Mixtral of experts. arXiv:2401.04088.
# - Kalamkar, D. et al. (2019). A study of BFLOAT16 for deep learning training. arXiv:1905.12322.
# - Kaplan, J. et al. (2020). Scaling laws for neural language models. arXiv:2001.08361.
# - Kwon, W. et al. (2023). Efficient memory management for large language model serving with PagedAttention. *SOSP*. arXiv:2309.06180.
# - Leviathan, Y., Kalman, M. and Matias, Y. (2023). Fast inference from transformers via speculative decoding. *ICML*. arXiv:2211.17192.
# - Milakov, M. and Gimelshein, N. (2018). Online normalizer calculation for softmax. arXiv:1805.02867.
# - OpenAI (2025). gpt-oss-120b & gpt-oss-20b model card. arXiv:2508.10925.
# - Pearce, T. and Song, J. (2024). Reconciling Kaplan and Chinchilla scaling laws. *TMLR*. arXiv:2406.12907.
# - Peng, B., Quesnelle, J., Fan, H. and Shippole, E. (2024). YaRN: efficient context window extension of large language models. *ICLR*. arXiv:2309.00071.
# - Qwen (2024). Qwen2.5 technical report. arXiv:2412.15115.
# - Qwen (2025). Qwen3 technical report. arXiv:2505.09388.
# - Radford, A. et al. (2019). Language models are unsupervised multitask learners. OpenAI.
# - Radford, A., Narasimhan, K., Salimans, T. and Sutskever, I. (2018). Improving language understanding by generative pre-training. OpenAI.
# - Rouhani, B. D. et al. (2023). Microscaling data formats for deep learning. arXiv:2310.10537.
# - Sennrich, R., Haddow, B. and Birch, A. (2016). Neural machine translation of rare words with subword units. *ACL*. arXiv:1508.07909.
# - Shazeer, N. (2019). Fast transformer decoding: one write-head is all you need. arXiv:1911.02150.
# - Shazeer, N. (2020). GLU variants improve transformer. arXiv:2002.05202.
# - Shazeer, N. et al. (2017). Outrageously large neural networks: the sparsely-gated mixture-of-experts layer. *ICLR*. arXiv:1701.06538.
# - Su, J. et al. (2021). RoFormer: enhanced transformer with rotary position embedding. arXiv:2104.09864.
# - Touvron, H. et al. (2023). LLaMA: open and efficient foundation language models. arXiv:2302.13971.
# - transformers (2023). Rotary positional embedding differs with official implementation. github.com/huggingface/transformers/issues/25199.
# - Wang, L., Gao, H., Zhao, C., Sun, X. and Dai, D. (2024). Auxiliary-loss-free load balancing strategy for mixture-of-experts. arXiv:2408.15664.
# - Zhang, B. and Sennrich, R. (2019). Root mean square layer normalization. *NeurIPS* 32. arXiv:1910.07467.

# %% [markdown]
# Next: [14 · From base model to assistant](../14_assistant/14_assistant.ipynb). The [start page](../start.ipynb) shows
# your progress.

# %% tags=["demo"]
predictions()
