"""The page docs/benchmarks.md and its figure, from the measurements."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

from bench.contenders import NOTEBOOKS
from bench.measure import LOOK_SHARE
from bench.plain import SMALL_CLASSES
from coursekit.plots import BLUE, GREY, ORANGE, use_style

AIMS = {"torch": 60, "transformers": 100}  # times nbgrader's throughput, on two workers
OTTER_AIM = 200
PLAIN_AIM = 40
SMALL_AIMS = {3: 5, 100: 40}  # times as fast as nbgrader, in a class of so many
FLOOR_FACTOR, FLOOR_SECONDS = 1.5, 0.030
MEMORY_AIM = 1e9
CLASS_AIM = 30  # milliseconds that an exercise with a class may take beyond one with a function
FURTHER_AIM = 0.030  # seconds for each further submission (torch)
OWN_AIM = 0.015  # seconds of the command's own CPU for it
WAITING_AIMS = {1: 4, 30: 7}  # seconds for so many submissions, on two idle processors
PACKAGES = "torch", "transformers", "nbgrader"
FLAT = 1.1  # at most so many times the cost between the two smaller classes

Results = Mapping[str, Any]


class Figures:
    """What the page says of one notebook, in seconds per submission."""

    def __init__(self, results: Results, name: str):
        sizes = results["sizes"]
        self.name = name
        self.few, self.many = sizes["ours"], sizes["more"]
        self.counts = {"nbgrader": sizes["nbgrader"], "otter": sizes["otter"]}
        self._results = results

    def of(self, step: str) -> Any:
        """What was measured in one step of this notebook, as it was recorded."""
        return self._results[f"{self.name}/{step}"]["measured"]

    def nbgrader(self, what: str) -> float:
        """Of one submission graded by nbgrader: its share of the command's "wall" or "cpu" seconds."""
        return self.of("nbgrader")[what] / self.counts["nbgrader"]

    def otter(self, what: str) -> float:
        """Of one submission graded by otter: the mean "wall" or "cpu" seconds of its runs."""
        return statistics.mean(run[what] for run in self.of("otter"))

    def whole(self, workers: int) -> float:
        """Of a whole command that grades few, its start included: the median of the rounds."""
        return statistics.median(small["wall"] for small, _ in self.of(f"ours/{workers}")) / self.few

    def further(self, workers: int) -> float:
        """Of one more submission: the median of the rounds."""
        return statistics.median(self.each_round(workers))

    def each_round(self, workers: int) -> list[float]:
        """Of one more submission: the difference between a larger class and a small one, in each round."""
        return _differences(self.of(f"ours/{workers}"), "wall", self.many - self.few)

    def median(self, where: str, place: int) -> float:
        """Of executing one notebook: `where` is "jail" or "floor", `place` 0 for wall and 1 for CPU."""
        return statistics.median(times[place] for times in self.of("floor")[where])

    def own(self, what: str) -> float:
        """Of one more submission: the command's own "cpu" seconds, or its "runs" of notebooks. The median of the rounds."""
        return statistics.median(self.own_each_round(what))

    def own_each_round(self, what: str) -> list[float]:
        """Of one more submission in each round: the command's own "cpu" seconds, or its "runs" of notebooks."""
        return _differences(self.of("own"), what, self.many - self.few)

    def rows(self) -> Iterator[tuple[str, float, int]]:
        """Contender, seconds and bytes."""
        yield "`otter run`", self.otter("wall"), _peak(self.of("otter"))
        yield "`nbgrader autograde`", self.nbgrader("wall"), _peak([self.of("nbgrader")])
        for workers in (1, 2):
            command = f"`autograder grade --workers {workers}`"
            few, many = zip(*self.of(f"ours/{workers}"), strict=True)
            yield f"{command}, whole command", self.whole(workers), _peak(few)
            yield f"{command}, each further", self.further(workers), _peak(many)


