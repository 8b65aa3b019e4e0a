"""Written answers graded in a browser, with the keyboard alone; another grader; and no script of a student's.

`SCREENSHOTS=docs/images make test TEST_ARGS="-k round_of_two"` renews the picture in docs/, and leaves others there to delete.
"""

import re
import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from autograder.gradebook.by_hand import read_marks
from autograder.gradebook.gradebook import open_gradebook
from tests.autograder.written.class_of import QUESTION, make_course, record
from tests.autograder.written.conftest import MIXTURE, TEXTS
from tests.autograder.written.serving import next_address, serving
from tests.browser.accessibility import faint_words, serious_findings

NEXT = "attention-reflection-b"
"""The next question."""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    assignment = make_course(tmp_path_factory.mktemp("written") / "course")
    record(assignment, TEXTS, more={NEXT: {"hao": "A weighted average of the values."}})
    return assignment


@pytest.fixture(scope="module")
def opened(assignment, tmp_path_factory):
    """The program, what it tells the browser to open, and the addresses that were not used yet."""
    folder = tmp_path_factory.mktemp("browser")
    script = folder / "browser"
    script.write_text(f'#!/bin/sh\ncd {folder}; echo "$1" > command; mv command opened\n')
    script.chmod(0o755)
    with serving(assignment, "--again", "1", BROWSER=f"{script} %s") as (running, address):
        while not (folder / "opened").exists():
            time.sleep(0.1)
        yield running, (folder / "opened").read_text().strip(), [address]


@pytest.fixture
def sit_down(chromium, opened):
    """A page of a grader of that name, and what went wrong in it."""
    contexts, problems = [], []
    running, _, unused = opened

    def open_page(name, **options):
        context = chromium.new_context(**({"viewport": {"width": 1280, "height": 800}} | options))
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.goto(unused.pop() if unused else next_address(running))
        page.get_by_label("Name").fill(name)
        page.keyboard.press("Enter")
        page.get_by_label("Question", exact=True).select_option(QUESTION)
        expect(page.locator(".group").first).to_be_visible()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


def scores(assignment):
    with open_gradebook(assignment.root) as gradebook:
        return {
            student: mark.score
            for student, mark in read_marks(gradebook, assignment, QUESTION).items()
            if mark.score is not None
        }


def group(page, text):
    return page.locator(".group").filter(has_text=text)


def test_the_browser_is_led_from_the_file_to_the_page(chromium, opened):
    context = chromium.new_context()
    page = context.new_page()
    _, file, unused = opened
    page.goto(file)
    unused.clear()  # the file led to the address that was printed
    page.get_by_label("Name").fill("eva")
    page.keyboard.press("Enter")
    expect(page.locator("#counted")).to_contain_text("answers graded")
    assert urlsplit(page.url)[2:] == ("/", "", "")  # the token is not left in the address
    page.reload()
    expect(page.locator("#counted")).to_contain_text("answers graded")
    context.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_page(sit_down, colours):
    page = sit_down("axel", color_scheme=colours)
    assert serious_findings(page) == []
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    assert serious_findings(page) == []


