"""The answer key of a notebook: public inputs, expected arrays, fingerprints of mistakes, hints. No solution."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from coursekit import answers as answer_file
from coursekit.asking import Answer, Case
from coursekit.judging import KnownMistake, Rule
from coursekit.recording import answers_from_file, answers_to_file, cases_from_file, cases_to_file

FOLDER = Path(__file__).parent / "keys"


@dataclass(frozen=True)
class ExerciseKey:
    """Everything `check` and `hint` need for one exercise."""

    name: str
    rule: Rule
    hints: tuple[str, ...]
    uses: tuple[str, ...]
    cases: tuple[Case, ...]
    expected: tuple[Answer, ...]
    mistakes: tuple[KnownMistake, ...]


class NoSuchExercise(LookupError):
    """The name of a check or hint that no answer key knows."""


def find(name: str) -> ExerciseKey:
    """The key of exercise `name`, such as "attention.softmax"."""
    known = {}
    for path in sorted(FOLDER.glob("*.safetensors")):
        known |= load(path)
    if name not in known:
        close = [other for other in known if other.split(".")[0] == name.split(".")[0]] or list(known)
        raise NoSuchExercise(f"There is no exercise named {name!r}. There are: {', '.join(sorted(close))}.")
    return known[name]


@cache
def load(path: Path) -> Mapping[str, ExerciseKey]:
    """All exercises of one key file, in the order of the notebook."""
    arrays, words = answer_file.unpack(path.read_bytes())
    cases = cases_from_file(arrays, words["cases"])
    given = answers_from_file(arrays, words["answers"])
    keys = {}
    for entry in words["exercises"]:
        name = entry["name"]
        numbers = range(len(cases[name]))
        keys[name] = ExerciseKey(
            name=name,
            rule=Rule(**entry["rule"]),
            hints=tuple(entry["hints"]),
            uses=tuple(entry["uses"]),
            cases=tuple(cases[name]),
            expected=tuple(given["", name, number] for number in numbers),
            mistakes=tuple(
                KnownMistake(mistake, hint, tuple(given[mistake, name, number] for number in numbers))
                for mistake, hint in entry["mistakes"]
            ),
        )
    return keys


def save(path: Path, keys: Iterable[ExerciseKey]) -> None:
    """Write a key file; the same keys give the same bytes."""
    path.write_bytes(to_bytes(keys))


def to_bytes(keys: Iterable[ExerciseKey]) -> bytes:
    keys = list(keys)
    case_arrays, case_words = cases_to_file({key.name: list(key.cases) for key in keys})
    given = {}
    for key in keys:
        given |= {("", key.name, number): answer for number, answer in enumerate(key.expected)}
        for mistake in key.mistakes:
            given |= {
                (mistake.name, key.name, number): answer for number, answer in enumerate(mistake.answers)
            }
    answer_arrays, answer_words = answers_to_file(given)
    exercises = [
        {
            "name": key.name,
            "rule": asdict(key.rule),
            "hints": key.hints,
            "uses": key.uses,
            "mistakes": [(mistake.name, mistake.hint) for mistake in key.mistakes],
        }
        for key in keys
    ]
    words = {"cases": case_words, "answers": answer_words, "exercises": exercises}
    return answer_file.pack(case_arrays | answer_arrays, words)
