"""How well are names tagged from the form of a token, from its neighbours, or from a frozen encoder?

Prints what the table contains, and token accuracy and entity F1 of simple taggers. The card `data/entities/README.md`
quotes these lines (under a minute).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import torch
from scipy.sparse import csr_array
from sklearn.metrics import cohen_kappa_score

from coursekit.models import load
from experiments.datasets.penalised import predictions
from experiments.harness import ROOT, Card, Options

SPLITS = ["train", "validation", "test"]
TYPES = ["PER", "LOC", "ORG", "MISC"]
TAGS = ["O", *(f"{begin}-{kind}" for kind in TYPES for begin in "BI")]
DECAYS = (1e-6, 1e-5, 1e-4, 1e-3)


def read() -> pd.DataFrame:
    """The table of tokens."""
    return pd.read_csv(ROOT / "data/entities/entities.csv")


def text(sentence: pd.DataFrame) -> str:
    """The sentence as it was written."""
    return "".join(
        token + " " * after for token, after in zip(sentence["token"], sentence["space_after"], strict=True)
    )


def spans(tags: list[str]) -> list[tuple[int, int, str]]:
    """Entities as (first token, one past the last, type); an I- that continues nothing begins an entity."""
    found: list[tuple[int, int, str]] = []
    for position, tag in enumerate(tags):
        kind = tag[2:]
        if tag.startswith("I-") and found and found[-1][1:] == (position, kind):
            found[-1] = (found[-1][0], position + 1, kind)
        elif tag != "O":
            found.append((position, position + 1, kind))
    return found


def entities(tokens: pd.DataFrame) -> pd.DataFrame:
    """One row per entity: its sentence, split, type, first and last token, and words."""
    rows = []
    for name, sentence in tokens.groupby("sentence"):
        for begin, end, kind in spans(list(sentence["tag"])):
            words = text(sentence.iloc[begin:end]).strip()
            rows.append((name, sentence["split"].iloc[0], kind, begin, end, words))
    return pd.DataFrame(rows, columns=["sentence", "split", "type", "begin", "end", "words"])


def contents(tokens: pd.DataFrame) -> Iterator[str]:
    """What the table contains."""
    sentences, found = tokens.groupby("sentence"), entities(tokens)
    genres = sorted(tokens["genre"].unique())
    yield f"sentences {len(sentences)}, tokens {len(tokens):,}, entities {len(found):,}; genres {len(genres)}: {', '.join(genres)}"
    yield f"tokens per sentence: {sentences.size().min()} to {sentences.size().max()}, median {sentences.size().median():.0f}"
    for split in SPLITS:
        some, of = tokens[tokens["split"] == split], found[found["split"] == split]
        kinds = ", ".join(f"{kind} {(of['type'] == kind).sum()}" for kind in TYPES)
        yield f"{split:10} {some['sentence'].nunique():3} sentences, {len(some):,} tokens, {len(of)} entities: {kinds}"
    without = len(sentences) - found["sentence"].nunique()
    yield f"sentences without an entity: {without} ({without / len(sentences):.1%})"
    longer = (found["end"] - found["begin"] > 1).mean()
    yield f"entities of two or more tokens: {longer:.1%}"
    ends = set(zip(found["sentence"], found["end"], strict=True))
    touching = [place for place in zip(found["sentence"], found["begin"], strict=True) if place in ends]
    yield f"entities that begin where another ends: {len(touching)}"
    kinds_of = found.groupby("words")["type"].agg(set)
    yield f"names that stand for more than one type: {(kinds_of.str.len() > 1).sum()}"
    train, test = (found[found["split"] == split] for split in ("train", "test"))
    unseen = ~test["words"].isin(set(train["words"]))
    seen_otherwise = ~unseen & ~pd.Series(
        list(zip(test["words"], test["type"], strict=True)), index=test.index
    ).isin(set(zip(train["words"], train["type"], strict=True)))
    yield (
        f"test entities whose words are never an entity in train: {unseen.mean():.1%}; "
        f"only an entity of another type: {seen_otherwise.mean():.1%}"
    )
    yield second_reading(tokens)


def second_reading(tokens: pd.DataFrame) -> str:
    """How far the second annotator's entities in the test sentences are the author's: F1 of the two, and Cohen's kappa of the tags."""
    test = tokens[tokens["split"] == "test"]
    found = entities(test)
    second = pd.read_csv(ROOT / "data/entities/second_reading.csv")
    author, other = (
        set(zip(some["sentence"], some["begin"], some["end"], some["type"], strict=True))
        for some in (found, second)
    )
    both = len(author & other)
    tags = test.assign(place=test.groupby("sentence").cumcount(), read="O").set_index(["sentence", "place"])
    for sentence, begin, end, kind in other:
        for place in range(begin, end):
            tags.loc[(sentence, place), "read"] = f"{'B' if place == begin else 'I'}-{kind}"
    kappa = cohen_kappa_score(tags["tag"], tags["read"])
    return (
        f"second annotation, blind: {len(other)} entities in the test sentences, the author's {len(author)}, "
        f"the same in {both}; F1 of the two {2 * both / (len(author) + len(other)):.3f}, kappa of the tags {kappa:.2f}"
    )


def f1(tokens: pd.DataFrame, predicted: np.ndarray) -> str:
    """Token accuracy and entity F1 on `test` (an entity is correct when both ends and its type are)."""
    test = tokens.assign(predicted=predicted)[tokens["split"] == "test"]
    right = asked = answered = 0
    for _, sentence in test.groupby("sentence"):
        truth, answer = set(spans(list(sentence["tag"]))), set(spans(list(sentence["predicted"])))
        right, asked, answered = right + len(truth & answer), asked + len(truth), answered + len(answer)
    score = 2 * right / (asked + answered)
    return f"token accuracy {(test['tag'] == test['predicted']).mean():.3f}, entity F1 {score:.3f}"


