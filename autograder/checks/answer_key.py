"""The answer key of a notebook: public inputs, expected arrays, fingerprints of mistakes, hints. No solution."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from autograder.checks import answers as answer_file
from autograder.checks.asking import Answer, Case
from autograder.checks.comparing import KnownMistake, Rule
from autograder.checks.exceptions import WrongCall
from autograder.checks.notebook_file import path_of_this_notebook
from autograder.checks.recording import answers_from_file, answers_to_file, cases_from_file, cases_to_file

SUFFIX = ".key"
STARTED_IN = Path.cwd()


@dataclass(frozen=True)
class ExerciseKey:
    """Everything `check` and `hint` need for one exercise.

    arguments   the names of what the function takes, of a class those of all its methods.
    """

    name: str
    rule: Rule
    hints: tuple[str, ...]
    uses: tuple[str, ...]
    cases: tuple[Case, ...]
    expected: tuple[Answer, ...]
    mistakes: tuple[KnownMistake, ...]
    arguments: tuple[str, ...] = ()

    @property
    def received(self) -> tuple[Case, ...]:
        """Of each case the inputs that the student's function takes under the same name: sentences speak of no others.

        A case may hold several of them in a dictionary, such as the sizes of a class.
        """
        return tuple(
            {name: value for name, value in _inputs(case) if name in self.arguments} for case in self.cases
        )


def _inputs(case: Case) -> Iterator[tuple[str, Any]]:
    for name, value in case.items():
        yield name, value
        if isinstance(value, dict):
            yield from value.items()


class NoSuchExercise(LookupError):
    """The name of a check or hint that no answer key knows. Shown as its sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def find(name: str) -> ExerciseKey:
    """The key of exercise `name`, such as "attention.softmax"."""
    return load(file_of(name))[name]


def file_of(name: str) -> Path:
    """The file that holds the key of an exercise. Raises NoSuchExercise."""
    topic = name.partition(".")[0]
    exercises: dict[str, ExerciseKey] = {}
    # The file that is called like the topic comes first: reading all of them takes half a second.
    files = key_files()
    if not files:
        raise NoSuchExercise(
            f"There is no answer key in {Path.cwd()}: the file ending in {SUFFIX} belongs next to its notebook."
        )
    for path in sorted(files, key=lambda path: (topic not in path.stem, path.stem)):
        keys = load(path)
        if name in keys:
            return path
        exercises |= keys
    close = [other for other in exercises if other.split(".")[0] == topic] or list(exercises)
    raise NoSuchExercise(
        f"There is no exercise named {name!r}.{_suggested(name, exercises)} Available: {', '.join(sorted(close))}."
    )


def meant_by(name: str) -> str:
    """The exercise that a person means: `name` itself, or the only one of the course that is called so after its dot."""
    if "." in name:
        return name
    files = {path.stem: path for path in key_files()}
    here = [files[stem] for stem in (path_of_this_notebook().stem,) if stem in files]
    for paths in (here, files.values()):
        same = [full for path in paths for full in load(path) if full.rpartition(".")[2] == name]
        if len(same) == 1:
            return same[0]
        if same:
            raise NoSuchExercise(f"Which {name!r} is meant? Available: {', '.join(same)}.")
    return name


def asked_for(function: str, name: Any) -> str:
    """The exercise in a call of `function`: by its whole name, by what stands after the dot, or the function itself."""
    asked_name = getattr(name, "__name__", name) if callable(name) else name
    if not isinstance(asked_name, str) or not asked_name:
        raise WrongCall(
            f'{function} takes the name of an exercise, as written in its check: {function}("topic.exercise").'
        )
    return meant_by(asked_name)


def _suggested(name: str, exercises: Iterable[str]) -> str:
    whole = {exercise: exercise for exercise in exercises}
    short = {exercise.rpartition(".")[2]: exercise for exercise in exercises}
    near = get_close_matches(name, whole) or get_close_matches(name.rpartition(".")[2], short)
    return f" Did you mean {(whole | short)[near[0]]!r}?" if near else ""


