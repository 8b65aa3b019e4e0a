"""What executing the cells costs in the jail, and with no protection and no protocol at all: the floor.

python -m bench.floor FOLDER: each job in FOLDER by turns in a plain fork of this process and in the jail.
Prints JSON: {"floor": [[wall, cpu], …], "jail": [[wall, cpu], …]}.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jaxtyping  # noqa: F401
import torch
from transformers import BertModel  # noqa: F401

import autograder.checks.checking  # noqa: F401 (with it whatever else `from coursekit import check, hint, …` loads)
import autograder.checks.predicting  # noqa: F401
import coursekit
import coursekit.plots  # noqa: F401
from autograder.checks.asking import Case
from autograder.jail.inside.runner import Job, read_job
from autograder.jail.outside.bubblewrap import View
from autograder.jail.outside.client import Server
from autograder.settings import course_settings

ROUNDS = 3


def main(folder: Path) -> None:
    """Run each job of the folder in the jail and without it, by turns, and print the times as JSON."""
    torch.set_num_threads(1)
    blobs = [path.read_bytes() for path in sorted(folder.glob("*.job"))]
    jobs = [read_job(blob) for blob in blobs]
    times = {"floor": [], "jail": []}
    course = course_settings(Path(__file__).parents[1])
    modules = [*course.preload, course.preload_where["transformers"]]
    with Server(view=View(packages=course.packages), modules=modules) as server:
        gc.collect()
        gc.freeze()
        server.run(blobs[0])
        for blob, job in ROUNDS * list(zip(blobs, jobs, strict=True)):
            times["floor"].append(in_fork(lambda job=job: execute(job)))
            began = time.monotonic()
            outcome = server.run(blob)
            assert outcome.status == "finished", outcome.status
            times["jail"].append((time.monotonic() - began, outcome.cpu_seconds))
    print(json.dumps(times))


def in_fork(function: Callable[[], None]) -> tuple[float, float]:
    """Wall and CPU seconds of a fork that does nothing else."""
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        try:
            function()
        finally:
            os._exit(0)
    _, _, used = os.wait4(pid, 0)
    return time.monotonic() - began, used.ru_utime + used.ru_stime


def execute(job: Job) -> None:
    """The cells as plain Python. A check calls the student's function and keeps nothing."""

    def check(exercise: str, call: Callable[[Case], object]) -> None:
        for case in job.cases[exercise]:
            call({name: torch.from_numpy(v.copy()) if hasattr(v, "dtype") else v for name, v in case.items()})

    coursekit.check = check
    names: dict[str, object] = {}
    for cell in job.cells:
        try:
            exec(compile(cell["source"], "<cell>", "exec"), names)
        except Exception:
            continue  # a wrong answer or an unfinished one: the next cell comes all the same


if __name__ == "__main__":
    main(Path(sys.argv[1]))
