"""Sheets for somebody who reads the answers anew, and what she ticked, read back.

python -m bench.written.sheets bert-reflection-1 "third reader" > sheet.txt    the question, its guide, the answers shuffled
python -m bench.written.sheets bert-reflection-1 "third reader" --ticks FILE   her ticks, in the order of the answers

A line of FILE holds the number that an answer has on the sheet and the points ticked, such as `17 10`. The order comes from her name,
and nothing here opens a reading that is already there.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

from autograder.course import Assignment
from autograder.written.questions import Question, read_questions
from bench.written.material import FOLDER, texts

ROOT = FOLDER.parent.parent
ASSIGNMENTS = {
    "attention-reflection-4": "02_attention",
    "recurrence-reflection-1": "04_recurrence",
    "bert-reflection-1": "06_bert",
    "gpt-reflection-1": "07_gpt",
}


def order(question: str, reader: str, count: int) -> list[int]:
    """The places of the answers in the order of this reader's sheet."""
    places = list(range(count))
    random.Random(f"{reader} {question}").shuffle(places)
    return places


def sheet(question: Question, answers: Sequence[str], reader: str) -> str:
    guide = "\n".join(f"  {number}. {point.text}" for number, point in enumerate(question.guide, start=1))
    shuffled = (answers[place] for place in order(question.name, reader, len(answers)))
    return f"{question.prompt}\n\n{guide}\n\n" + "\n\n".join(
        f"[{number}] {text}" for number, text in enumerate(shuffled, start=1)
    )


def ticks(lines: str, question: str, reader: str, count: int) -> list[str]:
    """What was ticked, in the order of the answers. Raises ValueError where an answer is missing or there twice."""
    numbered = [line.split() for line in lines.splitlines() if line.strip()]
    found = {int(number): ticked for number, ticked in numbered}
    if sorted(int(number) for number, _ in numbered) != list(range(1, count + 1)):
        raise ValueError(f"{question} has the answers 1 to {count}; the file must have each of them once.")
    by_place = {place: found[number] for number, place in enumerate(order(question, reader, count), start=1)}
    return [by_place[place] for place in range(count)]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("question", choices=ASSIGNMENTS)
    options.add_argument("reader")
    options.add_argument("--ticks", type=Path)
    arguments = options.parse_args()
    answers = texts(FOLDER / "answers" / f"{arguments.question}.txt")
    if arguments.ticks:
        print(
            json.dumps(ticks(arguments.ticks.read_text(), arguments.question, arguments.reader, len(answers)))
        )
        return
    questions = read_questions(Assignment(ROOT, ASSIGNMENTS[arguments.question]))
    print(
        sheet(
            next(question for question in questions if question.name == arguments.question),
            answers,
            arguments.reader,
        ),
        flush=True,
    )


if __name__ == "__main__":
    main()
