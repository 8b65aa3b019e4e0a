"""How often is the answer to a question found without understanding the paragraph?

Prints what the table contains, how far the sentence that shares most words with the question gets, and how well questions
without an answer are recognised from lengths, punctuation or words alone. The card `data/questions/README.md` quotes
these lines (10 seconds).
"""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from experiments.datasets.penalised import predictions
from experiments.datasets.trivial import indicators, lengths, punctuation
from experiments.harness import ROOT, Card, Options

SPLITS = ["train", "validation", "test"]
ASKING = ["what", "where", "which", "who", "why", "when", "how many", "how much", "how long", "how"]
COMMON = set(
    "a an and are as at be by can could did do does for from had has have he her his how in into is it its much many of "
    "on or she should some than that the their them they to was were what when where which who whom whose why will with".split()
)
DECAYS = (1e-4, 1e-3, 1e-2, 1e-1)


def read() -> pd.DataFrame:
    """The table of questions."""
    return pd.read_json(ROOT / "data/questions/questions.json")


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-zà-ÿ0-9]+(?:['.,-][a-zà-ÿ0-9]+)*", text.lower())


def content_words(text: str) -> set[str]:
    """The words of a text that are not function words."""
    return set(words(text)) - COMMON


def asking_word(question: str) -> str:
    """The question word, wherever it occurs ("On which day"); the longest that matches."""
    found = [word for word in ASKING if re.search(rf"\b{word}\b", question.lower())]
    return max(found, key=len) if found else "other"


def taken_over(row: pd.Series) -> float:
    """Share of the question's content words that occur unchanged in the paragraph."""
    asked = content_words(row["question"])
    return len(asked & set(words(row["context"]))) / len(asked)


def sentence_bounds(context: str) -> list[tuple[int, int]]:
    """Where each sentence of a paragraph begins and ends, in characters."""
    ends = [match.end() for match in re.finditer(r"[.!?][\"”]?(?= [A-Z\"])", context)] + [len(context)]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def likeliest_sentence(row: pd.Series) -> tuple[int, int]:
    """The sentence that shares most content words with the question; the first one in a tie."""
    asked = content_words(row["question"])
    bounds = sentence_bounds(row["context"])
    return max(bounds, key=lambda bound: len(asked & set(words(row["context"][slice(*bound)]))))


def token_f1(said: str, accepted: list[str]) -> float:
    """The best F1 over the accepted answers, on words without articles."""

    def bag(text: str) -> Counter:
        return Counter(word for word in words(text) if word not in {"a", "an", "the"})

    best = 0.0
    for answer in accepted:
        shared = (bag(said) & bag(answer)).total()
        if shared:
            precision, recall = shared / bag(said).total(), shared / bag(answer).total()
            best = max(best, 2 * precision * recall / (precision + recall))
    return best


def contents(questions: pd.DataFrame) -> Iterator[str]:
    """What the table contains."""
    paragraphs = questions.drop_duplicates("context")
    lengths = paragraphs["context"].str.split().str.len()
    yield f"paragraphs {len(paragraphs)}, questions {len(questions)}, unanswerable {(~questions['answerable']).mean():.1%}"
    for split in SPLITS:
        some = questions[questions["split"] == split]
        yield (
            f"{split}: {some['context'].nunique()} paragraphs, {len(some)} questions, "
            f"{(~some['answerable']).sum()} of them unanswerable ({(~some['answerable']).mean():.1%})"
        )
    yield ", ".join(f"{genre} {count}" for genre, count in paragraphs["genre"].value_counts().items())
    each = questions.groupby("context").size()
    yield f"words per paragraph: {lengths.min()} to {lengths.max()}, mean {lengths.mean():.0f}; questions per paragraph: {each.min()} to {each.max()}"
    answerable = questions[questions["answerable"]]
    first = answerable["answers"].str[0].str.split().str.len()
    yield (
        f"words per answer (the first accepted one): 1: {(first == 1).mean():.0%}, 2 or 3: {first.between(2, 3).mean():.0%}, "
        f"4 to 6: {first.between(4, 6).mean():.0%}, 7 or more: {(first > 6).mean():.0%}; longest {first.max()}"
    )
    yield f"more than one accepted answer: {(answerable['answers'].str.len() > 1).mean():.0%}"
    place = answerable["starts"].str[0] / answerable["context"].str.len()
    quarters = np.histogram(place, bins=[0, 0.25, 0.5, 0.75, 1])[0] / len(place)
    yield "answers that begin in each quarter of the paragraph: " + ", ".join(
        f"{share:.0%}" for share in quarters
    )
    asked = questions["question"].map(asking_word)
    yield "asking words, with the share that is unanswerable: " + ", ".join(
        f"{word} {(asked == word).sum()} ({(~questions['answerable'][asked == word]).mean():.0%})"
        for word in asked.value_counts().index
    )
    taken = questions.apply(taken_over, axis=1)
    yield (
        f"content words of the question that occur in the paragraph: answerable {taken[questions['answerable']].mean():.0%}, "
        f"unanswerable {taken[~questions['answerable']].mean():.0%}"
    )
    yield second_reading(questions)


def second_reading(questions: pd.DataFrame) -> str:
    """How well the second annotator's answers to the test questions agree with the accepted ones."""
    second = pd.read_csv(ROOT / "data/questions/second_reading.csv", keep_default_na=False)
    both = second.merge(questions, on="id")
    given = both["answer"] != ""
    agree, kappa = (given == both["answerable"]).sum(), cohen_kappa_score(given, both["answerable"])
    answered = both[given & both["answerable"]]
    overlap = [token_f1(row.answer, row.answers) for row in answered.itertuples()]
    return (
        f"second annotation, blind: {len(both)} test questions; answerable or not: {agree} agree, kappa {kappa:.2f}; "
        f"of {len(answered)} answers {overlap.count(1.0)} have the words of an accepted one; doubtful {second.doubtful.sum()}"
    )


def sentence_baseline(questions: pd.DataFrame) -> tuple[float, float]:
    """Of the answerable questions: how often the likeliest sentence contains the answer, and the F1 of that sentence as answer."""
    answerable = questions[questions["answerable"]]
    holds, overlaps = [], []
    for _, row in answerable.iterrows():
        low, high = likeliest_sentence(row)
        holds.append(low <= row["starts"][0] < high)
        overlaps.append(token_f1(row["context"][low:high], row["answers"]))
    return float(np.mean(holds)), float(np.mean(overlaps))


def always_there(questions: pd.DataFrame, place: int) -> float:
    """Of the answerable questions: how often the first (0) or the last (-1) sentence of the paragraph contains the answer."""
    answerable = questions[questions["answerable"]]
    bounds = [sentence_bounds(context)[place] for context in answerable["context"]]
    held = [low <= starts[0] < high for (low, high), starts in zip(bounds, answerable["starts"], strict=True)]
    return float(np.mean(held))


def recognised(features: np.ndarray, questions: pd.DataFrame) -> float:
    """Balanced accuracy on `test` of recognising unanswerable questions from some features (logistic regression)."""
    answerable, score = questions["answerable"].to_numpy(), balanced_accuracy_score
    guesses = predictions(features, answerable, questions["split"], DECAYS, score, class_weight="balanced")
    test = (questions["split"] == "test").to_numpy()
    return score(answerable[test], guesses[test])


def question_only(questions: pd.DataFrame) -> float:
    """The same from the words of the question alone."""
    bags = questions["question"].map(lambda text: set(words(text)))
    return recognised(indicators(bags, questions["split"] == "train").astype(float), questions)


def trivial(questions: pd.DataFrame) -> dict[str, float]:
    """Results on `test` without reading: where the answer is, and whether there is one."""
    test = questions[questions["split"] == "test"]
    both = np.hstack([lengths(questions["question"]), lengths(questions["context"])])
    marks = punctuation(questions["question"])
    return {
        "test, answerable: the first sentence contains the answer": always_there(test, 0),
        "test, answerable: the last sentence contains the answer": always_there(test, -1),
        "test, answerable or not, from lengths: balanced accuracy": recognised(both, questions),
        "test, answerable or not, from punctuation: balanced accuracy": recognised(marks, questions),
    }


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    questions = read()
    yield from contents(questions)
    test = questions[questions["split"] == "test"]
    yield f"test, always 'no answer': exact match and F1 {(~test['answerable']).mean():.3f}"
    for name, some in (("all", questions), ("test", test)):
        holds, f1 = sentence_baseline(some)
        yield f"{name}, answerable: the likeliest sentence contains the answer {holds:.3f}; F1 of that sentence {f1:.3f}"
    yield from (f"{name} {value:.3f}" for name, value in trivial(questions).items())
    balanced = question_only(questions)
    yield f"test, answerable or not, from the question alone: balanced accuracy {balanced:.3f} (chance 0.5)"


EXPERIMENT = Card(lines)
