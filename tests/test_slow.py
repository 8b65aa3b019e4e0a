"""What is remembered of a file of slow tests is forgotten with anything that they depend on."""

import ast
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests import slow
from tests.conftest import ROOT

SLOW_FILES = sorted(
    path.relative_to(ROOT / "tests").as_posix()
    for path in (ROOT / "tests").rglob("test_*.py")
    if "mark.slow" in path.read_text() and not slow.by_notebook(path)
)
COUNTS = {
    "coursekit": "coursekit/small/figures.py data/senses/senses.csv autograder/checks/comparing.py constraints.txt "
    "requirements-models.txt tests/coursekit/small_languages.py tests/conftest.py",
    "examples": "autograder/cli/authoring.py autograder/README.md pyproject.toml constraints.txt "
    "examples/statistics/source/01_describing/exercises.py",
    "autograder": "autograder/daemon/process.py coursekit/plots.py notebooks/02_attention/02_attention.ipynb "
    "docs/instructors.md tests/autograder/road.py",
    "browser": "tools/jupyterlab/share/jupyter/lab/settings/overrides.json notebooks/start.ipynb course/pyproject.toml "
    "tests/autograder/road.py tests/processes.py",
    "": "Makefile environment.yml README.md docs/students.md tools/bootstrap.py",
}
CHANGES_NOTHING = {
    "coursekit": "README.md docs/grading.md solutions/02_attention/02_attention.py tests/jail/test_walls.py "
    "tests/natural/02_attention.py tests/natural/ran/02_attention tests/coursekit/test_order.py",
    "examples": "coursekit/plots.py solutions/02_attention/02_attention.py tests/autograder/test_road.py",
    "autograder": "tools/book/links.py docs/benchmarks.md solutions/02_attention/.tried.json tests/browser/test_page.py deploy/kubernetes/README.md",
    "browser": "bench/__main__.py .ci/run tests/jail/test_walls.py",
}


def places(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(folder, file) for folder, files in table.items() for file in files.split()]


@pytest.mark.parametrize(("folder", "file"), places(COUNTS))
def test_it_is_forgotten_with_what_it_depends_on(folder, file):
    assert file in slow.files_of_the_course() and slow.decides(file, folder)


@pytest.mark.parametrize(("folder", "file"), places(CHANGES_NOTHING))
def test_it_outlasts_what_it_does_not_depend_on(folder, file):
    assert file in slow.files_of_the_course() and not slow.decides(file, folder)


COUNTED = {
    "coursekit.test_language": "coursekit/language/exact.py",  # through the package
    "coursekit.test_small_models": "coursekit/small/recipes.py data/results/small_gpt.csv data/models/bert.safetensors",
    "novels.test_training": "coursekit/novels/corpus.py coursekit/pretrain.py",
    "jail.test_walls": "coursekit/planted/attention.py coursekit/plots.py coursekit/vendor/d3-part.min.js "
    "tests/processes.py",
    "hostile.test_hostile": "data/senses/senses.csv",
    "browser.test_round": "tests/autograder/road.py tests/conftest.py tests/browser/conftest.py",
    "plain.test_plain": "tests/plain/hand_ins.py",
    "browser.test_page": "docs/grading.md",  # in a website
    "autograder.test_settings": "docs/instructors.md docs/students.md",
    "autograder.test_instructors_guide": "docs/instructors.md",  # in a helper
}
NOT_COUNTED = {
    "browser.test_round": "docs/instructors.md CONTRIBUTING.md",
    "coursekit.test_language": "coursekit/pictures/gpt.py coursekit/planted/attention.py",
    "novels.test_training": "coursekit/pictures/gpt.py coursekit/sliders.py",
    "jail.test_walls": "coursekit/pictures/gpt.py coursekit/pictures/exam.py tests/slow.py tests/novels/texts.py",
}


@pytest.mark.parametrize(("name", "file"), places(COUNTED))
def test_of_coursekit_and_data_it_is_forgotten_with_what_is_reached(name, file):
    assert file in slow.counted(name)


@pytest.mark.parametrize(("name", "file"), places(NOT_COUNTED))
def test_of_coursekit_and_data_it_outlasts_what_is_not_reached(name, file):
    assert file in slow.files_of_the_course() and file not in slow.counted(name)


def test_another_notebook_and_its_pictures_count_where_all_notebooks_are_looked_at():
    own, other = "solutions/02_attention/exercises.py", "notebooks/07_gpt/07_gpt.ipynb"
    assert slow.of_another_notebook(other, ["02_attention"])
    assert not slow.of_another_notebook(own, ["02_attention"])
    assert slow.of_another_notebook("coursekit/pictures/exam.py", ["02_attention"])
    assert not slow.of_another_notebook("coursekit/plots.py", ["02_attention"])
    assert not slow.of_another_notebook("notebooks/start.ipynb", ["02_attention"])


