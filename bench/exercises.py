"""What one exercise costs of a submission: those where students write a class, beside those where they write a function.

python -m bench.exercises [EXERCISE …]: the solutions of the notebooks that have both, in the jail; for each exercise, or
those named, with the inputs of its check and without, by turns. Prints JSON: {exercise: [is a class, milliseconds in the
jail, of reading and judging]}.
"""

import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from autograder.authoring.builder import PUBLIC_SEED
from autograder.checks.judging import judge
from autograder.course import Assignment, assignments
from autograder.grading import reference
from autograder.jail.outside.bubblewrap import View
from autograder.jail.outside.client import Server
from autograder.jail.outside.jobs import Cases, make_job
from autograder.settings import course_settings
from autograder.source import imported_ahead, read_source
from autograder.untrusted.frames import read_frame

ROOT = Path(__file__).parents[1]
ROUNDS = 15


def main(*chosen: str) -> None:
    """Print, as JSON, whether each of the exercises writes a class, and what it costs.

    Without names, all exercises of each assignment that has a class among them.
    """
    times: dict[str, tuple[bool, float, float]] = {}
    for assignment in assignments(ROOT):
        classes = {
            name for name, source in reference.solution_sources(assignment).items() if _is_class(source)
        }
        asked = [name for name in assignment.exercises if name in chosen or not chosen]
        if classes and asked:
            measured = of_notebook(assignment, asked)
            times |= {name: (name in classes, *both) for name, both in measured.items()}
    print(json.dumps(times))


def _is_class(source: str) -> bool:
    return source.startswith("class ")


def of_notebook(assignment: Assignment, asked: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Of these exercises the milliseconds in the jail, and of what the command does with the answers."""
    course = course_settings(ROOT)
    modules = [*course.preload, *imported_ahead(course.preload_where, read_source(assignment.source))]
    cases = reference.draw(assignment, assignment.exercises, PUBLIC_SEED)
    with reference.own_server(ROOT, modules) as server:
        keys = reference.public_keys(server, assignment, PUBLIC_SEED)
    cells = reference.variant_cells(assignment, {})
    with Server(view=View(packages=course.packages), modules=modules) as server:

        def run(these: Cases) -> tuple[float, list[bytes]]:
            job = make_job(cells, dict.fromkeys(cases, ()) | dict(these), course.arrays)
            began = time.perf_counter()
            outcome = server.run(job)
            assert outcome.status == "finished", outcome.status
            return 1000 * (time.perf_counter() - began), list(outcome.frames)

        run({})
        measured = {}
        for name in asked:
            jail, reading = [], []
            for _ in range(ROUNDS):
                without, _ = run({})
                whole, frames = run({name: cases[name]})
                jail.append(whole - without)
                began = time.perf_counter()
                answers = {
                    where: answer for blob in frames for where, answer in read_frame(blob).answers.items()
                }
                found = [answers.get(("", name, number)) for number in range(len(cases[name]))]
                verdict = judge(found, keys[name].expected, keys[name].rule)
                reading.append(1000 * (time.perf_counter() - began))
                assert verdict.status == "passed", (name, verdict.reason)
            measured[name] = statistics.median(jail), statistics.median(reading)
    return measured


if __name__ == "__main__":
    main(*sys.argv[1:])
