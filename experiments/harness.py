"""Run an experiment: find the runs that its tables lack, show progress, and write after each run.

A module of this package states its question in the first sentence of its docstring, names the tables that it writes, and
assigns `EXPERIMENT`: an `Experiment`, whose steps are runs to be measured, or a `Card`, whose lines are printed.
"""

import csv
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from rich.progress import Progress

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "data/results"

Run = dict[str, object]
"""What distinguishes one run from the others of its table: column and value."""
Key = tuple[str, ...]
"""The values of a run as the table spells them."""


class ExperimentError(Exception):
    """An experiment cannot go on; the message is one sentence for the person who started it."""


@dataclass
class Options:
    """What the command line sets. `seeds` defaults to those of the experiment."""

    results: Path = RESULTS
    seeds: Sequence[int] = ()
    only: Sequence[tuple[str, str]] = ()
    """Columns of a run, each with a value to which this call is restricted."""
    threads: int = 1
    corpus: Path | None = None
    """The novels: a folder with `books.csv` and `raw`."""
    checkpoints: Path = ROOT / "build/pretrain"
    progress: Progress = field(default_factory=lambda: Progress(disable=True))

    def path(self, table: str) -> Path:
        """The file of a table."""
        return self.results / f"{table}.csv"

    def read(self, table: str) -> pd.DataFrame:
        """What is in a table so far, for a step that depends on an earlier one."""
        path = self.path(table)
        return pd.read_csv(path) if path.exists() else pd.DataFrame()

    def track(self, items: Sequence, description: str) -> Iterator:
        """The items, with a progress bar below that of the runs."""
        task = self.progress.add_task(description, total=len(items))
        for item in items:
            yield item
            self.progress.advance(task)
        self.progress.remove_task(task)


@dataclass(frozen=True)
class Step:
    """Runs whose results belong in one table of data/results.

    `measure` is called with the values of a run and returns its rows: a dictionary, several, or a data frame. The values of
    the run are put in front unless the rows contain them. A dictionary from names of tables to rows fills several tables.
    """

    table: str
    runs: list[Run]
    measure: Callable
    digits: int = 4
    """To which measured values are rounded; those of a run are not."""
    wide: bool = False
    """Each run has one value, the name of the column that it fills; `measure` returns the values of that column."""


Steps = Iterator[Step]
"""A generator of steps is resumed when the step before is complete, whose table it may then read."""


@dataclass(frozen=True)
class Experiment:
    """What is measured, and for which seeds."""

    steps: Callable[[Options], Steps]
    seeds: Sequence[int] = ()
    novels: bool = False
    """Whether it needs the texts of the novels."""


@dataclass(frozen=True)
class Card:
    """The lines that the card of a data set quotes."""

    lines: Callable[[Options], Iterable[str]]
    novels: bool = False
    """Whether it prints other lines when it is given the texts of the novels."""


def grid(**values: Iterable) -> list[Run]:
    """Every combination of the values; the last column changes fastest."""
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


# ------------------------------------------------------------------------------------------------------- tables


