"""A notebook in another language is run by its kernel, in the same jail, within the same limits, and with the same frames."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from autograder.errors import KernelFailed
from autograder.jail.inside.limits import MEGABYTE
from autograder.jail.outside import jobs
from autograder.jail.outside.bubblewrap import View
from autograder.jail.outside.client import Server
from autograder.kernels import find_kernel
from tests import toy_kernel
from tests.autograder.jail.conftest import LIMITS, Ran, run_in
from tests.toy_kernel import install

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path_factory.mktemp("jupyter"))))
        yield find_kernel("toy")


@pytest.fixture(scope="module")
def server_of_toy(jail_possible, toy):
    with Server(replace(LIMITS, notebook_seconds=30), view=View(kernel=toy)) as server:
        yield server


@pytest.fixture
def run(server_of_toy):
    return partial(run_in, server_of_toy)


def test_cells_share_a_kernel_and_show_what_it_says(run):
    ran = run("set x 3\nsay hello\nwarn oh", "show x", "draw line", "expect x 4", "expect x 3")
    assert ran.status == "finished"
    assert (ran.stream(0), ran.stream(0, "stderr")) == ("hello\n", "oh\n")
    assert ran.frames[1].outputs[0]["output_type"] == "execute_result"
    assert ran.shown("text/plain", 1) == ["3"]
    assert ran.frames[2].outputs[0]["data"] == {"image/svg+xml": "<svg>line</svg>"}
    assert [frame.problem for frame in ran.frames] == ["", "", "", "error", ""]
    assert ran.frames[3].outputs[0]["ename"] == "Mismatch"


def test_an_endless_cell_is_interrupted_and_the_next_ones_run(run):
    ran = run("loop", "say after")
    assert ran.frames[0].problem == "timeout"
    assert "stopped after 2 seconds" in ran.frames[0].error_text
    assert ran.stream(1) == "after\n"


def test_endless_output_is_cut(run):
    ran = run("flood", "say after")
    assert ran.frames[0].problem == "timeout"
    assert len(ran.stream(0)) < 2 * LIMITS.stream_bytes and "was not kept" in ran.stream(0)
    assert ran.stream(1) == "after\n"


def test_too_much_memory_ends_the_notebook(jail_possible, toy):
    patient = replace(LIMITS, memory_bytes=300 * MEGABYTE, cell_seconds=50, notebook_seconds=60)
    with Server(patient, view=View(kernel=toy)) as server:
        ran = run_in(server, "say before", "eat", "say after")
    assert ran.status in ("memory", "killed") and len(ran.frames) == 1


@pytest.mark.parametrize(("word", "status"), [("end", "died"), ("kill", "killed")])
def test_a_kernel_that_ends_ends_the_notebook(run, word, status):
    ran = run("say before", word, "say after")
    assert (ran.status, len(ran.frames)) == (status, 1)


def test_nobody_is_waited_for_who_would_type(run):
    ran = run("ask name?", "say after")
    assert (
        ran.frames[0].problem == "error"
        and "waits for somebody to type" in ran.frames[0].outputs[0]["evalue"]
    )
    assert ran.stream(1) == "after\n"


def test_messages_that_are_none_are_not_shown(run):
    ran = run("mumble\nsay still here")
    assert ran.frames[0].problem == "" and ran.stream(0).endswith("still here\n")


def test_the_kernel_reads_no_cell_before_it_is_run_and_has_no_way_out(run):
    ran = run(
        "read /proc/1/mem\nread /proc/1/environ\nread /proc/1/fd/4",
        "env NBGRADER_EXECUTION\nlist /proc/self/net",
        "# hidden",
    )
    assert set(ran.stream(0).split()) <= {"PermissionError", "FileNotFoundError"}
    assert ran.stream(1).startswith("autograde\n")


def test_files_of_the_job_lie_beside_the_notebook(server_of_toy):
    inputs = jobs.pack_inputs({}, "numpy", {"table.csv": b"1,2"})
    outcome = server_of_toy.run(jobs.with_inputs([jobs.cell("list .\nread table.csv")], inputs))
    assert Ran(outcome, ()).status == "finished"
    assert b"table.csv" in outcome.frames[0] and b"1,2" in outcome.frames[0]


def test_without_a_jail_it_is_the_same(toy):
    with Server(LIMITS, "none", View(kernel=toy)) as server:
        ran = run_in(server, "say hello", "loop", "stop here")
    assert (ran.status, ran.stream(0)) == ("finished", "hello\n")
    assert [frame.problem for frame in ran.frames] == ["", "timeout", "error"]


def test_a_kernel_that_only_prints_its_errors_is_understood(jail_possible, tmp_path, monkeypatch):
    """Octave's calls every cell complete. What is printed before an error, however much, hides none."""
    monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path, TOY_QUIET="prints")))
    with Server(LIMITS, view=View(kernel=find_kernel("toy"))) as server:
        long = "\n".join(["say " + "x" * 9000] * 20)
        ran = run_in(server, "expect x 4", f"{long}\nstop here", "say no error: 3", "set x 4\nexpect x 4")
    assert [frame.problem for frame in ran.frames] == ["error", "error", "", ""]
    assert ran.frames[0].error_text == "error: x is None, not 4"


def test_a_kernel_that_reports_no_errors_grades_nobody(jail_possible, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path, TOY_QUIET="silent")))
    silent = View(kernel=find_kernel("toy"))
    with Server(LIMITS, view=silent) as server, pytest.raises(KernelFailed, match="reports no errors"):
        run_in(server, "say hello")


def test_a_kernel_that_does_not_start_is_nobodys_mistake(jail_possible, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path)))
    broken = tmp_path / "kernels" / "toy" / "toy_kernel.py"
    broken.write_text("raise SystemExit('the package toys is missing')")
    with Server(LIMITS, view=View(kernel=find_kernel("toy"))) as server:
        with pytest.raises(KernelFailed, match="It said: the package toys is missing"):
            run_in(server, "say hello")
        broken.write_text(Path(toy_kernel.__file__).read_text())
        assert run_in(server, "say hello").stream() == "hello\n"


def test_a_kernel_is_reached_whose_sockets_have_a_colon_in_their_names(jail_possible, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path, TOY_COLONS="1")))
    with Server(LIMITS, view=View(kernel=find_kernel("toy"))) as server:
        assert run_in(server, "list /tmp\nsay hello").stream().endswith("hello\n")


def test_folders_that_its_specification_names_are_shown(jail_possible, tmp_path, monkeypatch):
    depot = tmp_path / "depot"
    depot.mkdir()
    (depot / "package.toy").write_text("words")
    monkeypatch.setenv(
        "JUPYTER_PATH", str(install(tmp_path, TOY_DEPOT=f"{depot}:/nowhere", HOME=str(Path.home())))
    )
    kernel = find_kernel("toy")
    assert depot in kernel.needs and not {Path.home(), Path("/nowhere")} & {*kernel.needs}
    with Server(LIMITS, view=View(kernel=kernel)) as server:
        assert run_in(server, f"env TOY_DEPOT\nread {depot}/package.toy").stream().endswith("words\n")
