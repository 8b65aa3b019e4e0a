"""Tables and sentences of notebook 04, from numbers that the notebook has computed."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit.costs import Costs, count_operations
from coursekit.intervals import mean_and_half, wilson
from coursekit.language import EOS, PAD, Language
from coursekit.translating import Decodings, Searches
from coursekit.translator import Code

Share = tuple[float, float]
"""A mean over seeds and half the width of its 95 % interval."""


def vanishing_and_exploding(left_over: float, large: Float[np.ndarray, "seed length"]) -> None:
    """What is left of the derivative of a plain network after 32 words, and by how much it grows with a large W_h.

    `large` has the derivatives for 2 and for 32 words with a W_h five times as large.
    """
    grown = np.exp(np.log(large[:, 1] / large[:, 0]).mean())
    display(
        Markdown(
            "From 2 to 32 words, the derivative of the plain network shrinks to "
            f"**{left_over:.1e}** of its original size (geometric mean of 8 random networks). With a $W_h$ five times as large, "
            f"the derivative grows by a factor of **{grown:,.0f}**. "
            "Such a derivative explodes, so a single training step would change the weights far too much. Clipping (03) prevents this."
        )
    )


def translators(
    recorded: Mapping[str, pd.DataFrame],
    shares: Mapping[str, Sequence[Share]],
    lengths: Sequence[str],
    sizes: Sequence[int],
) -> None:
    """The number of parameters of each translator, and the share of all, the shortest and the longest sentences translated exactly."""
    columns = {}
    for (name, table), size in zip(recorded.items(), sizes, strict=True):
        of_words = {
            "all lengths": tuple(table.loc["held-out: exactly right", ["mean", "half_width"]]),
            f"{lengths[0]} words": shares[name][0],
            f"{lengths[-1]} words": shares[name][-1],
        }
        columns[name] = {"parameters": f"{size:,}"} | {
            f"translated exactly, {words}": f"{100 * mean:.1f} ± {100 * half:.1f} %"
            for words, (mean, half) in of_words.items()
        }
    display(pd.DataFrame(columns).T)


def additive_attention(right: float, sentences: int, found: float) -> None:
    """How many sentences are translated exactly with the student's attention, and how often it finds the translated word."""
    display(
        Markdown(
            f"With your attention, **{right:.1%}** of {sentences} held-out sentences are translated exactly. For **{found:.1%}** of "
            "the stems, the largest weight lies on the word that the stem translates."
        )
    )


def exposure_bias(compared: Decodings) -> None:
    """The shares of correct tokens after correct prefixes and in free decoding, overall and after the first error of a sentence."""
    tokens, behind, whole, gaps = compared.token_share, compared.behind_share, compared.whole, compared.gaps
    gap, low, high = gaps["all tokens"]
    gap_behind, low_behind, high_behind = gaps["after the first error"]
    display(
        Markdown(
            f"After correct prefixes, **{tokens['forced']:.1%}** of the tokens are correct; after the model's own prefixes (free decoding), "
            f"**{tokens['free']:.1%}** (difference {gap:.1%}, 95 % interval {low:.1%} to "
            f"{high:.1%}). After a sentence's first error, the fractions of correct tokens are **{behind['forced']:.1%}** and "
            f"**{behind['free']:.1%}** (difference {gap_behind:.1%}, {low_behind:.1%} to "
            f"{high_behind:.1%}). Every token is correct in {whole['forced'].float().mean():.1%} and "
            f"{whole['free'].float().mean():.1%} of the sentences respectively; for {compared.agree:.1%} of all sentences, both "
            f"procedures are entirely correct or both make an error."
        )
    )


def translations(
    translate: Callable[[Int[Tensor, "B Ts"]], Int[Tensor, "B Tt"]],
    sentences: Sequence[str],
    language: Language,
    code: Code,
) -> None:
    """The translation of each sentence, with the English word (for an ambiguous word, the sense) after each stem."""
    english = {stem: key[0] for key, stem in reversed(code.stems.items())}
    for words in sentences:
        ids = torch.from_numpy(language.encode(words))[None]
        tokens = [code.vocabulary[i] for i in translate(ids)[0] if i not in (PAD, EOS)]
        glossed = [f"{token} ({english[token]})" if token in english else token for token in tokens]
        print(words, "\n   ", " ".join(glossed))


