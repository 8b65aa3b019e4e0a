"""Run All goes on where an answer is missing: a cell that needs it shows one grey card instead of an error.

It acts only where a person runs a cell: JupyterLab sends the cell's id with it. nbgrader's Validate, the autograder and
other programs send none, and nbgrader says in NBGRADER_EXECUTION what it does: for them an unanswered check is an error.

    from autograder.checks import skipping
    skipping.install()        # also `%load_ext autograder.checks.skipping`, as tools/bootstrap.py tells every kernel
"""

import ast
import dis
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, MutableSet
from contextlib import suppress
from dataclasses import dataclass
from traceback import walk_tb
from types import CodeType, FunctionType, TracebackType
from typing import Any

from IPython import get_ipython
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
from IPython.display import display

from autograder.checks import lending
from autograder.checks.edits import Edits
from autograder.checks.exceptions import CheckFailed, Unanswered
from autograder.checks.notebook_file import FileCell, bound_names, cells_of_this_notebook, filled_names
from autograder.checks.notes import WAITING, WRONG, Note
from autograder.checks.tracebacks import in_notebook, last_frame, stub_name

LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
RUN_ABOVE = "run the cells above first (Run → Run All Above Selected Cell)"


@dataclass(frozen=True)
class Waiting:
    """A name of the notebook that a skipped cell would have bound."""

    needs: str  # the function that is missing
    cell: str  # the id of the skipped cell
    function: Any  # what `needs` was then: when it is another, the cell can be run
    before: tuple[Any, ...]  # the value that the name had, if it had one


PERCENT = re.compile(r"^\s*predict\(.*\d\s*%", re.MULTILINE)
"""A prediction that Python cannot read: predict("topic.name", 50%)."""


