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
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from typing import Any

LONGEST = {"markdown": 50_000, "code": 50_000, "printed": 50_000, "output": 50_000, "compared": 20_000}
SHOWN_OF_TOO_MUCH = 2000  # characters of what is longer
# Of one text: of the processor's time, so that busy neighbours cost nobody a page.
SECONDS, MEMORY = 5.0, 1 << 30
PATIENCE = 12  # by the clock, times the seconds: a text that waits instead is given up, too
PAGE_SECONDS, PAGE_CHARACTERS = 20.0, 500_000  # of a page: thousands of texts may be just below the limits
MOST_OUTPUTS = 2000  # of a notebook
# Of a notebook's file, lists, objects and what they hold, that become objects in memory.
MOST_VALUES = 1_000_000
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
        self._pipe: Connection
        self._turn = threading.Lock()

    def write(self, function: str, *arguments: Any) -> str:
        """What the function gives. Raises TooMuch when it does not within the budget."""
        with self._turn:
            if self._process is None or self._process.poll() is not None:
                self._start()
            try:
                self._pipe.send_bytes(json.dumps([function, *arguments]).encode())
                answer = self._hear(PATIENCE * self.seconds)
            except OSError:
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

    def _hear(self, seconds: float) -> bytes:
        """The next answer, or b"" when there is none in time."""
        with contextlib.suppress(EOFError, OSError):  # it was killed
            if self._pipe.poll(seconds):
                return self._pipe.recv_bytes()
        return b""

    def _start(self) -> None:
        script = (
            "import sys; from autograder.untrusted import budgets; "
            "budgets.serve(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))"
        )
        self._pipe, theirs = Pipe()
        # Where this package is found, it shall be found there, too.
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", script, str(self.memory), str(self.seconds), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=variables,
            start_new_session=True,  # Ctrl-C is for us
        )
        theirs.close()
        if self._hear(START_SECONDS) != b"ready":
            self._end()
            raise RuntimeError("The process that renders what students wrote could not be started.")

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._pipe.close()
        self._process = None


def serve(memory: int, seconds: float, handle: int) -> None:
    """The scribe's own life: a message is a task, and another its answer. The kernel ends it when a task takes too long."""
    from autograder.untrusted.rendered import RENDERERS  # start-up: only the scribe's process renders

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe = Connection(handle)
    pipe.send_bytes(b"ready")
    with contextlib.suppress(EOFError):  # nobody asks any more
        while True:
            task = pipe.recv_bytes()
            # Nobody handles its signal, so no parser can put it off.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            answer = _answer(RENDERERS, *json.loads(task))
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send_bytes(json.dumps(answer).encode())


def _answer(functions: dict[str, Callable[..., str]], name: str, *arguments: Any) -> tuple[str, str]:
    """HTML, and what went wrong, as a word."""
    try:
        return functions[name](*arguments), ""
    except Exception as error:  # whatever a parser raises at what nobody has thought of
        return "", type(error).__name__


scribe = Scribe()
atexit.register(scribe.close)