def with_another_source(right: float, wrong_source: float) -> None:
    """How many sentences are translated exactly, given their own source and given that of another sentence."""
    display(
        Markdown(
            f"Held-out sentences translated exactly: **{right:.1%}**; "
            f"given the source of another sentence: **{wrong_source:.1%}**."
        )
    )


def words_found(found: Sequence[float], untrained: Sequence[float], same_place: float) -> None:
    """How often the largest cross-attention weight of a layer lies on the translated word, with two baselines."""
    display(
        Markdown(
            f"For **{found[0]:.1%}** of the stems in layer 1, and **{found[1]:.1%}** in layer 2, the largest weight lies on the word that "
            f"the stem translates. Baselines: {untrained[0]:.1%} and {untrained[1]:.1%} in an untrained model; "
            f"{same_place:.1%} for always choosing the word at the same position."
        )
    )


def scores_by_seed(dot: Sequence[float], additive: Sequence[float]) -> None:
    """The shares translated exactly with each score by seed, and their mean difference with its 95 % interval."""
    for name, values in (("dot product", dot), ("additive", additive)):
        print(f"{name:<12} translated exactly, by seed: {'  '.join(f'{value:.1%}' for value in values)}")
    gap, half = mean_and_half(np.asarray(dot) - np.asarray(additive))
    print(f"difference: {100 * gap:+.1f} ± {100 * half:.1f} percentage points (95 % interval over seeds)")


def dot_product(
    models: Sequence[nn.Module], right: float, sentences: int, found: tuple[float, float]
) -> None:
    """The translator with dot products compared with the additive one: their parameters, and how often they find the translated word.

    `models` and `found` are those of the dot product, then of additive attention; `right` is the share of `sentences` that
    the dot product translates exactly.
    """
    dot, additive = (sum(weight.numel() for weight in model.parameters()) for model in models)
    print(f"parameters: dot product {dot:,}, additive {additive:,}")
    print(f"with your function, {right:.1%} of {sentences} held-out sentences are translated exactly")
    print(
        f"largest weight on the translated word: dot product {found[0]:.1%} of the stems, additive {found[1]:.1%}"
    )


def searches(compared: Searches) -> None:
    """Greedy decoding and beam search: sentences translated exactly, BLEU, nats, and how often each translation is more probable."""

    def counted(hits: Bool[Tensor, " B"]) -> str:
        low, high = wilson(hits.float().mean().item(), len(hits))
        return (
            f"{hits.sum()} of {len(hits)} sentences ({hits.float().mean():.0%}, "
            f"95 % Wilson interval {low:.0%} to {high:.0%})"
        )

    same, scored = compared.same, compared.scored
    table = {
        how: {
            "translated exactly": f"{same[how].mean():.1%}" if how in same else "",
            "BLEU": f"{100 * scored[how]:.1f}" if how in scored else "",
            "nats per sentence": f"{values.mean():.2f}",
        }
        for how, values in compared.nats.items()
    }
    display(pd.DataFrame(table).T)
    only_beam, only_greedy = compared.only
    print(
        "the beam's translation is more probable than the greedy one:         ",
        counted(compared.more_probable),
    )
    print(
        "the greedy translation is more probable than the correct translation:",
        counted(compared.model_errors),
    )
    print(
        f"exact only with the beam: {only_beam}; exact only with greedy decoding: {only_greedy} "
        f"(exact McNemar test: p = {compared.mcnemar:.2f})"
    )


def cross_masks(lost: Mapping[str, float], blind: float, recorded: pd.DataFrame) -> None:
    """The losses with each mask in the trained translator, the share of stems whose source word is hidden (`blind`), and the
    losses of translators trained with each mask, over seeds."""
    print("in the trained translator:", ", ".join(f"{name} {nats:.2f} nats" for name, nats in lost.items()))
    print(f"stems whose source word the mask of 2021 hides: {blind:.0%}")
    table = recorded.groupby(["steps", "mask"], sort=False)[["own source", "another source"]].agg(
        lambda values: "{:.2f} ± {:.2f}".format(*mean_and_half(values))
    )
    display(Markdown("Nats per token of translators *trained* with each mask, three seeds:"), table)


