"""Tables, sentences and the figure of notebook 01 that compare cosines with people's ratings of word pairs.

Without ratings (`load_rated_pairs` has said why), every function shows nothing.
"""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from jaxtyping import Float
from torch import Tensor, cosine_similarity

from coursekit.intervals import bootstrap
from coursekit.pictures.static_embeddings import name_points
from coursekit.pictures.static_further import rank_correlation
from coursekit.plots import BLUE, ORANGE, show
from coursekit.vectors import WordVectors
from coursekit.word_pairs import RatedPairs

RELATED, SIMILAR = "WordSim-353", "SimLex-999"
ASKED = {RELATED: "relatedness", SIMILAR: "similarity"}


# ------------------------------------------------------------------------------------------ what is measured


def with_cosines(pairs: RatedPairs, words: WordVectors) -> pd.DataFrame:
    """The pairs whose two words have vectors, with their ratings and cosines."""
    rows = pairs.rows(words.index)
    used = (rows >= 0).all(dim=1)
    first, second = words.vectors[rows[used]].unbind(dim=1)
    return pairs.table[used.numpy()].assign(cosine=cosine_similarity(first, second, dim=1).numpy())


def rated_twice(rated: Mapping[str, RatedPairs], words: WordVectors) -> pd.DataFrame:
    """The pairs of both data sets, with both ratings and the cosine; the largest difference between the ratings first."""
    related, similar = (with_cosines(rated[name], words) for name in (RELATED, SIMILAR))
    for table in (related, similar):
        table["pair"] = [
            " – ".join(sorted(pair)) for pair in zip(table["first"], table["second"], strict=True)
        ]
    both = related.merge(similar, on="pair", suffixes=("", " for similarity"))
    return both.sort_values("rating for similarity", key=lambda low: low - both.rating, ignore_index=True)


def difference(items: Float[np.ndarray, "n 3"]) -> float:
    """How much higher the correlation of column 0 with the ratings, in the last column, is than that of column 1."""
    return rank_correlation(items[:, [0, 2]]) - rank_correlation(items[:, [1, 2]])


def _interval(items: Float[np.ndarray, "n columns"], statistic=rank_correlation) -> str:
    low, high = bootstrap(items, statistic, draws=1_000)
    return f"{low:.2f} to {high:.2f}".replace("-", "−")


# ------------------------------------------------------------------------------------------ what is shown


def examples(rated: Mapping[str, RatedPairs], count: int = 4) -> None:
    """The number of pairs in each data set, and the pairs from the highest to the lowest rating in equal steps of rank."""
    for name, pairs in rated.items():
        ordered = pairs.table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)
        some = ordered.iloc[np.linspace(10, len(ordered) - 10, count).astype(int)]
        shown = "; ".join(f"*{row.first}* – *{row.second}* {row.rating:.1f}" for row in some.itertuples())
        display(
            Markdown(f"{name}: {len(pairs)} pairs, rated for {ASKED[name]} from 0 to 10, such as {shown}.")
        )


def agreement(
    rated: Mapping[str, RatedPairs], words: WordVectors, correlations: Mapping[str, float | Tensor]
) -> None:
    """The correlation with each data set, as measured by the student's function, its interval and the pairs that were left out."""
    if not rated:
        return
    lines, missing = {}, []
    for name, pairs in rated.items():
        used = with_cosines(pairs, words)
        left_out = pairs.table.drop(used.index)
        missing += [f"*{row.first}* – *{row.second}*" for row in left_out.itertuples()]
        lines[f"{name} ({ASKED[name]})"] = {
            "pairs": len(pairs),
            "with two vectors": len(used),
            "Spearman's ρ": f"{float(correlations[name]):.2f}",
            "95 % interval over pairs": _interval(used[["cosine", "rating"]].to_numpy()),
        }
    display(pd.DataFrame(lines).T)
    display(Markdown(
        f"Left out because a word is not among the {len(words):,} words: {', '.join(missing) or 'no pair'}. Always report "
        f"such pairs: otherwise nobody notices if a table with a small vocabulary was not tested on the difficult pairs."))  # fmt: skip


