"""`python -m coursekit.pretrain`: train every model of the generated language, with several seeds.

`python -m coursekit.pretrain novels-bert --corpus FOLDER`: the same for a model of real English. FOLDER contains `books.csv`
and `raw`; data/novels/README.md lists the texts. They are first converted to token ids, which takes a few minutes.

To use two cores, start the command a second time: each process takes a run that no other process has taken. Every few minutes a run is saved. After a power cut or `kill -9`, the same command continues from there and ends with exactly the same
weights. Batches and dropout depend only on the seed and the number of their block, so the stream of sentences need not be stored.

With `--record`, when all runs are done, the models of the first seed are written to `data/models` and the figures of all
seeds, trained and untrained, to `data/results/small_NAME.csv` (about ten minutes). Of models of real English, only the first
seed is recorded.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save as tensors_as_bytes
from torch import nn

from autograder.checks.storing import try_lock, write_aside
from coursekit.language import Language, load_language
from coursekit.language.grammar import GRAMMAR
from coursekit.novels.corpus import Corpus, prepare
from coursekit.novels.curves import Curve
from coursekit.novels.recipes import NOVELS
from coursekit.novels.record import record as record_novels
from coursekit.small import files
from coursekit.small.figures import measure
from coursekit.small.recipes import BLOCK, RECIPES, Recipe, new_model, set_rates, weight_groups
from coursekit.small.results import write_rows
from coursekit.translator import save_translator

MINUTES = 3.0
"""Minutes between two saves."""
HELD_OUT_EVERY, HELD_OUT_BATCHES = 5 * BLOCK, 10
"""Steps between two points of the curve on held-out text, and the batches for each point."""
HALF = "translator", "seq2seq_fixed", "seq2seq_additive", "seq2seq_dot"
"""Models that are shipped in half precision. (Of seq2seq_transformer, the translator with fewer steps, only figures are.)"""


@dataclass(frozen=True)
class Progress:
    """The progress of a run: steps done, steps in all, and seconds of processor time so far."""

    name: str
    seed: int
    done: int
    steps: int
    seconds: float

    def __str__(self) -> str:
        left = in_hours(self.seconds_left) if self.done else "not measured yet"
        return (
            f"{self.name}, seed {self.seed}: {self.done:,} of {self.steps:,} steps, "
            f"{self.seconds / 60:.1f} CPU minutes; left: {left}"
        )

    @property
    def seconds_left(self) -> float:
        """At the speed so far; 0 before the first step."""
        return self.seconds / self.done * (self.steps - self.done) if self.done else 0.0


def train(
    name: str, seed: int, recipe: Recipe, language: Language | Corpus, folder: Path, minutes: float = MINUTES
) -> Iterator[Progress]:
    """Train one model, or continue from its checkpoint; yields its progress after each block of batches.

    The checkpoint `NAME_SEED.safetensors` contains the weights, the optimizer's moments, the progress of the run and its curve so far.
    """
    model = new_model(recipe, language, seed).train()
    optimizer = torch.optim.AdamW(weight_groups(model, recipe), lr=recipe.learning_rate, betas=(0.9, 0.98))
    path = checkpoint(folder, name, seed)
    done, before, curve = resume(path, model, optimizer) if path.exists() else (0, 0.0, [])
    start, saved = time.process_time(), time.monotonic()
    while done < recipe.steps:
        block = seed_of(seed, done // BLOCK)
        losses, nats = recipe.losses(model, language, recipe.batch, block), []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(block)  # for dropout, which draws from the global generator
            for _ in range(min(BLOCK, recipe.steps - done)):
                set_rates(optimizer.param_groups, recipe, done)
                optimizer.zero_grad()
                loss = next(losses)
                loss.backward()
                nats.append(loss.item())
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                done += 1
        progress = Progress(name, seed, done, recipe.steps, before + time.process_time() - start)
        asked = recipe.held_out and (done % HELD_OUT_EVERY == 0 or done == recipe.steps)
        curve.append(
            (done, sum(nats) / len(nats), held_out(model, recipe, language) if asked else float("nan"))
        )
        if done == recipe.steps or time.monotonic() - saved >= 60 * minutes:
            save_checkpoint(path, model, optimizer, progress, curve)
            saved = time.monotonic()
        yield progress


@torch.no_grad()
def held_out(model: nn.Module, recipe: Recipe, language: Language | Corpus) -> float:
    """The mean loss of a few fixed batches of held-out text; leaves the model in training mode."""
    losses = recipe.losses(model.eval(), language, recipe.batch, 0, split=recipe.held_out)
    mean = sum(next(losses).item() for _ in range(HELD_OUT_BATCHES)) / HELD_OUT_BATCHES
    model.train()
    return mean


def seed_of(seed: int, block: int) -> int:
    """The seed of one block of batches; no two blocks of any runs share a seed."""
    return seed * 1_000_000 + block


def checkpoint(folder: Path, name: str, seed: int) -> Path:
    """The path of a run's checkpoint."""
    return folder / f"{name}_{seed}.safetensors"


