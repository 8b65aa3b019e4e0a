"""Tables of notebook 05 on the ELMo for English."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import display

from coursekit.intervals import mean_and_half
from coursekit.novels import reading
from coursekit.novels.reading import Encode, Occurrences
from coursekit.novels.spelling import LiterarySpelling
from coursekit.small.elmo import ELMo

Interval = Sequence[float]
"""A mean and the two ends of its 95 % interval."""


def your_functions(
    model: ELMo, spelling: LiterarySpelling, encode: Encode, sentences: str | Iterable[str]
) -> float:
    """Print the number of parameters, and by how much the results of the student's functions differ from the model's own.

    The sentences are read together with one of a different length. Returns the largest difference.
    """
    rows = ["The prisoner sat in a dark cell.", *_listed(sentences)]
    away = reading.difference_from(model, spelling, encode, rows)
    print(
        f"{sum(weight.numel() for weight in model.parameters()):,} parameters; "
        f"the results of your functions differ from the model's own by at most {away:.0e}"
    )
    return away


def _listed(sentences: str | Iterable[str]) -> list[str]:
    """A single sentence may be typed without a comma after it."""
    return [sentences] if isinstance(sentences, str) else list(sentences)


def directions(card: Mapping[str, Interval], small: pd.DataFrame) -> None:
    """The perplexities from left to right and from right to left: of ELMo for the generated language and for English, and of counts.

    `card` has the results on novels in nats per word; `small` is the table of the seeds on the generated language.
    """
    trained = small.query("steps > 0")
    small = trained.pivot(index="seed", columns="measure", values="value")
    interval = "{:+.3f} ({:+.3f} to {:+.3f})"
    forward, backward = small["held-out: next word, loss"], small["held-out: word before, loss"]
    gap, half = mean_and_half((backward - forward).to_numpy())
    best = small["held-out: next word, bound"].mean()

    def line(from_left: float | None, from_right: float | None, difference: str) -> dict[str, str]:
        both = {"from left to right": from_left, "from right to left": from_right}
        cells = {name: f"{np.exp(nats):.3g} ({nats:.3f} nats)" if nats else "" for name, nats in both.items()}
        return cells | {"difference in nats": difference}

    table = pd.DataFrame(
        {
            "generated language, held out: entropy": line(best, best, "0, by the chain rule"),
            "generated language, held out: ELMo, three seeds": line(
                forward.mean(), backward.mean(), f"{gap:+.3f} ± {half:.3f}"
            ),
            "English, two new authors: ELMo": line(
                card["ELMo, from left to right"][0],
                card["ELMo, from right to left"][0],
                interval.format(*card["ELMo, right to left minus left to right"]),
            ),
            "English, two new authors: ELMo, with [EOS] or [BOS]": line(
                None,
                None,
                interval.format(*card["the same difference, including the end symbol of each direction"]),
            ),
            "English, two new authors: 5-grams (counts)": line(card["5-grams"][0], None, ""),
        }
    )
    with pd.option_context("display.max_colwidth", None):
        display(table.T.rename_axis("perplexity"))


def neighbours(
    word: str, sentences: str | Iterable[str], pool: Occurrences, encode: Encode
) -> dict[str, list[str]]:
    """A table of the nearest words at each layer, for each sentence, which is returned as well; before it, the nearest
    occurrences of the same word. A sentence without the word is reported and left out.
    """
    found = {}
    for sentence in _listed(sentences):
        row, spelt = LiterarySpelling.split(sentence), LiterarySpelling.split(word)
        if len(spelt) != 1 or spelt[0] not in row:
            print(
                f"“{sentence}” does not contain the word “{word}”. ELMo reads: {' · '.join(row) or 'nothing'}."
            )
            continue
        target = next(reading.of_each([row], encode))[:, row.index(spelt[0])]
        times = int((pool.words == spelt[0]).sum())
        print(f"{sentence}   ({spelt[0]} occurs {times} times in the course's sentences)")
        for layer, number, cosine in reading.same_word(spelt[0], target, pool):
            sense = pool.sense_at(number)
            line = f"    layer {layer}, cosine {cosine:.2f}: {pool.table.sentence[pool.sentence[number]]}"
            print(line + (f"  ({sense})" if sense else ""))
        found[sentence] = reading.nearest_words(spelt[0], target, pool)
    layers = [f"layer {layer}" for layer in range(len(pool.vectors))]
    with pd.option_context("display.max_colwidth", None):
        display(pd.DataFrame(found, index=layers).T)
    return found


def senses(table: pd.DataFrame, accuracies: Mapping[str, Mapping[str, Interval]]) -> None:
    """The accuracy of each reader on each kind of words, with a random choice as baseline."""
    words = table.word.to_numpy()
    columns: dict[str, dict[str, str]] = {}
    for kind, which in reading.kinds_of_words(table).items():
        title = f"{kind} ({len(np.unique(words[which]))} words, {which.sum()} sentences)"
        columns[title] = {"random choice": f"{reading.random_choice(table, which):.2f}"} | {
            reader: "{:.2f} ({:.2f} to {:.2f})".format(*share) for reader, share in accuracies[kind].items()
        }
    display(pd.DataFrame(columns).rename_axis("accuracy (95 % interval)"))
