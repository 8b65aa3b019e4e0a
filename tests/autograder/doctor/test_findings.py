"""What the doctor finds."""

import json
import sys

import nbformat
import pytest

from autograder.doctor import course as of_course
from autograder.doctor import machine
from autograder.doctor.readiness import Level
from autograder.settings import limits
from tests.toy_kernel import install


def test_a_release_without_its_key_is_not_built(small):
    assert of_course.course(small.root).state == Level.GOOD and of_course.is_built(small.assignment)
    small.assignment.key.unlink()
    assert not of_course.is_built(small.assignment)
    assert "not built: 01_steps" in of_course.course(small.root).finding


def test_without_scikit_learn_grading_works_and_the_doctor_says_what_does_not(small, monkeypatch):
    assert machine.similarity(small.root).state == Level.GOOD
    monkeypatch.setitem(sys.modules, "sklearn", None)
    found = machine.similarity(small.root)
    assert found.state == Level.NOTE and "[similarity]" in found.remedy


@pytest.mark.parametrize(("free", "state"), [(3, Level.NOTE), (9, Level.GOOD)])
def test_memory_is_needed_for_as_many_notebooks_as_run_at_once(small, monkeypatch, free, state):
    class Memory:
        available = free * limits(small.root).memory_bytes

    monkeypatch.setattr("psutil.virtual_memory", lambda: Memory)
    monkeypatch.setattr(machine, "cores", lambda: 4)
    monkeypatch.setattr("autograder.jail.outside.cgroup.possible", lambda: True)
    found = machine.memory(small.root)
    assert found.state == state and (state == Level.GOOD or "`--workers 3`" in found.remedy)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "are enabled"),
        ({"ServerApp": {"jpserver_extensions": {machine.EXTENSIONS[0]: False}}}, "lacks formgrader."),
        ({"ServerApp": {"jpserver_extensions": []}}, "cannot read its settings"),
        ([], "cannot read its settings"),
    ],
)
def test_what_is_enabled_is_read_as_jupyterlab_reads_it(small, tmp_path, monkeypatch, settings, words):
    own = tmp_path / "jupyter_server_config.d" / "own.json"
    own.parent.mkdir()
    own.write_text(json.dumps(settings))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    assert words in machine.browser(small.root).finding


def in_another_language(small, name: str, language: str) -> None:
    notebook = nbformat.read(small.assignment.release, 4)
    notebook.metadata["kernelspec"] = {"name": name, "display_name": name, "language": language}
    nbformat.write(notebook, small.assignment.release)


def test_kernels_are_listed_and_a_missing_one_is_named_with_how_to_install_it(small, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path / "jupyter")))
    monkeypatch.setattr("jupyter_core.paths.SYSTEM_JUPYTER_PATH", [])
    found = machine.kernels(small.root)
    assert found.state == Level.GOOD and "python3 (Python), toy (toy)" in found.finding
    in_another_language(small, "ir", "R")
    found = machine.kernels(small.root)
    assert found.state == Level.BAD and "none for R (01_steps)" in found.finding
    assert "apt-get install r-cran-irkernel" in found.remedy


@pytest.mark.slow
def test_a_notebook_is_run_in_each_kernel_that_the_course_needs(small, tmp_path, monkeypatch):
    folder = install(tmp_path / "jupyter")
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    in_another_language(small, "toy", "toy")
    assert machine.jail(small.root, "none").state == Level.NOTE
    (folder / "kernels" / "toy" / "toy_kernel.py").write_text("raise SystemExit('no toys here')")
    found = machine.jail(small.root, "none")
    assert found.state == Level.BAD and found.finding.startswith("toy: ") and "no toys here" in found.finding
