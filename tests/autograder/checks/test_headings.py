"""What people read in the place of a grade id."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.checks.headings import heading_in, headings, plain


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("**Question 1 · What *attention* starts from.** Attention starts …", "Question 1 · What attention starts from"),
        ("## Questions\n\n**Question 2.** Why?", "Question 2"),
        ("### Why `softmax`? ###\n\nSay why.", "Why softmax?"),
        ("## Question 3 (5 points)\n\n**Hint:** think.", "Question 3 (5 points)"),
        ("## Question 3\n\n**2 points** for a reason.", "Question 3"),
        ("Question 4\n----------\nWhy?", "Question 4"),
        ("<h3 id='q5'>Question <b>5</b></h3>\nWhy?", "Question 5"),
        ("__Aufgabe 2a)__ Warum?", "Aufgabe 2a)"),
        ("**3.** Why?", "Question 3"),
        ("**Why the median?**\n\nSay why.", "Why the median?"),
        ("#### [Question 6](#q6) · $x_1$ and $x_2$", "Question 6 · $x_1$ and $x_2$"),
        ("```\n# a comment\n```\nWhy?", ""),
        ("<!-- # hidden -->\nWhy?", ""),
        ("- one\n- two\n\n---\n\nWhy **Question 1** is hard", ""),
        ("a | b\n---|---\n1 | 2", ""),
        ("#hashtag", ""),
    ],
)  # fmt: skip
def test_a_heading_is_a_line_or_the_bold_words_of_a_question(text, heading):
    assert heading_in(text) == heading


def test_a_long_heading_is_cut():
    assert len(heading_in(f"# {'very ' * 99}long")) < 130


def answer(name, text="YOUR ANSWER HERE", kind=new_markdown_cell, **more):
    about = {"grade_id": name, "grade": True, "solution": True, "points": 2, "task": False}
    return kind(text, metadata={"nbgrader": about | more})


def test_the_heading_stands_in_the_cell_or_directly_above_it():
    task = answer("task", "## Question 4: a plan\n\nMake one.", task=True, grade=False, solution=False)
    cells = [
        new_markdown_cell("# Homework 1"),
        new_markdown_cell("Read this first."),
        answer("untitled"),
        new_markdown_cell("## Question 1: why"),
        new_markdown_cell("Say it in three sentences."),
        answer("above"),
        answer("inside", "### Question 2: how\n\nYOUR ANSWER HERE"),
        new_markdown_cell("## Question 3: the code"),
        answer("code", "# YOUR CODE HERE", new_code_cell),
        task,
        new_markdown_cell("## A demonstration"),
        new_code_cell("1 + 1"),
        answer("after-code"),
    ]
    assert headings(cells) == {
        "untitled": "untitled",
        "above": "Question 1: why",
        "inside": "Question 2: how",
        "code": "Question 3: the code",
        "task": "Question 4: a plan",
        "after-code": "after-code",
    }


def test_what_every_answer_begins_with_is_no_heading():
    stub = "### Write here\n\nYOUR ANSWER HERE"
    cells = [
        new_markdown_cell("## Why?"),
        answer("one", stub),
        new_markdown_cell("## How?"),
        answer("two", stub),
    ]
    assert headings(cells) == {"one": "Why?", "two": "How?"}
    assert headings([new_markdown_cell("## Why?"), answer("one", "### Your answer")]) == {"one": "Why?"}


def test_equal_headings_are_told_apart_by_the_grade_id():
    cells = [new_markdown_cell("## Reflection"), answer("a"), new_markdown_cell("## Reflection"), answer("b")]
    assert headings(cells) == {"a": "Reflection (a)", "b": "Reflection (b)"}


def test_signs_of_markdown_and_html_are_no_words():
    text = "## **Why** is *this* [so](x.html)? <br>`a_b` and _c_, 2 * 3 * 4"
    assert plain(text) == "Why is this so? a_b and c, 2 * 3 * 4"
