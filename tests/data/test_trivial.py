"""Every card says how far one gets without understanding the texts, and the figures can be reproduced."""

import re
from importlib import import_module

import pytest

from tests.conftest import ROOT

DECIMALS = 0.02  # another build of the libraries may move a prediction or two


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "of"),
    [
        *((name, "") for name in ("sentiment", "opinions", "entities", "questions", "senses")),
        ("senses", "_novels"),
    ],
)
def test_the_card_says_what_the_trivial_readers_reach(name, of):
    figures = import_module(f"experiments.datasets.{name}")
    card = (ROOT / "data" / name / "README.md").read_text(encoding="utf-8")
    found = getattr(figures, f"trivial{of}")(getattr(figures, f"read{of}")())
    assert len(found) >= 2
    for reader, reached in found.items():
        said = re.search(rf"^{re.escape(reader)}:? (.+)$", card, re.M)
        assert said, reader
        told, measured = (
            [float(number) for number in re.findall(r"[01]\.\d{3}", text)]
            for text in (said[1], reached if isinstance(reached, str) else f"{reached:.3f}")
        )
        assert told and told == pytest.approx(measured, abs=DECIMALS), reader


@pytest.mark.slow
def test_no_trivial_reader_of_sentiment_or_questions_is_far_above_chance():
    for name in ("sentiment", "questions"):
        figures = import_module(f"experiments.datasets.{name}")
        assert max(figures.trivial(figures.read()).values()) < 0.6, name
