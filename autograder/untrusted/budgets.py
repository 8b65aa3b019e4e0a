"""Everything of a student's that is parsed outside the jail, and what it may cost.

| what | by whom | bound |
|:--|:--|:--|
| the file that was handed in | a scanner, and json for the cells' texts | `MAX_FILE_BYTES` (`submission`), `MOST_SIGNS`, `MOST_SEARCHED`, `MAX_NOTEBOOK_BYTES`, `MAX_CELLS` (`scanning`), `MOST_VALUES` |
| cells that have lost their marks | ast | `LONGEST["compared"]` each, `MOST_PARSED` together (`definitions`) |
| Markdown with its formulas, HTML, tables and code | mistune, latex2mathml, pygments, nh3 | `LONGEST["markdown"]` characters, `SECONDS` of the processor, `MEMORY` |
| a code cell | pygments | `LONGEST["code"]`, `SECONDS`, `MEMORY` |
| what a cell printed | nbconvert | `LONGEST["printed"]`; the jail keeps less |
| the outputs of a notebook | nbconvert, BeautifulSoup | `MOST_OUTPUTS`; the jail keeps `output_bytes` |
| a page of feedback or formgrader, all of it together | the above | `PAGE_SECONDS`, `PAGE_CHARACTERS` |
| answers that are compared with one another | ast, tokenize | `LONGEST["compared"]`; `similarity` also catches what they raise |
| arrays | numpy, coursekit.planted | shapes and kinds that the exercise names, before a number is looked at (`autograder.checks.comparing`) |

What comes to more is shown cut off, or as it was typed. A size alone bounds nothing where a parser takes quadratic time or
more. So those that may run in a process of their own, the scribe, which is killed when it takes too long, and started anew.
"""

import atexit
import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

LONGEST = {"markdown": 50_000, "code": 50_000, "printed": 50_000, "output": 50_000, "compared": 20_000}
SHOWN_OF_TOO_MUCH = 2000  # characters of what is longer
SECONDS, MEMORY = (
    5.0,
    1 << 30,
)  # of one text: of the processor's time, so that busy neighbours cost nobody a page
PATIENCE = 12  # by the clock, times the seconds: a text that waits instead is given up, too
PAGE_SECONDS, PAGE_CHARACTERS = 20.0, 500_000  # of a page: thousands of texts may be just below the limits
MOST_OUTPUTS = 2000  # of a notebook
MOST_VALUES = (
    1_000_000  # of a notebook's file, lists, objects and what they hold, that become objects in memory
)
START_SECONDS = 120  # on a busy machine


class TooMuch(ValueError):
    """What a student wrote is beyond a budget; the message says which."""


def is_small(blob: bytes, most_bytes: int) -> bool:
    """Whether all of a JSON file may be made into objects: 20 MB of empty lists would take a gigabyte.

    Signs within texts count, too: a picture has none of them, and prose few.
    """
    return len(blob) <= most_bytes and sum(map(blob.count, (b",", b"[", b"{"))) <= MOST_VALUES


def cut_off(text: str, kind: str) -> str:
    """The text, or the beginning of one that is too long to be shown whole."""
    if len(text) <= LONGEST[kind]:
        return text
    rest = (
        f"… This has {len(text)} characters, too many to show here: these are the first {SHOWN_OF_TOO_MUCH}."
    )
    return f"{text[:SHOWN_OF_TOO_MUCH]}\n\n{rest}"


class Scribe:
    """A process of its own that makes HTML of what students wrote: a function of `rendered` by its name."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY):
        self.seconds, self.memory = seconds, memory
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def write(self, function: str, *arguments: Any) -> str:
        """What the function gives. Raises TooMuch when it does not within the budget."""
        with self._turn:
            process = self._process
            if process is None or process.poll() is not None:
                process = self._start()
            tasks, answers = _pipes(process)
            message = json.dumps([function, *arguments]).encode()
            try:
                _say(tasks, message)
                answer = _hear(answers, PATIENCE * self.seconds)
            except BrokenPipeError:
                answer = b""
            except BaseException:  # Ctrl-C, too: its answer would be taken for that to the next
                self._end()
                raise
            if not answer:
                self._end()
                raise TooMuch(
                    f"It takes more than {self.seconds:g} s, or too much memory, to make a page from this notebook."
                )
        html, error = json.loads(answer)
        if error:
            raise TooMuch(f"No page can be made from this notebook ({error}).")
        return html

    def close(self) -> None:
        """End the process, once it has answered whoever is waiting; the next call of `write` starts another."""
        with self._turn:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        script = "import sys; from autograder.untrusted import budgets; budgets.serve(int(sys.argv[1]), float(sys.argv[2]))"
        # Where this package is found, it shall be found there, too.
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", "-c", script, str(self.memory), str(self.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=variables,
            start_new_session=True,  # Ctrl-C is for us
        )
        if _hear(_pipes(process)[1], START_SECONDS) != b"ready\n":
            self._end()
            raise RuntimeError("The process that renders what students wrote could not be started.")
        return process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in _pipes(self._process):
                with contextlib.suppress(BrokenPipeError):  # what was not sent any more
                    pipe.close()
        self._process = None


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Where tasks are written to, and answers read from."""
    assert process.stdin is not None and process.stdout is not None  # it was started with both
    return process.stdin, process.stdout


def _hear(answers: IO[bytes], seconds: float) -> bytes:
    """The next line, or b"" when there is none in time."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    pipe = answers.fileno()
    while not (parts and parts[-1].endswith(b"\n")):
        if not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return b""
        part = os.read(pipe, 1 << 20)
        if not part:
            return b""
        parts.append(part)
    return b"".join(parts)


def serve(memory: int, seconds: float) -> None:
    """The scribe's own life: a line is a task, and another its answer. The kernel ends it when a task takes too long."""
    from autograder.untrusted.rendered import RENDERERS  # start-up: only the scribe's process renders

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else is an answer
    _say(answers, b"ready")
    for line in sys.stdin.buffer:
        signal.setitimer(
            signal.ITIMER_PROF, seconds
        )  # nobody handles its signal, so no parser can put it off
        answer = _answer(RENDERERS, *json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        _say(answers, json.dumps(answer).encode())


def _answer(functions: dict[str, Callable[..., str]], name: str, *arguments: Any) -> tuple[str, str]:
    """HTML, and what went wrong, as a word."""
    try:
        return functions[name](*arguments), ""
    except Exception as error:  # whatever a parser raises at what nobody has thought of
        return "", type(error).__name__


def _say(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(message + b"\n")
    pipe.flush()


scribe = Scribe()
atexit.register(scribe.close)
