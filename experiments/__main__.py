"""The command `python -m experiments`: list the experiments, or run one of them."""

import argparse
import ast
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from experiments.harness import RESULTS, ROOT, Card, Experiment, ExperimentError, Options, record

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
        return import_module(f"experiments.{self.name}").EXPERIMENT


def experiments() -> dict[str, About]:
    """Every module of this package that assigns EXPERIMENT, by name."""
    folder, found = Path(__file__).parent, {}
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        if any(isinstance(target, ast.Name) and target.id == "EXPERIMENT" for target in targets):
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            found[name] = About(name, ast.get_docstring(tree) or "")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 2 for a mistake in the call, 130 after Ctrl+C."""
    name, *rest = (sys.argv[1:] if arguments is None else list(arguments)) or ["--list"]
    found = experiments()
    if name in ("-h", "--help"):
        print(ABOUT)
        return 0
    if name in ("-l", "--list"):
        print(
            "\n".join(
                f"{each.name}\n    {each.question}\n    → {', '.join(each.files)}" for each in found.values()
            )
        )
        return 0
    if name not in found:
        near = get_close_matches(name, found, n=1)
        hint = f"did you mean {near[0]}?" if near else "`python -m experiments` lists them."
        print(f"There is no experiment called {name!r}: {hint}", file=sys.stderr)
        return 2
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the models that come as packages, which everybody has
    try:
        run(found[name], rest)
    except ExperimentError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. Finished runs are in the tables; the same command makes the others.", file=sys.stderr)
        return 130
    return 0


def run(about: About, arguments: Sequence[str]) -> None:
    """Read the options of an experiment and carry it out."""
    experiment = about.load()
    asked = parser_of(about, experiment).parse_args(arguments)
    import torch  # noqa: PLC0415 -- only now: listing and --help need not wait for it

    torch.set_num_threads(asked.threads)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, transient=True) as progress:
        options = Options(
            corpus=asked.corpus, seeds=getattr(asked, "seeds", ()), progress=progress,
            results=getattr(asked, "results", RESULTS), only=dict(getattr(asked, "only", [])),
        )  # fmt: skip
        options.checkpoints = getattr(asked, "checkpoints", options.checkpoints)
        lines = (
            experiment.lines(options)
            if isinstance(experiment, Card)
            else record(experiment, options, about.tables)
        )
        for line in lines:
            progress.console.print(line, markup=False, highlight=False, soft_wrap=True)


def parser_of(about: About, experiment: Experiment | Card) -> argparse.ArgumentParser:
    """The options that make sense for one experiment."""
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments {about.name}",
        description=about.doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="of torch (default: 1; small matrices are slower with more)"
    )
    parser.set_defaults(corpus=None)
    if experiment.novels:
        parser.add_argument(
            "--corpus", type=Path, metavar="FOLDER", required=isinstance(experiment, Experiment),
            help="the novels: a folder with books.csv and raw (data/novels/README.md)",
        )  # fmt: skip
    if isinstance(experiment, Card):
        return parser
    if experiment.seeds:
        parser.add_argument(
            "--seeds", type=int, nargs="+", default=list(experiment.seeds), metavar="SEED",
            help=f"default: {' '.join(map(str, experiment.seeds))}",
        )  # fmt: skip
    parser.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="FOLDER",
        help="of the tables (default: data/results)",
    )
    parser.add_argument(
        "--checkpoints", type=Path, default=ROOT / "build/pretrain", metavar="FOLDER",
        help="of models that are being trained (default: build/pretrain)",
    )  # fmt: skip
    parser.add_argument(
        "--only", type=restriction, nargs="+", default=[], metavar="COLUMN=VALUE,…",
        help="make only the runs with these values, for instance --only seed=0",
    )  # fmt: skip
    return parser


def restriction(text: str) -> tuple[str, list[str]]:
    """A column and the values that are wanted of it."""
    column, equals, values = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form COLUMN=VALUE")
    return column, values.split(",")


if __name__ == "__main__":
    sys.exit(main())
