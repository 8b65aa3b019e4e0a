"""Tables and sentences of notebook 01, with the figures that they explain: counts, skip-gram and mixtures of senses."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Float
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.intervals import mean_and_half
from coursekit.language import Language
from coursekit.pictures import static_embeddings as pictures
from coursekit.vectors import SkipGram, WordVectors

MIXTURES = {
    "weighted by frequency": "senses,\nby frequency",
    "plain average": "senses,\nplain average",
    "best weights": "senses,\nbest weights",
    "senses of other words": "other words'\nsenses, best",
    "random words": "random\nwords, best",
    "among the senses": "senses among\nthemselves",
}
"""The cosines that are measured for an ambiguous word, and their labels in a figure."""


# ------------------------------------------------------------------------------------------ counts and cosines


def counts_and_ppmi(
    tables: Mapping[str, Float[Tensor, "V V"]], shuffled_counts: Float[Tensor, "V V"], language: Language,
    words: Sequence[str], contexts: Sequence[str],
) -> None:  # fmt: skip
    """Counts, PPMI, and PPMI of shuffled neighbours for a few words, with the strongest neighbours of *river* and means of the PPMI."""
    rows, columns = ([language.id_of[word] for word in some] for some in (words, contexts))
    pictures.three_tables(
        {title: whole[rows][:, columns] for title, whole in tables.items()}, words, contexts
    )
    counts, table, shuffled = tables.values()
    strongest = table[language.id_of["river"]].topk(10).indices
    best = ", ".join(f"*{language.vocabulary[i]}*" for i in strongest)
    often = table[counts >= 5].mean(), shuffled[shuffled_counts >= 5].mean()
    once = table[counts == 1].mean(), shuffled[shuffled_counts == 1].mean()
    display(Markdown(
        f"The ten neighbours of *river* with the highest PPMI are {best}, which mostly belong to its topic. Among pairs that "
        f"occurred at least five times, the mean PPMI is {often[0]:.2f} nats, compared with {often[1]:.2f} nats after shuffling. "
        f"Among pairs that occurred only once, the mean is {once[0]:.2f} nats, and it is still {once[1]:.2f} nats after "
        f"shuffling. PPMI overestimates the association of rare words, because a single co-occurrence of a rare word already "
        f"exceeds the number that chance predicts. Each row of the table is now a vector that describes a word by its "
        f"neighbours."))  # fmt: skip


def most_frequent_neighbours(word: str, counts: Float[Tensor, "V V"], language: Language) -> None:
    """The number of pairs, and the ten most frequent neighbours of a word with their counts."""
    words, neighbours = language.vocabulary, counts[language.id_of[word]].topk(10)
    print(
        f"{int(counts.sum()):,} pairs of {len(words):,} words. The most frequent neighbours of {word!r}, with counts:"
    )
    print(", ".join(f"{words[i]} {int(n)}" for n, i in zip(*neighbours, strict=True)))


def random_pairs(glove: WordVectors) -> tuple[Float[Tensor, "1000 D"], Float[Tensor, "1000 D"]]:
    """The vectors of 1,000 pairs of words, drawn at random from the 20,000 most frequent ones without replacement."""
    rows = torch.randperm(20_000, generator=torch.Generator().manual_seed(0))[:2000]
    return glove.vectors[rows[:1000]], glove.vectors[rows[1000:]]


def cosines_of_bank(
    words: Sequence[str], similarity: Float[Tensor, "n n"], chance: Float[Tensor, " pairs"]
) -> None:
    """The cosines of seven words, of which *bank* is the first, as a table, and those of random pairs for comparison."""
    print("       " + " ".join(f"{word:>8}" for word in words))
    for word, line in zip(words, similarity, strict=True):
        print(f"{word:>8}" + " ".join(f"{value:8.2f}" for value in line))
    low, high = chance.quantile(0.025), chance.quantile(0.975)
    print(
        f"1,000 random pairs of the 20,000 most frequent words: mean cosine {chance.mean():.2f}, 95 % of the cosines between "
        f"{low:.2f} and {high:.2f}"
    )
    bank = dict(zip(words, similarity[0].tolist(), strict=True))
    display(Markdown(
        f"*bank* is closer to *money* ({bank['money']:.2f}) and *loan* ({bank['loan']:.2f}) than to *shore* "
        f"({bank['shore']:.2f}) or *river* ({bank['river']:.2f}). The cosine with *river* is no higher than the "
        f"cosines of some random pairs: the mean cosine of random pairs is {chance.mean():.2f}, and one in forty has a cosine "
        f"above {high:.2f}. News reports mention banks that lend money more often than river banks, and the single "
        f"vector reflects the more frequent sense. A cosine can only be interpreted in comparison with the cosines of unrelated "
        f"words."))  # fmt: skip


def near_both(
    found: Sequence[str], anchors: Sequence[str], neighbours: Callable[[str, int], list[str]]
) -> dict[str, list[str]]:
    """For each anchor, the words that were found and are also among its 300 nearest words."""
    near = {anchor: set(neighbours(anchor, 300)) for anchor in anchors}
    return {anchor: [word for word in found if word in words] for anchor, words in near.items()}


def neighbours_of_cell(shared: Mapping[str, Sequence[str]]) -> None:
    """Which of the 30 words nearest to *cell* are also near another word, for several such words."""
    for anchor, words in shared.items():
        print(
            f"of the 30 neighbours of 'cell', also near {anchor!r}: {len(words):2}   {', '.join(words[:6])}"
        )
    count = {anchor: len(words) for anchor, words in shared.items()}
    display(Markdown(
        f"Of the 30 words nearest to *cell*, {count['tissue']} are also near *tissue*, {count['phone']} are near "
        f"*phone* and {count['prison']} are near *prison*; for *opera*, our control, the number is {count['opera']}. "
        f"Every occurrence of *cell* has these neighbours, even if the cell is in a prison. The next figure shows the position of "
        f"the vector of *cell* among words related to its three senses."))  # fmt: skip


def cell_among_groups(
    plane: Float[Tensor, "n 2"], groups: Mapping[str, Sequence[str]], to_group: Mapping[str, float],
    within: Mapping[str, float], chance: float,
) -> None:  # fmt: skip
    """The vector of *cell* (the last point) among the words of its three senses, and its mean cosine with each group."""
    pictures.stranded("cell", plane, groups, to_group, within, chance)
    display(Markdown(
        "On the map, *cell* seems to be stranded between three groups. The bars correct this impression: *cell* is a word of "
        f"*biology*, as close to this group ({to_group['biology']:.2f}) as the words of the group are to one another "
        f"({within['biology']:.2f}). It is less close to *phone* ({to_group['phone']:.2f}, compared with {within['phone']:.2f} "
        f"within the group) and far from *prison* ({to_group['prison']:.2f}, compared with {within['prison']:.2f}). Three senses "
        f"share one vector, and the more often a sense occurs in the texts, the more strongly it influences the vector. (The map "
        f"shows only two of fifty dimensions, so read similarities from the bars rather than from the map.)"))  # fmt: skip


def contest(
    your_words: str, ranks: Mapping[str, float], corpora: Mapping[str, Float[Tensor, "V D"]],
    neighbours_in: Callable[[Tensor, str, int], list[str]], same_word: Float[np.ndarray, " n"], other_word: Float[np.ndarray, " n"],
) -> None:  # fmt: skip
    """Which of your words has moved furthest: six neighbours in both corpora and the median rank of each, and all frequent words.

    `same_word` and `other_word` have the share of common neighbours for each frequent word, in the two tables, and for two words.
    """
    candidates = list(dict.fromkeys(your_words.lower().split()))
    yours = {word: ranks[word] for word in candidates if word in ranks}
    with pd.option_context("display.max_colwidth", None):
        display(pd.DataFrame({
            word: {called: ", ".join(neighbours_in(vectors, word, 6)) for called, vectors in corpora.items()}
            | {"median rank": f"{yours[word]:,.0f}" if word in yours else "too rare"}
            for word in candidates
        }).T)  # fmt: skip
    winner = max(yours, key=yours.__getitem__, default="none")
    moved = torch.tensor(list(ranks.values()))
    further = int((moved > yours.get(winner, 0)).sum())
    others = len(next(iter(corpora.values()))) - 1
    display(Markdown(
        f"Of {len(moved):,} frequent words, {further:,} have moved further than your best candidate, *{winner}*. Half of all "
        f"frequent words have a median rank below {moved.median():,.0f} (out of {others:,}). On average, "
        f"{10 * same_word.mean():.1f} of the ten nearest words are the same in both tables, compared with "
        f"{10 * other_word.mean():.2f} for two different words."))  # fmt: skip


# ------------------------------------------------------------------------------------------ skip-gram


def scores_of_pairs(
    model: SkipGram, best: Float[Tensor, "V V"], counts: Float[Tensor, "V V"]
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """The best and the learned scores of 4,000 random pairs that occurred at least five times."""
    seen = (counts >= 5).nonzero()
    seen = seen[torch.randperm(len(seen), generator=torch.Generator().manual_seed(0))[:4000]]
    learned = (model.word[seen[:, 0]] * model.context[seen[:, 1]]).sum(dim=1)
    return best[seen[:, 0], seen[:, 1]], learned


def correlations(optimum: Float[Tensor, " n"], score: Float[Tensor, " n"]) -> tuple[float, float]:
    """The correlation of the learned with the best scores, and with the best scores of other pairs."""
    return np.corrcoef(optimum, score)[0, 1], np.corrcoef(optimum, score.flip(0))[0, 1]


def learned_scores(
    model: SkipGram, best: Float[Tensor, "V V"], lowest: float, counts: Float[Tensor, "V V"]
) -> None:
    """The loss during training and the learned against the best scores, with recorded results for other dimensions and steps.

    `lowest` is the loss of the best scores.
    """
    losses, (optimum, score) = model.losses, scores_of_pairs(model, best, counts)
    agreement, by_accident = correlations(optimum, score)
    pictures.training(losses, 6 * np.log(2), lowest, optimum, score, agreement, by_accident)
    display(Markdown(
        "**Claim and measurement.** Levy and Goldberg prove that the scores of skip-gram reach PMI − ln k if the vectors have enough dimensions. "
        f"With 50 dimensions for {len(counts):,} words, we measure a correlation of {agreement:.2f} with the best scores (after shuffling "
        f"the scores: {by_accident:.2f}). The loss is {np.mean(losses[-100:]) - lowest:.2f} nats above the lowest possible loss. Are 50 "
        f"dimensions too few, or does training need more steps? The table shows recorded results for three seeds (`python -m "
        f"experiments skip_gram`):"))  # fmt: skip
    lengths = read_table("results/skip_gram.csv").groupby(["D", "steps"])
    display(pd.DataFrame({
        f"{D} dimensions, {steps:,} steps": {
            "correlation with the best scores": "{:.3f} ± {:.3f}".format(*mean_and_half(rows["agreement"])),
            "nats above the lowest possible loss": "{:.3f} ± {:.3f}".format(*mean_and_half(rows["above"])),
        } for (D, steps), rows in lengths
    }).T)  # fmt: skip


def neighbours_by_vectors(
    tables: Mapping[str, Float[Tensor, "V D"]],
    nearest: Callable[[Tensor, int, int], Tensor],
    words: Sequence[str],
    language: Language,
) -> None:
    """The seven words that are nearest to each word, in each table of vectors."""
    for word in words:
        for name, vectors in tables.items():
            found = nearest(vectors, language.id_of[word], 7)
            print(f"{word:7} {name:10}", ", ".join(language.vocabulary[i] for i in found))


# ------------------------------------------------------------------------------------------ mixtures of senses


def fit_of_weights(rows: Sequence[Mapping]) -> tuple[float, float, float]:
    """Slope, intercept and correlation of the weights of senses against their frequencies, over all words."""
    frequency, weights = (np.concatenate([row[name] for row in rows]) for name in ("frequency", "weights"))
    slope, intercept = np.polyfit(frequency, weights, 1)
    return slope, intercept, np.corrcoef(frequency, weights)[0, 1]


def mixtures_of_senses(mixtures: Sequence[Mapping]) -> None:
    """How well mixtures of senses rebuild the vectors of words, and what the weights are; also with recorded seeds."""
    means = {name: np.mean([row[name] for row in mixtures]) for name in MIXTURES}
    slope, intercept, follows = fit_of_weights(mixtures)
    pictures.mixtures(mixtures, MIXTURES, (slope, intercept), follows)
    recorded = read_table("results/01_sense_mixture.csv")
    low, high = (recorded.groupby("measure")["value"].agg(f) for f in ("min", "max"))
    display(Markdown(
        f"The vector of a word is close to the average of its sense vectors. The cosine is {means['weighted by frequency']:.2f}, compared "
        f"with {means['random words']:.2f} for the best mixture of random words and {means['senses of other words']:.2f} for the "
        f"best mixture of senses of other words. With another {recorded.seed.nunique()} seeds, recorded with "
        f"`experiments/sense_mixture.py`, these cosines are {low['weighted by frequency']:.2f} to "
        f"{high['weighted by frequency']:.2f}, {low['random words']:.2f} to {high['random words']:.2f} and "
        f"{low['senses of other words']:.2f} to {high['senses of other words']:.2f}. The cosine alone does not show how the "
        f"senses are weighted, since a plain average reaches {means['plain average']:.2f}.\n\nThe best weights do show this. The more "
        f"frequent a sense is, the larger its weight is, with a correlation of {follows:.2f} (recorded: {low['correlation']:.2f} "
        f"to {high['correlation']:.2f}). However, the weights vary less than the frequencies: the slope is {slope:.2f} "
        f"({low['slope']:.2f} to {high['slope']:.2f}). A sense that accounts for a tenth of the occurrences has a weight of about "
        f"{intercept + 0.1 * slope:.2f} rather than 0.10."))  # fmt: skip


def _as_mixtures(in_novels: pd.DataFrame) -> pd.DataFrame:
    """The recorded rows with lists of frequencies and weights, as a mixture of two words has them."""
    share, first, second = (
        in_novels[name] for name in ("share of the first", "weight of the first", "weight of the second")
    )
    return in_novels.assign(
        frequency=[[p, 1 - p] for p in share], weights=list(map(list, zip(first, second, strict=True)))
    )


def runs_in_novels(in_novels: pd.DataFrame) -> pd.DataFrame:
    """Mean cosines and the fit of weights against frequencies for each recorded run, by number of steps and seed."""
    of_runs = {}
    for run, rows in _as_mixtures(in_novels).groupby(["steps", "seed"]):
        slope, intercept, correlation = fit_of_weights(rows.to_dict("records"))
        of_runs[run] = {name: rows[name].mean() for name in MIXTURES} | {
            "slope": slope, "intercept": intercept, "correlation": correlation,
        }  # fmt: skip
    return pd.DataFrame(of_runs).T.rename_axis(["steps", "seed"])


def mixtures_in_novels(in_novels: pd.DataFrame) -> None:
    """As `mixtures_of_senses`, for merged pairs of words in novels: one recorded run as a figure, and the range of three."""
    of_runs, steps = runs_in_novels(in_novels), in_novels.steps
    at_the_end, halfway = of_runs.loc[steps.max()], of_runs.loc[steps.min()]
    one_run = _as_mixtures(in_novels)[(steps == steps.max()) & (in_novels.seed == 0)]
    line = at_the_end.slope[0], at_the_end.intercept[0]
    pictures.mixtures(one_run.to_dict("records"), MIXTURES, line, at_the_end.correlation[0])

    def from_to(name: str, runs: pd.DataFrame = at_the_end) -> str:
        return f"{runs[name].min():.2f} to {runs[name].max():.2f}"

    display(Markdown(
        f"The figure shows one of three runs. In the novels the vector of a word is also close to the average of its sense vectors: the "
        f"cosine ranges from {from_to('weighted by frequency')}, compared with {from_to('senses of other words')} for senses of "
        f"other words and {from_to('random words')} for random words. The weight of a sense follows its frequency, with a "
        f"correlation of {from_to('correlation')} and a slope of {from_to('slope')}. Halfway through training, the slope was "
        f"{from_to('slope', halfway)} (recorded with `experiments/novels_mixture.py`)."))  # fmt: skip


def gradients_compared(
    theirs: Callable[..., Tensor],
    yours: Callable[..., Tensor],
    autograd: Callable[..., Tensor],
    rng: torch.Generator,
) -> None:
    """The median ratio of two CBOW gradients to autograd's, on random vectors of windows of three sizes."""
    for C in (2, 4, 10):
        window = [torch.randn(*shape, generator=rng) for shape in ((8, C, 20), (8, 20), (8, 5, 20))]
        truth = autograd(*window)
        ratios = [(gradient(*window) / truth).median() for gradient in (theirs, yours)]
        print(
            f"{C:2} context words: word2vec.c ÷ autograd {ratios[0]:5.2f}, yours ÷ autograd {ratios[1]:5.2f}"
        )