LOOKED_AT = {
    "autograder.test_road": "02_attention",
    "autograder.test_untrusted": "02_attention 12_one_corpus",  # one in a helper, one in the file
    "browser.test_growing_model": "02_attention 03_transformer_layer 06_bert",
    "autograder.test_engine": "01_static_embeddings 02_attention 09_fine_tuning",  # and each in a test's name
    "browser.test_attention_views": "",
    "test_validate": "",
}


@pytest.mark.parametrize("place", LOOKED_AT)
def test_tests_look_at_the_notebooks_that_they_and_their_helpers_name(place):
    assert set(LOOKED_AT[place].split()) <= set(slow.looked_at(place)) < set(slow.ASSIGNMENTS)


@pytest.mark.parametrize(
    "place",
    [
        "autograder.test_demo",
        "autograder.test_local",
        "autograder.test_minutes",
        "book.test_site",
        "test_versions",
    ],
)
def test_who_goes_through_all_notebooks_looks_at_all(place):
    assert set(slow.looked_at(place)) == set(slow.ASSIGNMENTS)


def test_a_notebook_in_a_test_s_name_is_looked_at_and_no_other():
    for place in ("autograder.test_report", "test_student_release"):
        assert set(slow.looked_at(place)) == set(slow.ASSIGNMENTS)
        looked_at = slow.looked_at(place, "13_decoders")
        assert "13_decoders" in looked_at and "08_inside" not in looked_at


@pytest.mark.parametrize("name", SLOW_FILES)
def test_whatever_a_slow_test_imports_counts(name):
    kept = slow.counted(name.removesuffix(".py").replace("/", "."))
    tests = [file.relative_to(ROOT).as_posix() for file in slow.with_tests(ROOT / "tests" / name)]
    for module in set.union(*(imported(ROOT / test) for test in tests)):
        found = [path for path in (f"{module}.py", f"{module}/__init__.py") if (ROOT / path).is_file()]
        assert {*found} <= {*tests, *kept}, module


def imported(file: Path) -> set[str]:
    """The paths, without their ends, of the modules that a file may import from this course."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = ("autograder", "bench", "coursekit", "tests", "tools")
    return {name.replace(".", "/") for name in names if name.partition(".")[0] in ours}


def test_a_change_changes_the_digest_and_no_git_keeps_nothing(tmp_path, monkeypatch):
    own, other = "tests/jail/test_walls.py", "tests/jail/test_view.py"
    course = {
        "autograder/cli.py": "one = 1",
        "coursekit/novels/corpus.py": "one = 1",
        own: "from coursekit import plots",
        other: "one = 1",
        "tests/novels/test_corpus.py": "from coursekit.novels import corpus",
    }
    for name, text in course.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = slow.files_of_the_course.__wrapped__
    monkeypatch.setattr(slow, "ROOT", tmp_path)
    monkeypatch.setattr(slow, "HERE", tmp_path / "tests")
    monkeypatch.setattr(slow, "of_folder", slow.of_folder.__wrapped__)
    monkeypatch.setattr(slow, "content", slow.content.__wrapped__)
    monkeypatch.setattr(slow, "files_of_the_course", lambda: tuple(course))
    before = {name: slow.digest_of(name) for name in ("jail.test_walls", "novels.test_corpus")}
    assert len({*before.values()}) == 2
    (tmp_path / "autograder" / "cli.py").write_text("two = 2")
    assert slow.digest_of("jail.test_walls") != before["jail.test_walls"]
    assert slow.digest_of("novels.test_corpus") == before["novels.test_corpus"]
    here = slow.digest_of("jail.test_walls")
    (tmp_path / "coursekit" / "novels" / "corpus.py").write_text("two = 2")
    assert slow.digest_of("jail.test_walls") == here  # nothing of it reaches that
    assert slow.digest_of("novels.test_corpus") != before["novels.test_corpus"]
    (tmp_path / other).write_text("two = 2")
    assert slow.digest_of("jail.test_walls") == here
    (tmp_path / own).write_text("two = 2")
    assert slow.digest_of("jail.test_walls") != here
    monkeypatch.setattr(slow, "files_of_the_course", found)
    assert slow.digest_of("jail.test_walls") == ""  # git knows nothing of this folder
    monkeypatch.setattr(slow.subprocess, "run", Mock(side_effect=FileNotFoundError))  # or there is none
    assert slow.digest_of("jail.test_walls") == ""