class Skipping:
    """What is skipped in this kernel."""

    def __init__(self, shell: InteractiveShell):
        self.shell = shell
        self.waiting: dict[str, Waiting] = {}
        self.wrong: set[str] = set()  # functions whose check did not pass
        self.edits = Edits()
        self._passed_over: BaseException | None = None
        self._show_traceback = shell.showtraceback
        # IPython calls it for cells, ipywidgets for what a slider calls.
        shell.showtraceback = self._show_error  # type: ignore[method-assign]  # there is no event for errors
        self._show_syntax_error = shell.showsyntaxerror
        shell.showsyntaxerror = self._show_unparsed  # type: ignore[method-assign]
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)

    def needed_by(self, name: str) -> str | None:
        """The missing function for want of which no cell has bound `name`; None if another reason is to be looked for."""
        waiting = self.waiting.get(name)
        if waiting is None or name in self.shell.user_ns:
            return None
        return waiting.needs if self.function(waiting.needs) is waiting.function else None

    def function(self, name: str) -> Any:
        """What a name stands for, a method by its class."""
        return self.shell.user_ns.get(name.partition(".")[0])

    def _show_error(self, exc_tuple=None, *where, **how) -> None:
        _, error, trace = exc_tuple or sys.exc_info()
        shown = False
        with suppress(Exception):  # the student's error is to be seen, whatever is wrong with us
            if error and trace:
                shown = self._shown(error, trace)
        if not shown:
            self._show_traceback(exc_tuple, *where, **how)

    def _show_unparsed(self, *where: Any, **how: Any) -> None:
        self._show_syntax_error(*where, **how)
        if PERCENT.search(_running_source()):
            display(
                Note(
                    "Write the number without a percent sign, on the scale that the question names.",
                    colour=WAITING,
                )
            )

    def _shown(self, error: BaseException, trace: TracebackType) -> bool:
        """Whether an error has been shown as what it is, and not by its traceback."""
        cell = running_cell()
        if isinstance(error, NotImplementedError) and (cell or _slider_moved()):
            code = last_frame(trace).f_code
            if not in_notebook(code.co_filename) or stub_name(error) is None:
                return False
            self._skip_with_card(cell, _qualified(code), error)
            return True
        if cell and type(error) is NameError and error.name:
            return self._name_shown(cell, error.name, error, trace)
        if cell and isinstance(error, Unanswered):  # its card is shown
            self._skip(cell, error.needs, error)
            return True
        if cell and isinstance(error, CheckFailed):
            self._passed_over = error
        return False

    def _name_shown(self, cell: str, name: str, error: NameError, trace: TracebackType) -> bool:
        code = last_frame(trace).f_code
        if not in_notebook(code.co_filename):
            return False
        own = self._is_the_student_s(code, cell)
        needs = self.needed_by(name)
        if needs is not None and not own:
            self._skip_with_card(cell, needs, error)
            return True
        advice = self.advice_about(name)
        if advice and own:  # the place in the student's own code is wanted, too
            self._show_traceback((type(error), error, trace))
            display(Note(advice, colour=WAITING))
        elif advice:
            error._render_traceback_ = lambda: [advice]  # type: ignore[attr-defined]  # IPython looks for it
            self._show_traceback((type(error), error, trace))
        return bool(advice)

    def advice_about(self, name: str) -> str:
        """What to do about a name that is not defined, if a cell above would define it; or ""."""
        if name in self.shell.user_ns or not any(name in cell.binds for cell in self._above(running_cell())):
            return ""
        return f"`{name}` is not defined yet: {RUN_ABOVE}."

    def _above(self, cell: str) -> list[FileCell]:
        cells = cells_of_this_notebook()
        places = [place for place, other in enumerate(cells) if other.id == cell]
        return cells[: places[0]] if places else cells

    def _is_the_student_s(self, code: CodeType, cell: str) -> bool:
        """Whether this is code of a function in a cell that students write in, as far as can be told."""
        here = self._file_of(_running_source())
        if code.co_filename == here and code.co_name.startswith("<"):  # not in a function
            return False
        ours = [other for other in cells_of_this_notebook() if other.is_the_course_s]
        if code.co_filename == here:
            return not any(other.id == cell for other in ours)
        return not any(code.co_filename == self._file_of(other.source) for other in ours)

    def _file_of(self, source: str) -> str:
        """The name under which the code of a cell is compiled."""
        return self.shell.compile.get_code_name(source, source, 0)

    def _skip_with_card(self, cell: str, needs: str, error: BaseException) -> None:
        display(Note(f"… {skipped_title(needs)}", colour=WAITING))
        self._skip(cell, needs, error)

    def _skip(self, cell: str, needs: str, error: BaseException) -> None:
        """The run goes on. What the rest of this cell would have bound is not there for the next ones."""
        names = self.shell.user_ns
        for name in self._not_bound(error.__traceback__):
            before = (names.pop(name),) if name in names else ()
            self.waiting[name] = Waiting(needs, cell, self.function(needs), before)
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot and "inline" in pyplot.get_backend():  # else a figure that is drawn by half would be shown
            pyplot.close("all")
        self._passed_over = error

    def _not_bound(self, trace: TracebackType | None) -> set[str]:
        """The names that the statement that failed, and those after it, would have bound in the notebook, or filled."""
        source, file = self.shell.transform_cell(_running_source()), self._file_of(_running_source())
        codes = ((line, frame.f_code) for frame, line in walk_tb(trace))
        lines = [line for line, code in codes if (code.co_filename, code.co_name) == (file, "<module>")]
        if not lines:  # the cell goes on: a slider has called this
            return set()
        filled = {
            name for name in filled_names(source, lines[0]) if _holds_things(self.shell.user_ns.get(name))
        }
        return bound_names(source, lines[0]) | filled

    def _before(self, info: ExecutionInfo) -> None:
        if not running_cell():
            return
        for name, waiting in list(self.waiting.items()):
            if waiting.cell == info.cell_id:  # it runs again: with what it began with
                del self.waiting[name]
                if waiting.before:
                    self.shell.user_ns.setdefault(name, *waiting.before)
        self.edits.before(self.shell.user_ns)
        lending.renew()
        if wrong := self._wrong_ones_used(info.raw_cell or ""):
            verb = "is" if len(wrong) == 1 else "are"
            names = ", ".join(f"`{name}`" for name in wrong)
            display(
                Note(
                    f"… this cell uses {names}, which {verb} not right yet: its output may be wrong",
                    colour=WRONG,
                )
            )

    def _after(self, result: ExecutionResult | None) -> None:
        if result is not None and running_cell():
            error = result.error_before_exec or result.error_in_exec
            self.edits.after(self.shell.user_ns, running_cell(), error)
        if result is not None and result.error_in_exec is self._passed_over:
            result.error_in_exec = None  # or the kernel would drop the cells that wait for their turn
        self._passed_over = None
        self.waiting = {
            name: waiting for name, waiting in self.waiting.items() if name not in self.shell.user_ns
        }

    def _wrong_ones_used(self, source: str) -> list[str]:
        """The functions with a check that did not pass that a cell calls, itself or through others of the notebook."""
        if not self.wrong:
            return []
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):  # a line of IPython's own
            return []
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if "check" in used or self.wrong & bound_names(source):
            return []
        return sorted((self.wrong & _reached(used, self.shell.user_ns)) - lending.names_lent())


