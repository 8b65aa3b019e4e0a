"""The fifth rung: `borrow` lends a working function for what builds on it. It is recorded as lent and earns nothing.

The functions lie encrypted beside the notebook (`lent_file`). Those who learn alone have the key in the file; in a class
the instructor publishes it. When a notebook is graded nothing is lent: its cell is still unanswered.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import CodeType
from typing import Any

from IPython import get_ipython
from IPython.display import display

from autograder.checks import answer_key, journal, lent_file, recording
from autograder.checks.exceptions import WrongCall
from autograder.checks.lent_file import LentFile, WrongKey
from autograder.checks.notebook_file import bound_names, path_of_this_notebook, used_names
from autograder.checks.notes import WAITING, Note

SIGN = "○"

_lent: dict[str, dict[str, Any]] = {}
"""In this kernel, by exercise: what was put into the notebook, by its name there."""


def borrow(name: str = "", key: str = "") -> None:
    """Put a working function into the notebook, for what builds on it. It earns nothing; your own takes its place.

    `key` is what your instructor has published, needed once for each notebook: `borrow(key="…")` or with a name.
    """
    if _is_graded():
        return
    shell = get_ipython()
    if shell is None:
        raise WrongCall("borrow works only in a notebook: run it in a notebook cell.")
    if key:
        _keep(key)
        if not name:
            return
    name = answer_key.asked_for("borrow", name)
    source = _source(name)
    if not source:
        display(Note(f"… no function is lent for {name}", (offer(name) or NOTHING,), WAITING))
        return
    if journal.checks().get(name) and not is_lent(name) and not _stubs(source, shell.user_ns):
        display(Note(f"✓ {name}: your answer is right, so there is nothing to borrow"))
        return
    _put(name, source, shell.user_ns)
    if name not in journal.read()["lent"]:
        journal.save("lent", name, datetime.now(UTC).isoformat(timespec="seconds"))
    _of_this_notebook[name] = source
    display(
        Note(
            f"{SIGN} {name}: lent, earns no points",
            (
                _when_it_works(name),
                "Run → Run All Cells runs the cells that depend on the function, now and the next time you open the notebook.",
                "As soon as you run your own answer, it replaces the lent function.",
            ),
            WAITING,
        )
    )


def _when_it_works(name: str) -> str:
    """At once, or with the functions of the notebook that it calls."""
    passed = journal.checks()
    missing = [other for other in _called_by(name) if not passed.get(other) and not is_lent(other)]
    if not missing:
        return "The function works from now on."
    *first, last = (other.rpartition(".")[2] for other in missing)
    if not first:
        return (
            f"The function calls {last}, so it works only once the check of {last} has passed. "
            f'You can borrow that function, too: borrow("{missing[0]}").'
        )
    borrowing = ", ".join(f'borrow("{other}")' for other in missing)
    return (
        f"The function calls {', '.join(first)} and {last}, so it works only once their checks have passed. "
        f"You can borrow these functions, too: {borrowing}."
    )


def _called_by(name: str) -> list[str]:
    """The other exercises of the notebook whose functions the lent one calls."""
    functions = _functions(name)
    used = used_names(functions.get(name, ""))
    return [other for other, source in functions.items() if other != name and bound_names(source) & used]


NOTHING = "This course lends no functions. Ask your instructor if you are stuck: later exercises are graded independently of this one."


def offer(name: str) -> str:
    """What is said of the fifth rung after the fourth; "" where there is none."""
    file = _file(name)
    if file is None:
        return ""
    if _key(file):
        return f'Still stuck? borrow("{name}") lends you a working function, so that the cells that depend on it can run. A lent function earns no points.'
    when = f" on {_readable(file.opens)}" if file.opens else ""
    return (
        f"You can borrow a working function once your instructor publishes the key{when}: "
        f'run borrow("{name}", key="…").'
    )


def is_lent(name: str) -> bool:
    """Whether the notebook's function of an exercise is the one that was lent."""
    names, put, function = getattr(get_ipython(), "user_ns", {}), _lent.get(name, {}), name.rpartition(".")[2]
    asked = {function: put[function]} if function in put else put  # beside it there may be what it calls
    return bool(asked) and all(names.get(bound) is value for bound, value in asked.items())