def test_the_round_of_two_graders(assignment, sit_down, picture):
    ann = sit_down("ann")
    expect(ann.locator("#prompt")).to_contain_text("Why is this a useful starting point")
    expect(ann.get_by_role("heading", level=1)).to_have_text("02 · Attention, step by step")
    expect(group(ann, MIXTURE)).to_have_attribute("aria-current", "true")

    # points of the guide and a comment to the group, and on to the next
    ann.keyboard.press("1")
    expect(ann.get_by_role("spinbutton", name="Points")).to_have_value("1")
    picture(ann, "written")
    ann.keyboard.press("c")
    ann.keyboard.type("And two examples?")
    ann.keyboard.press("Control+Enter")
    expect(ann.locator("#message")).to_have_text("1 point to 4 answers.")
    expect(group(ann, "nothing does")).to_have_attribute("aria-current", "true")
    assert scores(assignment) == dict.fromkeys(("ada", "bob", "cem", "dua"), 1)
    expect(group(ann, MIXTURE)).to_contain_text("Comment: And two examples?")
    picture(ann, "written_group")

    # undone: what was given is in the form again
    ann.keyboard.press("u")
    expect(ann.locator("#message")).to_have_text("Undone: 1 point to 4 answers.")
    expect(ann.get_by_role("spinbutton", name="Points")).to_have_value("1")
    expect(ann.locator("#comment")).to_have_value("And two examples?")
    expect(ann.locator("#guide input").first).to_be_checked()
    assert scores(assignment) == {}
    expect(group(ann, MIXTURE)).not_to_contain_text("Comment:")

    # typed faster than the gradebook writes: given again, opened, the second text on its own, split off
    for key in ("Enter", "k", "o", "j", "0", "Enter", "k", "j", "x", "s"):
        ann.keyboard.press(key)
    expect(ann.locator("#message")).to_have_text("1 answer split off.")
    assert sorted(scores(assignment).values()) == [0, 1, 1, 1]
    expect(ann.locator(".group")).to_have_count(5)
    ann.keyboard.press("u")
    expect(ann.locator("#message")).to_have_text("Undone: 1 answer split off.")
    expect(ann.locator(".group")).to_have_count(4)

    # join with the keyboard
    for key in ("m", "j", "m"):
        ann.keyboard.press(key)
    expect(ann.locator("#message")).to_have_text("Joined.")
    expect(ann.locator(".group")).to_have_count(3)
    ann.keyboard.press("u")
    expect(ann.locator("#message")).to_have_text("Undone: 2 groups joined.")
    expect(ann.locator(".group")).to_have_count(4)

    # resumed after a reload; another grader sees it, and what is there
    ann.reload()
    expect(ann.locator("#counted")).to_contain_text("4 of 8 answers graded")
    bob = sit_down("bob", color_scheme="dark", viewport={"width": 900, "height": 700})
    expect(group(bob, MIXTURE).locator(".badge").first).to_have_text("0 to 1 points")

    # both want the same group: the second is told, and nothing is overwritten
    for page in (ann, bob):
        expect(group(page, "nothing does")).to_have_attribute("aria-current", "true")
    bob.keyboard.press("2")
    ann.keyboard.press("a")
    ann.keyboard.press("Enter")
    expect(ann.locator("#message")).to_have_text("2 points to 2 answers.")
    bob.keyboard.press("Enter")
    expect(bob.locator("#message")).to_contain_text(re.compile("not saved|nothing was saved"))
    assert {scores(assignment)[student] for student in ("eva", "fay")} == {2}
    picture(bob, "written_conflict_900_dark")

    # an open group as a whole
    for key in ("n", "o", "0", "Shift+Enter"):
        ann.keyboard.press(key)
    expect(ann.locator("#message")).to_have_text("0 points to 1 answer.")

    # at the end of a question on to the next that waits; what was given last can still be undone
    for key in ("a", "Enter"):
        ann.keyboard.press(key)
    expect(ann.locator("#message")).to_contain_text(
        "All answers to “Question 1 · What attention starts from” are graded. This is “Question 2 · "
    )
    expect(ann.locator("#questions")).to_have_value(NEXT)
    expect(ann.locator("#prompt")).to_contain_text("In what way does attention contextualise the vector")
    picture(ann, "written_next_question")
    ann.keyboard.press("u")
    expect(ann.locator("#message")).to_have_text("Undone: 2 points to 1 answer.")
    expect(ann.locator("#questions")).to_have_value(QUESTION)

    # what a student wrote is text
    expect(ann.get_by_text("<img src=x onerror=alert(1)> 1 & 2")).to_be_visible()
    assert not ann.locator("#groups img").count()


def test_a_second_reading_is_blind_and_agreement_is_shown(assignment, sit_down, picture):
    cem = sit_down("cem")
    group(cem, MIXTURE).click()
    cem.keyboard.press("b")
    again = cem.get_by_role("dialog", name="A second reading")
    expect(again).to_be_visible()
    shown = again.locator("#again-text")
    expect(shown).to_have_text(re.compile(r"\w"))
    assert "point" not in shown.inner_text().replace(MIXTURE, "")
    cem.keyboard.press("1")
    expect(again.get_by_label("Points")).to_have_value("1")
    before = scores(assignment)
    again.get_by_role("button", name="Give points").click()
    again.get_by_role("button", name="Stop").click()
    cem.get_by_role("button", name="Agreement").click()
    expect(
        cem.get_by_role("dialog", name="How well readings agree").get_by_role(
            "cell", name="Question 1 · What attention starts from"
        )
    ).to_be_visible()
    assert scores(assignment) == before
    picture(cem, "written_agreement")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [900, 1280])
def test_all_words_can_be_read(sit_down, theme, width):
    page = sit_down("dua", color_scheme=theme, viewport={"width": width, "height": 800})
    for state in ("", "o", "x"):
        page.keyboard.press(state or "n")
        assert faint_words(page.locator("body")) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