def names_called(call: Callable, names: Mapping[str, Any]) -> set[str]:
    """The names that a function uses, and those that functions and classes of the notebook among them use in turn.

    `names` are those of the notebook. An attribute of the same name is none of them: `scores.softmax(-1)` is PyTorch's.
    """
    code = getattr(call, "__code__", None)
    return _reached(_names_in(code), names) if code else set()


def _reached(used: Iterable[str], names: Mapping[str, Any]) -> set[str]:
    reached, ahead = set(), set(used)
    while ahead:
        name = ahead.pop()
        reached.add(name)
        for function in _functions_of(names.get(name)):
            if in_notebook(function.__code__.co_filename):
                ahead |= set(_names_in(function.__code__)) - reached
    return reached


def _functions_of(made: Any) -> list[FunctionType]:
    """A function, or the methods of a class."""
    parts = vars(made).values() if isinstance(made, type) else [made]
    return [part for part in parts if isinstance(part, FunctionType)]


def skipped_title(needs: str) -> str:
    """What the card of a skipped cell says, with the function that is missing; "" where no function is."""
    return f"needs `{needs}`: skipped" if needs else "not answered yet: skipped"


def running_cell() -> str:
    """The id of the cell that a person runs in a notebook; "" where nbgrader or another program runs it."""
    if os.environ.get("NBGRADER_EXECUTION"):
        return ""
    return str(_request().get("metadata", {}).get("cellId") or "")


def _holds_things(value: Any) -> bool:
    return isinstance(value, MutableSequence | MutableMapping | MutableSet)


def _request() -> dict[str, Any]:
    """What the front end asked this kernel for; empty outside of kernels."""
    return getattr(get_ipython(), "get_parent", dict)()


def _running_source() -> str:
    return _request().get("content", {}).get("code", "")


def _slider_moved() -> bool:
    return _request().get("header", {}).get("msg_type") == "comm_msg"


def _qualified(code: CodeType) -> str:
    """The name of a function, with that of its class; "" for code outside of functions."""
    name = code.co_qualname.rpartition("<locals>.")[2]
    return "" if name.startswith("<") else name[:100]


def _names_in(code: CodeType) -> Iterator[str]:
    yield from (step.argval for step in dis.get_instructions(code) if step.opname in LOADS)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


_active: Skipping | None = None


def active() -> Skipping | None:
    """Of the kernel in which this runs; None outside of kernels."""
    return _active if _active and _active.shell is get_ipython() else None


def install() -> None:
    """From now on, in this kernel. Nothing happens where there is none."""
    global _active
    shell = get_ipython()
    if hasattr(shell, "get_parent") and not active():
        _active = Skipping(shell)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """At the start of a kernel, before it has run a cell: other notebooks than a course's are left as they are."""
    if any(cell.is_nbgrader_s for cell in cells_of_this_notebook()):
        install()
