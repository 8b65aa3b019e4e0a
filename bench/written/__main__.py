"""Measure groups of written answers, and write what came out to bench/written/results.md and results.json.

python -m bench.written            all of it: some minutes, for the encoder reads 4,000 answers
python -m bench.written --size 200 a smaller class, to see that it works; nothing is written
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from autograder.written.grouping import ALIKE, likeness_of
from bench.written.material import FOLDER, Material, read
from bench.written.measure import Outcome, between_readings, fewest, outcome
from coursekit.sentence_vectors import encode

CLASS = 1000
MOST_OFF = 0.03
THRESHOLDS = tuple(float(alike) for alike in np.round(np.arange(0.9, 0.14, -0.05), 2))
SHOWN = (0.8, 0.7, 0.6, ALIKE, 0.4, 0.3)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def row(name: str, size: int, outcome: Outcome) -> list[str]:
    shares = [f"{share:.0%}" for share in (outcome.purity, outcome.by_chance, outcome.off)]
    return [name, str(size), str(outcome.groups), *shares, str(outcome.looked), str(outcome.moved)]


HEAD = (
    "question",
    "answers",
    "groups",
    "purity in points",
    "groups at random",
    "off by a point",
    "decisions when all is read",
    "texts picked out",
)


def measure(materials: Sequence[Material]) -> dict[str, dict[float, Outcome]]:
    """{question: {threshold: outcome}}."""
    found = {}
    for material in materials:
        likeness = likeness_of(material.texts, encode)
        found[material.question] = {alike: outcome(material, likeness, alike) for alike in THRESHOLDS}
        print(f"measured {material.question}, {len(material.texts)} answers", flush=True)
    return found


def page(materials: Sequence[Material], alone: dict, drawn: dict, size: int) -> str:
    readings = table(
        ("question", "answers", "points equal in both readings", "weighted kappa"),
        [
            [outcome.question, between.count, f"{between.equal:.1%}", f"{between.kappa:.2f}"]
            for outcome in materials
            if (between := between_readings(outcome))
        ],
    )
    sections = [f"## Two readings\n\n{readings}"]
    for title, outcomes in (
        ("The answers themselves", alone),
        (f"A class of {size:,} drawn from them", drawn),
    ):
        rows = [
            row(
                name,
                size if outcomes is drawn else len(next(m for m in materials if m.question == name).texts),
                of[ALIKE],
            )
            for name, of in outcomes.items()
        ]
        curve = [
            [
                alike,
                sum(of[alike].groups for of in outcomes.values()),
                *(
                    f"{np.mean([getattr(of[alike], part) for of in outcomes.values()]):.1%}"
                    for part in ("purity", "off")
                ),
                sum(of[alike].looked for of in outcomes.values()),
            ]
            for alike in SHOWN
        ]
        best = [
            [name, f"{outcome.groups}", f"{outcome.off:.1%}"]
            if (outcome := fewest(list(of.values()), MOST_OFF))
            else [name, "none", ""]
            for name, of in outcomes.items()
        ]
        sections.append(
            f"## {title}\n\nAt the likeness that is set, {ALIKE}:\n\n{table(HEAD, rows)}\n\n"
            f"The four questions together, at other likenesses:\n\n"
            + table(("likeness", "groups", "purity", "off by a point", "decisions when all is read"), curve)
            + f"\n\nThe fewest groups of which at most {MOST_OFF:.0%} are off, at a likeness chosen with hindsight:\n\n"
            + table(("question", "decisions", "off by a point"), best)
        )
    return (
        "# Groups of written answers, measured\n\nMade by `python -m bench.written`; [README.md](README.md) says on what.\n\n"
        + "\n\n".join(sections)
        + "\n"
    )


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--size", type=int, default=CLASS)
    size = options.parse_args().size
    materials = read()
    alone = measure(materials)
    drawn = measure([material.drawn(size, seed) for seed, material in enumerate(materials)])
    text = page(materials, alone, drawn, size)
    print(text)
    if size == CLASS:
        (FOLDER / "results.md").write_text(text, encoding="utf-8")
        numbers = {
            kind: {
                name: {str(alike): asdict(outcome) for alike, outcome in of.items()}
                for name, of in outcomes.items()
            }
            for kind, outcomes in (("alone", alone), ("class", drawn))
        }
        (FOLDER / "results.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
