"""How the models of real English are trained: the input and the objective of each, the number of steps, the learning rate.

All models read the same rows of the same books. BERT and GPT have the same subwords and the same size; ELMo predicts whole
words. Matrices are multiplied in bfloat16 if the processor supports it (coursekit/novels/precision.py); weights are kept in
float32.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coursekit.novels import missing_head, skip_gram
from coursekit.novels.corpus import ROW, WORDS, Corpus
from coursekit.novels.precision import bfloat16
from coursekit.novels.spelling import LiterarySpelling
from coursekit.small.bert import BERT, BOS, CLS, EOS, PAD, SEP, UNCHOSEN, UNK, BERTConfig, corrupt
from coursekit.small.elmo import ELMo, ELMoConfig
from coursekit.small.gpt import GPT, GPTConfig, next_word_losses
from coursekit.small.recipes import Recipe

SIZES: dict[str, Any] = {"tokens": ROW + 2, "dim": 256, "layers": 4, "heads": 4, "feed_forward": 1024}
SHARE = 0.2
"""The fraction of subwords that are chosen: slightly more than the paper's 15 %, because there are few steps (Wettig et al., 2023)."""
NEGATIVES = 2_048
"""The number of words with which ELMo compares the correct one at each training step."""
FILTERS = ((1, 16), (2, 32), (3, 64), (4, 96), (5, 128), (6, 128))


@lru_cache(maxsize=2)
def spelling_of(corpus: Corpus) -> LiterarySpelling:
    """Every word of the corpus as characters, computed once."""
    return LiterarySpelling(corpus.words)


def batches(corpus: Corpus, batch: int, seed: int, split: str) -> Iterator[Int[np.ndarray, " B"]]:
    """An endless stream of row numbers of a split, drawn at random."""
    rng, count = np.random.default_rng(seed), len(corpus.rows(split))
    while True:
        yield rng.integers(count, size=batch)


def start_small(model: nn.Module, std: float = 0.02) -> nn.Module:
    """Initialise all tables with small numbers, as in BERT and GPT-2."""
    for part in model.modules():
        if isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight, std=std)
    return model


# --- BERT: masked pieces (no next sentence: Liu et al., 2019, found that it does not help) ---


def build_bert(corpus: Corpus, **sizes: Any) -> BERT:
    """An untrained BERT with the tokeniser's vocabulary; `sizes` override those of SIZES (fields of `BERTConfig`)."""
    return start_small(BERT(BERTConfig(corpus.tokenizer.get_vocab_size(), **(SIZES | sizes))))


def bert_losses(model: BERT, corpus: Corpus, batch: int, seed: int, split: str = "train") -> Iterator[Tensor]:
    """An endless stream of masked-word losses, one for each batch of `batch` sequences: mean nats per chosen token.

    As in RoBERTa (Liu et al., 2019), there is no next-sentence objective, and every batch is masked anew.
    """
    generator, rows = torch.Generator().manual_seed(seed), corpus.rows(split)
    for chosen_rows in batches(corpus, batch, seed, split):
        ids = torch.from_numpy(rows.padded(chosen_rows, CLS, SEP))
        corrupted, labels = corrupt(ids, model.config.vocabulary, generator, share=SHARE)
        with bfloat16():
            loss = masked_losses(model, corrupted, labels).mean()
        yield loss


def masked_losses(
    model: BERT, corrupted: Int[Tensor, "B T"], labels: Int[Tensor, "B T"]
) -> Float[Tensor, " chosen"]:
    """-log p of each masked subword, in nats."""
    top = model.encode(model.embeddings(corrupted, torch.zeros_like(corrupted)), corrupted != PAD)[-1]
    chosen = labels != UNCHOSEN
    logits = model.masked_word(top[chosen], model.embeddings.token.weight)
    return nn.functional.cross_entropy(logits.float(), labels[chosen], reduction="none")


# --- GPT: the next piece ---


def build_gpt(corpus: Corpus, **sizes: Any) -> GPT:
    """An untrained GPT with the tokeniser's vocabulary; `sizes` override those of SIZES (fields of `GPTConfig`)."""
    return start_small(GPT(GPTConfig(corpus.tokenizer.get_vocab_size(), **(SIZES | sizes))))


def gpt_losses(model: GPT, corpus: Corpus, batch: int, seed: int, split: str = "train") -> Iterator[Tensor]:
    """An endless stream of next-token losses, one for each batch of `batch` sequences: mean nats per token, without padding."""
    rows = corpus.rows(split)
    for chosen_rows in batches(corpus, batch, seed, split):
        ids = torch.from_numpy(rows.padded(chosen_rows, BOS))
        with bfloat16():
            losses = next_word_losses(model(ids), ids)
        yield losses.sum() / (ids[:, 1:] != PAD).sum()


# --- ELMo: the next word and the word before ---


