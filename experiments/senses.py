"""How often is the sense of a word found from its whole sentence, from a bag of its words, and from two words on either side?

The senses of data/senses, by the nearest neighbour and by a linear probe on the training sentences (notebook 08, part 8):
for vectors that do not depend on the sentence, for bags of its words, for the two words on either side, and for the vector
of the word in context, also when the context is no more than these two. Accuracy on all words, on those whose senses are
all nouns, and on those whose senses are different parts of speech. Writes `data/results/senses.csv` and the table in
`data/senses/README.md` (about 40 seconds).
"""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from coursekit.datasets import read_table
from coursekit.models import Loaded, load
from coursekit.occurrences import accuracy_over_words, right_by_nearest
from coursekit.sense_readers import right_by_window
from coursekit.vectors import WordVectors, load_glove
from experiments.harness import RESULTS, ROOT, Experiment, Options, Step, Steps

CARD = ROOT / "data/senses/README.md"
PARTS = ("all", "plain", "hard", "far", "right", "decoy")
HALVES = {"all words": ("same", "another"), "all nouns": ("same",), "another part of speech": ("another",)}
PLACES = "the words with their places"
REACH = 2  # words of the window, on either side
FREQUENT = 150  # ranks of GloVe below this are words like "the", "she", "from"
RIDGES = (0.01, 0.1, 1.0, 10.0)
SEED = 2013

# -------------------------------------------------------------------------------------------------- vectors


def around(sentence: str, start: int) -> Iterator[tuple[re.Match, int]]:
    """The words of a sentence in lower case, each with its distance after the one that begins at `start`, which is left out."""
    words = list(re.finditer(r"[a-z0-9]+(?:'[a-z]+)?", sentence.lower()))
    place = [word.start() for word in words].index(start)
    yield from ((word, i - place) for i, word in enumerate(words) if i != place)


def weight(scheme: str, rank: int, distance: int) -> float:
    """The weight of a word: equal, higher for rare words (Arora et al., 2017, with Zipf's law) or near ones, none for frequent ones."""
    return {
        "all words alike": 1.0,
        "rare words count more": 1e-4 / (1e-4 + 1 / (13 * rank)),
        "without frequent words": float(rank > FREQUENT),
        "near words count more": 1 / distance,
    }[scheme]


def beside(sentence: str, start: int) -> dict[str, int]:
    """The two words on either side of the one that begins at `start`, each with its position: {"-1 the": 1, "1 of": 1}."""
    return {f"{place} {word.group()}": 1 for word, place in around(sentence, start) if abs(place) <= REACH}


def truncated(senses: pd.DataFrame) -> pd.DataFrame:
    """The same words, each sentence truncated to the two words on either side."""
    found = []
    for row in senses.itertuples():
        near = [word for word, place in around(row.sentence, row.start) if abs(place) <= REACH]
        begin = min([row.start, *(word.start() for word in near)])
        end = max([row.start + len(row.form), *(word.end() for word in near)])
        found.append((row.sentence[begin:end], row.start - begin))
    sentence, start = zip(*found, strict=True)
    return senses.assign(sentence=sentence, start=start)


def from_two_words(senses: pd.DataFrame) -> Bool[np.ndarray, " n"]:
    """Whether the sense of each sentence is found from the two words on either side, by a logistic regression for each word."""
    places = zip(senses.sentence, senses.start, strict=True)
    return right_by_window(senses, [beside(*place) for place in places])


def bags(senses: pd.DataFrame, glove: WordVectors, scheme: str) -> Float[Tensor, "n D"]:
    """The weighted sum of the GloVe vectors of the words around each target word."""
    found = torch.zeros(len(senses), glove.vectors.shape[1])
    for row, (sentence, start) in enumerate(zip(senses.sentence, senses.start, strict=True)):
        for match, place in around(sentence, start):
            word = match.group()
            stem = word if word in glove else word.split("'")[0]
            if stem in glove:
                found[row] += weight(scheme, glove.index[stem] + 1, abs(place)) * glove[stem]
    return found


