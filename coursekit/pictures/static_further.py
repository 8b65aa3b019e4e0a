"""Tables and sentences of notebook 01, with the figures that they explain: the test of senses, and what comes under Further."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.exam import QUESTIONS, Accuracy, Bounds
from coursekit.intervals import bootstrap
from coursekit.language import SPECIAL_TOKENS, Language
from coursekit.pictures import static_embeddings as pictures

# ------------------------------------------------------------------------------------------ the test of senses


def results_of_the_test(scores: Mapping[str, Accuracy], limits: Bounds) -> None:
    """What the accuracies of one vector per word, the words before and the words around say, compared with the bounds."""
    one, before, around = scores.values()
    of_one = sorted(one[kind] for kind in QUESTIONS)
    display(Markdown(
        "The scoreboard shows means over three training runs (`python -m experiments skip_gram_exam`); the following numbers are "
        f"from your own run. Because the static vector is the same in all sentences, its accuracy of {of_one[0]:.2f} to "
        f"{of_one[-1]:.2f} is that of always predicting the most frequent sense. With the average of the words *before*, the "
        f"accuracy is {before.left:.2f} if the cue is on the left and {before.right:.2f} if the only cue is on the right. In the "
        f"second case, no model that sees only the preceding words can expect an accuracy above {limits.words_before.right:.2f}. "
        f"(This bound is an expectation; in a single test, an accuracy may lie slightly above it, within its interval.) With the "
        f"average of the words on *both* sides, the accuracies are {around.left:.2f} and {around.right:.2f}. A better table would "
        f"therefore not help f(w), because f(w) lacks the context. Wherever a word reveals the sense, even an average of the "
        f"context is enough.\n\nIn the last two panels, the average of all other words reaches {around.order1:.2f} and "
        f"{around.order2:.2f}, about one half, and counts are no better. The average of the words before reaches "
        f"{before.order1:.2f} and {before.order2:.2f}. The first value is above one half, although this average covers fewer "
        f"words. A model that knows which words come *before* another word knows part of the order. This part reveals the sense "
        f"if all the people mentioned so far point to the same sense."))  # fmt: skip


def two_partners(
    first: str,
    second: str,
    language: Language,
    average: Callable[[np.ndarray, np.ndarray, Tensor], Float[Tensor, "2 D"]],
    table: Float[Tensor, "V D"],
) -> None:
    """Two sentences with *cell* and the same words: their senses, their probabilities and the averages of their other words."""
    ids = np.stack([language.encode(sentence) for sentence in (first, second)])
    position = (ids == language.id_of["cell"]).argmax(axis=1)
    beliefs = language.sense_posterior(ids, position, "both")
    meanings = [f"{language.senses[belief.argmax()]}, p = {belief.max():.2f}" for belief in beliefs]
    pictures.partners((first, second), meanings, average(ids, position, table))
    probability, other = language.log_probability(ids)
    print(
        f"probability of the first sentence divided by that of the second: {np.exp(probability - other):.2f}"
    )


def accuracy_on_partners(
    right_of_question: Bool[np.ndarray, " n"], right_of_partner: Bool[np.ndarray, " n"], limits: Bounds
) -> None:
    """Why an average is correct on one of two partners only, with its accuracy on the questions and on their partners."""
    both = np.sum(right_of_question & right_of_partner)
    display(Markdown(
        "The two sentences consist of the same words, so they have the same average and receive the same prediction, which is "
        f"correct for only one of them. Every sentence of these two kinds has such a *partner* in the language, with the same "
        f"words and the same probability but another sense. Therefore no model that ignores word order, however powerful it is, "
        f"can expect an accuracy above {limits.no_order.order1:.2f}. We also tested the average on the partners of all "
        f"{len(right_of_question):,} questions. Its accuracy is {right_of_question.mean():.3f} on the questions, "
        f"{right_of_partner.mean():.3f} on their partners, and {(right_of_question.mean() + right_of_partner.mean()) / 2:.3f} "
        f"overall; it is correct on both in {both} cases. Where its accuracy exceeds one "
        f"half in a panel, this is due to chance: the test happened to contain one partner rather than the other.\n\nWord order "
        f"matters in real sentences as well, because a bag of words does not show who did what to whom. This baseline stays on "
        f"the scoreboard. A later model with a higher accuracy in the last two panels must represent something about *order*. The "
        f"bound of the second panel will become important for GPT, which reads from left to right."))  # fmt: skip


# ------------------------------------------------------------------------------------------ further


def probabilities_of_negatives(
    distribution: Callable[[Tensor, float, Tensor], Tensor], ids: Int[np.ndarray, "n T"], language: Language
) -> None:
    """How much of the noise consists of frequent and of rare words, for the counts of the words in `ids` raised to several powers.

    The mean is taken over pairs whose context words occur as often as in `ids`. The last column has the negatives that
    would equal the context word if it were not excluded.
    """
    occurrences = torch.bincount(torch.from_numpy(ids).flatten(), minlength=len(language.vocabulary)).float()
    occurrences[: len(SPECIAL_TOKENS)] = 0
    share = occurrences / occurrences.sum()
    by_count = occurrences.argsort(descending=True)
    context = occurrences.nonzero().flatten()
    rare = (occurrences > 0) & (occurrences <= occurrences[context].median())
    for power in (1.0, 0.75, 0.01):
        p = share[context] @ distribution(occurrences, power, context)
        the, ten, half = p[language.id_of["the"]], p[by_count[:10]].sum(), p[rare].sum()
        equal = share @ (occurrences**power / (occurrences**power).sum())
        print(
            f"power {power:4}: 'the' {the:6.1%}, ten most frequent words {ten:6.1%}, words up to the median count {half:6.1%}; "
            f"without the exclusion {equal:5.1%} equal the context word"
        )


def averages_compared(
    hits: Mapping[str, Bool[np.ndarray, " n"]], gap: Mapping[str, Float[np.ndarray, " n"]], cue: np.ndarray
) -> None:
    """The accuracy of averages of several kinds of vectors, by kind of question, and the interval of a difference, as a table."""
    by_kind = {
        what: {
            **{f"average, {name}": f"{found[cue == kind].mean():.3f}" for name, found in hits.items()},
            "U S^½ minus skip-gram (95 % interval)": "{:+.3f} ({:+.3f} to {:+.3f})".format(gap[kind].mean(), *bootstrap(gap[kind])),
        } for kind, what in QUESTIONS.items()
    }  # fmt: skip
    display(pd.DataFrame(by_kind).T)


def analogies(
    results: Mapping[str, Mapping[str, float]], asked_back_of_many: Sequence[float], count: int
) -> None:
    """Shares of correct answers to four kinds of analogies as bars, and Linzen's comparison in words.

    `asked_back_of_many` has the share of question words among the answers of each kind, out of 100,000 words.
    """
    pictures.bars(results, f"share of {count} questions", written=True, top=1.05)
    right, _, question_word, baseline = ([*values.values()] for values in results.values())
    kinds = [label.partition("\n")[0] for label in next(iter(results.values()))]
    shares = ", ".join(f"{share:.0%} ({kind})" for share, kind in zip(question_word, kinds, strict=True))
    display(Markdown(
        "**Claim and measurement.** Linzen found that the success of the method depends largely on excluding the question words, "
        f"and on nearest neighbours of *c* that would be correct anyway. In GloVe, without the exclusion, the answer is one of "
        f"the question words in {shares} of cases. "
        f"(Among 100,000 words instead of 20,000: {', '.join(f'{share:.0%}' for share in asked_back_of_many)}.) For plurals, the "
        f"nearest neighbour of *c* alone is correct in {baseline[2]:.0%} of cases, and the analogy is correct in {right[2]:.0%}. "
        f"For capitals these values are {baseline[0]:.0%} and {right[0]:.0%}, so for capitals the offset is indeed necessary."))  # fmt: skip


def rank_correlation(both: Float[np.ndarray, "n 2"]) -> float:
    """Spearman's rank correlation of two columns."""
    return pd.DataFrame(both).corr(method="spearman").to_numpy()[0, 1]