def operations(costs: Costs) -> None:
    """Attention compared with recurrence in counted operations, times, sequential steps and stored numbers."""
    display(count_operations(costs))


def multiply_adds(of_attention: Callable[[int, int, int], int], costs: Costs, longest: int) -> None:
    """From which length on attention needs as many multiply-adds as a recurrent network, and what a narrow window saves.

    `of_attention` counts those of T words of size D with a window.
    """
    D, narrow, most = costs.width, 16, 10_000
    for products, name in ((2, "a plain network"), (8, "an LSTM")):  # of a word or state and a D × D matrix
        lengths = (T for T in range(1, most) if of_attention(T, D, T) >= products * T * D**2)
        print(f"multiply-adds: attention needs at least as many as {name} from T = {next(lengths, most)} on")
    restricted = of_attention(longest, D, narrow) / (2 * longest * D**2)
    print(
        f"within {narrow} positions: {restricted:.2f} times as many as a plain network at T = {longest}, but "
        f"{-(-(longest - 1) // narrow)} layers until the last word depends on the first"
    )
    print(
        f"run time:      attention takes at least as long as a plain network from T ≈ {costs.crossing:.0f} on"
    )


def one_by_one(costs: Costs) -> None:
    """How many times as long the same products take one by one."""
    print(
        "4,096 words times W: one by one, this takes "
        f"{costs.one_by_one / costs.at_once:.0f} times as long as in one product"
    )


def families(
    remembered: Mapping[str, Float[np.ndarray, "pair length"]],
    between: int,
    reach: Mapping[str, Float[np.ndarray, "seed length"]],
    shares: Mapping[str, Sequence[Share]],
    longest: str,
    costs: Costs,
) -> None:
    """Plain recurrent network, LSTM and transformer compared in what they remember, translate and cost.

    between     the largest number of words after which `remembered` was measured
    shares      of the sentences of each length, the share that each translator translates exactly; the longest sentences, of
                `longest` words, come last
    """
    factor = {name: np.exp(np.log(values).mean(axis=0))[-1] for name, values in remembered.items()}
    left = {name: np.exp(np.log(values[:, -1] / values[:, 0]).mean()) for name, values in reach.items()}
    exact = {name: f"{of_lengths[-1][0]:.1%}" for name, of_lengths in shares.items()}
    rows = {
        "long-range dependencies: path from the first of T words to the last": (
            "T − 1 steps", "T − 1 steps", "1 layer",
        ),
        f"English: factor by which the subject shifts the odds after {between} words (trained)": (
            "not measured", f"{factor['recurrent (LSTM)']:.1f}", f"{factor['transformer']:.0f}",
        ),
        f"translation: sentences of {longest} words translated exactly (trained)": (
            "not measured",
            f"{exact['fixed vector']}; with attention {exact['additive attention']}",
            exact["transformer"],
        ),
        "gradient flow: first word's derivative, 64 words / 2 words (untrained)": (
            f"{left['plain recurrence']:.0e}",
            f"{left['LSTM']:.0e}; forget bias 3: {left['LSTM, forget bias 3']:.2g}",
            f"{left['attention']:.2g}",
        ),
        "parallelisation: sequential steps in training": ("T", "T", "1 per layer"),
        "sequential steps in generation": ("T", "T", "T"),
        "complexity: multiply-adds per layer": ("2TD²", "8TD²", "2T²D + 12TD²"),
        "measured growth of time with T (attention alone)": (
            f"T^{costs.slope['recurrence']:.1f}", "not measured", f"T^{costs.slope['attention']:.1f}",
        ),
        "memory in generation, numbers per layer": ("D", "2D", "2TD (keys and values)"),
    }  # fmt: skip
    display(pd.DataFrame(rows, index=["plain RNN", "LSTM", "transformer"]).T)
