"""What groups of written answers are measured on, and how."""

import json
import random

import numpy as np
import pytest

from autograder.course import Assignment
from autograder.written.grouping import ALIKE
from autograder.written.questions import GuidePoint, Question, read_questions
from bench.written.__main__ import CLASS, MOST_OFF, all_classes, page, readings
from bench.written.changes import CHANGES, change
from bench.written.material import FOLDER, Material, read, texts
from bench.written.measure import Outcome, between, chosen, held_out, outcome
from bench.written.sheets import ASSIGNMENTS, sheet, ticks
from tests.conftest import ROOT


def test_there_are_four_hundred_answers_read_by_two_and_once_more_by_one():
    materials = read()
    assert len(materials) == 4 and sum(len(one.texts) for one in materials) >= 400
    for one in materials:
        readings = (one.first, one.again, one.second)
        assert {len(one.texts), len(set(one.texts)), *map(len, readings)} == {len(one.texts)}
        for reading in readings:
            assert set(reading) == {"00", "01", "10", "11"}
        assert one.second not in (one.first, one.again)


def test_a_sheet_holds_each_answer_once_and_its_ticks_come_back_in_the_order_of_the_answers():
    name, reader = "bert-reflection-1", "third reader"
    answers = texts(FOLDER / "answers" / f"{name}.txt")
    question = Question(
        name, 2, "Why two tenths?", "", (GuidePoint(1, "the mismatch"), GuidePoint(1, "both"))
    )
    made = sheet(question, answers, reader)
    assert made.startswith("Why two tenths?\n\n  1. the mismatch\n  2. both\n")
    shown = [part.split("] ", 1) for part in made.split("\n\n[")[1:]]
    assert sorted(text for _, text in shown) == sorted(answers) and [text for _, text in shown] != list(
        answers
    )
    known = {text: f"{place % 2}{place // 2 % 2}" for place, text in enumerate(answers)}
    lines = [f"{number} {known[text]}" for number, text in shown]
    assert ticks("\n".join(reversed(lines)), name, reader, len(answers)) == [known[text] for text in answers]
    for wrong in (lines[1:], lines + lines[:1]):
        with pytest.raises(ValueError, match="each of them once"):
            ticks("\n".join(wrong), name, reader, len(answers))


def test_every_question_has_a_sheet_with_its_guide():
    for name, assignment in ASSIGNMENTS.items():
        found = [one for one in read_questions(Assignment(ROOT, assignment)) if one.name == name]
        assert [len(one.guide) for one in found] == [2] and found[0].points == 2


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


LIKENESS = np.array([[1, 0.9, 0.8, 0], [0.9, 1, 0.8, 0], [0.8, 0.8, 1, 0], [0, 0, 0, 1]])
"""Three texts that are like one another, the first of them most, and one alone."""


def test_outcome_counts_what_it_says():
    """The points of the group are 2, 2, 1 by the first reader and 1, 2, 2 by the second."""
    first, second = ("11", "11", "10", "00"), ("10", "11", "11", "00")
    material = Material("q", ("a", "b", "c", "d"), first, first, second)
    found = outcome(material, LIKENESS, 0.7)
    assert (found.groups, found.off, found.purity, found.looked, found.moved) == (2, 0.25, 0.75, 3, 1)
    assert (found.off_second, found.across, found.readers) == (0.5, 0.25, 0.5)
    apart = outcome(material, LIKENESS, 0.95)
    assert (apart.groups, apart.off, apart.off_second) == (4, 0, 0) and apart.across == apart.readers == 0.5


def test_agreement_is_of_ticks_and_of_points():
    """Of eight ticks two differ, both in one answer, which keeps its points."""
    found = between(["11", "10", "00", "01"], ["11", "01", "00", "01"])
    assert (found.equal, found.ticks, found.weighted) == (1, 0.75, 1)
    assert found.by_point == pytest.approx((0.5, 0.5))


def outcomes(**off):
    """Questions whose shares off are given at the likenesses 0.9, 0.5 and 0.1, with ever fewer decisions."""
    decisions = {0.9: 30, 0.5: 20, 0.1: 10}
    return {
        name: {
            alike: Outcome(groups, share, share, share, 0, 1, 1, groups, 0)
            for (alike, groups), share in zip(decisions.items(), shares, strict=True)
        }
        for name, shares in off.items()
    }


def test_a_likeness_is_chosen_where_no_question_is_off_too_much():
    found = outcomes(a=(0, 0.02, 0.04), b=(0, 0.04, 0.02))
    assert chosen([found["a"]], 0.03) == 0.5 and chosen([found["b"]], 0.03) == 0.1
    assert chosen(list(found.values()), 0.03) == 0.9
    with pytest.raises(ValueError, match="at most 3% off"):
        chosen(list(outcomes(a=(0.1, 0.1, 0.1)).values()), 0.03)