def in_context(senses: pd.DataFrame, loaded: Loaded) -> Float[Tensor, "n layers D"]:
    """The vector of each target word at every layer, the mean of its subwords; layer 0 is the input of the first layer."""
    found = []
    for begin in range(0, len(senses), 64):
        some = senses.iloc[begin : begin + 64]
        batch = loaded.tokenizer(
            some.sentence.tolist(), return_tensors="pt", padding=True, return_offsets_mapping=True
        )
        first, last = batch.pop("offset_mapping").unbind(dim=-1)
        with torch.no_grad():
            hidden = loaded.model(**batch, output_hidden_states=True).hidden_states
        start = torch.tensor(some.start.to_numpy())[:, None]
        end = start + torch.tensor(some.form.str.len().to_numpy())[:, None]
        pieces = ((first < end) & (last > start)).float()
        layers = torch.stack(hidden, dim=1)  # n L+1 T D
        found.append(torch.einsum("nltd,nt->nld", layers, pieces) / pieces.sum(dim=1)[:, None, None])
    return torch.cat(found)


# ------------------------------------------------------------------------------------------- the two classifiers


def probe(senses: pd.DataFrame, vectors: Float[Tensor, "n D"]) -> np.ndarray:
    """As `right_by_nearest`, by a linear probe: ridge regression onto the senses of a word, its penalty chosen by leave-one-out."""
    train, right = (senses.split == "train").to_numpy(), {ridge: np.zeros(len(senses)) for ridge in RIDGES}
    for rows in senses.groupby("word").indices.values():
        in_train = torch.from_numpy(train[rows])
        labels = torch.from_numpy(pd.factorize(senses.sense.to_numpy()[rows])[0])
        x = normalize(vectors[rows], dim=1)
        x = x - x[in_train].mean(dim=0)
        targets = one_hot(labels).float()
        targets = targets - targets[in_train].mean(dim=0)
        for ridge in RIDGES:
            gram = x[in_train] @ x[in_train].T
            solved = torch.linalg.inv(gram + ridge * torch.eye(len(gram)))
            guess = x @ x[in_train].T @ solved @ targets[in_train]
            left_out = targets[in_train] - (solved @ targets[in_train]) / solved.diagonal()[:, None]
            guess[in_train] = left_out
            right[ridge][rows] = (guess.argmax(dim=1) == labels).numpy()
    best = max(RIDGES, key=lambda ridge: right[ridge][train].mean())
    return right[best].astype(bool)


# ------------------------------------------------------------------------------------------------------ figures


def every_part(senses: pd.DataFrame) -> Iterator[tuple[str, str, Bool[np.ndarray, " n"]]]:
    """The test sentences of each part in each half of the words; hard is everything that is not plain."""
    kind = senses.kind.to_numpy()
    for half, parts_of_speech in HALVES.items():
        test = ((senses.split == "test") & senses.parts_of_speech.isin(parts_of_speech)).to_numpy()
        yield half, "all", test
        yield half, "plain", test & (kind == "plain")
        yield half, "hard", test & (kind != "plain")
        for name in ("far", "right", "decoy"):
            yield half, name, test & (kind == name)


