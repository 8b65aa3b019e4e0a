"""`autograder written` as a program of its own, as a grader starts it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.course import Assignment
from tests.autograder.written.class_of import NAME

PROGRAM = str(Path(sys.executable).with_name("autograder"))


ADDRESS = re.compile(r"https?://127\.0\.0\.1:\d+/\?token=\S+")


@contextmanager
def serving(
    assignment: Assignment, *options: str, errors: Path | None = None, **environment: str
) -> Iterator[tuple[subprocess.Popen, str]]:
    """The program and the address that it prints. All answers are grouped when the block begins."""
    command = [PROGRAM, "written", NAME, "--by", "words", *options]
    with (
        open(errors or os.devnull, "w") as stderr,
        subprocess.Popen(
            command,
            cwd=assignment.root,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as running,
    ):
        try:
            address = next_address(running)
            while "All questions are ready" not in running.stdout.readline():
                assert running.poll() is None
            yield running, address
        finally:
            running.terminate()


def next_address(running: subprocess.Popen) -> str:
    """The next address that the program prints: it does so when the one before was used."""
    while not (found := ADDRESS.search(running.stdout.readline())):
        assert running.poll() is None
    return found[0]