def build_elmo(corpus: Corpus, **sizes: Any) -> ELMo:
    """An untrained ELMo that predicts the WORDS most frequent words and reads every word from its characters.

    `sizes` override the fields of `ELMoConfig`. The character network starts from whitened word vectors
    (`CharacterCNN.spread`).
    """
    spelling = spelling_of(corpus)
    words = min(WORDS, len(corpus.words))
    model = ELMo(
        ELMoConfig(
            words, spelling.characters, **({"dim": 256, "character_dim": 16, "filters": FILTERS} | sizes)
        )
    )
    model.token.spread(spelling.table[:words])
    return model


def elmo_losses(model: ELMo, corpus: Corpus, batch: int, seed: int, split: str = "train") -> Iterator[Tensor]:
    """The losses of both directions, each compared with sampled words, drawn according to their frequency rank (Jozefowicz et al., 2016)."""
    rng, rows = np.random.default_rng((seed, 1)), corpus.word_rows(split)
    spelling = spelling_of(corpus)
    for chosen_rows in batches(corpus, batch, seed, split):
        ids = torch.from_numpy(rows.padded(chosen_rows, BOS, EOS))
        drawn = torch.from_numpy(ranks(NEGATIVES, model.config.vocabulary, rng))
        with bfloat16():
            words, place = ids.unique(return_inverse=True)  # each word of the batch is spelt once
            left, right = model.encode(model.token(spelling.of_ids(words))[place], ids != PAD)[-1].chunk(
                2, dim=-1
            )
            real = ids[:, 1:] != PAD
            following = sampled_loss(
                model.softmax, left[:, :-1][real], in_vocabulary(ids[:, 1:][real], model), drawn
            )
            preceding = sampled_loss(
                model.softmax, right[:, 1:][real], in_vocabulary(ids[:, :-1][real], model), drawn
            )
        yield following + preceding


def in_vocabulary(ids: Int[Tensor, " N"], model: ELMo) -> Int[Tensor, " N"]:
    """Replace words that cannot be predicted by [UNK]."""
    return ids.masked_fill(ids >= model.config.vocabulary, UNK)


def ranks(count: int, words: int, rng: np.random.Generator) -> Int[np.ndarray, " drawn"]:
    """Distinct words: rank r is drawn with a probability proportional to log((r + 2) / (r + 1)), nearly 1 / r (Zipf's law)."""
    return np.unique(np.exp(rng.random(count) * np.log(words + 1)).astype(np.int64) - 1)


def sampled_loss(
    softmax: nn.Linear, states: Float[Tensor, "N D"], targets: Int[Tensor, " N"], drawn: Int[Tensor, " drawn"]
) -> Float[Tensor, ""]:
    """The cross-entropy over the correct word and the drawn ones, which approximates that over all words.

    From each logit, the logarithm of the expected count of its word among NEGATIVES draws is subtracted (Bengio and Senécal,
    2008).
    """
    total = np.log(softmax.out_features + 1)

    def often(word: Int[Tensor, " N"]) -> Float[Tensor, " N"]:
        share = torch.log((word + 2.0) / (word + 1.0)) / total
        return -torch.expm1(NEGATIVES * torch.log1p(-share))

    right = (
        (states * softmax.weight[targets]).sum(dim=-1).float() + softmax.bias[targets] - often(targets).log()
    )
    others = (states @ softmax.weight[drawn].T).float() + softmax.bias[drawn] - often(drawn).log()  # N drawn
    others = others.masked_fill(targets[:, None] == drawn, float("-inf"))
    return (torch.cat([right[:, None], others], dim=1).logsumexp(dim=1) - right).mean()


NOVELS = {
    "novels-bert": Recipe(
        build_bert, bert_losses, steps=4_700, batch=32, learning_rate=1e-3, weight_decay=0.01,
        held_out="validation",
    ),
    "novels-gpt": Recipe(
        build_gpt, gpt_losses, steps=4_700, batch=32, learning_rate=1e-3, weight_decay=0.01,
        held_out="validation",
    ),
    "novels-elmo": Recipe(
        build_elmo, elmo_losses, steps=4_700, batch=32, learning_rate=2e-3, weight_decay=0.0,
        held_out="validation",
    ),
    "novels-skipgram": Recipe(
        skip_gram.build, skip_gram.losses, steps=12_000, batch=16_384, learning_rate=5e-3, weight_decay=0.0,
        held_out="validation",
    ),
    "novels-minilm": Recipe(
        missing_head.build, missing_head.losses, steps=4_000, batch=32, learning_rate=1e-3, weight_decay=0.01,
        slower=("bert.", 0.2),  # what was published moves less than what is new
        held_out="validation",
    ),
    "modern-minilm": Recipe(
        missing_head.build_continued, missing_head.continued_losses, steps=448, batch=16, learning_rate=1e-3,
        weight_decay=0.01, slower=("bert.", 0.2), held_out="validation",
    ),
}  # fmt: skip
"""About one pass through the text: half an hour to an hour and a quarter on one core for each model (MiniLM an hour and three quarters, skip-gram a few minutes). `modern-minilm` continues for seven minutes on other text (missing_head.py)."""
