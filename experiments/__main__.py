"""The command `python -m experiments`: list the experiments, or run one of them."""

import argparse
import ast
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from experiments.harness import Card, Experiment, ExperimentError, Options, record

ABOUT = """python -m experiments             list the experiments, their questions and what they write
python -m experiments NAME        make the runs that the tables of an experiment lack
python -m experiments NAME -h     what an experiment measures, and its options"""
WRITTEN = re.compile(r"`(data/[\w/]+\.(?:csv|md))`")


@dataclass(frozen=True)
class About:
    """What the docstring of an experiment says, known without importing the module."""

    name: str
    doc: str

    @property
    def question(self) -> str:
        """The first sentence."""
        return " ".join(self.doc.partition("?")[0].split()) + "?"

    @property
    def files(self) -> list[str]:
        """The files that it writes, or the card that quotes its lines."""
        return WRITTEN.findall(self.doc)

    @property
    def tables(self) -> list[str]:
        """The names of those that are tables of results."""
        return [Path(file).stem for file in self.files if file.startswith("data/results/")]

    def load(self) -> Experiment | Card:
        """The experiment itself."""
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the models that come as packages, which everybody has
        return import_module(f"experiments.{self.name}").EXPERIMENT


@cache
def experiments() -> dict[str, About]:
    """Every module of this package that assigns EXPERIMENT, by name."""
    folder, found = Path(__file__).parent, {}
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "\nEXPERIMENT = " in text:
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            found[name] = About(name, ast.get_docstring(ast.parse(text)) or "")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 2 for a mistake in the call, 130 after Ctrl+C."""
    name, *rest = (sys.argv[1:] if arguments is None else list(arguments)) or ["--list"]
    found = experiments()
    if name in ("-h", "--help"):
        print(ABOUT)
    elif name in ("-l", "--list"):
        for each in found.values():
            print(f"{each.name}\n    {each.question}\n    → {', '.join(each.files)}")
    elif name not in found:
        near = get_close_matches(name, found, n=1)
        hint = f"did you mean {near[0]}?" if near else "`python -m experiments` lists them."
        print(f"There is no experiment called {name!r}: {hint}", file=sys.stderr)
        return 2
    else:
        try:
            run(found[name], rest)
        except ExperimentError as error:
            print(error, file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print(
                "Stopped. The tables have all finished runs; the same command makes the rest.",
                file=sys.stderr,
            )
            return 130
    return 0


def run(about: About, arguments: Sequence[str]) -> None:
    """Read the options of an experiment and carry it out."""
    experiment = about.load()
    options = parser_of(about, experiment).parse_args(arguments, namespace=Options())
    import torch  # start-up: the list and a mistake in the call need not wait for it

    torch.set_num_threads(options.threads)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, transient=True, disable=not sys.stdout.isatty()) as options.progress:
        if isinstance(experiment, Card):
            lines = experiment.lines(options)
        else:
            lines = record(experiment, options, about.tables)
        for line in lines:
            options.progress.console.print(line, markup=False, highlight=False, soft_wrap=True)


def parser_of(about: About, experiment: Experiment | Card) -> argparse.ArgumentParser:
    """The options that make sense for one experiment; their defaults are those of `Options`."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        f"python -m experiments {about.name}", description=about.doc, formatter_class=layout
    )
    add = parser.add_argument
    add("--threads", type=int, metavar="N", help="of torch (default: 1; small matrices are slower with more)")
    folder = {"type": Path, "metavar": "FOLDER"}
    if experiment.novels:
        about_novels = "the novels: a folder with books.csv and raw (data/novels/README.md)"
        add("--corpus", required=isinstance(experiment, Experiment), help=about_novels, **folder)
    if isinstance(experiment, Experiment):
        if experiment.seeds:
            add(
                "--seeds",
                type=int,
                nargs="+",
                metavar="SEED",
                help=f"default: {' '.join(map(str, experiment.seeds))}",
            )
        add("--results", help="the folder of the tables (default: data/results)", **folder)
        add("--checkpoints", help="the folder of models in training (default: build/pretrain)", **folder)
        about_only = "make only runs with these values, for instance --only layers=1 seed=0 seed=1"
        add("--only", type=restriction, nargs="+", metavar="COLUMN=VALUE", help=about_only)
    return parser


def restriction(text: str) -> tuple[str, str]:
    """A column and a value that is wanted of it."""
    column, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form COLUMN=VALUE")
    return column, value


if __name__ == "__main__":
    sys.exit(main())
