"""AUTOTEST lines, which nbgrader turns into tests by running the solution in a kernel.

The tests of a build are stored under a digest of everything that they depend on. Grading therefore starts no kernel, and a
solution that draws random numbers keeps the tests that students received.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import nbgrader
import yaml
from nbformat import NotebookNode
from nbgrader.preprocessors import InstantiateTests, NbGraderPreprocessor
from nbgrader.preprocessors.instantiatetests import CellExecutionError, start_new_kernel
from traitlets.config import Config

from autograder.errors import CourseError, install_command
from autograder.files import read_object

KERNEL = "python3"
EXAMPLE = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide" / "autotests.yml"


@contextmanager
def run_kernel(folder: Path, other: str = "") -> Iterator[Any]:
    """The client of a kernel in that folder, by default Python's, which ends with the block. Raises CourseError without Python's."""
    environment = os.environ | {"PYTHONHASHSEED": "0"}  # as in the jail: one order of sets
    quiet = {"stdout": DEVNULL, "stderr": DEVNULL}
    try:
        manager, client = start_new_kernel(
            kernel_name=other or KERNEL, cwd=str(folder), env=environment, **quiet
        )
    except KeyError:  # jupyter_client's NoSuchKernel
        raise CourseError(
            f"AUTOTEST lines need the kernel {KERNEL}, which is not installed: run `{install_command('grading')}`."
        ) from None
    client.allow_stdin = False
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


class AutoTests(InstantiateTests):
    """nbgrader's InstantiateTests. It ends its kernel also after an error, waits for nobody, and says what is wrong."""

    kc: Any = None  # the kernel's client

    def __init__(
        self,
        root: Path,
        seconds: float,
        as_built: bool,
        config: Config,
        other_kernel: Callable[[NotebookNode], str] = lambda notebook: "",
    ):
        super().__init__(config=config, log=logging.Logger("autotests", logging.CRITICAL))
        self.root = root
        self.seconds = seconds  # that a part of a cell may take
        self.as_built = as_built  # take what is kept
        self.other_kernel = other_kernel  # of a notebook that is not in Python, where one is installed
        self.made: dict[Path, bytes] = {}  # what is to be kept
        self.cell: NotebookNode | None = None  # that is being run

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with tests in the place of AUTOTEST lines. Raises CourseError."""
        if not any(cell.cell_type == "code" and self.autotest_delimiter in cell.source for cell in nb.cells):
            return nb, resources
        folder = Path(resources["metadata"]["path"])
        templates = self._find_templates(folder)
        place = self.root / ".autograder" / "autotests" / f"{self._digest(nb, folder, templates)}.json"
        sources = read_object(place).get("sources") if self.as_built else None
        if sources is None:
            self._run(nb, resources, folder, templates)
        else:
            for cell, source in zip(nb.cells, sources, strict=True):
                cell.source = source
        self.made[place] = json.dumps({"sources": [cell.source for cell in nb.cells]}).encode()
        return nb, resources

    def _find_templates(self, folder: Path) -> Path:
        """The file of templates beside the source, else in the course folder."""
        found = [path / self.autotest_filename for path in (folder, self.root)]
        for path in found:
            if path.is_file():
                return path
        raise CourseError(
            f"there are {self.autotest_delimiter} lines, but no {self.autotest_filename} next to the source or in the course "
            f"folder to define how they become tests: start from a copy of nbgrader's own, {EXAMPLE}."
        )

    def _digest(self, nb: NotebookNode, folder: Path, templates: Path) -> str:
        """Of the source and all that lies beside it, of the templates, and of how they are used."""
        beside = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".ipynb")
        settings = [self.autotest_delimiter, self.hashed_delimiter, nbgrader.__version__]
        cells = [[cell.cell_type, cell.source, cell.metadata.get("nbgrader", {})] for cell in nb.cells]
        total = sha256(json.dumps([settings, cells], sort_keys=True).encode())
        for path in (*beside, templates):
            total.update(f"\0{path.name}\0".encode() + path.read_bytes())
        return total.hexdigest()[:32]

    def _run(self, nb: NotebookNode, resources: dict[str, Any], folder: Path, templates: Path) -> None:
        self.autotest_filename = str(templates)
        other = self.other_kernel(nb)
        resources["kernel_name"] = section = self._section(nb, templates, other)
        try:
            self._load_test_template_file(resources)
        except KeyError as error:
            raise CourseError(f"{templates}: the section {section} lacks {error}.") from None
        self.global_tests_loaded = True
        self.sanitizer = self.sanitizers[section]
        with run_kernel(folder, other) as self.kc:
            NbGraderPreprocessor.preprocess(self, nb, resources)

    def _section(self, nb: NotebookNode, templates: Path, other: str) -> str:
        """The part of the templates for the notebook's kernel; whatever Python's is called, that for Python."""
        try:
            sections = yaml.safe_load(templates.read_text(encoding="utf-8"))
        except (yaml.YAMLError, ValueError) as error:
            raise CourseError(f"{templates} is not valid YAML: {' '.join(str(error).split())}.") from None
        named = nb.metadata.get("kernelspec", {}).get("name", "")
        names = (named, other) if other else (named, KERNEL, "python")
        usable = [name for name in names if name in self.comment_strs.keys() & self.sanitizers]
        for name in usable:
            if isinstance(sections, dict) and isinstance(sections.get(name), dict):
                return name
        raise CourseError(
            f"{templates} has no section {other or KERNEL} known to nbgrader: without it, tests in "
            f"{'its language' if other else 'Python'} cannot be generated."
        )

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """One cell. Raises CourseError with what is wrong, to be said of `self.cell`."""
        self.cell = cell
        try:
            cell, resources = super().preprocess_cell(cell, resources, index)
        except CellExecutionError as error:
            raise CourseError(f"stops with {error.ename}: {error.evalue}") from None
        except TimeoutError:
            raise CourseError(
                f"takes more than {self.seconds:g} seconds (c.Jail.notebook_seconds)."
            ) from None
        except Exception as error:
            if not str(error):  # as nbgrader raises it
                raise CourseError(
                    f"has an {self.autotest_delimiter} line but is not marked as autograder tests: mark it as autograder tests and give it points."
                ) from None
            raise CourseError(
                f"does not match {self.autotest_filename} ({type(error).__name__}: {error})."
            ) from None
        self.cell = None
        return cell, resources

    def _execute_code_snippet(self, code: str) -> str | None:
        """The value of the last line."""
        self.execute_result = None
        self.kc.execute_interactive(
            code, output_hook=self._execute_code_snippet_output_hook, timeout=self.seconds
        )
        return self.execute_result