def measure() -> pd.DataFrame:
    """Accuracy on each part of the test sentences with its interval, one row for each kind of vectors, classifier and part."""
    senses, glove, loaded = read_table("senses/senses.csv"), load_glove(), load("all-MiniLM-L6-v2")
    train = (senses.split == "train").to_numpy()

    def on_train(vectors: Tensor) -> float:
        return right_by_nearest(senses, vectors, within_train=True)[train].mean()

    schemes = ("all words alike", "rare words count more", "without frequent words", "near words count more")
    static = {scheme: bags(senses, glove, scheme) for scheme in schemes}
    bag = max(schemes[:3], key=lambda scheme: on_train(static[scheme]))
    context = in_context(senses, loaded)
    layer = max(range(1, context.shape[1]), key=lambda layer: on_train(context[:, layer]))

    answers = {
        ("majority", "", "most frequent"): 1 / senses.groupby("word")["sense"].transform("nunique").to_numpy()
    }
    for scheme, vectors in static.items():
        family = "near words" if scheme == schemes[3] else "bag"
        answers[family, scheme, "1-NN"] = right_by_nearest(senses, vectors)
        if family == "near words" or scheme == bag:
            answers[family, scheme, "probe"] = probe(senses, vectors)
    answers["window of two", PLACES, "logistic regression"] = from_two_words(senses)
    for number in range(context.shape[1]):
        answers["context", f"layer {number}", "1-NN"] = right_by_nearest(senses, context[:, number])
    answers["context", f"layer {layer}", "probe"] = probe(senses, context[:, layer])
    answers["context of two", f"layer {layer}", "1-NN"] = right_by_nearest(
        senses, in_context(truncated(senses), loaded)[:, layer]
    )

    chosen, bag_answers = answers["context", f"layer {layer}", "1-NN"], answers["bag", bag, "1-NN"]
    near = answers["near words", schemes[3], "1-NN"]
    answers["context above bag", f"layer {layer}", "1-NN"] = chosen.astype(float) - bag_answers
    answers["context above near words", f"layer {layer}", "1-NN"] = chosen.astype(float) - near
    window = answers["window of two", PLACES, "logistic regression"]
    answers["context above window of two", f"layer {layer}", "1-NN"] = chosen.astype(float) - window
    probed = answers["context", f"layer {layer}", "probe"].astype(
        float
    )  # a trained classifier, like the window's
    answers["context above window of two", f"layer {layer}", "probe"] = probed - window
    answers["context above near words", f"layer {layer}", "probe"] = (
        probed - answers["near words", schemes[3], "probe"]
    )
    alone = answers["context of two", f"layer {layer}", "1-NN"]
    answers["context above context of two", f"layer {layer}", "1-NN"] = chosen.astype(float) - alone

    names = {"majority": "", "bag": "GloVe", "near words": "GloVe", "window of two": ""}
    best = {
        ("bag", bag),
        ("near words", schemes[3]),
        ("window of two", PLACES),
        ("context", f"layer {layer}"),
        ("context of two", f"layer {layer}"),
    }
    rows = []
    for (family, variant, judge), right in answers.items():
        for half, part, mask in every_part(senses):
            value, low, high = accuracy_over_words(right[mask], senses.word[mask], SEED)
            rows.append({
                "half": half,
                "vectors": family, "model": names.get(family, loaded.name), "variant": variant, "judge": judge,
                "chosen": (family, variant) in best, "part": part, "sentences": int(mask.sum()),
                "value": round(value, 4), "low": round(low, 4), "high": round(high, 4),
            })  # fmt: skip
    return pd.DataFrame(rows)


def card_table(results: pd.DataFrame) -> str:
    """The tables of the card, one for each half of the words."""
    return "\n\n".join(
        f"**{half.capitalize()}**\n\n{half_table(results[results.half == half])}" for half in HALVES
    )


def half_table(results: pd.DataFrame) -> str:
    """What was selected on train, and layer 0 as a control."""
    listed = results[
        results.chosen | results.vectors.str.contains("majority|above") | (results.variant == "layer 0")
    ]
    labels = {
        "majority": "most frequent sense",
        "bag": "bag: GloVe, {}",
        "near words": "near words: GloVe",
        "window of two": "window of two",
        "context": "context: {} of {}",
        "context of two": "context of two: {} of {}",
        "context above bag": "*context minus bag*",
        "context above near words": "*context minus near words*",
        "context above window of two": "*context minus window of two*",
        "context above context of two": "*context minus context of two*",
    }
    sizes = results.drop_duplicates("part").set_index("part").sentences
    heads = " | ".join(f"{part} ({sizes[part]})" for part in PARTS)
    lines = [f"| vectors | judge | {heads} |", "|---|---|" + "---|" * len(PARTS)]
    for (family, variant, judge), rows in listed.groupby(["vectors", "variant", "judge"], sort=False):
        cells = rows.set_index("part").loc[list(PARTS)]
        shown = [f"{row.value:.2f} ({row.low:.2f} to {row.high:.2f})" for row in cells.itertuples()]
        lines.append(
            f"| {labels[family].format(variant, rows.model.iloc[0])} | {judge} | {' | '.join(shown)} |"
        )
    return "\n".join(lines)


def _steps(options: Options) -> Steps:
    yield Step("senses", [{}], measure)
    if options.results == RESULTS:  # the card goes with the table of the repository
        before, _, after = CARD.read_text(encoding="utf-8").partition("<!-- figures -->\n")
        _, _, after = after.partition("<!-- end of figures -->")
        table = card_table(pd.read_csv(options.path("senses"), keep_default_na=False))
        CARD.write_text(
            f"{before}<!-- figures -->\n{table}\n<!-- end of figures -->{after}", encoding="utf-8"
        )


EXPERIMENT = Experiment(_steps)
