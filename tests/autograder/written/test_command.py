"""`autograder written`, as a person types it."""

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.errors import CourseError
from autograder.written.answers import WrittenAnswers
from autograder.written.desk import Desk
from autograder.written.questions import read_questions
from tests.autograder.written.class_of import NAME, QUESTION, make_course
from tests.autograder.written.conftest import SIGNS
from tests.conftest import ROOT

HEAVY = ("torch", "transformers", "sklearn", "scipy", "coursekit")


def test_before_anything_is_graded_a_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(make_course(tmp_path / "course").root)
    result = CliRunner().invoke(app, ["written", NAME, "--no-browser"])
    assert isinstance(result.exception, CourseError) and "autograder grade" in str(result.exception)


@pytest.mark.slow
def test_agreement_is_a_table(nine, monkeypatch):
    monkeypatch.chdir(nine.root)
    ask = ["written", NAME, "--by", "words", "--agreement"]
    assert "Nothing was read twice" in CliRunner().invoke(app, ask).output
    question = next(one for one in read_questions(nine) if one.name == QUESTION)
    desk = Desk(nine, question, WrittenAnswers(nine), None)
    rows = next(g["rows"] for g in desk.view("ann")["groups"] if SIGNS in [row["text"] for row in g["rows"]])
    for score, row in enumerate(rows):
        desk.give("ann", row["answers"], score)
    while (shown := desk.next_again("bob", 1)).get("answer"):
        desk.give_again("bob", shown["answer"], 1)
    line = next(line for line in CliRunner().invoke(app, ask).output.splitlines() if QUESTION in line)
    assert re.findall(r"\S+", line)[1:] == ["two", "people", "4", "25%", "25%", "0.00"]


@pytest.mark.slow
def test_the_page_is_served_until_it_is_ended(nine):
    program = str(Path(sys.executable).with_name("autograder"))
    command = [program, "written", NAME, "--by", "words", "--no-browser"]
    with subprocess.Popen(command, cwd=nine.root, stdout=subprocess.PIPE, text=True) as running:
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", running.stdout.readline())[0]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.partition("?")[0])
        with pytest.raises(urllib.error.HTTPError, match="403"):  # the cookie is not kept by this one
            urllib.request.urlopen(address)
        running.send_signal(signal.SIGINT)
        assert "Ended." in running.stdout.read()
    assert running.returncode == 0


@pytest.mark.slow
def test_the_page_needs_no_model_until_it_groups():
    script = (
        f"import sys, autograder.written.server\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"
