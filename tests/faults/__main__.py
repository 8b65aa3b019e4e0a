"""Which tests see which small fault? Each fault of faults.toml is put into a copy of the repository, where tests are run.

    python -m tests.faults --near             the fast tests of the folder that mirrors the fault's package
    python -m tests.faults --fast             then all other fast ones
    python -m tests.faults                    then the slow ones, for what no fast test sees
    python -m tests.faults --only 3 17        these faults, by their number

The first test that fails ends the search. What was found is kept in
build/faults.json, so that a run which was interrupted goes on; `--again` begins anew.
"""

import argparse
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.files import write_aside
from tests.conftest import ROOT
from tests.faults.listed import Fault, put_into, read_faults

RESULTS = ROOT / "build" / "faults.json"
FAST, SLOW = "not slow and not browser and not audit", "(slow or browser) and not audit"
SECONDS = {FAST: 900, SLOW: 7200}  # that one run of tests may take; a fault may make it go on for ever
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", re.MULTILINE)
NEAR, EVERY_FAST, ALL = REACHES = ("near", "fast", "all")
HANGS = "(the tests did not end)"
CHECK = "import autograder, pathlib; print(pathlib.Path(autograder.__file__).resolve().parent.parent)"


@dataclass(frozen=True)
class Found:
    """The test that saw a fault first, or ""; whether it is a fast one; and which tests were asked."""

    test: str
    fast: bool
    reach: str
    seconds: float


@dataclass
class Copy:
    """A copy of the repository with everything that git would keep. The environment is shared."""

    root: Path
    failing: set[str] = field(default_factory=set)  # tests that fail without any fault, and see nothing

    @classmethod
    def make(cls, root: Path) -> "Copy":
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name, follow_symlinks=False)
        (root / ".venv").symlink_to(sys.prefix)
        copy = cls(root)
        copy.require_to_be_tested()
        return copy

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.root), "OMP_NUM_THREADS": "1"}

    def require_to_be_tested(self) -> None:
        """Python imports the copy also where it is started in another folder, as many tests do."""
        command = [sys.executable, "-c", CHECK]
        said = subprocess.run(command, cwd="/", env=self._environment, capture_output=True, text=True)
        if said.stdout.strip() != str(self.root.resolve()):
            raise SystemExit(f"Not the copy would be tested, but {said.stdout.strip() or said.stderr}")

    def first_failing(self, kind: str, paths: list[str], without: list[str]) -> str:
        """The first of these tests that fails, or ""."""
        left_out = [f"--ignore={path}" for path in without]
        left_out += [f"--deselect={test}" for test in self.failing]
        return next(iter(self._failing(["-x", *paths, *left_out, "-m", kind], SECONDS[kind])), "")

    def failing_anyway(self, tests: set[str]) -> set[str]:
        """Those of these tests that fail without any fault, too."""
        here = sorted(test for test in tests if test.startswith("tests/"))
        return set(self._failing(here, SECONDS[SLOW])) & tests if here else set()

    def _failing(self, arguments: list[str], seconds: float) -> list[str]:
        """The tests that fail, or in their place what else went wrong."""
        log = self.root.with_suffix(".log")
        options = ["-q", "-rfE", "--tb=no", "-n", "0", "-p", "no:cacheprovider"]
        request = {"arguments": [*options, *arguments], "log": str(log), "seconds": seconds}
        self._warm.stdin.write(f"{json.dumps(request)}\n")
        self._warm.stdin.flush()
        status = json.loads(self._warm.stdout.readline())
        if status is None:
            return [HANGS]
        if status in (0, 5):  # all passed, or there was none
            return []
        said = log.read_text(errors="replace")
        return FAILED.findall(said) or [f"(pytest ended with {status}: {said[-200:]})"]

    @cached_property
    def _warm(self) -> subprocess.Popen:
        """Ends with us: it reads from a pipe that then closes."""
        command = [sys.executable, str(Path(__file__).with_name("warm.py"))]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=self.root, env=self._environment, **pipes)


def mirrored(root: Path, fault: Fault) -> tuple[list[str], list[str]]:
    """The test files of the fault's package: those that import or are called like its module, and the others."""
    tests = root / "tests" / "autograder"
    folder = tests / fault.place.partition("/")[0]
    module = Path(fault.file).with_suffix("")
    imported = re.compile(
        rf"{'.'.join(module.parts)}\b|from {'.'.join(module.parts[:-1])} import .*\b{module.name}\b"
    )
    close, others = [], []
    for path in sorted((folder if folder.is_dir() else tests).glob("test_*.py")):
        is_close = module.name in path.stem or imported.search(path.read_text(encoding="utf-8"))
        (close if is_close else others).append(path.relative_to(root).as_posix())
    return close, others