def test_no_question_is_measured_at_a_likeness_that_it_chose():
    """One question needs 0.9, the three others choose 0.1; so it fares badly unless it was asked."""
    three = dict.fromkeys("bcd", (0, 0, 0))
    found = held_out([outcomes(a=(0, 0.2, 0.4), **three), outcomes(a=(0, 0, 0.1), **three)], 0.03)
    assert len(found) == 12 and all(one.question not in one.chosen_on for one in found)
    assert {here.off for one in found if one.question == "a" for here in one.outcomes} == {0.4, 0.1}
    assert {one.alike for one in found if "a" in one.chosen_on} == {0.9}


def test_the_likeness_that_is_set_is_what_the_rule_chooses():
    """Over all four questions and all draws."""
    assert chosen([of for draw in draws() for of in draw.values()], MOST_OFF) == ALIKE


@pytest.mark.slow
def test_the_page_is_made_of_these_readings_and_numbers():
    """Who changes an answer, a reading or the likeness measures again."""
    materials = read()
    made = page(materials, by_likeness(measured()["alone"]), all_classes(materials, CLASS), draws())
    assert (FOLDER / "results.md").read_text() == made
    assert readings(materials) in (FOLDER / "README.md").read_text()


def measured():
    """{"alone" or "class 1", … of the draws: {question: {likeness as it stands in JSON: what came out}}}."""
    return json.loads((FOLDER / "results.json").read_text())


def by_likeness(of_questions):
    return {
        name: {float(alike): Outcome(**one) for alike, one in of.items()} for name, of in of_questions.items()
    }


def draws():
    return [by_likeness(of) for kind, of in measured().items() if kind != "alone"]


def at_set_likeness(of_questions):
    return [of[ALIKE] for of in by_likeness(of_questions).values()]


def test_the_guide_says_what_was_measured():
    """Its table holds the least and the most of the four questions, at the likeness that is set."""
    guide = " ".join((ROOT / "docs" / "written.md").read_text().split())
    found = measured()

    def span(numbers, form="{:.0f}"):
        return " to ".join(form.format(number) for number in (min(numbers), max(numbers)))

    def here(kind, part):
        return [getattr(one, part) for one in at_set_likeness(found[kind])]

    def share(kind, part):
        return span([100 * number for number in here(kind, part)]) + " %"

    for kind in ("alone", "class 1"):
        groups = span(here(kind, "groups"))
        assert (
            f"read each again, by the second reader | {'101 to 104' if kind == 'alone' else '1,000'} | {share(kind, 'readers')} |"
            in guide
        )
        assert f"unseen for the rest | {groups} | {share(kind, 'off')} |" in guide
        assert f"the same, both by the second reader | {groups} | {share(kind, 'off_second')} |" in guide
        picked_out = f"{span(here(kind, 'looked'))}, with {span(here(kind, 'moved'))} texts picked out"
        assert f"{picked_out} | none |" in guide
    assert f"for {share('alone', 'purity')} of its answers" in guide
    assert f"sizes dealt at random have {share('alone', 'by_chance')}" in guide

    others = [here for one in held_out(draws(), MOST_OFF) for here in one.outcomes]
    off = [100 * one.off for one in others]
    decisions = span([one.groups for one in others])
    assert f"{decisions} decisions, and {span(off)} % off remain, on average {np.mean(off):.1f} %" in guide
    assert f"{sum(one > 100 * MOST_OFF for one in off)} of the {len(off)} times above 3 %" in guide
    own = [one.outcomes[0] for one in held_out([by_likeness(found["alone"])], MOST_OFF)]
    most = max(100 * one.off for one in own)
    assert f"{span([one.groups for one in own])} decisions and up to {most:.0f} % off" in guide
    again = [one for draw in draws()[1:] for one in (of[ALIKE] for of in draw.values())]
    worst = max(100 * max(one.off, one.off_second) for one in again)
    assert f"{span([one.groups for one in again])}, and at most {worst:.1f} % off" in guide
    added = {
        kind: [100 * (one.across - one.readers) for one in at_set_likeness(found[kind])]
        for kind in ("alone", "class 1")
    }
    assert (
        f"add at most {max(added['class 1']):.0f} %" in guide
        and f"himself, {span(added['alone'])} %" in guide
    )
    equal = [f"{100 * between(one.first, one.second).equal:.0f}" for one in read()]
    assert f"{equal[0]}, {equal[1]}, {equal[2]} and {equal[3]} % of the answers" in guide
    kappas = [f"{between(one.first, one.second).weighted:.2f}" for one in read()]
    assert f"{kappas[0]}, {kappas[1]}, {kappas[2]} and {kappas[3]}" in guide