def save_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress, curve: Curve
) -> None:
    """Write a checkpoint completely or not at all; after a kill at any moment, the previous checkpoint remains."""
    tensors = {
        f"weights.{key}": value.clone() for key, value in model.state_dict().items()
    }  # including tied weights
    for number, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"moments.{number}.{key}": value.contiguous() for key, value in moments.items()}
    about = {"done": progress.done, "steps": progress.steps, "seconds": progress.seconds, "curve": curve}
    content = tensors_as_bytes(tensors, {"progress": json.dumps(about)})
    write_aside(path, content, through_a_power_cut=True)


def resume(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[int, float, Curve]:
    """Read a checkpoint into a model and its optimizer; returns the steps done, the seconds they took, and the curve."""
    state = optimizer.state_dict()
    weights: dict[str, torch.Tensor] = {}
    with safe_open(path, framework="pt") as file:
        for key in file.keys():  # noqa: SIM118 - the file is no dictionary
            kind, _, rest = key.partition(".")
            if kind == "weights":
                weights[rest] = file.get_tensor(key)
            else:
                number, _, moment = rest.partition(".")
                state["state"].setdefault(int(number), {})[moment] = file.get_tensor(key)
    about = _about(path)
    model.load_state_dict(weights)
    optimizer.load_state_dict(state)
    return about["done"], about["seconds"], [tuple(point) for point in about["curve"]]


def _about(path: Path) -> dict[str, Any]:
    """The description of the run in a checkpoint."""
    with safe_open(path, framework="pt") as file:
        return json.loads(file.metadata()["progress"])


def read_progress(folder: Path, name: str, seed: int, steps: int) -> Progress:
    """The progress of the run in a checkpoint."""
    path = checkpoint(folder, name, seed)
    if not path.exists():
        return Progress(name, seed, 0, steps, 0.0)
    about = _about(path)
    return Progress(name, seed, about["done"], steps, about["seconds"])


def read_curve(folder: Path, name: str, seed: int) -> Curve:
    """The curve of a run's checkpoint."""
    return [tuple(point) for point in _about(checkpoint(folder, name, seed))["curve"]]


def load_trained(
    name: str, seed: int, recipe: Recipe, language: Language | Corpus, folder: Path
) -> nn.Module:
    """The model of a checkpoint, in evaluation mode."""
    model = recipe.build(language)
    optimizer = torch.optim.AdamW(weight_groups(model, recipe))
    resume(checkpoint(folder, name, seed), model, optimizer)
    return model.eval()


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Whether this process has locked the run; the lock is released when the process ends, for whatever reason."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as file:
        yield try_lock(file)


def in_hours(seconds: float) -> str:
    """ "2 h 05 min"."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min"


def left_of_all(runs: list[Progress]) -> str:
    """The remaining processor time of all runs; for runs that have not started, the time of other runs of the same model is assumed."""
    pace = {run.name: run.seconds / run.done for run in runs if run.done}
    seconds = sum(pace.get(run.name, 0.0) * (run.steps - run.done) for run in runs)
    unknown = sorted({run.name for run in runs} - set(pace))
    return in_hours(seconds) + (f", and {', '.join(unknown)}, not measured yet" if unknown else "")


def _record(folder: Path, seeds: Sequence[int], names: Iterable[str], data: Path) -> None:
    """Measure the runs of these seeds, and ship the models of the first: writes `data/models` and `data/results`."""
    language = load_language()
    for name in names:
        recipe, table = RECIPES[name], data / "results" / f"small_{name}.csv"
        table.unlink(missing_ok=True)
        for seed in seeds:
            print(f"{name}, seed {seed}: measuring", flush=True)
            if not name.startswith("seq2seq"):  # untrained, none of these translates a sentence correctly
                write_rows(table, seed, 0, measure(name, new_model(recipe, language, seed).eval()))
            model = load_trained(name, seed, recipe, language, folder)
            figures = measure(name, model)
            minutes = read_progress(folder, name, seed, recipe.steps).seconds / 60
            write_rows(table, seed, recipe.steps, figures | {"CPU minutes": minutes})
            if seed == seeds[0] and name in HALF:
                save_translator(model, data / "models", name)
            elif seed == seeds[0] and name in files.KINDS:
                files.save(name, model, data / "models", seed=seed, steps=recipe.steps, figures=figures)


def main() -> None:
    """Take one run after another until all are done."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit.pretrain",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "novels", nargs="*", metavar="NOVELS", help=f"models of real English: {', '.join(NOVELS)}"
    )
    parser.add_argument(
        "--corpus", type=Path, metavar="FOLDER", help="a folder with the novels: books.csv and raw/"
    )
    parser.add_argument(
        "--vocabulary",
        type=Path,
        metavar="FILE",
        help="the tokenizer.json of an earlier run, to use its subwords (default: learn subwords from the novels)",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        choices=RECIPES,
        default=list(RECIPES),
        metavar="NAME",
        help="models of the generated language (default: all)",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], metavar="SEED")
    parser.add_argument("--steps", type=int, help="number of steps of every run (default: the recipe's)")
    parser.add_argument(
        "--topics", nargs="+", metavar="TOPIC", help="train only on these topics of the language"
    )
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help=f"minutes between two saves (default: {MINUTES:g})"
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=Path("build/pretrain"),
        help="the folder for checkpoints (default: build/pretrain)",
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="DATA",
        help="when all runs are done, write models and tables to this folder, such as data",
    )
    arguments = parser.parse_args()
    if arguments.steps is not None and arguments.steps < 1:
        parser.error("--steps must be at least 1")
    if arguments.record and (arguments.steps or arguments.topics):
        parser.error("--record needs complete runs on the whole language: leave out --steps and --topics")
    if unknown := set(arguments.novels) - set(NOVELS):
        parser.error(f"{min(unknown)!r} is not a model of the novels; choose from {', '.join(NOVELS)}")
    if bool(arguments.novels) != bool(arguments.corpus):
        parser.error("models of the novels need --corpus, and --corpus needs at least one of these models")
    if arguments.vocabulary and not arguments.vocabulary.is_file():
        parser.error(f"there is no file {arguments.vocabulary}")
    torch.set_num_threads(1)  # matrices this small are slower with more
    language: Language | Corpus
    if arguments.novels:
        arguments.models, recipes = arguments.novels, dict(NOVELS)
        language = prepare(arguments.corpus, arguments.to / "corpus", arguments.vocabulary)
    else:
        recipes = dict(RECIPES)
        language = (
            Language.from_grammar(GRAMMAR.only(*arguments.topics)) if arguments.topics else load_language()
        )
    if arguments.steps:
        recipes = {name: replace(recipe, steps=arguments.steps) for name, recipe in recipes.items()}
    wanted = [(name, seed) for seed in arguments.seeds for name in arguments.models]
    for name, seed in wanted:
        with alone(checkpoint(arguments.to, name, seed)) as mine:
            if not mine:
                print(f"{name}, seed {seed}: another process is training it", flush=True)
                continue
            said = 0.0
            for progress in train(name, seed, recipes[name], language, arguments.to, arguments.minutes):
                if time.monotonic() - said >= 60 * arguments.minutes or progress.done == progress.steps:
                    runs = [read_progress(arguments.to, *run, recipes[run[0]].steps) for run in wanted]
                    runs[wanted.index((name, seed))] = progress
                    print(f"{progress}; left for all runs: {left_of_all(runs)}", flush=True)
                    said = time.monotonic()
    if arguments.record and arguments.novels:
        for name in arguments.novels:
            seed, steps = arguments.seeds[0], recipes[name].steps
            model = load_trained(name, seed, recipes[name], language, arguments.to)
            minutes = read_progress(arguments.to, name, seed, steps).seconds / 60
            made = {"seed": seed, "steps": steps, "minutes": minutes}
            curve = read_curve(arguments.to, name, seed)
            print(record_novels(name.partition("-")[2], model, language, arguments.record, curve, **made))
    elif arguments.record:
        _record(arguments.to, arguments.seeds, arguments.models, arguments.record)


if __name__ == "__main__":
    main()
