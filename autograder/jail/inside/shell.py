"""The IPython shell in which a notebook runs: what a kernel offers, without a kernel."""

import ast
import re
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from IPython.core.compilerop import CachingCompiler, PyCF_MASK
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from .limits import Limits
from .outputs import Outputs

ASYNCHRONOUS = re.compile("await|async")
OF_A_KERNEL = ("autosave", "connect_info", "qtconsole")
"""Magics that a kernel has and IPython has not: what they do is for somebody who watches."""
INSTALLS = re.compile(r"\s*(?:\S*python\S* -m )?(?:pip3?|uv pip|conda|mamba|apt|apt-get)\s+install\b[^;&|]*")
NOTHING_INSTALLED = "Nothing can be installed while a notebook is graded: there is no network.\n"


class CellCompiler(CachingCompiler):
    """Names the code of a cell so that a traceback says which cell it is, and parses it once."""

    parsed: tuple[str, ast.Module] | None = None  # what the shell has just looked at

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        """The name of the file in a traceback."""
        return f"<cell {number}>"

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> ast.AST:
        """The tree of a cell; that of the cell which was looked at last is made once."""
        parsed, self.parsed = self.parsed, None
        if parsed and (source, symbol) == (parsed[0], "exec"):
            return parsed[1]
        return super().ast_parse(source, filename, symbol)


class Publisher(DisplayPublisher):
    """Keeps what `display` shows."""

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **ignored) -> None:
        """Append what `display` was given, or update an earlier output that has the same display id."""
        self.shell.outputs.show("display_data", data, (transient or {}).get("display_id"), update)

    def clear_output(self, wait: bool = False) -> None:
        """Forget at once what the cell has shown: nobody watches, so there is no output to wait for."""
        self.shell.outputs.clear()


class LastValue(DisplayHook):
    """Keeps the value of a cell's last line."""

    shell: "Shell"

    def quiet(self) -> bool:
        """A semicolon at the end of the cell keeps its value from being shown."""
        return self.semicolon_at_end_of_expression(self.shell.running)

    def write_output_prompt(self) -> None:
        """A notebook shows none."""

    def write_format_data(self, format_dict, md_dict=None) -> None:
        """Append the value, which IPython has formatted by mime type."""
        self.shell.outputs.show("execute_result", format_dict)

    def log_output(self, format_dict) -> None:
        """There is no history to log it in."""

    def finish_displayhook(self) -> None:
        """A notebook needs no separator after a value; IPython's own would write one to stdout."""
        self._is_active = False


