"""`coursekit.progress()` says which checks pass, of the notebook it stands in."""

import re
import shutil

import pytest

import coursekit
from autograder.checks import answer_key, journal
from autograder.source import grade_id
from tests.conftest import ASSIGNMENTS, ROOT


def test_it_shows_the_checks_of_this_notebook_and_what_their_last_run_said(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/course/notebooks/02_attention/02_attention.ipynb")
    journal.save_check("attention.similarities", True)
    journal.save_check("attention.scale", False)
    journal.save_check("attention.weighted_sum", None)
    journal.save("lent", "attention.attention", "2026-11-22")
    journal.save_check("elmo.scalar_mix", True)
    shown = coursekit.progress()._repr_mimebundle_()
    first, *lines = shown["text/plain"].splitlines()
    assert first.startswith("02_attention: 1 of ")
    assert "  ✓ attention.similarities: passes" in lines
    assert "  ✗ attention.scale: not yet right" in lines
    assert "  · attention.softmax: not run yet" in lines
    assert "  … attention.weighted_sum: not answered yet" in lines
    assert "  ○ attention.attention: lent, earns no points" in lines
    assert "elmo" not in shown["text/plain"]
    assert "attention.scale</td>" in shown["text/html"]


def rows_of_the_map() -> list[str]:
    """A line for each notebook, below what comes next and how much of the course is done."""
    return str(coursekit.course_map()).splitlines()[2:]


@pytest.mark.slow
def test_what_goes_further_is_marked_and_a_notebook_is_done_without_it(monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    (shown,) = coursekit.progress("07").parts
    further = {name for name in shown.checks if shown.said_of(name).endswith("(further)")}
    assert further == {"gpt.mended_labels", "gpt.few_shot_prompt", "gpt.beam_search"}, (
        "two sections that go further, and an extension"
    )
    for name in shown.checks.keys() - further:
        journal.save_check(name, True)
    rows = rows_of_the_map()
    count = len(shown.checks) - len(further)
    assert rows[6] == f"✓ {count} of {count}  07 · GPT"
    journal.save_check("gpt.beam_search", True)
    assert f"{count} of {count} and 1 of {len(further)} further  07" in str(coursekit.course_map())


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_checks_come_in_the_order_of_the_notebook(name):
    one = ASSIGNMENTS[name]
    cells = [grade_id(cell) for cell in one.read_release().cells]
    assert list(answer_key.load(one.key)) == [one.by_check_id[c].name for c in cells if c in one.by_check_id]


def test_another_notebook_is_named_by_its_number(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/course/02_attention.ipynb")
    assert str(coursekit.progress("05")).startswith("05_elmo: 0 of ")
    with pytest.raises(ValueError, match="no notebook '99'. Available: 01_static_embeddings, 02_attention"):
        coursekit.progress("99")


@pytest.mark.slow
def test_outside_of_a_notebook_all_are_shown(monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    shown = str(coursekit.progress())
    assert "01_static_embeddings: 0 of" in shown and "07_gpt: 0 of" in shown


def test_the_map_counts_links_and_says_where_to_go_on(monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    assert coursekit.course_map().here.title == "01 · One vector per word"
    core = [
        exercise.name
        for cell in ASSIGNMENTS["02_attention"].read_release().cells
        if (exercise := ASSIGNMENTS["02_attention"].by_check_id.get(grade_id(cell)))
        and not cell.metadata.get("course", {}).get("extra_credit")
    ]
    for name in core[:-1]:
        journal.save_check(name, True)
    journal.save_check("elmo.scalar_mix", False)
    shown = coursekit.course_map()._repr_mimebundle_()
    first, done, *rows = shown["text/plain"].splitlines()
    assert first == f"Continue with 02 · Attention, step by step: {len(core) - 1} of {len(core)} checks pass."
    assert re.fullmatch(rf"Core path of the course: {len(core) - 1} of \d+ checks pass\.", done)
    assert shown["text/html"].index(">02 · Attention") < shown["text/html"].index("Core path")
    assert f'<progress style="width:6em" value="{len(core) - 1}" max="{len(core)}"' in shown["text/html"]
    assert len(rows) == len(ASSIGNMENTS)
    assert rows[1] == f"  {len(core) - 1} of {len(core)}  02 · Attention, step by step  ← continue here"
    assert 'href="02_attention/02_attention.ipynb"' in shown["text/html"]
    journal.save_check(core[-1], True)
    rows = rows_of_the_map()
    assert rows[1] == f"✓ {len(core)} of {len(core)}  02 · Attention, step by step"
    assert rows[4].endswith("05 · ELMo  ← continue here"), "the one that was begun, not the first"


@pytest.mark.slow
def test_the_map_says_where_to_begin_and_when_all_is_done(monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    assert str(coursekit.course_map()).startswith("Begin with 01 · One vector per word.\n")
    for path in answer_key.key_files():
        for name in answer_key.load(path):
            journal.save_check(name, True)
    assert str(coursekit.course_map()).startswith("Every check of the core path passes.\n")


def test_a_notebook_that_cannot_be_read_is_on_the_map_by_its_file(tmp_path, monkeypatch):
    folder = tmp_path / "02_attention"
    folder.mkdir()
    shutil.copy(ASSIGNMENTS["02_attention"].key, folder)
    (folder / "02_attention.ipynb").write_text("no notebook")
    monkeypatch.chdir(tmp_path)
    titles = {stage.link: stage.title for stage in coursekit.course_map().stages}
    assert titles["02_attention/02_attention.ipynb"] == "02_attention"