def _differences(rounds: Iterable[tuple[Any, Any]], what: str, more: int) -> list[float]:
    """In each round: what one of `more` further submissions takes of something."""
    return [(large[what] - small[what]) / more for small, large in rounds]


def _peak(commands: Iterable[Mapping[str, Any]]) -> int:
    return max(command["peak_bytes"] for command in commands)


def write(results: Results, text: Path, picture: Path) -> None:
    """Write the page `text` and its figure `picture` from the measurements."""
    both = [Figures(results, notebook.name) for notebook in NOTEBOOKS]
    machine, sizes = results["machine"], results["sizes"]
    picture.parent.mkdir(parents=True, exist_ok=True)
    page = _templates().get_template("benchmarks.md.jinja").render(
        machine=machine,
        versions=", ".join(f"{name} {machine[name]}" for name in (*PACKAGES, "otter-grader")),
        loads=[step["load"] for name, step in results.items() if name not in ("machine", "sizes")],
        alt=draw(results, both, picture),
        picture=picture.relative_to(text.parent),
        both=both,
        waiting=list(_waiting(results)),
        rounds=sizes["rounds"],
        in_milliseconds=in_milliseconds,
        median=statistics.median,
        look_share=LOOK_SHARE,
        plain=PlainFigures(results),
        small=list(_small(results)),
        small_libraries=[one.library for one in SMALL_CLASSES],
        kinds=list(_kinds(results)),
        scale=list(_scale(results)),
        aims=list(aims(results, both)),
    )  # fmt: skip
    text.write_text(page, encoding="utf-8")


def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def in_words(measured: Any) -> str:
    """A step's measurement for a terminal: of one command, of several, or another thing."""
    if isinstance(measured, list) and isinstance(measured[0], float):
        return ", ".join(f"{seconds:.1f} s" for seconds in measured)
    commands = measured if isinstance(measured, list) else [measured]
    if isinstance(commands[0], tuple | list):  # of rounds
        return "; ".join(" and ".join(in_words(of_class) for of_class in of_round) for of_round in commands)
    if not all(isinstance(command, dict) and "wall" in command for command in commands):
        return str(measured)
    wall, peak = _wall(measured), max(command["peak_bytes"] for command in commands)
    return f"{wall:.1f} s, {peak / 1e6:.0f} MB"


def _wall(measured: Any) -> float:
    """Seconds of a command, or of several one after the other."""
    return sum(command["wall"] for command in measured) if isinstance(measured, list) else measured["wall"]


def _waiting(results: Results) -> Iterator[tuple[int, list[float], int, float, float]]:
    """Submissions, our seconds in each round and our bytes, and the seconds that it takes nbgrader and otter.

    otter grades each in a command of its own: its time is that of so many mean ones.
    """
    otter = _wall(results["torch/otter"]["measured"]) / results["sizes"]["otter"]
    for count in results["sizes"]["waiting"]:
        ours, nbgrader = (results[f"waiting/{who}/{count}"]["measured"] for who in ("ours", "nbgrader"))
        yield count, [command["wall"] for command in ours], _peak(ours), _wall(nbgrader), count * otter


class PlainFigures:
    """Of the ordinary nbgrader assignment, in seconds per submission."""

    def __init__(self, results: Results):
        sizes = results["sizes"]
        self.few, self.many = sizes["ours"], sizes["more"]
        self._of = {
            name.removeprefix("plain/"): step["measured"]
            for name, step in results.items()
            if name.startswith("plain/")
        }
        self.otter = _wall(self._of["otter"]) / sizes["otter"]
        self.nbgrader = _wall(self._of["nbgrader"]) / sizes["nbgrader"]
        self.whole = statistics.median(small["wall"] for small, _ in self._of["ours"]) / self.few
        self.further = statistics.median(_differences(self._of["ours"], "wall", self.many - self.few))
        self.agree = self._of["agree"]

    def rows(self) -> Iterator[tuple[str, float]]:
        """Contender and seconds."""
        yield "`otter run`", self.otter
        yield "`nbgrader autograde`", self.nbgrader
        yield "`autograder grade --workers 2`, whole command", self.whole
        yield "`autograder grade --workers 2`, each further", self.further


