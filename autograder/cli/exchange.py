"""Commands to and from other systems: hand-ins, scores, feedback, and an assignment that they grade themselves."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from autograder.cli.options import Name, Students
from autograder.cli.terminal import complain_of, console, progress_bar, say_lines
from autograder.course import course_root, find_notebooks
from autograder.files import require_replaceable, write_product


def collect(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A zip archive, or a folder.")],
    name: Annotated[
        str,
        typer.Argument(
            metavar="[ASSIGNMENT]", help="The assignment. Default: the one that each notebook is named after."
        ),
    ] = "",
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE.csv",
            help="Moodle's grading worksheet or Canvas' exported gradebook, to identify students (and, for Moodle, submission times).",
        ),
    ] = None,
    zone: Annotated[
        str,
        typer.Option(
            metavar="ZONE",
            help="The time zone of the times in TABLE.csv, such as Europe/Berlin. Default: TZ, or this machine's.",
        ),
    ] = "",
    inside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder in FILE that contains the students' folders; may be repeated.",
        ),
    ] = None,
    matched: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE.csv",
            help="unmatched.csv of an earlier run, with the column student filled in.",
        ),
    ] = None,
) -> None:
    """Copy the submissions that you downloaded from another system into submitted/, where `autograder grade` looks for them.

    - Moodle: View all submissions, Download all submissions.
    - Canvas: the assignment's Download Submissions.
    - Blackboard: the column's Assignment File Download.
    - ILIAS: the exercise's Submissions and Grades, Download All Submissions.
    - Anything else: STUDENT/NOTEBOOK.ipynb, in a folder or an archive, where STUDENT is the student's id. These may be inside a
      folder named after FILE, the course or an assignment, or called submitted; name any other with --inside FOLDER.

    Students are identified by their names in nbgrader's gradebook or by TABLE.csv, in any language. Every file that can be
    read as a notebook is accepted, whatever its name. If a student has several notebooks, one with answers is preferred to
    the untouched release, then one named after the assignment, then the latest. The command names students without a
    notebook, files that it cannot match and times that it cannot read, collects everything else, and exits with status 1.
    Unmatched files are also listed in unmatched.csv: fill in the column student and collect again with --matched.
    """
    from autograder.gradebook.collect import collect as run  # start-up: nbgrader
    from autograder.gradebook.collect import explain
    from autograder.gradebook.gradebook import open_gradebook
    from autograder.gradebook.matching import read_matches, write_unmatched
    from autograder.gradebook.tables import read_rows

    root = course_root()
    wanted = find_notebooks(root, name)[0].name if name else ""
    table = read_rows(names) if names else None
    by_hand = read_matches(matched) if matched else {}
    with open_gradebook(root) as gradebook:
        done = run(root, source, gradebook, wanted, table, zone, inside or (), by_hand)
    say_lines(*explain(done))
    if path := write_unmatched(root, done.matches):
        say_lines(
            f"wrote {path} with the files that could not be matched: fill in the column student, and collect again with --matched {path}."
        )
    complain_of(done.left, "could not be collected")
    if done.unread:
        raise typer.Exit(1)


def students(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A table as CSV, with a heading.")],
    id_column: Annotated[
        str, typer.Option("--id", metavar="COLUMN", help="The heading of the column that contains the ids.")
    ] = "",
    encoding: Annotated[
        str,
        typer.Option(metavar="NAME", help="The file's character encoding, such as shift_jis or gb18030."),
    ] = "",
) -> None:
    """Import students into the gradebook from a spreadsheet, or from a list of participants exported by Moodle or Canvas.

    Columns are recognised by their headings, in several languages: id, first name, last name (or the whole name), e-mail
    address. Cells may be separated by commas, semicolons or tabs, and titles above the heading are skipped. UTF-8, UTF-16 and
    Western encodings are recognised; for any other, give --encoding. If several columns contain ids, the one whose ids are in
    the gradebook is used, otherwise the one with the fewest gaps. Ids that a spreadsheet has rounded are refused. Students
    who are already in the gradebook are updated, and nobody is removed. If some students cannot be imported, the command
    names them and exits with status 1.
    """
    from autograder.gradebook.columns import read_people
    from autograder.gradebook.gradebook import open_gradebook  # start-up: nbgrader
    from autograder.gradebook.people import explain_import, import_people

    root = course_root()
    table = read_people(source, id_column, encoding)
    with open_gradebook(root) as gradebook:
        done = import_people(gradebook, table, id_column)
    say_lines(*explain_import(done))
    complain_of(done.left, "not imported")


def export(
    name: Name,
    to: Annotated[
        Literal["canvas", "moodle", "blackboard", "csv"] | None,  # the names in `EXPORTERS`
        typer.Option(
            help="The system that imports the file. Default: the one that the submissions were collected from, or csv."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="The file to write. Default: canvas.csv, moodle.csv, blackboard.csv or grades.csv."
        ),
    ] = None,
    column: Annotated[
        str,
        typer.Option(
            help="The heading of the assignment's column in that system. Default: the assignment's name."
        ),
    ] = "",
    unfinished: Annotated[
        bool,
        typer.Option(
            "--unfinished",
            help="Also include students who still have answers to be graded by hand, with their points so far.",
        ),
    ] = False,
) -> None:
    """Export the scores, after late penalties, to a file that another system can import.

    - canvas, to be uploaded under Grades → Import: students are found by the column ID (nbgrader's lms_user_id), or else
      by SIS Login ID (nbgrader's student id). The assignment is found by its title, as in "Attention (1234)" in
      Canvas' own export; with any other title Canvas creates a new assignment.
    - moodle, to be uploaded under Grades → Import → CSV file: map from "ID number" (nbgrader's student id) to the ID number
      or the user name, or from "Email address". Map the column to a grade item with the same maximum.
    - blackboard, to be uploaded under Work Offline → Upload Grades: students are found by the user name (nbgrader's student id), the
      column by its whole heading, as in "Attention [Total Pts: 20 Score] |123456" in Blackboard's own download.
    - csv: everybody in the gradebook, with nbgrader's own columns.

    Files for Canvas, Moodle and Blackboard leave out students who handed in nothing or whose answers still have to be graded by
    hand. Text that begins like a formula (= + - @) is preceded by an apostrophe.
    """
    from autograder.gradebook.collect import read_owners  # start-up: sqlalchemy
    from autograder.gradebook.export import EXPORTERS
    from autograder.gradebook.gradebook import open_gradebook
    from autograder.untrusted.layouts import LAYOUTS

    root = course_root()
    chosen = find_notebooks(root, name)[0]
    collected = {owner.system for one in chosen.notebooks for owner in read_owners(one).values()}
    found = collected.pop() if len(collected) == 1 else ""
    system = to or (found if found in EXPORTERS else "csv")
    if not to:
        where = f"a download from {LAYOUTS[found][0]}" if found not in ("", "plain") else "no single system"
        say_lines(
            f"The submissions were collected from {where}: exporting for {system}. --to selects a different layout."
        )
    exporter = EXPORTERS[system](column=column, unfinished=unfinished, assignment=[chosen.name])
    exporter.to = str(output or exporter.default_file)
    with open_gradebook(root) as gradebook:
        exporter.export(gradebook)
    say_lines(f"wrote {exporter.to}, in {exporter.layout}")
    if exporter.waiting:
        console.print(
            Text(
                f"Left out, because some answers still have to be graded by hand: {', '.join(exporter.waiting)}."
            )
        )
    if exporter.missing:
        console.print(Text(f"Students who handed in nothing: {', '.join(exporter.missing)}."))
    if exporter.marked:
        console.print(
            Text(
                f"These ids were written with an apostrophe in front, so the other system will not find them: {', '.join(exporter.marked)}."
            )
        )


def feedback(
    name: Name,
    students: Students = None,
    packed: Annotated[
        bool, typer.Option("--zip", help="Also pack the pages for upload to Moodle or Canvas.")
    ] = False,
    output: Annotated[Path, typer.Option(help="The folder for the archives.")] = Path("."),
) -> None:
    """Write a page of feedback for each graded student to feedback/, with every verdict and the reason for it.

    With --zip, also pack the pages for the system that the submissions were collected from.

    - Moodle: View all submissions, Upload multiple feedback files in a zip; the assignment's feedback type Feedback files
      must be on.
    - Canvas: the assignment's Upload Submissions (after Download Submissions). It shows each page under the name of the
      file that was handed in.
    """
    from autograder.gradebook.feedback import graded_students, make_pages, pack, page_of  # start-up: nbgrader

    assignment = find_notebooks(course_root(), name)[0]
    with progress_bar() as progress:
        task = progress.add_task("feedback", total=len(students or graded_students(assignment)))
        made, left = make_pages(assignment, students or [], lambda student: progress.advance(task))
    where = assignment.feedback("STUDENT").relative_to(assignment.root)
    pages = sum(page_of(one, student).exists() for student in made for one in assignment.notebooks)
    say_lines(f"{pages} page{'' if pages == 1 else 's'} in {where}/.")
    if packed:
        archives = pack(assignment, made, output)
        left += archives.left
        say_lines(*(f"wrote {path} with {count} of these pages" for path, count in archives.archives.items()))
    complain_of(left, "not packed" if packed else "without a page")


def package(
    name: Name,
    host: Annotated[
        Literal["gradescope", "github"], typer.Option("--for", help="Where the assignment will be graded.")
    ],
    output: Annotated[Path, typer.Option(help="The folder for the files.")] = Path("."),
    visibility: Annotated[
        Literal["visible", "after_due_date", "after_published", "hidden"],  # Gradescope's own names
        typer.Option(
            help="When students see the tests. Tests with hidden parts are shown after_published at the earliest."
        ),
    ] = "visible",
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="PACKAGE",
            help="A package that the notebook needs and does not import by name; may be repeated.",
        ),
    ] = None,
) -> None:
    """Pack an assignment for Gradescope or GitHub Actions, which then grade each submission as soon as it arrives.

    - gradescope: upload NAME-gradescope.zip as the autograder of a programming assignment. Each exercise becomes a test.
    - github: NAME-github.yml is a workflow that fetches NAME-github.zip, grades what is pushed, and shows the result as the
      summary of its job.

    The archive contains the solution, so students must not get it. It lists the packages installed here, with their versions.
    """
    from autograder.packaging.archive import archive, template  # start-up: nbgrader

    root = course_root()
    chosen = find_notebooks(root, name)[0]
    packed = output / f"{chosen.name}-{host}.zip"
    workflow = packed.with_suffix(".yml")
    for path in (packed, workflow)[: 2 if host == "github" else 1]:
        require_replaceable(root, path)
    content = archive(chosen, visibility, more or ())
    output.mkdir(parents=True, exist_ok=True)
    write_product(root, packed, content)
    say_lines(
        f"wrote {packed} ({max(1, len(content) >> 20)} MB), which contains the solution: do not give it to students."
    )
    if host == "github":
        write_product(
            root, workflow, template("autograding.yml", ASSIGNMENT=chosen.name, ARCHIVE=packed.name)
        )
        say_lines(
            f"wrote {workflow}: put it into .github/workflows/ and set the secrets named in its first lines."
        )
