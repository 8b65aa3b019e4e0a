"""What an exercise asks for cannot be imported, or read, while its notebook is graded; everything else can."""

import json
import sys
from dataclasses import replace
from functools import cache
from textwrap import dedent

import nbformat
import pytest

from autograder.jail.outside.client import Server
from autograder.jail.outside.withheld import definitions, masks, without
from autograder.pool.pool import settings_for
from autograder.source import used_from
from tests.autograder.jail.conftest import LIMITS, run_in
from tests.conftest import ASSIGNMENTS

LONG = replace(LIMITS, cell_seconds=60, notebook_seconds=120)
SOME = [
    pytest.param(name, marks=() if name in ("03_transformer_layer", "05_elmo") else pytest.mark.audit)
    for name in ASSIGNMENTS
]


@cache
def withheld_from(name):
    return settings_for(ASSIGNMENTS[name], "bwrap").withheld


# Each way by which a student's cell could come by a function: what it gives, or the error.
WAYS = """
import gc, glob, importlib, inspect, json, os, pickle, sys

def tried(way, dotted):
    module, _, name = dotted.rpartition(".")
    try:
        return way(module, name)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

def imported(module, name):
    names = {}
    exec(f"from {module} import {name}", names)
    return repr(names[name](1, 2))

def attribute(module, name):
    return repr(getattr(importlib.import_module(module), name)(1, 2))

def loaded(module, name):
    if module not in sys.modules:
        raise ImportError("not loaded")
    return repr(getattr(sys.modules[module], name)(1, 2))

def inherited(module, name):
    names = {"found": getattr(importlib.import_module(module), name)}
    exec("class Mine(found): pass", names)
    return repr(names["Mine"])

def executed(module, name):
    names = {"__name__": module, "__package__": module.rpartition(".")[0]}
    exec(open(importlib.import_module(module).__file__).read(), names)
    return repr(names[name](1, 2))

def source(module, name):
    return inspect.getsource(getattr(importlib.import_module(module), name))

def unpickled(module, name):
    return repr(pickle.loads(f"c{module}\\n{name}\\n.".encode())(1, 2))

def collected(module, name):
    importlib.import_module(module)
    found = [one for one in gc.get_objects() if getattr(one, "__module__", "") == module and getattr(one, "__qualname__", "") == name]
    return f"ImportError: nothing found" if not found else repr(found)

def compiled(module, name):
    place = os.path.dirname(importlib.import_module(module).__file__)
    files = glob.glob(f"{place}/__pycache__/*")
    return "ImportError: nothing found" if not files else repr(files)

def written(module, name):
    tops = {path for path in sys.path if os.path.isdir(os.path.join(path, module.partition(".")[0]))}
    holding = []
    for top in tops:
        for path in glob.glob(f"{top}/{module.partition('.')[0]}/**/*.py", recursive=True):
            if path.endswith(module.replace(".", "/") + ".py") and f" {name}(" in "".join(
                line for line in open(path) if line.startswith(("def ", "class "))
            ):
                holding.append(path)
    return "ImportError: nothing found" if not holding else repr(holding)

ways = [imported, attribute, loaded, inherited, executed, source, unpickled, collected, compiled, written]
nothing = ("ImportError", "TypeError", "OSError")
for dotted in DOTTED:
    gave = {way.__name__: tried(way, dotted) for way in ways}
    found = {name: what[:300] for name, what in gave.items() if not what.startswith(nothing)}
    said = [name for name, what in gave.items() if "an exercise asks you to write it" in what]
    print(json.dumps([dotted, found, said]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_no_way_leads_to_what_an_exercise_asks_for(name, jail_possible):
    settings = settings_for(ASSIGNMENTS[name], "bwrap")
    if not settings.withheld:
        return
    with Server(LONG, view=settings.view, modules=settings.modules) as server:
        ran = run_in(server, f"DOTTED = {list(settings.withheld)!r}", WAYS)
    assert not ran.frames[1].error_text, ran.frames[1].error_text
    for dotted, found, said in map(json.loads, ran.stream().splitlines()):
        assert found == {}, dotted
        # Of what holds right answers not even the module is there.
        if not dotted.startswith(tuple(settings.view.answers)):
            assert {"imported", "attribute", "inherited", "unpickled"} <= set(said), dotted


@pytest.mark.slow
def test_later_notebooks_have_what_an_earlier_one_asks_for(jail_possible):
    settings = settings_for(ASSIGNMENTS["06_bert"], "bwrap")
    with Server(LONG, view=settings.view, modules=settings.modules) as server:
        ran = run_in(
            server,
            """
            from coursekit.growing import mine
            from coursekit.modules import Block
            print(int(Block(8, 2, 12).feed_forward.widen.out_features))
            """,
        )
    assert ran.value() == 12


def test_what_a_course_withholds_is_what_its_exercises_ask_for():
    """Each was found by the audit, which tries everything that can be imported (tests/audit/test_withheld.py)."""
    assert set(withheld_from("03_transformer_layer")) >= {
        f"coursekit.modules.{name}"
        for name in (
            "MultiHeadAttention",
            "FeedForward",
            "Dropout",
            "Block",
            "Embeddings",
            "sinusoid",
            "collate",
        )
    }
    assert "coursekit.derivatives.influence" in withheld_from("05_elmo")
    assert "coursekit.modules.causal_mask" in withheld_from("04_recurrence")


def test_what_a_notebook_hands_out_itself_is_not_withheld():
    """`coursekit.small.GPT`, which its own cells load, and a picture that they draw with a function of the same name."""
    assert "coursekit.small.gpt.GPT" not in withheld_from("07_gpt")
    assert "coursekit.pictures.comparison.calibration" not in withheld_from("12_one_corpus")


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("from coursekit.small import GPT as Ours", {"coursekit.small.GPT"}),
        ("import coursekit.small as s\ns.GPT(1)", {"coursekit.small.GPT"}),
        ("import coursekit.small.gpt\ncoursekit.small.gpt.GPT", {"coursekit.small.gpt.GPT", "coursekit.small.gpt", "coursekit.small"}),
        ("def f():\n    from coursekit.pictures import exam as p\n    p.draw(1)", {"coursekit.pictures.exam", "coursekit.pictures.exam.draw"}),
        ("%matplotlib inline\nfrom coursekit import modules", {"coursekit.modules"}),
        ("%%bash\necho import coursekit", set()),
        ("import torch\ntorch.nn.Linear", set()),
    ],
)  # fmt: skip
def test_what_a_notebook_uses_of_a_package(source, used):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    assert used_from(["coursekit"], notebook) == used


def test_a_definition_is_taken_out_and_the_other_lines_keep_their_numbers():
    source = dedent(
        '''
        """A module."""
        import functools


        @functools.cache
        def answer(x):
            """Doubles."""
            return 2 * x


        if True:
            class Other:
                pass

        def rest(): return [name for name in dir() if answer is not None]
        LAST = 1
        '''
    )
    left = without(source, "kit.tools", {"answer", "Other"})
    assert "2 * x" not in left and "Doubles" not in left and "functools.cache" not in left
    names = {"__name__": "kit.tools"}
    exec(left, names)
    assert names["LAST"] == 1 and names["rest"]() == []
    assert left.splitlines().index("LAST = 1") == source.splitlines().index("LAST = 1")
    with pytest.raises(
        ImportError, match=r"`answer` of kit\.tools is hidden .* an exercise asks you to write it"
    ):
        names["answer"](3)
    with pytest.raises(ImportError, match="Other"):
        _ = names["Other"].size
    with pytest.raises(ImportError, match="Other"):
        exec("class Mine(Other): pass", names)
    assert not isinstance(3, names["Other"]) and (names["Other"] | None) is names["Other"]


def test_another_copy_of_the_package_is_masked_too(tmp_path, monkeypatch):
    """An older installation, beside the clone that notebooks import."""
    (tmp_path / "coursekit").mkdir()
    (tmp_path / "coursekit" / "modules.py").write_text(
        "def sinusoid(tokens, dim):\n    return 'the answer'\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    shown = masks(["coursekit.modules.sinusoid"])
    assert len(shown) == 2
    assert all(b"def sinusoid" not in content for content in shown.values())


def test_only_functions_and_classes_of_a_module_count(tmp_path, monkeypatch):
    """A method of the same name, or one inside a function, is no answer that can be imported."""
    package = tmp_path / "kit_of_methods"
    package.mkdir()
    (package / "__init__.py").write_text("class Language:\n    def sample(self): ...\n")
    (package / "more.py").write_text("async def sample(): ...\ndef f():\n    def scale(): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert definitions(["kit_of_methods"], ["sample", "scale"]) == ("kit_of_methods.more.sample",)
    assert definitions(["kit_of_methods"], []) == ()
