"""What a notebook does in the jail: answers, outputs, errors, magics, and what honest notebooks need."""

import base64
from importlib.util import find_spec

import numpy as np
import pytest

from autograder.jail.outside.client import Server
from autograder.source import USUAL
from tests.autograder.jail.conftest import LIMITS, run_in
from tests.conftest import OPTIMISERS

pytestmark = pytest.mark.slow

CASES = {"sums.rows": [{"table": np.arange(6, dtype=np.float32).reshape(2, 3)}, {"table": np.ones((4, 2))}]}
RECORD = "from autograder.checks.recording import active\n"
CHECK = ("sums.rows", RECORD + "active().record('sums.rows', lambda case: rows(case['table']))")


# Answers


def test_answers_come_back_as_arrays(run):
    ran = run("def rows(table):\n    return table.sum(dim=1)", CHECK, cases=CASES)
    assert ran.status == "finished"
    assert [frame.cell for frame in ran.frames] == [0, 1]
    assert not ran.frames[0].answers
    answers = ran.frames[1].answers
    np.testing.assert_array_equal(answers["", "sums.rows", 0].arrays[""], [3, 12])
    np.testing.assert_array_equal(answers["", "sums.rows", 1].arrays[""], [2, 2, 2, 2])


def test_a_check_counts_only_in_its_own_cell(run):
    elsewhere = CHECK[1]
    ran = run("def rows(table):\n    return table.sum(dim=1)", elsewhere, CHECK, "rows = None", cases=CASES)
    assert [len(frame.answers) for frame in ran.frames] == [0, 0, 2, 0]


def test_answers_carry_the_variant_of_their_cell(run):
    ran = run("def rows(table):\n    return table.sum()", CHECK, (*CHECK, "swapped"), cases=CASES)
    assert set(ran.frames[1].answers) == {("", "sums.rows", 0), ("", "sums.rows", 1)}
    assert set(ran.frames[2].answers) == {("swapped", "sums.rows", 0), ("swapped", "sums.rows", 1)}


def test_an_answer_that_is_too_big_fails_alone(run, limits):
    ran = run(
        f"import torch\ndef rows(table):\n    return torch.zeros({limits.output_bytes})",
        CHECK,
        "print(1)",
        cases=CASES,
    )
    assert ran.status == "finished" and ran.value() == 1
    assert {answer.problem for answer in ran.frames[1].answers.values()} == {"type"}
    assert "too much to submit" in ran.frames[1].answers["", "sums.rows", 0].message


def test_half_a_character_in_an_answer_does_no_harm(run):
    ran = run("def rows(table):\n    return {'\\ud800': table}", CHECK, "print('\\ud800')", cases=CASES)
    assert list(ran.frames[1].answers["", "sums.rows", 0].arrays) == ["?"]
    assert ran.stream() == "?\n"


def test_answers_that_no_file_can_hold_cost_their_own_cell_only(run):
    spoil = "active().answers['', 'sums.rows', 0] = active().answers['', 'sums.rows', 0].__class__({'': object()})"
    ran = run(
        "def rows(table):\n    return table.sum()", ("sums.rows", f"{CHECK[1]}; {spoil}"), CHECK, cases=CASES
    )
    assert (ran.status, ran.frames[1].problem, len(ran.frames[2].answers)) == ("finished", "error", 2)


def test_random_numbers_differ_between_submissions(run):
    source = (
        "import random, numpy, torch\nprint([random.random(), numpy.random.rand(), torch.rand(1).item()])"
    )
    first, second = run(source).value(), run(source).value()
    assert all(one != other for one, other in zip(first, second, strict=True))


# Outputs


def test_outputs_keep_their_order_and_kind(run):
    ran = run("""
        import sys
        from IPython.display import HTML, display
        print('before')
        display(HTML('<b>bold</b>'))
        print('after', file=sys.stderr)
        6 * 7
    """)
    outputs = ran.frames[0].outputs
    assert [output["output_type"] for output in outputs] == [
        "stream",
        "display_data",
        "stream",
        "execute_result",
    ]
    assert outputs[1]["data"]["text/html"] == "<b>bold</b>"
    assert outputs[2]["name"] == "stderr" and outputs[2]["text"] == "after\n"
    assert outputs[3]["data"] == {"text/plain": "42"}
    assert ran.frames[0].problem == ""  # stderr fails nothing


