"""`explore("bank")`: sentences to type, and the picture below them; `compare` shows it for given sentences."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from pathlib import Path

import pandas as pd
import torch
from IPython.display import HTML, display

from coursekit.datasets import read_table
from coursekit.word_explorer.drawing import PATHS, Panel, Picture, Walk
from coursekit.word_explorer.fooling import FILE, NotKept, keep
from coursekit.word_explorer.plane import Plane, plane_of
from coursekit.word_explorer.readers import MODELS, NotInSentence, Reader, Sentence, find_word, reader_of

PAUSE = 0.2
"""Seconds without a keystroke before the sentences are read."""

PREPARED: dict[str, tuple[str, ...]] = {
    "two senses of bank": (
        "bank",
        "I will hike along the bank of a river",
        "I will open a new account at my bank and deposit some money",
    ),
    "three senses of cell": (
        "cell",
        "The prisoner sat in a dark cell",
        "The red blood cell carries oxygen",
        "Plug in your cell phone",
    ),
    "the cues come after the word": (
        "bank",
        "The bank was so muddy that our boots sank into it",
        "The bank was so careless that customers closed their accounts",
    ),
    "words that usually occur with the other sense": (
        "bank",
        "The boat with all our money drifted to the muddy bank",
        "The fisherman rowed down the river to deposit cash at his bank",
    ),
    "one word differs": (
        "mouse",
        "She picked up the wireless mouse with her left hand",
        "She picked up the frightened mouse with her left hand",
    ),
}
"""What the sentences show; then the word, and two or three sentences."""

Examples = Mapping[str, Sequence[str]]
Frozen = tuple[tuple[str, tuple[str, ...]], ...]


def compare(word: str, *sentences: str, senses: Examples | None = None) -> None:
    """Show how the vector of `word` moves between its senses in up to three sentences, layer by layer, in four models.

    `senses` gives example sentences of each sense, {"river": ["We sat on the bank.", …], "money": [...]}, for a word that has none in
    data/senses. Raises NotInSentence, or KeyError for a word without examples, each with a sentence.
    """
    display(picture(word, sentences, _frozen(senses)))


def explore(
    word: str = "bank", senses: Examples | None = None, models: Sequence[str] = MODELS, file: Path = FILE
) -> None:
    """Type up to three sentences with a word: `compare`'s picture follows each pause in your typing.

    Any word of data/senses can be chosen, or one for which `senses` gives example sentences (see `compare`). A button keeps
    sentence 1 in `file` if a model assigns it another sense than you. `models` names those that are shown.
    """
    import ipywidgets  # start-up: `compare` does not need it

    given = _frozen(senses)
    wide = ipywidgets.Layout(width="98%")
    prepared = ipywidgets.Dropdown(options=["your own sentences", *PREPARED], description="show", layout=wide)
    chosen = ipywidgets.Dropdown(options=sorted({word, *_table().word}), value=word, description="word")
    texts = [ipywidgets.Text(description=name, layout=wide) for *_, name in PATHS]
    meant = ipywidgets.Dropdown(description="you mean", tooltip="the sense of the word in sentence 1")
    button = ipywidgets.Button(
        description="Keep sentence 1",
        tooltip=f"append it to {file} if it fools a model",
        layout={"width": "auto", "flex": "none"},
    )
    said = ipywidgets.HTML("Loading models and reading example sentences: up to ten seconds …")
    first = next((sentences for of, *sentences in PREPARED.values() if of == word), [])
    _fill(texts, first)

    def known() -> Frozen:
        return given if chosen.value == word else ()

    def offer_senses() -> None:
        try:
            meant.options = _senses_of(chosen.value, known())
        except KeyError:  # which the picture explains
            meant.options = ()

    def drawn() -> Picture | HTML:
        try:
            return picture(
                chosen.value, [text.value for text in texts if text.value.strip()], known(), models
            )
        except (NotInSentence, KeyError) as problem:
            return _sentence(problem.args[0])

    def take(change: dict) -> None:
        if change["new"] in PREPARED:
            chosen.value, *sentences = PREPARED[change["new"]]
            _fill(texts, sentences)

    def keep_first(_: object) -> None:
        try:
            readings = picture(chosen.value, [texts[0].value], known(), models).readings(0)
            answer = keep(chosen.value, meant.value, texts[0].value, readings, file)
        except (NotInSentence, NotKept, KeyError, OSError) as problem:
            answer = str(problem.args[0] if len(problem.args) == 1 else problem)
        said.value = escape(answer)

    offer_senses()
    display(
        ipywidgets.VBox(
            [
                prepared,
                chosen,
                *texts,
                ipywidgets.HBox([meant, button, said], layout={"flex_flow": "row wrap"}),
            ]
        )
    )
    handle = display(drawn(), display_id=True)
    said.value = ""
    later = _Later(lambda: handle.update(drawn()))

    def changed(change: dict) -> None:
        said.value = ""
        if change["owner"] is chosen:
            offer_senses()
            handle.update(_sentence(f"Reading example sentences with “{chosen.value}”: a few seconds …"))
        later()

    button.on_click(keep_first)
    prepared.observe(take, names="value")
    for control in (chosen, *texts):
        control.observe(changed, names="value")


class _Later:
    """Calls a function after a moment without another call: reading every letter of fast typing would fall behind."""

    def __init__(self, call: Callable[[], None]):
        self._call, self._waiting = call, None

    def __call__(self) -> None:
        if self._waiting:
            self._waiting.cancel()
        self._waiting = asyncio.get_event_loop().call_later(PAUSE, self._call)


def _fill(texts: Sequence, sentences: Sequence[str]) -> None:
    for i, text in enumerate(texts):
        text.value = sentences[i] if i < len(sentences) else ""


def _sentence(text: str) -> HTML:
    return HTML(f'<p role="status">{escape(text)}</p>')


def picture(word: str, texts: Sequence[str], senses: Frozen = (), models: Sequence[str] = MODELS) -> Picture:
    """The picture of `compare`, for some of the models."""
    if not texts:
        raise NotInSentence(f"Type a sentence that contains “{word}”.")
    if len(texts) > len(PATHS):
        raise ValueError(f"{len(texts)} sentences were given; a picture has room for {len(PATHS)}.")
    sentences = [find_word(text, word) for text in texts]
    panels = []
    with _one_thread():
        for reader in map(reader_of, models):
            plane = _plane(reader, word, senses)
            walks = [_walk(reader, plane, sentence) for sentence in sentences]
            panels.append(Panel(reader.name, reader.how, plane, walks))
    return Picture(_senses_of(word, senses), panels)


def _senses_of(word: str, given: Frozen) -> list[str]:
    return [sense for sense, _ in given] or list(_examples(word, "train"))


@contextmanager
def _one_thread() -> Iterator[None]:
    """For short sentences, several threads wait for one another longer than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _walk(reader: Reader, plane: Plane, sentence: Sentence) -> Walk:
    reading = reader(sentence)
    return Walk(sentence, plane.path(reading), plane.pull(reading))


