"""What a report shows of answers that are nearly the same."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.course import Assignment
from autograder.errors import can_compare_texts
from autograder.grading.reference import mistake_sources, solution_sources
from autograder.report.everybody import Class
from autograder.report.mistakes import MOST_CODE
from autograder.source import code_cells, grade_id, is_solution, read_source

if TYPE_CHECKING:
    from autograder.untrusted import similarity  # optional: the extra `similarity` may not be installed

MOST_GROUPS, MOST_MEMBERS = 40, 4  # that are shown


@dataclass(frozen=True)
class ShownGroup:
    """A group with the texts that are compared: {cell: [(student, text)]}."""

    group: "similarity.Group"
    cells: Mapping[str, Sequence[tuple[str, str]]]
    same_file: Sequence[str]  # who handed in the same bytes


def alike(*classes: Class) -> dict[str, object]:
    """What the template shows of an assignment's notebooks, each by itself."""
    if not can_compare_texts():
        return {"groups": [], "common": [], "more_groups": 0, "usual": 0, "rules": None}
    parts = [_alike_in(one) for one in classes]
    together = {name: [row for part in parts for row in part[name]] for name in ("groups", "common")}
    more = sum(part["more_groups"] for part in parts)
    return {**parts[0], **together, "more_groups": more, "usual": max(part["usual"] for part in parts)}


def _alike_in(everybody: Class) -> dict[str, Any]:
    """Groups that share what is unusual, and answers that many gave, without those that we expect.

    The functions of a student's added cells are compared where they are called.
    """
    from autograder.untrusted import similarity  # optional: the extra `similarity` may not be installed

    assignment = everybody.assignment
    cells = assignment.read_release().cells
    written = {grade_id(cell) for cell in cells if is_solution(cell) and cell.cell_type != "code"}
    expected_texts = _expected(assignment, written)
    compared = {
        student: similarity.with_helpers(history.answers, history.added)
        for student, history in everybody.histories.items()
    }
    texts_of = similarity.with_copies_placed(compared, expected_texts, written)
    groups = similarity.find_groups(texts_of, expected_texts, written)
    common = similarity.find_common(texts_of, expected_texts, written)
    return {
        "groups": [_shown(everybody, texts_of, group) for group in groups[:MOST_GROUPS]],
        "more_groups": max(0, len(groups) - MOST_GROUPS),
        "common": [
            (assignment.within(cell), who, texts_of[who[0]][cell][:MOST_CODE])
            for cell, who in common[:MOST_GROUPS]
        ],
        "usual": similarity.usual_from(len(texts_of)),
        "rules": similarity,
    }


def _expected(assignment: Assignment, written: set[str]) -> list[dict[str, str]]:
    """The release's own texts, the solutions, and the alternatives and mistakes that we know, by cell."""
    release = assignment.read_release()
    prose = "\n\n".join(cell.source for cell in release.cells if cell.cell_type == "markdown")
    texts = [{cell: prose for cell in written}]
    solutions = {
        grade_id(cell): cell.source for cell in read_source(assignment.source).cells if grade_id(cell)
    }
    texts.append({cell: solutions[cell] for cell in written if cell in solutions})
    released = [cell.source for cell in code_cells(release)]
    sources, wrong = solution_sources(assignment), mistake_sources(assignment)
    for exercise in assignment.exercises.values():
        right_and_wrong = [*released, sources[exercise.name], *exercise.alternatives.values()]
        right_and_wrong += wrong[exercise.name].values()
        texts += [{exercise.solution_id: text} for text in right_and_wrong]
    return texts


def _shown(
    everybody: Class, texts_of: "Mapping[str, similarity.CellTexts]", group: "similarity.Group"
) -> ShownGroup:
    closest = group.pairs[0]
    first = [*closest.students, *(student for student in group.students if student not in closest.students)][
        :MOST_MEMBERS
    ]
    cells = {
        everybody.assignment.within(cell): [
            (student, texts_of[student][cell][:MOST_CODE]) for student in first if cell in texts_of[student]
        ]
        for cell in closest.cells
    }
    digests = Counter(everybody.histories[student].hand_ins[-1].digest for student in group.students)
    same = [
        student for student in group.students if digests[everybody.histories[student].hand_ins[-1].digest] > 1
    ]
    return ShownGroup(group, cells, same)