def _small(results: Results) -> Iterator[tuple[int, list[tuple[float, float]]]]:
    """Of each size of class: (our seconds, nbgrader's) for each of the ordinary assignments."""
    for count in results["sizes"]["small"]:
        steps = ((f"small/{one.name}/{who}/{count}" for who in ("ours", "nbgrader")) for one in SMALL_CLASSES)
        yield count, [tuple(results[step]["measured"]["wall"] for step in both) for both in steps]


def _kinds(results: Results) -> Iterator[tuple[str, list[float], str]]:
    """Functions and classes: the milliseconds of each exercise, ascending, and the name of the costliest."""
    exercises = results["exercises"]["measured"]
    for kind, wanted in (("a function", False), ("a class", True)):
        costs = {
            name: jail + judging
            for name, (is_class, jail, judging) in exercises.items()
            if is_class == wanted
        }
        yield kind, sorted(costs.values()), max(costs, key=costs.get)


@dataclass(frozen=True)
class LargerClass:
    """So many submissions in a command: its seconds and the most bytes, and of each further the seconds in each round.

    Further than the class before has; in the first, all.
    """

    count: int
    wall: float
    peak: int
    each_round: Sequence[float]

    @property
    def further(self) -> float:
        """Seconds for each further submission: the median of the rounds."""
        return statistics.median(self.each_round)


def _scale(results: Results) -> Iterator[LargerClass]:
    rounds = results["scale/ours"]["measured"]
    nothing = {"wall": 0.0}
    before, smaller = 0, [nothing for _ in rounds]
    for count, of_count in zip(results["sizes"]["scale"], zip(*rounds, strict=True), strict=True):
        further = _differences(zip(smaller, of_count, strict=True), "wall", count - before)
        wall = statistics.median(command["wall"] for command in of_count)
        yield LargerClass(count, wall, _peak(of_count), further)
        before, smaller = count, of_count


def aims(results: Results, both: list[Figures]) -> Iterator[tuple[str, str, bool]]:
    """Each aim of the page: what it demands, what was measured, and whether it was met."""
    for figures in both:
        aim = AIMS[figures.name]
        ratio = figures.nbgrader("wall") / figures.further(2)
        yield (
            f"{aim} times nbgrader's throughput with two workers ({figures.name})",
            f"{ratio:.0f}",
            ratio >= aim,
        )
    for figures in both:
        ratio = figures.otter("wall") / figures.further(2)
        yield (
            f"{OTTER_AIM} times otter's ({figures.name})",
            f"{ratio:.0f}",
            ratio >= OTTER_AIM,
        )
    for figures in both:
        floor, jail = figures.median("floor", 0), figures.median("jail", 0)
        most = FLOOR_FACTOR * floor + FLOOR_SECONDS
        yield (
            f"execution within {FLOOR_FACTOR} × floor + {1000 * FLOOR_SECONDS:.0f} ms ({figures.name})",
            f"{1000 * jail:.0f} of {1000 * most:.0f} ms",
            jail <= most,
        )
    ratio = PlainFigures(results).nbgrader / PlainFigures(results).further
    yield f"{PLAIN_AIM} times nbgrader's throughput (ordinary assignment)", f"{ratio:.0f}", ratio >= PLAIN_AIM
    for count, seconds in _small(results):
        for one, (ours, nbgrader) in zip(SMALL_CLASSES, seconds, strict=True):
            if aim := SMALL_AIMS.get(count):
                yield (
                    f"{aim} times as fast as nbgrader with {count} submissions (ordinary, {one.library})",
                    f"{nbgrader / ours:.1f}",
                    nbgrader / ours >= aim,
                )
    further, own = both[0].further(2), both[0].own("cpu")
    yield (
        f"each further submission in {1000 * FURTHER_AIM:.0f} ms, two workers ({both[0].name})",
        f"{1000 * further:.0f} ms ({in_milliseconds(both[0].each_round(2))})",
        further <= FURTHER_AIM,
    )
    yield (
        f"{1000 * OWN_AIM:.0f} ms of CPU time of the command itself for each further submission",
        f"{1000 * own:.0f} ms ({in_milliseconds(both[0].own_each_round('cpu'))})",
        own <= OWN_AIM,
    )
    for count, seconds, *_ in _waiting(results):
        if aim := WAITING_AIMS.get(count):
            submissions = "1 submission" if count == 1 else f"{count} submissions"
            wall = statistics.median(seconds)
            yield f"{submissions} in {aim} s", f"{wall:.1f} s", wall <= aim
    (_, functions, _), (_, classes, costliest) = _kinds(results)
    more = classes[-1] - statistics.median(functions)
    yield (
        f"the costliest class ({costliest}) at most {CLASS_AIM} ms beyond the median function",
        f"{more:.0f} ms",
        more <= CLASS_AIM,
    )
    *_, middle, largest = _scale(results)
    peak = max(of_class.peak for of_class in _scale(results))
    yield "two workers under 1 GB, whatever the class", f"{peak / 1e6:.0f} MB", peak < MEMORY_AIM
    yield (
        f"the same cost for each submission up to {largest.count}",
        f"{1000 * largest.further:.0f} ms for each of the last, {1000 * middle.further:.0f} before",
        largest.further <= FLAT * middle.further,
    )