@cache
def _plane(reader: Reader, word: str, senses: Frozen) -> Plane:
    if senses:
        return plane_of(reader, {sense: [find_word(text, word) for text in texts] for sense, texts in senses})
    return plane_of(reader, _examples(word, "train"), _examples(word, "test"))


@cache
def _table() -> pd.DataFrame:
    return read_table("senses/senses.csv")


@cache
def _examples(word: str, split: str) -> dict[str, list[Sentence]]:
    table = _table()
    rows = table[(table.word == word) & (table.split == split)]
    if rows.empty:
        raise KeyError(
            f"There are no example sentences with “{word}”. Give two or more for each sense: "
            f'explore("{word}", senses={{"first": ["…", "…"], "second": ["…", "…"]}}).'
        )
    examples: dict[str, list[Sentence]] = {}
    for row in rows.itertuples():
        start = int(row.start)
        examples.setdefault(row.sense, []).append(Sentence(row.sentence, start, start + len(row.form)))
    return examples


def _frozen(senses: Examples | None) -> Frozen:
    """Raises ValueError unless there are two senses or more, each with two sentences or more."""
    if senses is not None and (len(senses) < 2 or min(map(len, senses.values())) < 2):
        raise ValueError("`senses` needs at least two senses, and at least two example sentences of each.")
    return tuple((sense, tuple(texts)) for sense, texts in (senses or {}).items())