class Shell(InteractiveShell):
    """Executes cells; everything they show goes to `outputs`."""

    outputs: Outputs
    running = ""  # the source of the cell
    compile: CellCompiler
    compiler_class = Type(CellCompiler)
    displayhook_class = Type(LastValue)
    display_pub_class = Type(Publisher)

    def transform_cell(self, raw_cell: str) -> str:
        """IPython's magics, only where there are any: looking for them takes longer than running most cells."""
        source = raw_cell + "\n"
        tree, warned = parse(source)
        if tree is None:
            return super().transform_cell(raw_cell)
        if (
            not warned and not self.compile.flags & PyCF_MASK
        ):  # else IPython parses it, by what __future__ says and for the cell to be warned
            self.compile.parsed = source, tree
        return source

    def should_run_async(self, raw_cell: str, *, transformed_cell: str = "", **how: Any) -> bool:
        """IPython compiles every cell to see it. In a kernel an event loop runs: here, for those who use asyncio."""
        if "asyncio" in self.user_ns or "asyncio" in transformed_cell:
            return True
        return ASYNCHRONOUS.search(transformed_cell) is not None and super().should_run_async(
            raw_cell, transformed_cell=transformed_cell, **how
        )

    def enable_gui(self, gui=None) -> None:
        """No window can open here, and asking for one is no error."""

    def ask_exit(self) -> None:
        """`exit()` ends a kernel, and with it the grading of what follows: here the next cell runs."""

    @contextmanager
    def _tee(self, channel: str) -> Iterator[None]:
        """IPython keeps, for its history, all that is ever printed; a long run would fill the memory with it."""
        yield

    def _format_exception_for_storage(self, *error: Any, **how: Any) -> dict[str, Any]:
        """IPython keeps, for its history, each error with a traceback of its own, which takes long to make."""
        return {}

    def showtraceback(self, exc_tuple=None, *where, **how) -> None:
        """Append the error, by default the one that is being handled, with the lines that `describe` gives."""
        kind, error, trace = self._get_exc_info(exc_tuple)
        self.outputs.fail(kind.__name__, _message(error), describe(error, trace))

    def showsyntaxerror(self, filename=None, running_compiled_code=False) -> None:
        """As any other error: `describe` knows this kind."""
        self.showtraceback()

    def system(self, cmd: str) -> None:
        """`!command`: its output appears in the cell. One that would only install something would take seconds to fail."""
        command = self.var_expand(cmd, depth=1)
        if INSTALLS.fullmatch(command):
            sys.stdout.write(NOTHING_INSTALLED)
            self.user_ns["_exit_code"] = 1
            return
        done = subprocess.run(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        sys.stdout.write(done.stdout.decode(errors="replace"))
        self.user_ns["_exit_code"] = done.returncode


def parse(source: str) -> tuple[ast.Module | None, bool]:
    """A cell that is Python as it stands, else None, and whether Python warned of something in it.

    A pasted prompt, `In [1]: x = 2`, is Python only by its looks.
    """
    with warnings.catch_warnings(record=True, action="always") as warned:  # shown when the cell is run
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None, False
    return (None if "In [" in source else tree), bool(warned)


def make_shell(limits: Limits) -> Shell:
    """The one shell of this process. Made before the fork: it takes 25 ms."""
    config = Config()
    config.HistoryManager.enabled = False  # its thread would not survive the fork
    config.InteractiveShell.colors = "nocolor"
    config.IPKernelApp = Config()  # libraries look for it
    shell = Shell.instance(config=config)
    shell.outputs = Outputs(limits)
    for name in OF_A_KERNEL:
        shell.magics_manager.register_function(lambda line: None, "line", name)
    return shell


def pose_as_kernel() -> None:
    """Be found by whatever looks for a kernel to know that it is in a notebook: tqdm, rich, students' own functions."""
    Shell.__name__ = "ZMQInteractiveShell"
    module: Any = ModuleType("ipykernel.zmqshell")
    module.ZMQInteractiveShell = Shell
    sys.modules[module.__name__] = module


def warm_up(shell: Shell) -> None:
    """Do once what takes long the first time: run a cell and, where these are imported, show a tensor and draw a picture."""
    shell.run_cell("None")
    if torch := sys.modules.get("torch"):
        shell.displayhook.compute_format_data(torch.softmax(torch.rand(2, 3) @ torch.rand(3, 2), dim=-1))
    if "matplotlib.pyplot" not in sys.modules:
        return
    import matplotlib.pyplot as plt  # optional: where a course imports it

    figure, axes = plt.subplots()
    axes.imshow([[0.0, 1.0], [1.0, 0.0]])
    axes.plot([0, 1], label="first")
    axes.set(title="first", xlabel="x", ylabel="y")
    axes.legend()
    shell.displayhook.compute_format_data(figure)
    plt.close("all")


def describe(error: BaseException, trace: Any) -> list[str]:
    """The lines of a traceback that a student can read: the frames of the notebook, then the error."""
    if isinstance(error, SyntaxError):
        return _lines(traceback.format_exception_only(error))
    frames = [frame for frame in traceback.extract_tb(trace) if frame.filename.startswith("<cell ")]
    head = ["Traceback (most recent call last):\n"] if frames else []
    return _lines([*head, *traceback.format_list(frames[-12:]), f"{type(error).__name__}: {_message(error)}"])


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"(its message cannot be shown: {type(broken).__name__})"


def _lines(parts: list[str]) -> list[str]:
    return "".join(parts).rstrip("\n").split("\n")