def names_lent() -> set[str]:
    """The names in the notebook that stand for something lent."""
    names = getattr(get_ipython(), "user_ns", {})
    return {bound for put in _lent.values() for bound, value in put.items() if names.get(bound) is value}


def renew(name: str = "") -> None:
    """Where a stub was run again, what was lent for it takes its place: of one exercise, or of all of this notebook."""
    shell = get_ipython()
    if shell is None or _is_graded():
        return
    for exercise, source in _lent_before(name).items():
        if _stubs(source, shell.user_ns):
            with suppress(WrongCall):  # what it needs was not run yet
                _put(exercise, source, shell.user_ns)


_of_this_notebook: dict[str, str] = {}
_read_for: set[Path] = set()


def _lent_before(name: str) -> Mapping[str, str]:
    """Sources by exercise: of `name`, if it was lent, or of those of this notebook that were. Files are read once."""
    if name:
        return {name: _source(name)} if name in journal.read()["lent"] else {}
    notebook = path_of_this_notebook()
    if notebook not in _read_for:
        _read_for.add(notebook)
        here = [path for path in answer_key.key_files() if path.stem == notebook.stem]
        names = {exercise for path in here for exercise in answer_key.load(path)}
        _of_this_notebook.update({name: _source(name) for name in journal.read()["lent"] if name in names})
    return _of_this_notebook


def _put(name: str, source: str, names: dict[str, Any]) -> None:
    try:
        exec(compile(source, f"<lent {name}>", "exec"), names)
    except NameError as error:  # an import, or what an earlier cell defines
        raise WrongCall(
            f"`{error.name}` is not defined yet: run the cells above first, then run borrow again."
        ) from None
    _lent[name] = {bound: names[bound] for bound in bound_names(source)}


def _stubs(source: str, names: Mapping[str, Any]) -> bool:
    """Whether something that this source would define is a stub in the notebook."""
    return any(is_stub(names.get(bound)) for bound in bound_names(source))


def is_stub(value: Any) -> bool:
    """Whether a function, or a method of a class, still stops where the released one does."""
    methods = vars(value).values() if isinstance(value, type) else [value]
    codes = [getattr(method, "__code__", None) for method in methods]
    return any(isinstance(code, CodeType) and "NotImplementedError" in code.co_names for code in codes)


def _is_graded() -> bool:
    return bool(recording.active()) or os.environ.get("NBGRADER_EXECUTION") == "autograde"


def _file(name: str) -> LentFile | None:
    return lent_file.read(answer_key.file_of(name).with_suffix(lent_file.SUFFIX))


def _key(file: LentFile) -> str:
    return file.key or journal.read()["keys"].get(file.notebook, "")


def _source(name: str) -> str:
    """What is lent for an exercise, or ""."""
    return _functions(name).get(name, "")


def _functions(name: str) -> Mapping[str, str]:
    """What is lent for all exercises of its notebook."""
    file = _file(name)
    try:
        return file.functions(_key(file)) if file else {}
    except WrongKey:
        return {}


def _keep(key: str) -> None:
    """Remember a key with the notebook that it opens. Raises WrongCall for one that opens none."""
    files = [lent_file.read(path.with_suffix(lent_file.SUFFIX)) for path in answer_key.key_files()]
    for file in filter(None, files):
        try:
            file.functions(key)
        except (WrongKey, TypeError, AttributeError):
            continue
        journal.save("keys", file.notebook, key.strip())
        display(
            Note(
                f"You can now borrow functions in {file.notebook}",
                ('borrow("…") takes the name of an exercise.',),
            )
        )
        return
    raise WrongCall(
        "This key does not work: make sure that you copied all of it and that the notebook is the latest release."
    )


def _readable(when: str) -> str:
    """ "1 December 2026, 18:00" in the time of this computer."""
    try:
        at = datetime.fromisoformat(when).astimezone()
    except ValueError:
        return when
    return f"{at.day} {at:%B %Y, %H:%M}"