def key_files() -> list[Path]:
    """The answer keys of a course, by name, found from where this process is and from where it began."""
    nearest: dict[str, Path] = {}
    for folder in (Path.cwd(), STARTED_IN):
        for path in _keys_seen_from(folder):
            nearest.setdefault(path.name, path)
    return [nearest[name] for name in sorted(nearest)]


def _keys_seen_from(folder: Path) -> Iterator[Path]:
    """The nearest first. A notebook runs in its own folder, or in the one above, or in that of the course."""
    yield from folder.glob(f"*{SUFFIX}")
    yield from folder.parent.glob(f"*/*{SUFFIX}")
    yield from folder.glob(f"*/*{SUFFIX}")
    # An instructor's runs beside its source; its key lies in a folder of the same name in the release.
    yield from folder.parent.parent.glob(f"*/{folder.name}/*{SUFFIX}")
    if (folder / "nbgrader_config.py").exists():
        yield from folder.glob(f"*/*/*{SUFFIX}")


@cache
def load(path: Path) -> Mapping[str, ExerciseKey]:
    """All exercises of one key file, in the order of the notebook."""
    arrays, described = answer_file.unpack(path.read_bytes())
    cases = cases_from_file(arrays, described["cases"])
    recorded = answers_from_file(arrays, described["answers"])
    keys = {}
    for entry in described["exercises"]:
        name = entry["name"]
        numbers = range(len(cases[name]))
        keys[name] = ExerciseKey(
            name=name,
            rule=Rule(**{**entry["rule"], "axes": dict(entry["rule"]["axes"])}),
            hints=tuple(entry["hints"]),
            uses=tuple(entry["uses"]),
            cases=tuple(cases[name]),
            expected=tuple(recorded["", name, number] for number in numbers),
            mistakes=tuple(
                KnownMistake(
                    mistake, hint, tuple(recorded[variant, name, number] for number in numbers), *credit
                )
                for variant, (mistake, hint, *credit) in zip(
                    numbered(mistake for mistake, *_ in entry["mistakes"]), entry["mistakes"], strict=True
                )
            ),
            arguments=tuple(entry.get("arguments", ())),  # a key of before has none
        )
    return keys


def numbered(names: Iterable[str]) -> list[str]:
    """Names that are all different: the second "a" becomes "a (2)". A mistake may have several fingerprints."""
    seen: dict[str, int] = {}
    different = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        different.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return different


def _described(rule: Rule) -> dict[str, Any]:
    """What a rule says, for a file. Keys are older than `measure`, and most have none."""
    described = asdict(rule)
    if not rule.measure:
        del described["measure"]
    # As pairs, because JSON sorts names, and these stand in the order of the answer's parts.
    return {**described, "axes": list(rule.axes.items())}


def to_bytes(keys: Iterable[ExerciseKey]) -> bytes:
    """The content of a key file; the same keys give the same bytes."""
    keys = list(keys)
    case_arrays, described_cases = cases_to_file({key.name: list(key.cases) for key in keys})
    recorded: dict[tuple[str, str, int], Answer] = {}
    for key in keys:
        recorded |= {("", key.name, number): answer for number, answer in enumerate(key.expected)}
        for variant, mistake in zip(numbered(m.name for m in key.mistakes), key.mistakes, strict=True):
            recorded |= {(variant, key.name, number): answer for number, answer in enumerate(mistake.answers)}
    answer_arrays, described_answers = answers_to_file(recorded)
    exercises: list[dict[str, Any]] = [
        {
            "name": key.name,
            "rule": _described(key.rule),
            "hints": key.hints,
            "uses": key.uses,
            "arguments": key.arguments,
            "mistakes": [
                (mistake.name, mistake.hint, *([mistake.credit] if mistake.credit else []))
                for mistake in key.mistakes
            ],
        }
        for key in keys
    ]
    described = {"cases": described_cases, "answers": described_answers, "exercises": exercises}
    return answer_file.pack(case_arrays | answer_arrays, described)
