"""Measure groups of written answers, and write what came out to bench/written/results.md and results.json.

python -m bench.written            all of it: twenty minutes on one busy core, for the encoder reads 12,000 answers
python -m bench.written --size 200 a smaller class, to see that it works; nothing is written
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from autograder.written.grouping import ALIKE, similarities
from bench.written.material import FOLDER, Material, read
from bench.written.measure import Outcome, between, chosen, held_out, outcome

CLASS = 1000
DRAWS = 3
MOST_OFF = 0.03
THRESHOLDS = tuple(float(alike) for alike in np.round(np.arange(0.9, 0.14, -0.05), 2))
SHOWN = (0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.3)
SHARES = ("purity", "off", "off_second")

Measured = dict[str, dict[float, Outcome]]
"""{question: {likeness: outcome}}."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def measure(materials: Sequence[Material]) -> Measured:
    from coursekit.sentence_vectors import encode  # imports transformers, which no test of the table needs

    found = {}
    for material in materials:
        likeness = similarities(material.texts, encode)
        found[material.question] = {alike: outcome(material, likeness, alike) for alike in THRESHOLDS}
        print(f"measured {material.question}, {len(material.texts)} answers", flush=True)
    return found


def readings(materials: Sequence[Material]) -> str:
    rows = []
    for material in materials:
        pairs = {"two readers": material.second, "one reader twice": material.again}
        for name, other in pairs.items():
            found = between(material.first, other)
            kappas = [f"{kappa:.2f}" for kappa in (*found.by_point, found.weighted)]
            rows.append(
                [
                    material.question,
                    len(material.texts),
                    name,
                    f"{found.ticks:.1%}",
                    f"{found.equal:.1%}",
                    *kappas,
                ]
            )
    return table(
        (
            "question",
            "answers",
            "readings",
            "ticks equal",
            "answers with equal points",
            "kappa, first point",
            "kappa, second point",
            "weighted kappa of the sum",
        ),
        rows,
    )


def at_set_likeness(materials: Sequence[Material], outcomes: Measured) -> str:
    rows = []
    for material in materials:
        outcome = outcomes[material.question][ALIKE]
        shares = (
            outcome.purity,
            outcome.by_chance,
            outcome.off,
            outcome.off_second,
            outcome.across,
            outcome.readers,
        )
        rows.append(
            [
                material.question,
                len(material.texts),
                outcome.groups,
                *(f"{share:.1%}" for share in shares),
                outcome.looked,
                outcome.moved,
            ]
        )
    return table(
        (
            "question",
            "answers",
            "groups",
            "purity in points",
            "groups at random",
            "off, first reader",
            "off, second reader",
            "first reader's groups, second reads each",
            "both read each and differ",
            "decisions when all is read",
            "texts picked out",
        ),
        rows,
    )


def at_other_likenesses(outcomes: Measured) -> str:
    rows = []
    for alike in SHOWN:
        here = [of[alike] for of in outcomes.values()]
        shares = [f"{np.mean([getattr(outcome, part) for outcome in here]):.1%}" for part in SHARES]
        worst = f"{max(outcome.off for outcome in here):.1%}"
        rows.append(
            [
                alike,
                sum(outcome.groups for outcome in here),
                *shares,
                worst,
                sum(outcome.looked for outcome in here),
            ]
        )
    return table(
        (
            "likeness",
            "groups",
            "purity",
            "off, first reader",
            "off, second reader",
            "worst question, first reader",
            "decisions when all is read",
        ),
        rows,
    )


def on_other_questions(draws: Sequence[Measured]) -> str:
    rows = []
    for trial in held_out(draws, MOST_OFF):
        off = [
            span([getattr(here, part) for here in trial.outcomes], "{:.1%}") for part in ("off", "off_second")
        ]
        chosen_on = " and ".join(name.split("-")[0] for name in trial.chosen_on)
        rows.append(
            [
                trial.question,
                chosen_on,
                trial.alike,
                span([here.groups for here in trial.outcomes], "{}"),
                *off,
            ]
        )
    return table(
        ("question", "chosen on", "likeness", "decisions", "off, first reader", "off, second reader"), rows
    )


def span(numbers: Sequence[float], form: str) -> str:
    """The least and the most, once where they look the same."""
    return " to ".join(dict.fromkeys(form.format(number) for number in (min(numbers), max(numbers))))


def in_other_draws(draws: Sequence[Measured]) -> str:
    rows = [
        [name, number, here.groups, f"{here.off:.1%}", f"{here.off_second:.1%}"]
        for name in draws[0]
        for number, drawn_class in enumerate(draws, start=1)
        if (here := drawn_class[name][ALIKE])
    ]
    return table(("question", "draw", "decisions", "off, first reader", "off, second reader"), rows)


def section(title: str, materials: Sequence[Material], draws: Sequence[Measured]) -> str:
    by_rule = chosen([of for draw in draws for of in draw.values()], MOST_OFF)
    in_draws = f", in {len(draws)} draws" if len(draws) > 1 else ""
    return (
        f"## {title}\n\nAt the likeness that is set, {ALIKE}:\n\n{at_set_likeness(materials, draws[0])}\n\n"
        f"The four questions together, at other likenesses:\n\n{at_other_likenesses(draws[0])}\n\n"
        f"The likeness chosen on two questions, so that each of the two has at most {MOST_OFF:.0%} off (first reader){in_draws} with the "
        f"fewest decisions, and measured on the other two, in all six ways. On all four the rule chooses {by_rule}.\n\n"
        f"{on_other_questions(draws)}"
    )


def page(
    materials: Sequence[Material],
    alone: Measured,
    classes: Sequence[Sequence[Material]],
    drawn: Sequence[Measured],
) -> str:
    sections = (
        f"## Agreement of readings\n\n{readings(materials)}",
        section("The answers themselves", materials, [alone]),
        section(f"A class of {len(classes[0][0].texts):,} drawn from them", classes[0], drawn)
        + f"\n\nAt the likeness that is set, in this draw and in {len(drawn) - 1} others:\n\n{in_other_draws(drawn)}",
    )
    return (
        "# Groups of written answers, measured\n\nMade by `python -m bench.written`; [README.md](README.md) says on what. "
        "Off is the share of answers whose points are at least one away.\n\n" + "\n\n".join(sections) + "\n"
    )


def all_classes(materials: Sequence[Material], size: int) -> list[list[Material]]:
    return [
        [material.drawn(size, len(materials) * draw + place) for place, material in enumerate(materials)]
        for draw in range(DRAWS)
    ]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--size", type=int, default=CLASS)
    size = options.parse_args().size
    materials = read()
    alone = measure(materials)
    classes = all_classes(materials, size)
    drawn = [measure(drawn_class) for drawn_class in classes]
    text = page(materials, alone, classes, drawn)
    print(text)
    if size == CLASS:
        (FOLDER / "results.md").write_text(text, encoding="utf-8")
        numbers = {
            kind: {
                name: {str(alike): asdict(outcome) for alike, outcome in of.items()}
                for name, of in outcomes.items()
            }
            for kind, outcomes in (
                ("alone", alone),
                *((f"class {number}", of) for number, of in enumerate(drawn, start=1)),
            )
        }
        (FOLDER / "results.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