def rounds(root: Path, fault: Fault, reach: str, before: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """What to run: the kind of tests, where they are, and what was run before. First the test that saw it last time."""
    close, others = mirrored(root, fault)
    if before.startswith("tests/") and (root / before.partition("::")[0]).exists():
        yield FAST, [before], []
    for kind in (FAST,) if reach != ALL else (FAST, SLOW):
        yield from ((kind, paths, []) for paths in (close, others) if paths)
        if reach != NEAR:
            yield kind, ["tests"], [*close, *others]


def look(copy: Copy, fault: Fault, reach: str, before: str) -> Found:
    """Put one fault into the copy and run tests until one sees it."""
    began = time.monotonic()
    for kind, paths, without in rounds(copy.root, fault, reach, before):
        with put_into(copy.root, fault):
            test = copy.first_failing(kind, paths, without)
        if test:
            return Found(test, kind == FAST, reach, time.monotonic() - began)
    return Found("", False, reach, time.monotonic() - began)


def run(faults: dict[int, Fault], jobs: int, reach: str, results: dict[str, dict], console: Console) -> None:
    """Look for each fault that is not among the results, and add it to them."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copies = []
        for job in range(min(jobs, len(faults))):
            (Path(folder) / str(job)).mkdir()
            copies.append(Copy.make(Path(folder) / str(job)))
        while faults:
            look_for_all(faults, copies, reach, results, console)
            tests = {results[key(fault)]["test"] for fault in faults.values()}
            failing = copies[0].failing_anyway(tests)
            faults = {n: fault for n, fault in faults.items() if results[key(fault)]["test"] in failing}
            for copy in copies:
                copy.failing |= failing
            for fault in faults.values():
                del results[key(fault)]
            if failing:
                console.print(f"These fail without any fault, and are left out: {', '.join(sorted(failing))}")


def look_for_all(
    faults: dict[int, Fault], copies: list[Copy], reach: str, results: dict[str, dict], console: Console
) -> None:
    """Each fault in one of the copies. What is found is kept at once."""
    free: queue.Queue[Copy] = queue.Queue()
    for copy in copies:
        free.put(copy)

    def one(number: int, fault: Fault) -> tuple[int, Found]:
        copy = free.get()
        try:
            return number, look(copy, fault, reach, results.get(key(fault), {}).get("test", ""))
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as threads:
        futures = [threads.submit(one, number, fault) for number, fault in faults.items()]
        for done, future in enumerate(as_completed(futures), 1):
            number, found = future.result()
            results[key(faults[number])] = asdict(found)
            write_aside(RESULTS, json.dumps(results, indent=1))
            seen = escape(found.test) if found.test else "[red]nobody[/red]"
            console.print(f"{done}/{len(faults)}  {number:>3} {faults[number].place}: {seen}", soft_wrap=True)


def key(fault: Fault) -> str:
    return json.dumps([fault.file, fault.old, fault.new])


def table(faults: dict[int, Fault], results: dict[str, dict]) -> Table:
    shown = Table(box=None, header_style="bold")
    for column in ("", "file", "what a user would lose", "seen by"):
        shown.add_column(column, overflow="fold")
    for number, fault in faults.items():
        found = results.get(key(fault))
        test = "not tried" if found is None else found["test"] or "NOBODY"
        slow = " (slow)" if found and found["test"] and not found["fast"] else ""
        shown.add_row(str(number), fault.place, escape(fault.why), escape(test.removeprefix("tests/")) + slow)
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reach = parser.add_mutually_exclusive_group()
    reach.add_argument(
        "--near", action="store_const", const=NEAR, dest="reach", help="the fast tests of its package alone"
    )
    reach.add_argument(
        "--fast", action="store_const", const=EVERY_FAST, dest="reach", help="fast tests alone"
    )
    parser.set_defaults(reach=ALL)
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="the numbers of faults")
    parser.add_argument("--jobs", type=int, default=1, help="copies in which tests run at the same time")
    parser.add_argument("--again", action="store_true", help="also what was found before")
    parser.add_argument("--show", action="store_true", help="only show what was found")
    given = parser.parse_args()
    faults = dict(enumerate(read_faults(), 1))
    if given.only:
        faults = {number: faults[number] for number in given.only}
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}

    def is_known(fault: Fault) -> bool:
        found = results.get(key(fault))
        return found is not None and (
            bool(found["test"]) or REACHES.index(found["reach"]) >= REACHES.index(given.reach)
        )

    signal.signal(signal.SIGTERM, lambda *how: sys.exit(143))  # so that the copies are removed
    console = Console()
    new = {number: fault for number, fault in faults.items() if given.again or not is_known(fault)}
    if new and not given.show:
        run(new, given.jobs, given.reach, results, console)
    console.print(table(faults, results))
    found = [results[key(fault)] for fault in faults.values() if key(fault) in results]
    fast, seen = (sum(bool(one["test"]) and (one["fast"] or slow) for one in found) for slow in (False, True))
    console.print(f"{seen} of {len(found)} faults were seen, {fast} of them by fast tests.")
    if not given.show and seen < len(found):
        sys.exit(1)


if __name__ == "__main__":
    main()
