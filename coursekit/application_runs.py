"""What was recorded for notebook 10: predictions of several models for the test reviews, sentences and questions, and their scores."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Int
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.entity_scores import ratio
from coursekit.intervals import Interval, bootstrap

MAX_LEN = 24
"""The longest allowed answer, in subwords."""
KINDS_OF_REVIEW = ("plain", "negation", "contrast", "sarcasm")
Scores = tuple[Tensor, Tensor, Tensor, list[tuple[int, int]]]
"""Start and end scores, a mask of the text, and the character offsets of the tokens."""


class Reviews(NamedTuple):
    """What was recorded for the test reviews."""

    answers: pd.DataFrame
    """The predictions of each model and seed, and whether they are `right`."""
    right: dict[str, pd.Series]
    """For each model and review, the fraction of seeds whose prediction is correct."""
    by_kind: dict[str, dict[str, Interval]]
    """The accuracy of each model on all reviews and on each kind."""
    gains: dict[str, Interval]
    """The accuracy of the fine-tuned model minus that of each other model on the same reviews."""


def reviews(test_reviews: pd.DataFrame) -> Reviews:
    """The recorded predictions of each model for the test reviews, with accuracies and gains."""
    labels = test_reviews.set_index("id")["label"]
    answers = read_table("results/applications_sentiment.csv").set_index("id")
    answers["right"] = answers["positive"] == (labels == "positive").astype(int).reindex(answers.index)
    by_model = answers.groupby("model", sort=False)
    right = {name: rows.groupby("id")["right"].mean() for name, rows in by_model}
    prompts = read_table("results/applications_prompts.csv").set_index(["task", "id"])["answer"]
    zero_shot = prompts["sentiment"]
    right["SmolLM2, zero-shot"] = (zero_shot == labels.reindex(zero_shot.index)).astype(float)
    by_kind = by_phenomenon(right, test_reviews)
    return Reviews(answers, right, by_kind, gains_of_fine_tuning(right, test_reviews))


def _of_kind(shares: pd.Series, test_reviews: pd.DataFrame, kind: str) -> pd.Series:
    return shares[test_reviews.set_index("id")["phenomenon"].reindex(shares.index) == kind]


def by_phenomenon(
    right: Mapping[str, pd.Series], test_reviews: pd.DataFrame
) -> dict[str, dict[str, Interval]]:
    """The accuracy of each model on all reviews and on each kind, with intervals over the reviews."""
    return {
        name: {
            kind: (some.mean(), *bootstrap(some.to_numpy()))
            for kind, some in [("all", shares)]
            + [(kind, _of_kind(shares, test_reviews, kind)) for kind in KINDS_OF_REVIEW]
        }
        for name, shares in right.items()
    }


def gains_of_fine_tuning(right: Mapping[str, pd.Series], test_reviews: pd.DataFrame) -> dict[str, Interval]:
    """The accuracy of the fine-tuned model minus that of the others on the same reviews; for the frozen encoder also by kind."""

    def difference(a: pd.Series, b: pd.Series) -> Interval:
        values = (a - b).dropna().to_numpy()  # of the items that a and b have in common
        return values.mean(), *bootstrap(values)

    tuned = right["fine-tuned"]
    gains = {name: difference(tuned, other) for name, other in right.items() if name != "fine-tuned"}
    for kind in KINDS_OF_REVIEW:
        gains[f"frozen, {kind}"] = difference(_of_kind(tuned, test_reviews, kind), right["frozen"])
    return gains


SOURCES = ("ours", "film", "product")
"""Where the test examples of `other_sources` come from: the course's reviews, and rated sentences of film and product reviews."""


def other_sources() -> pd.DataFrame:
    """For each test example (index: id) and each recorded run (a column "trained on, model"), the proportion of correct answers.

    The column "one rater" contains the proportion of single raters who agree with the others; our reviews have no raters.
    """
    return read_table("results/applications_domains.csv").set_index("id")


def of_source(answers: pd.Series, source: str) -> Interval:
    """The mean over the examples of a source. For the interval, whole product reviews are resampled, as their sentences are dependent."""
    ids = answers.index.to_series()
    own = answers[(ids.str.startswith(source) if source != "ours" else ~ids.str.contains(" ")).to_numpy()]
    reviews = own.groupby(own.index.str.partition("_").get_level_values(0)).agg(["sum", "count"]).to_numpy()
    return own.mean(), *bootstrap(reviews, lambda some: some[:, 0].sum() / some[:, 1].sum())


def tags_of_taggers(table: str, by: str, test_sentences: pd.DataFrame) -> dict:
    """The predicted tags of the test sentences, a list for each seed, by a column of a recorded table."""
    found: dict = {}
    for (name, _), rows in read_table(f"results/{table}.csv").groupby([by, "seed"], sort=False):
        tags = rows.set_index("sentence")["tags"].str.split().reindex(test_sentences.index).tolist()
        found.setdefault(name, []).append(tags)
    return found


