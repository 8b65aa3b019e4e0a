"""`python -m tests.natural [ASSIGNMENT …]`: what students who wrote these wrong answers would be told.

After a change of hints or messages, `--changed` shows the answers that are told something else than their file says,
and `--update` shows them and writes what they are told now into the file. A message that takes the place of a known
mistake's hint gets `rating: unread` there, for a person to read it and say what it is worth.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from autograder.course import assignments, course_root
from autograder.grading.reference import own_server
from tests.natural import reading

ROOT = course_root(Path(__file__).parent)


def main() -> None:
    options = _options()
    with own_server(ROOT, ["torch._dynamo"]) as server:
        for assignment in assignments(ROOT):
            if options.assignments and assignment.name not in options.assignments:
                continue
            path = reading.file_of(assignment)
            feedback = list(reading.feedback(server, assignment, reading.answers_to(assignment)))
            changed = [one for one in feedback if not one.as_recorded]
            if options.changed or options.update:
                for one in changed:
                    print(reading.difference(one) + "\n")
            else:
                print(*feedback, sep="\n\n", end="\n\n")
            if options.update and changed:
                path.write_text(reading.updated(path.read_text(), changed))
            print(f"{assignment.name}: {_summary(feedback)}; {len(changed)} changed")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.natural", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("assignments", nargs="*", help="such as 02_attention; all of them by default")
    parser.add_argument("--changed", action="store_true", help="only what differs from the files")
    parser.add_argument("--update", action="store_true", help="show what differs and write it into the files")
    options = parser.parse_args()
    if unknown := set(options.assignments) - {assignment.name for assignment in assignments(ROOT)}:
        parser.error(f"there is no assignment {', '.join(sorted(unknown))}")
    return options


def _summary(feedback: Iterable[reading.Feedback]) -> str:
    counts = Counter(reading.rating(one.answer) for one in feedback if not one.answer.entry.get("unseen"))
    return ", ".join(f"{counts[one]} {one}" for one in (*reading.RATINGS, reading.UNREAD) if counts[one])


main()