def in_milliseconds(rounds: Iterable[float]) -> str:
    """Each round's seconds, in milliseconds."""
    return ", ".join(f"{1000 * seconds:.0f}" for seconds in rounds)


def draw(results: Results, both: list[Figures], picture: Path) -> str:
    """Draw the figure. Returns its description."""
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=(3, 2))
    said = []
    for place, (figures, colour) in enumerate(zip(both, (BLUE, ORANGE), strict=True)):
        values = {
            "otter run": figures.otter("wall"),
            "nbgrader autograde": figures.nbgrader("wall"),
            "autograder, 1 worker": figures.further(1),
            "autograder, 2 workers": figures.further(2),
            "floor": figures.median("floor", 0),
        }
        rows = [row + 0.38 * place for row in range(len(values))]
        left.barh(rows, values.values(), height=0.34, color=colour, label=figures.name)
        for row, value in zip(rows, values.values(), strict=True):
            left.annotate(
                f"{value:.3g}", (value, row), (3, 0), textcoords="offset points", va="center", fontsize=8
            )
        said.append(f"{figures.name}: " + ", ".join(f"{name} {value:.3g}" for name, value in values.items()))
    left.set(xscale="log", xlabel="seconds per submission (logarithmic)")
    left.set_yticks([row + 0.19 for row in range(len(values))], values)
    left.set_xlim(right=5 * left.get_xlim()[1])
    left.invert_yaxis()
    left.legend(title="the notebook imports", loc="lower right")
    scale = list(_scale(results))
    counts = [of_class.count for of_class in scale]
    each = [1000 * of_class.wall / of_class.count for of_class in scale]
    further = [1000 * of_class.further for of_class in scale]
    right.plot(counts, each, color=GREY, marker="s", label="of each, start included")
    right.plot(counts[1:], further[1:], color=BLUE, marker="o", label="of each further")
    right.set(xscale="log", xlabel="submissions (logarithmic)", ylabel="milliseconds", ylim=(0, None))
    right.set_xticks(counts, counts)
    right.minorticks_off()
    right.legend()
    figure.savefig(picture, dpi=120)
    plt.close(figure)
    flat = ", ".join(f"{value:.0f} at {count}" for count, value in zip(counts, each, strict=True))
    return f"Seconds per submission, {'; '.join(said)}. Milliseconds per submission by size of the class: {flat}."