class Table:
    """A CSV file whose cells stay exactly as they are until a run replaces them."""

    def __init__(self, path: Path):
        self.path, self.header, self.rows = path, [], []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                self.header, *self.rows = list(csv.reader(file)) or [[]]

    def keys(self, columns: Iterable[str]) -> list[Key]:
        """The values of each row in these columns."""
        places = [self.header.index(column) for column in columns]
        return [tuple(row[place] for place in places) for row in self.rows]

    def has(self, run: Run, wide: bool = False) -> bool:
        """Whether the results of a run are in the table."""
        if wide:
            return spell(*run.values()) in {(column,) for column in self.header}
        return set(run) <= set(self.header) and spell(*run.values()) in self.keys(run)

    def put(self, run: Run, found: list[dict], order: list[Key], digits: int) -> None:
        """Insert the rows of a run in the order of the runs; rows that the table had of the same run are replaced."""
        rows = [each if run.keys() <= each.keys() else run | each for each in found]
        self.header = self.header or list(rows[0])
        for row in rows:
            if set(row) - set(self.header):
                raise ExperimentError(f"{self.path.name} has no column {min(set(row) - set(self.header))!r}.")
        columns = [column for column in run if column in self.header]
        own = spell(*(run[column] for column in columns))
        self.rows = [row for row, key in zip(self.rows, self.keys(columns), strict=True) if key != own]
        place = len(self.rows) if columns != list(run) else place_of(own, self.keys(columns), order)
        self.rows[place:place] = [
            [cell(row.get(column), None if column in run else digits) for column in self.header]
            for row in rows
        ]

    def put_column(self, name: str, values: Sequence, order: list[Key], digits: int) -> None:
        """Insert a column in the order of the runs."""
        place = place_of((name,), [(column,) for column in self.header], order)
        self.rows = self.rows or [[] for _ in values]
        self.header.insert(place, name)
        for row, value in zip(self.rows, values, strict=True):
            row.insert(place, cell(value, digits))

    def write(self) -> None:
        """Replace the file in one step, so that an interruption leaves the old or the new table."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with draft.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([self.header, *self.rows])
            draft.replace(self.path)
        finally:
            draft.unlink(missing_ok=True)


def place_of(own: Key, keys: list[Key], order: list[Key]) -> int:
    """Where a run belongs among the keys of a table: after the nearest earlier run, else before the nearest later one."""
    number = {key: place for place, key in enumerate(order)}
    placed = [(number[key], place) for place, key in enumerate(keys) if key in number]
    earlier = [each for each in placed if each[0] < number[own]]
    if earlier:
        return max(earlier)[1] + 1
    return min(placed)[1] if placed else len(keys)


def cell(value: object, digits: int | None = None) -> str:
    """A value as pandas writes it."""
    if value is None or value is pd.NA or value != value:
        return ""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value) if digits is None else round(float(value), digits))
    return str(value)


def spell(*values: object) -> Key:
    """The values of a run as the table spells them."""
    return tuple(cell(value) for value in values)


# ------------------------------------------------------------------------------------------------------- running


def record(experiment: Experiment, options: Options, tables: Sequence[str] = ()) -> Iterator[str]:
    """Measure every run that the tables lack, and write after each; yields a line about each finished run and each step.

    `tables`, where given, are the only ones that may be written.
    """
    options.seeds = options.seeds or experiment.seeds
    for step in experiment.steps(options):
        path, begun, made = options.path(step.table), time.monotonic(), 0
        chosen, order = _chosen(step, options.only), [spell(*run.values()) for run in step.runs]
        task = options.progress.add_task(step.table, total=len(chosen))
        for run in chosen:
            if not Table(path).has(run, step.wide):  # read anew: another process may be making the same table
                start, made = time.monotonic(), made + 1
                _write(run, step.measure(**run), step, order, options, tables)
                about = ", ".join(f"{column} {value}" for column, value in run.items())
                yield f"{step.table}: {about or 'measured'} ({time.monotonic() - start:.0f} s)"
            options.progress.advance(task)
        options.progress.remove_task(task)
        seconds = time.monotonic() - begun
        yield f"{step.table}: {_count(len(chosen))} in {path}, {made} of them new ({seconds:.0f} s)"


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _chosen(step: Step, only: Sequence[tuple[str, str]]) -> list[Run]:
    """The runs that have one of the wanted values in each restricted column."""
    wanted: dict[str, list[str]] = {}
    for column, value in only:
        wanted.setdefault(column, []).append(value)
    if step.runs and (unknown := set(wanted) - set(step.runs[0])):
        columns = ", ".join(step.runs[0])
        raise ExperimentError(f"The runs of {step.table} have no {min(unknown)!r}; they differ in {columns}.")
    return [run for run in step.runs if all(cell(run[column]) in values for column, values in wanted.items())]


def _write(
    run: Run, found: object, step: Step, order: list[Key], options: Options, allowed: Sequence[str]
) -> None:
    """Put what was measured into its tables. The one that says whether a run is done is written last."""
    by_table = dict(found) if isinstance(found, dict) and step.table in found else {step.table: found}
    by_table[step.table] = by_table.pop(step.table)
    for name, rows in by_table.items():
        if allowed and name not in allowed:
            raise ExperimentError(f"The experiment's docstring does not say that it writes {name}.csv.")
        table = Table(options.path(name))
        if step.wide and name == step.table:
            table.put_column(*run.values(), rows, order, step.digits)
        else:
            rows = rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows
            table.put(run, [rows] if isinstance(rows, dict) else list(rows), order, step.digits)
        table.write()
