"""`python -m tests.natural [ASSIGNMENT …]`: what students read about the wrong answers of these lists, by kind.

A person reads it and says what each message is worth: `--unread --json FILE` writes those that nobody has read,
`--read FILE` takes {exercise: {what: "named" | "useful" | "vague" | "misleading"}} and keeps it in read.json.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from autograder.course import assignments, course_root
from autograder.grading.reference import own_server
from tests.natural import reading


def main() -> None:
    options = _options()
    read = reading.read_so_far()
    found: list[reading.Message] = []
    with own_server(course_root(Path(__file__).parent), ["torch._dynamo"]) as server:
        for assignment in assignments(course_root(Path(__file__).parent)):
            if options.assignments and assignment.name not in options.assignments:
                continue
            wrong, _ = reading.list_of(assignment, options.lists)
            some = list(reading.messages(server, assignment, wrong)) if wrong else []
            found += some
            _show(assignment.name, some, read, options.unread)
    if options.read:
        try:
            reading.merge(read, json.loads(options.read.read_text()), found)
        except ValueError as error:
            raise SystemExit(str(error)) from None
        reading.save(read)
    _summary(found, read)
    if options.json:
        chosen = [one for one in found if not options.unread or not reading.class_of(one, read)]
        rows = [{**vars(one), "digest": one.digest, "class": reading.class_of(one, read)} for one in chosen]
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.natural", description=__doc__)
    parser.add_argument("assignments", nargs="*", help="such as 02_attention; all without")
    parser.add_argument("--json", type=Path, help="write the messages there")
    parser.add_argument(
        "--unread", action="store_true", help="only messages that nobody has read as they are now"
    )
    parser.add_argument("--read", type=Path, metavar="FILE", help="keep what a person says of messages")
    parser.add_argument("--lists", type=Path, default=reading.HERE, help="folder of the lists")
    return parser.parse_args()


def _show(name: str, found: list[reading.Message], read: dict, unread: bool) -> None:
    for kind in reading.KINDS:
        chosen = [one for one in found if one.kind == kind and not (unread and reading.class_of(one, read))]
        if chosen:
            print(f"\n===== {name}, {kind}: {len(chosen)}")
        for one in chosen:
            said = reading.class_of(one, read) or "not read"
            print(f"\n{one.exercise}: {one.what}  [{said}]")
            print("    " + one.text.replace("\n", "\n    "))


def _summary(found: list[reading.Message], read: dict) -> None:
    topics: dict[str, list[reading.Message]] = {}
    for one in found:
        topics.setdefault(one.exercise.partition(".")[0], []).append(one)
    print()
    for topic, some in {**topics, "all": found}.items():
        kinds = Counter(one.kind for one in some)
        said = Counter(reading.class_of(one, read) or "not read" for one in some)
        print(
            f"{topic:15} {len(some):4}   "
            + ", ".join(f"{kind} {kinds[kind]}" for kind in reading.KINDS if kinds[kind])
            + "   read: "
            + ", ".join(f"{one} {said[one]}" for one in (*reading.CLASSES, "not read") if said[one])
        )


main()