def test_displays_can_be_updated_and_cleared(run):
    ran = run(
        "from IPython.display import display\nhandle = display('first', display_id=True)\nhandle.update('second')",
        "from IPython.display import clear_output\nprint('gone')\nclear_output()\nprint('here')",
    )
    assert ran.shown("text/plain", 0) == ["'second'"]
    assert ran.stream(1) == "here\n"


@pytest.mark.parametrize("ending", ["", "plt.show()", "plt.gcf().set_size_inches(2, 1);"])
def test_figures_become_pictures(run, ending):
    ran = run(f"%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);\n{ending}", "print(1)")
    (picture,) = ran.shown("image/png", 0)
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert ran.shown("image/png", 1) == []


def test_pictures_and_streams_are_capped(run, limits):
    ran = run(
        """
        import matplotlib.pyplot as plt
        for number in range(5):
            plt.figure(figsize=(1, 1))
            plt.plot([number])
            plt.show()
        """,
        f"print('x' * {3 * limits.stream_bytes})",
    )
    assert len(ran.shown("image/png", 0)) == limits.images_per_cell
    assert len(ran.stream(1)) < limits.stream_bytes + 100
    assert "not kept" in ran.stream(1)


def test_displays_cannot_crowd_out_the_answers(run, limits):
    flood = f"from IPython.display import HTML, display\nfor _ in range(20): display(HTML('x' * {limits.output_bytes // 10}))"
    ran = run("def rows(table):\n    return table.sum(dim=1)", flood, CHECK, cases=CASES)
    assert ran.status == "finished"
    assert len(ran.frames[2].answers) == 2


# Errors


def test_an_error_shows_the_students_frames_and_the_notebook_goes_on(run):
    ran = run("import torch\ndef f(x):\n    return torch.ones(2) @ x", "f(torch.ones(3))", "print(1)")
    assert [frame.problem for frame in ran.frames] == ["", "error", ""]
    text = ran.frames[1].error_text
    assert 'File "<cell 1>", line 3, in f' in text and 'File "<cell 2>", line 1' in text
    assert "site-packages" not in text
    assert text.splitlines()[-1].startswith("RuntimeError: ")


@pytest.mark.parametrize(
    "source, kind",
    [
        ("def f(:", "SyntaxError"),
        ("  x = 1\n y = 2", "IndentationError"),
        ("import sys\nsys.exit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise BaseException('all')", "BaseException"),
        ("input('name? ')", "NobodyAnswers"),
        ("%nonsense", "UsageError"),
        ("raise ExceptionGroup('two', [ValueError(1), KeyError(2)])", "ExceptionGroup"),
        ("class Bad(Exception):\n    def __str__(self):\n        raise ValueError\nraise Bad", "Bad"),
        ("def f(): f()\nf()", "RecursionError"),
    ],
)
def test_every_error_is_that_cells_own(run, source, kind):
    ran = run(source, "print(1)")
    errors = [output["ename"] for output in ran.frames[0].outputs if output["output_type"] == "error"]
    assert errors == [kind]
    assert (ran.frames[0].problem, ran.status, ran.value()) == ("error", "finished", 1)


def test_a_process_that_ends_itself_keeps_what_it_answered(run):
    ran = run("print(1)", "import os\nos._exit(0)", "print(2)")
    assert ran.status == "died"
    assert len(ran.frames) == 1 and ran.value() == 1


def test_a_forked_notebook_goes_on_once(run):
    ran = run("import os\npid = os.fork()", "print(2)", "print(3)")
    assert ran.status == "finished"
    assert [frame.cell for frame in ran.frames] == [0, 1, 2]


# Time


def test_a_slow_cell_is_stopped_and_the_notebook_goes_on(run, limits):
    ran = run(
        "print('begun')\nwhile True:\n    try:\n        1 / 0\n    except Exception:\n        pass",
        "print(1)",
    )
    assert (ran.frames[0].problem, ran.status) == ("timeout", "finished")
    assert ran.stream(0) == "begun\n"
    assert limits.cell_seconds <= ran.frames[0].seconds < limits.cell_seconds + 1.5
    assert ran.value() == 1


def test_a_slow_answer_is_stopped_and_the_others_are_kept(run):
    slow = "def rows(table):\n    while len(table) == 4:\n        pass\n    return table.sum(dim=1)"
    ran = run(slow, CHECK, cases=CASES)
    assert ran.frames[1].problem == "timeout"
    assert set(ran.frames[1].answers) <= {("", "sums.rows", 0)}


