"""What groups of written answers are measured on, and how."""

import json
import random

import numpy as np

from autograder.written.grouping import ALIKE
from bench.written.changes import CHANGES, change
from bench.written.material import FOLDER, Material, read
from bench.written.measure import Outcome, between_readings, fewest, outcome
from tests.conftest import ROOT


def test_there_are_four_hundred_answers_each_read_twice():
    materials = read()
    assert len(materials) == 4 and sum(len(one.texts) for one in materials) >= 400
    for one in materials:
        assert len(one.texts) == len(set(one.texts)) == len(one.first) == len(one.second)
        assert {*one.first, *one.second} == {"00", "01", "10", "11"}
        assert 0.8 < between_readings(one).equal <= 1


def test_a_class_is_drawn_with_changes_and_again_the_same():
    material = read()[0]
    drawn = material.drawn(200, seed=1)
    assert drawn == material.drawn(200, seed=1) != material.drawn(200, seed=2)
    own = [text in material.texts for text in drawn.texts]
    assert 0.05 < np.mean(own) < 0.3  # the others are changed


def test_every_change_changes_and_keeps_what_is_said():
    text = (
        "Dividing is bad because the sum isn't positive. The maximum has no gradient. So we take a softmax."
    )
    for kind in CHANGES:
        changed = kind(text, random.Random(0))
        assert changed != text
        assert len(set(changed.lower().split()) & set(text.lower().split())) >= 10
    assert change("", random.Random(3)) is not None


def test_outcome_counts_what_it_says():
    """Two groups: one of three with the points 2, 2, 1, the central one having 2; one alone."""
    material = Material("q", ("a", "b", "c", "d"), ("11", "11", "10", "00"), ("11", "11", "10", "00"))
    likeness = np.array([[1, 0.9, 0.8, 0], [0.9, 1, 0.8, 0], [0.8, 0.8, 1, 0], [0, 0, 0, 1]])
    found = outcome(material, likeness, 0.7)
    assert (found.groups, found.off, found.purity, found.looked, found.moved) == (2, 0.25, 0.75, 3, 1)
    apart = outcome(material, likeness, 0.95)
    assert (apart.groups, apart.off) == (4, 0)
    assert fewest([found, apart], 0.03) is apart and fewest([found], 0.03) is None


def test_the_guide_says_what_was_measured():
    """Its table holds the least and the most of the four questions, at the likeness that is set."""
    guide = (ROOT / "docs" / "written.md").read_text()
    measured = json.loads((FOLDER / "results.json").read_text())

    def span(kind, part, form="{:.0f}"):
        numbers = [getattr(Outcome(**of[str(ALIKE)]), part) for of in measured[kind].values()]
        return " to ".join(form.format(number) for number in (min(numbers), max(numbers)))

    for kind in ("alone", "class"):
        off = span(kind, "off", "{:.0%}").replace("% to", " to").replace("%", " %")
        assert f"| {span(kind, 'groups')} | {off} |" in guide
        assert f"| {span(kind, 'looked')}, with {span(kind, 'moved')} texts picked out | none |" in guide
    purity = span("alone", "purity", "{:.0%}").replace("% to", " to").replace("%", " %")
    by_chance = span("alone", "by_chance", "{:.0%}").replace("% to", " to").replace("%", " %")
    assert f"for {purity} of its answers" in guide and f"at random have {by_chance}" in " ".join(
        guide.split()
    )
