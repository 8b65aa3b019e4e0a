"""What code can reach is found wherever it is imported, and what nothing imports is not."""

import pytest

from tests.reach import Reached


@pytest.fixture
def course(tmp_path):
    """A course with these files; course.reached(texts, …) says which of them count."""
    files = {
        "kit/__init__.py": 'from importlib import import_module\n_HOME = {"show": "kit.plots", "old": ".older"}',
        "kit/plots.py": "from kit import colours",
        "kit/colours.py": "",
        "kit/older.py": "",
        "kit/vendor/part.js": "",
        "kit/models/__init__.py": "from .small import load",
        "kit/models/small.py": "def load():\n    from ..reading import read_table\n    return read_table",
        "kit/models/large.py": "import kit.models.small",
        "kit/reading.py": 'def rows(name):\n    return open(f"data/results/small_{name}.csv")',
        "kit/train.py": "",
        "kit/everything.py": "from kit.models import *",
        "data/README.md": "",
        "data/senses/senses.csv": "",
        "data/pairs/pairs.csv": "",
        "data/results/small_one.csv": "",
        "data/results/large.csv": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def reached(*texts):
        found = Reached(tmp_path, ["kit"], texts)
        return {file for file in files if found.decides(file)}

    return reached


ALWAYS = {"kit/vendor/part.js", "data/README.md"}
PACKAGE = {"kit/__init__.py", "kit/plots.py", "kit/colours.py", "kit/older.py"}
"""With what it loads by name."""
MODELS = {
    *PACKAGE,
    *("kit/models/__init__.py", "kit/models/small.py", "kit/reading.py", "data/results/small_one.csv"),
}


def test_nothing_is_reached_by_what_imports_nothing(course):
    assert course("x = 1") == ALWAYS


@pytest.mark.parametrize("text", ["import kit", "from kit import show", "import kit as k\nk.show()"])
def test_a_package_counts_with_what_it_loads_by_name_and_what_that_imports(course, text):
    assert course(text) == ALWAYS | PACKAGE


@pytest.mark.parametrize(
    "text",
    [
        "import kit.models.small",
        "from kit.models import load",
        "from kit import models",
        "def later():\n    if False:\n        from kit.models.small import load",
        "import typing\nif typing.TYPE_CHECKING:\n    from kit.models import small",
    ],
)
def test_a_module_counts_wherever_it_is_imported_with_its_package_and_what_that_imports(course, text):
    assert course(text) == ALWAYS | MODELS


def test_of_a_package_that_a_string_names_everything_counts(course):
    assert course('modules = ["kit.models"]') == ALWAYS | MODELS | {"kit/models/large.py"}


def test_everything_that_a_star_may_bring_counts(course):
    assert course("from kit.everything import *") >= ALWAYS | MODELS


def test_a_sentence_imports_nothing_unless_something_may_run_it(course):
    assert "kit/train.py" not in course("raise ValueError('run `python -m kit.train` first')")
    assert "kit/train.py" not in course('"""`kit.train` makes these."""')
    assert "kit/train.py" not in course("model.eval()\nraise ValueError('run `python -m kit.train` first')")
    assert "kit/train.py" in course("import subprocess\nsubprocess.run('python -m kit.train', shell=True)")
    assert "kit/train.py" in course("eval('import kit.train')")
    assert "kit/train.py" in course("import builtins\nbuiltins.exec('import kit.train')")


def test_a_folder_of_data_counts_for_who_names_it(course):
    assert course('open("data/senses/senses.csv")') == ALWAYS | {"data/senses/senses.csv"}
    assert course('folder / "data" / "pairs"') == ALWAYS | {"data/pairs/pairs.csv"}


def test_a_table_counts_for_who_may_read_it(course):
    small, large = "data/results/small_one.csv", "data/results/large.csv"
    assert course('read_table("results/large.csv")') == ALWAYS | {large}
    assert course('read_table(f"results/small_{name}.csv")') == ALWAYS | {small}
    assert course('read_table(f"results/{name}.csv")') == ALWAYS | {small, large}
    assert course('folder / "results" / f"{name}.csv"') == ALWAYS | {small, large}
    assert course("print('the results differ')") == ALWAYS


@pytest.mark.parametrize("text", ["# %% [code]\n# %run train.py", "def half(:", "# !python train.py"])
def test_where_nothing_can_be_told_everything_counts(course, text):
    assert course(text) >= ALWAYS | MODELS | {"kit/train.py", "data/pairs/pairs.csv"}