# What honest notebooks need


def test_shell_commands_run(run):
    ran = run("!echo one; echo two >&2", "lines = !printf 'a\\nb'\nprint(len(lines))")
    assert ran.stream(0) == "one\ntwo\n"
    assert ran.value() == 2


def test_magics_run(run):
    ran = run(
        "%%time\nx = 1",
        "%config InlineBackend.figure_format = 'png'",
        "%pwd",
        "%%bash\necho 5",
        "%timeit -n1 -r1 1",
    )
    assert [frame.problem for frame in ran.frames] == [""] * 5
    assert ran.stream(3) == "5\n"


def test_awaiting_at_the_top(run):
    assert run("import asyncio\nawait asyncio.sleep(0)\nprint(3)").value() == 3


def test_what_python_warns_of_is_shown_once(run):
    always = "import warnings\nwarnings.simplefilter('always')"
    ran = run(always, r"pattern = '\d'", "one = 1\none is 1")
    assert ran.stream(1, "stderr").count("invalid escape sequence") == 1
    assert ran.stream(2, "stderr").count('"is" with ') == 1


def test_what_a_cell_imports_from_the_future_holds_for_those_after_it(run):
    ran = run("from __future__ import barry_as_FLUFL", "print(int(1 <> 2))", "1 != 2")
    assert ran.value(1) == 1
    assert "SyntaxError" in ran.frames[2].error_text


def test_there_is_no_kernel_and_nothing_crashes_for_it(run):
    ran = run("""
        import ipywidgets
        from IPython import get_ipython
        print(int(hasattr(get_ipython(), 'kernel')))
        ipywidgets.IntSlider()
    """)
    assert ran.frames[0].problem == ""
    assert ran.stream() == "0\n"


def test_a_helper_module_written_beside_the_notebook_is_found(run):
    assert run("%%writefile helper.py\nanswer = 42", "import helper\nprint(helper.answer)").value() == 42


def test_worker_processes_and_threads(run):
    ran = run("""
        import json, subprocess, threading, torch
        from torch.utils.data import DataLoader, TensorDataset
        seen = []
        thread = threading.Thread(target=seen.append, args=(1,))
        thread.start()
        thread.join()
        batches = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=4, num_workers=2)
        seen += [batch.sum().item() for (batch,) in batches]
        seen.append(subprocess.run(['echo', 'process'], capture_output=True, text=True).stdout)
        print(json.dumps(seen))
    """)
    assert ran.value() == [1, 6.0, 22.0, "process\n"]


def test_libc_knows_the_forked_thread(run):
    """A raw clone must tell libc the new number of its thread, or calls about the thread go astray."""
    ran = run(
        "import threading, time\nprint(time.clock_gettime(time.pthread_getcpuclockid(threading.get_ident())))"
    )
    assert ran.value() > 0


def test_what_was_asked_for_is_imported_ahead(run, run_plain):
    look = "import json, sys\nprint(json.dumps([name in sys.modules for name in {}]))"
    names = ["torch", "matplotlib", OPTIMISERS]
    assert run(look.format(names)).value() == [True, True, True]
    assert run_plain(look.format(names)).value() == [True, True, False]


def test_what_notebooks_import_most_can_be_imported_ahead(jail_possible):
    """A server that runs a second thread refuses every job, and pyarrow, which pandas imports, starts one by default."""
    ahead = [name for name in USUAL if find_spec(name.partition(".")[0])]
    assert {"numpy", "pandas", "scipy", "matplotlib.pyplot"} <= {*ahead}
    with Server(LIMITS, modules=ahead) as server:
        ran = run_in(server, "import pandas\nprint(int(pandas.Series([1, 2]).sum()))")
    assert ran.value() == 3


def test_training_works(run):
    ran = run("""
        import torch
        words = torch.nn.Embedding(50, 16)
        model = torch.nn.Sequential(words, torch.nn.TransformerEncoderLayer(16, nhead=2, dim_feedforward=32))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for _ in range(3):
            loss = model(torch.randint(50, (2, 7))).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(int(loss.isfinite()))
    """)
    assert ran.value() == 1


def test_check_records(run):
    ran = run(
        (
            "sums.rows",
            "from coursekit import check, hint\nhint('sums.rows')\ncheck('sums.rows', lambda case: case['table'].sum())",
        ),
        cases=CASES,
    )
    assert ran.frames[0].answers["", "sums.rows", 0].arrays[""] == 15