def span_scores(test_questions: pd.DataFrame, tokenizer) -> Callable[[str], Scores]:
    """A function of a question's id that returns the recorded scores of its text."""
    scores = read_table("results/applications_span_scores.csv").set_index("id")

    def recorded_scores(id: str) -> Scores:
        question = test_questions.loc[id]
        row = tokenizer(question["question"], question["context"], return_offsets_mapping=True)
        context = [side == 1 for side in row.sequence_ids()]
        start, end = (
            torch.tensor([float(x) for x in scores.loc[id, side].split()]) for side in ("start", "end")
        )
        return start, end, torch.tensor(context), row["offset_mapping"]

    return recorded_scores


def answers() -> pd.DataFrame:
    """The answers of each model and seed to the validation and test questions, with their first and last token and margin."""
    return read_table("results/applications_questions.csv").fillna({"answer": ""})


def spans_of_heads(test_questions: pd.DataFrame) -> pd.DataFrame:
    """The answers of the two models with a trained head to the test questions."""
    found = answers()
    return found[found["model"].isin(["fine-tuned", "frozen"]) & found["id"].isin(test_questions.index)]


def without_valid_span(in_test: pd.DataFrame) -> pd.Series:
    """By model and seed, the fraction of questions for which start and end are neither both [CLS] nor a span of 1 to MAX_LEN tokens."""
    start, end = in_test["start"], in_test["end"]
    fits = ((start == 0) & (end == 0)) | ((start > 0) & (end >= start) & (end - start < MAX_LEN))
    return (~fits).groupby([in_test["model"], in_test["seed"]]).mean()


def crossed_spans(in_test: pd.DataFrame, test_questions: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The answers of the fine-tuned model whose end comes before their start, and the id of the first that the best span corrects."""
    crossed = in_test[(in_test["model"] == "fine-tuned") & (in_test["seed"] == 0)].set_index("id")
    crossed = crossed[(crossed["start"] > crossed["end"]) & (crossed["end"] > 0)]
    corrected = [
        id for id, answer in crossed["answer"].items() if answer in test_questions.loc[id, "answers"]
    ]
    return crossed, (corrected or list(crossed.index))[0]


def over_paragraphs(test_questions: pd.DataFrame) -> Callable[[Sequence[pd.DataFrame], str], Interval]:
    """A function of the marks for each seed and the name of a mark: the mean over questions, with whole paragraphs resampled."""

    def of_paragraphs(seeds: Sequence[pd.DataFrame], mark: str) -> Interval:
        values = sum(one[mark] for one in seeds) / len(seeds)
        texts = test_questions["context"].reindex(values.index)
        by_text = values.groupby(texts).agg(["sum", "count"]).to_numpy()
        return ratio(by_text), *bootstrap(by_text, ratio)

    return of_paragraphs


def finding_answerable(
    questions: pd.DataFrame, given: Mapping[tuple[str, int], pd.DataFrame]
) -> tuple[dict[str, Interval], tuple[float, float]]:
    """AUCs of telling the questions with an answer from the others, and the interval of the margin's minus the question's words'.

    The AUC is that of the words of the question alone (logistic regression) and of the margins of two models, averaged
    over seeds; its interval resamples whole paragraphs of the test questions.
    """
    # start-up: only this function needs scikit-learn
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train, test = (questions[questions["split"] == split] for split in ("train", "test"))
    answerable, words, tuned = test["answerable"].to_numpy(), "the words of the question alone", "fine-tuned"
    by_words = make_pipeline(CountVectorizer(), LogisticRegression(class_weight="balanced", max_iter=2000))
    by_words.fit(train["question"], train["answerable"])
    guesses = {words: [by_words.predict_proba(test["question"])[:, 1]]}
    for name in (tuned, "frozen"):
        guesses[f"margin, {name}"] = [
            rows["margin"].reindex(test.index).to_numpy() for (of, _), rows in given.items() if of == name
        ]

    def auc(name: str, rows: Int[np.ndarray, " rows"]) -> float:
        with_one, without = rows[answerable[rows]], rows[~answerable[rows]]
        margins = [(values[with_one][:, None], values[without]) for values in guesses[name]]
        return np.mean([(a > b).mean() + (a == b).mean() / 2 for a, b in margins])

    paragraphs = list(test.groupby("context").indices.values())
    drawn = np.random.default_rng(0).integers(0, len(paragraphs), (500, len(paragraphs)))
    drawn_rows = [np.concatenate([paragraphs[n] for n in some]) for some in drawn]
    aucs = {}
    for name in guesses:
        ends = np.quantile([auc(name, rows) for rows in drawn_rows], [0.025, 0.975])
        aucs[name] = auc(name, np.arange(len(test))), *ends
    more = [auc(f"margin, {tuned}", rows) - auc(words, rows) for rows in drawn_rows]
    return aucs, tuple(np.quantile(more, [0.025, 0.975]))
