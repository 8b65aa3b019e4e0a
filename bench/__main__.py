"""make bench: measure all contenders on the same generated submissions, and write docs/benchmarks.md.

python -m bench                  the whole comparison
python -m bench --quick          a few submissions of each, to see that it works; the page goes to build/
python -m bench --resume         go on with a comparison that was interrupted
python -m bench --only waiting   the steps whose names begin so, without the page

The whole takes about three quarters of an hour, and until its end three gigabytes where temporary files lie.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import page, plain
from bench.contenders import NOTEBOOKS, Bench, make_otter_environment, run_or_raise
from bench.submissions import ROOT

BUILD = ROOT / "build" / "bench"
Step = tuple[str, Callable[[], Any]]


@dataclass(frozen=True)
class Sizes:
    """How many submissions each contender grades."""

    nbgrader: int = 24
    otter: int = 24
    ours: int = 24
    more: int = 480  # a larger class: the difference is the cost without the start, which varies by a second
    rounds: int = 3  # of classes by turns, where a median is given: the machine's own speed varies
    scale: tuple[int, ...] = (100, 500, 2000)
    waiting: tuple[int, ...] = (1, 30)  # from the command's start to the last recorded grade
    small: tuple[int, ...] = (1, 3, 10, 30, 100)  # classes of ordinary assignments, where starting counts


QUICK = Sizes(nbgrader=2, otter=1, ours=4, more=12, rounds=2, scale=(8, 16), waiting=(1, 4), small=(1, 2))


def main() -> None:
    """Measure the steps that are asked for, one after another, and write the page unless `--only` is given."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few submissions of each")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run has measured")
    parser.add_argument("--nbgrader", type=int, help="submissions that nbgrader grades (default 24)")
    parser.add_argument("--otter", type=int, help="submissions that otter grades (default 24)")
    parser.add_argument(
        "--only", default="", help="only the steps whose names begin with this; no page is written"
    )
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else Sizes()
    sizes = Sizes(
        **{
            **asdict(sizes),
            **{n: v for n in ("nbgrader", "otter") if (v := getattr(arguments, n)) is not None},
        }
    )
    BUILD.mkdir(parents=True, exist_ok=True)
    results_file = BUILD / ("quick.json" if arguments.quick else "results.json")
    results = json.loads(results_file.read_text()) if arguments.resume and results_file.exists() else {}
    with tempfile.TemporaryDirectory(prefix="bench-") as place, _progress() as progress:
        todo = [step for step in steps(sizes, Path(place)) if step[0].startswith(arguments.only)]
        task = progress.add_task("", total=len(todo))
        otter = make_otter_environment() if any("otter" in name for name, _ in todo) else ""
        if not arguments.only:
            results["machine"] = _machine(otter)
        results["sizes"] = asdict(sizes)
        for name, measure in todo:
            progress.update(task, description=name)
            if name not in results:
                results[name] = {"load": os.getloadavg()[0], "measured": measure()}
                results_file.write_text(json.dumps(results, indent=1))
            progress.advance(task)
    if arguments.only:
        for name, _ in todo:
            Console().print(f"{name}: {page.in_words(results[name]['measured'])}", highlight=False)
        return
    text, picture = (
        (BUILD / "benchmarks.md", BUILD / "benchmarks.png")
        if arguments.quick
        else (ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "images" / "benchmarks.png")
    )
    page.write(results, text, picture)
    Console().print(f"wrote {text.relative_to(ROOT)} and {picture.relative_to(ROOT)}", highlight=False)


def steps(sizes: Sizes, place: Path) -> Iterator[Step]:
    """What is measured, in order, each under its name in the results."""
    classes = sizes.ours, sizes.more
    benches = {notebook.name: Bench(place / notebook.name, notebook) for notebook in NOTEBOOKS}
    for name, bench in benches.items():
        yield f"{name}/ours/1", lambda b=bench: by_turns(lambda n: asdict(b.ours(n, 1)), classes, 1)
        yield (
            f"{name}/ours/2",
            lambda b=bench: by_turns(lambda n: asdict(b.ours(n, 2)), classes, sizes.rounds),
        )
        yield f"{name}/nbgrader", lambda b=bench: asdict(b.nbgrader(sizes.nbgrader))
        yield f"{name}/agree", bench.verdicts_agree
        yield f"{name}/otter", lambda b=bench: [asdict(run) for run in b.otter(sizes.otter)]
        yield f"{name}/floor", lambda b=bench: b.floor(sizes.ours)
        yield f"{name}/own", lambda b=bench: by_turns(b.own, classes, sizes.rounds)
    torch = benches[NOTEBOOKS[0].name]
    for count in sizes.waiting:
        yield f"waiting/ours/{count}", lambda n=count: [asdict(torch.ours(n, 2)) for _ in range(sizes.rounds)]
        yield f"waiting/nbgrader/{count}", lambda n=count: asdict(torch.nbgrader(n))
    ordinary = plain.Plain(place / "plain")
    yield "plain/ours", lambda: by_turns(lambda n: asdict(ordinary.ours(n)), classes, sizes.rounds)
    yield "plain/nbgrader", lambda: asdict(ordinary.nbgrader(sizes.nbgrader))
    yield "plain/agree", ordinary.scores_agree
    yield "plain/otter", lambda: [asdict(run) for run in ordinary.otter(sizes.otter)]
    for one in plain.SMALL_CLASSES:
        course = plain.Plain(place / f"small-{one.name}", one)
        for count in sizes.small:
            yield f"small/{one.name}/ours/{count}", lambda c=course, n=count: asdict(c.ours(n))
            yield f"small/{one.name}/nbgrader/{count}", lambda c=course, n=count: asdict(c.nbgrader(n))
    yield "exercises", exercises
    yield "scale/ours", lambda: by_turns(lambda n: asdict(torch.ours(n, 2)), sizes.scale, sizes.rounds)


def by_turns(measure: Callable[[int], Any], classes: Sequence[int], rounds: int) -> list[tuple[Any, ...]]:
    """Of each round what these classes take, the smallest first, one right after the other."""
    return [tuple(measure(count) for count in classes) for _ in range(rounds)]


def exercises() -> dict[str, tuple[bool, float, float]]:
    """Of each exercise: is it a class, and its milliseconds in the jail and of judging."""
    return json.loads(run_or_raise([sys.executable, "-m", "bench.exercises"], ROOT))


def _machine(otter: str) -> dict[str, str]:
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return {
        "date": date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "cores": str(os.cpu_count()),
        "processor": models[0].partition(": ")[2] if models else platform.processor(),
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "loop": f"{min(timeit.repeat('for number in range(10**7): number + 1', number=1, repeat=3)):.2f}",
        **{name: version(name) for name in page.PACKAGES},
        "otter-grader": otter,
    }


def _progress() -> Progress:
    columns = (TextColumn("{task.description:28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True))


if __name__ == "__main__":
    main()