def lean_of_occupations(
    words: Sequence[str], lean: Float[Tensor, "n 8"], at_random: Float[Tensor, " 2"]
) -> None:
    """The lean of occupations by seven pairs of words and by an eighth, and how far the pairs agree.

    `at_random` has the range of 95 % of random words, by the mean of the seven pairs.
    """
    seven, eighth = lean[:, :7].mean(dim=1), lean[:, 7]
    pictures.leaning(words, seven, eighth, at_random)
    ranks = pd.DataFrame(lean.numpy()).corr(method="spearman").to_numpy()
    among_seven = ranks[:7, :7][np.triu_indices(7, 1)]
    both = torch.stack([seven, eighth], dim=1).numpy()
    low, high = bootstrap(both, rank_correlation)
    beyond = [
        name for name, value in zip(words, seven, strict=True) if value < at_random[0] or value > at_random[1]
    ]
    print(
        f"rank correlation between two of the seven pairs, over the occupations: {among_seven.min():.2f} to {among_seven.max():.2f}"
    )
    print(
        f"rank correlation between the mean of the seven pairs and female − male: {rank_correlation(both):.2f} "
        f"(95 % interval over occupations: {low:.2f} to {high:.2f})"
    )
    print("occupations outside the range of 95 % of random words:", ", ".join(beyond))