def related_or_similar(rated: Mapping[str, RatedPairs], words: WordVectors) -> None:
    """The cosines of all pairs against their ratings, with the pairs that both data sets contain, and dissimilar pairs with high cosines."""
    if not rated:
        return
    both = rated_twice(rated, words)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
    for ax, (name, pairs), rating in zip(
        axes, rated.items(), ("rating", "rating for similarity"), strict=True
    ):
        table = with_cosines(pairs, words)
        ax.scatter(table.cosine, table.rating, s=6, alpha=0.3, color=BLUE, rasterized=True)
        ax.scatter(both.cosine, both[rating], s=26, color=ORANGE, marker="D", zorder=3)
        rho = rank_correlation(table[["cosine", "rating"]].to_numpy())
        ax.set(
            xlabel="cosine in GloVe",
            title=f"{name}: {ASKED[name]}, ρ = {rho:.2f}",
            xlim=(-0.32, 1.2),
            ylim=(-0.5, 10.7),
        )
        labelled = both.head(3)
        name_points(ax, list(labelled.pair), labelled[["cosine", rating]].to_numpy())
    axes[0].set_ylabel("mean rating")
    told = "; ".join(
        f"{row.pair} {row.rating:.1f} and {row._asdict()['similar']:.1f}, cosine {row.cosine:.2f}"
        for row in both.rename(columns={"rating for similarity": "similar"}).itertuples()
    )
    show(
        figure,
        alt=f"Cosines and ratings of the pairs in two data sets. Diamonds: the {len(both)} pairs in both, rated for relatedness and for similarity: {told}.",
    )
    lower = int((both["rating for similarity"] < both.rating).sum())
    least = with_cosines(rated[SIMILAR], words).query("rating < 2").nlargest(6, "cosine")
    listed = ", ".join(f"*{row.first}* – *{row.second}* ({row.cosine:.2f})" for row in least.itertuples())
    display(Markdown(
        f"Orange diamonds mark the {len(both)} pairs that occur in both data sets. Of these, {lower} received a lower rating when "
        f"people were asked for similarity, although the words and their cosine are the same.\n\n"
        f"The pairs of {SIMILAR} with a rating below 2 and the highest cosines are {listed}. People do not consider these words "
        f"similar, but texts mention them in the same contexts."))  # fmt: skip


def two_tables_of_vectors(
    rated: Mapping[str, RatedPairs], glove: WordVectors, words: list[str], vectors: Float[Tensor, "V D"]
) -> None:
    """GloVe and another table of vectors, compared with people on the pairs for which both have vectors."""
    if not rated:
        return
    other, lines = WordVectors(tuple(words), vectors), {}
    for name, items in on_common_pairs(rated, glove, other).items():
        lines[f"{name} ({ASKED[name]})"] = {
            "pairs in both tables": len(items),
            "ρ of GloVe": f"{rank_correlation(items[:, [0, 2]]):.2f}",
            "ρ of the novels": f"{rank_correlation(items[:, [1, 2]]):.2f}",
            "difference": f"{difference(items):+.2f}".replace("-", "−"),
            "95 % interval of the difference": _interval(items, difference),
        }
    display(pd.DataFrame(lines).T)


def on_common_pairs(
    rated: Mapping[str, RatedPairs], one: WordVectors, other: WordVectors
) -> dict[str, Float[np.ndarray, "n 3"]]:
    """For each data set, the cosines in both tables and the ratings of the pairs that have vectors in both."""
    found = {}
    for name, pairs in rated.items():
        first, second = (with_cosines(pairs, words) for words in (one, other))
        common = first.join(second.cosine.rename("other"), how="inner")
        found[name] = common[["cosine", "other", "rating"]].to_numpy()
    return found