def memory(tokens: pd.DataFrame) -> np.ndarray:
    """The most frequent tag of each token in the training sentences; O for a token that is not in them."""
    tags: dict[str, Counter] = defaultdict(Counter)
    for token, tag in tokens.loc[tokens["split"] == "train", ["token", "tag"]].itertuples(index=False):
        tags[token][tag] += 1
    return np.array([tags[token].most_common(1)[0][0] if token in tags else "O" for token in tokens["token"]])


def window(tokens: pd.DataFrame) -> csr_array:
    """Binary features of each token: itself and its neighbours, their shapes, its last letters."""
    marks: list[set[str]] = []
    for _, sentence in tokens.groupby("sentence", sort=False):
        words = ["<s>", *sentence["token"], "</s>"]
        for i in range(1, len(words) - 1):
            around = {f"{k}:{words[i + k].lower()}" for k in (-1, 0, 1)}
            shapes = {f"{k}:{words[i + k][:1].isupper()}{words[i + k].isalpha()}" for k in (-1, 0, 1)}
            marks.append(around | shapes | {f"end:{words[i][-3:].lower()}"})
    return one_hot(marks, tokens, at_least=2)


def marked(tokens: pd.DataFrame, offsets: tuple[int, ...]) -> csr_array:
    """The words at these distances from each token, in lower case: a column per distance and word of the training sentences."""
    marks: list[set[str]] = []
    for _, sentence in tokens.groupby("sentence", sort=False):
        words = ["<s>", "<s>", *sentence["token"].str.lower(), "</s>", "</s>"]
        marks += [{f"{k}:{words[i + k]}" for k in offsets} for i in range(2, len(words) - 2)]
    return one_hot(marks, tokens)


def one_hot(marks: list[set[str]], tokens: pd.DataFrame, at_least: int = 1) -> csr_array:
    """A column for each mark that occurs so often in the training sentences."""
    train = (tokens["split"] == "train").to_numpy()
    counts = Counter(mark for held, used in zip(marks, train, strict=True) if used for mark in held)
    column = {mark: k for k, mark in enumerate(sorted(mark for mark in counts if counts[mark] >= at_least))}
    features = np.zeros((len(marks), len(column)))
    for row, held in enumerate(marks):
        features[row, [column[mark] for mark in held if mark in column]] = 1
    return csr_array(features)


def form_and_place(tokens: pd.DataFrame) -> np.ndarray:
    """Of each token and its neighbours: initial capital, all capitals, digits, punctuation; its length; its position in the sentence."""
    own = pd.DataFrame({
        "capital": tokens["token"].str[0].str.isupper(),
        "capitals": tokens["token"].str.isupper(),
        "digit": tokens["token"].str.contains(r"\d"),
        "mark": ~tokens["token"].str[0].str.isalnum(),
    }).astype(float)  # fmt: skip
    inside = tokens.groupby("sentence", sort=False)
    beside = [own.groupby(tokens["sentence"], sort=False).shift(step).fillna(0) for step in (1, -1)]
    place = inside.cumcount()
    rest = [
        tokens["token"].str.len() / 5,
        (place == 0).astype(float),
        place / inside["token"].transform("size"),
    ]
    return np.hstack([own, *beside, np.stack(rest, axis=1)])


def trivial(tokens: pd.DataFrame) -> dict[str, str]:
    """Token accuracy and entity F1 of taggers that see no word, or not the token itself."""
    seen = {
        "form and position of the token, not the word": form_and_place(tokens),
        "two words on either side, not the token": marked(tokens, (-2, -1, 1, 2)),
    }
    return {name: f1(tokens, logistic_regression(features, tokens)) for name, features in seen.items()}


def token_vectors(tokens: pd.DataFrame) -> tuple[np.ndarray, str]:
    """The last layer at the first subword of each token, from the frozen encoder of the course; its name."""
    loaded, vectors = load("all-MiniLM-L6-v2"), []
    for _, sentence in tokens.groupby("sentence", sort=False):
        batch = loaded.tokenizer(list(sentence["token"]), is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            hidden = loaded.model(**batch).last_hidden_state[0]  # pieces dim
        pieces = batch.word_ids()
        vectors.append(hidden[[pieces.index(word) for word in range(len(sentence))]])
    features = torch.cat(vectors).double().numpy()
    train = features[(tokens["split"] == "train").to_numpy()]
    return features - train.mean(0), loaded.name


def logistic_regression(features: np.ndarray | csr_array, tokens: pd.DataFrame) -> np.ndarray:
    """A tag for every token."""
    return predictions(features, tokens["tag"], tokens["split"], DECAYS)


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    tokens = read()
    yield from contents(tokens)
    yield from (f"{name}: {value}" for name, value in trivial(tokens).items())
    vectors, name = token_vectors(tokens)
    taggers: dict[str, Callable[[], np.ndarray]] = {
        "everything O": lambda: np.full(len(tokens), "O"),
        "most frequent tag of the token": lambda: memory(tokens),
        "logistic regression on a window of words": lambda: logistic_regression(window(tokens), tokens),
        f"logistic regression on {name}, frozen": lambda: logistic_regression(vectors, tokens),
    }
    yield from (f"{name}: {f1(tokens, tag())}" for name, tag in taggers.items())


EXPERIMENT = Card(lines)
