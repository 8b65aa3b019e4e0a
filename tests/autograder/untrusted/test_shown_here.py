"""What instructors and students are shown of a submission: as text, not too much, and in the right list."""

import re
from html import escape, unescape

import nbformat
import pytest

from autograder.checks.status import Status
from autograder.gradebook import summary
from autograder.grading.verdicts import readable
from autograder.report.pages import _plain
from autograder.results import CellVerdict
from autograder.untrusted import similarity, staging
from autograder.untrusted.autograded import verdict_output
from autograder.untrusted.budgets import LONGEST, SHOWN_OF_TOO_MUCH, cut_off
from autograder.untrusted.cells import PICTURES
from autograder.untrusted.rendered import clean, leads_elsewhere, markdown, names_of_this_host
from tests.autograder.here import NAME

SCRIPT = "<img src=x onerror=alert(1)>"


def test_a_reason_that_quotes_the_student_is_text(small):
    made = verdict_output(
        CellVerdict("steps-total-check", 0, 2, Status.ERROR, f"NameError: {SCRIPT}", hint=SCRIPT)
    )
    assert "<img" not in made["data"]["text/html"] and "&lt;img" in made["data"]["text/html"]
    assert "steps-total: error, 0 of 2 points" in made["data"]["text/plain"]


def test_signs_that_hide_or_turn_text_are_not_shown():
    assert readable("a\x00b\u202ec\td") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c    d"
    assert _plain("a\u202eb\n") == "a\N{REPLACEMENT CHARACTER}b\n"
    assert len(readable("x" * 10_000)) < 2100


@pytest.mark.parametrize("kind", LONGEST)
def test_what_is_too_long_is_cut_off_with_its_length(kind):
    text = "x" * LONGEST[kind]
    assert cut_off(text, kind) == text
    shown = cut_off(text + "y", kind)
    assert f"This has {len(text) + 1} characters" in shown and shown.count("x") == SHOWN_OF_TOO_MUCH


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<a href="https://example.org/a">x</a>', "https://example.org/a"),
        ('<a href="javascript:alert(1)">x</a>', ""),
        ('<img src="data:image/png;base64,AAAA">', "data:image/png;base64,AAAA"),
        ('<img src="data:image/png;base64,AAAA,<svg onload=1>">', ""),
        ('<img src="https://example.org/seen.png">', ""),
        ("<td style='text-align:left;position:fixed'>x</td>", ""),
    ],
)
def test_an_address_is_on_the_list_from_beginning_to_end(html, kept):
    made = clean(f"<table><tr>{html}</tr></table>" if "<td" in html else html)
    assert kept in made and "javascript" not in made and "seen" not in made
    assert "svg" not in made and "position" not in made


ELSEWHERE = [
    "https://example.org/paper",
    "HTTPS://EXAMPLE.ORG",
    "https://arxiv.org/abs/1706.03762?context=cs#references",
    "https://de.wikipedia.org/wiki/Wort_(Linguistik)",
    "https://jupyter.org:443/try-jupyter/lab/",
    "https://xn--mnchen-3ya.de/",
    "mailto:ada@example.org",
]
HERE = [  # as browsers read it: https://url.spec.whatwg.org
    "/formgrader/manage_students/x",
    "formgrader",
    "?x",
    "#x",
    "//hub.example.edu/user/eva/lab",
    "/\\hub.example.edu/",
    "https:/user/eva/lab",
    "https:user/eva/lab",
    "https:///hub.example.edu/",
    "https://hub.example.edu/user/eva/lab",
    "https://HUB.example.edu./user/eva/lab",
    "https://hub.example.edu:8000",
    "https://example.org@hub.example.edu/",
    "https://hub.example.edu\\@example.org/",
    "https://hub.example.edu/\\@example.org/",
    "https://%68ub.example.edu/",
    "https://hub。example。edu/",
    "https://ｈub.example.edu/",
    "https://hub.exam\N{SOFT HYPHEN}ple.edu/",
    "https://hub\t.example.edu/",
    "http://localhost:8888/",
    "http://localhost./",
    "http://lab.localhost/",
    "http://localhost.localdomain/",
    "http://printer.local/",
    "http://hub/",
    "http://127.0.0.1:8888/lab",
    "http://127.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.0x1/",
    "http://017700000001/",
    "http://①②⑦.0.0.1/",
    "http://[::1]:8888/",
    "http://[::ffff:127.0.0.1]/",
    "https://elsewhere.example.edu/formgrader?path=submitted",
    "https://elsewhere.example.edu/user/eva/%66ormgrader/",
    "https://elsewhere.example.edu/user/eva/%2566ormgrader/",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "blob:https://hub.example.edu/x",
    "view-source:https://hub.example.edu/",
    "file:///etc/passwd",
    "ftp://hub.example.edu/",
    "vbscript:x",
]


@pytest.mark.parametrize("address", ELSEWHERE)
def test_an_honest_link_stays(address):
    assert f'href="{escape(address)}"' in clean(f'<a href="{escape(address)}">x</a>', ["hub.example.edu"])


@pytest.mark.parametrize("address", HERE)
def test_no_link_leads_to_the_host_that_shows_it(address):
    hosts = ["hub.example.edu"]
    assert "href" not in clean(f'<a href="{escape(address)}">x</a>', hosts)
    for text in (f"[x]({address})", f"[x](<{address}>)", f"<{address}>", f"[x][r]\n\n[r]: {address}"):
        links = re.findall(r'href="([^"]*)"', markdown(text, None, hosts))
        assert all(leads_elsewhere(unescape(link), hosts) for link in links), links


@pytest.mark.parametrize(
    "html",
    [
        '<base href="/formgrader/">',
        '<form action="/formgrader/"><button formaction="/formgrader/">x</button></form>',
        '<meta http-equiv="refresh" content="0; url=/formgrader/">',
        '<svg><a href="/formgrader/" xlink:href="/formgrader/"><text>x</text></a><image href="/formgrader/"/></svg>',
        '<math href="/formgrader/"><mtext href="/formgrader/">x</mtext></math>',
        '<img src="/formgrader/" srcset="/formgrader/ 1x">',
        '<img src="http://127.0.0.1:8888/formgrader/">',
        '<video src="/formgrader/" poster="/formgrader/"></video>',
        '<iframe src="/formgrader/"></iframe><object data="/formgrader/"></object>',
        '<link rel="stylesheet" href="/formgrader/"><link rel="prefetch" href="/formgrader/">',
        '<a ping="/formgrader/" href="/formgrader/">x</a><area href="/formgrader/">',
        '<blockquote cite="/formgrader/">x</blockquote><td background="/formgrader/" style="background: url(/formgrader/)">',
        "![x](/formgrader/)",
        "$\\href{/formgrader/}{x}$",
    ],
)
def test_nothing_else_asks_that_host_for_anything(html):
    assert "formgrader" not in markdown(html)


def test_the_hub_that_started_the_server_is_this_host(monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_PUBLIC_URL", "https://classes.example.edu:8000/hub")
    names_of_this_host.cache_clear()
    assert "href" not in clean('<a href="https://classes.example.edu/hub/logout">x</a>')
    names_of_this_host.cache_clear()


def test_a_hand_in_is_copied_up_to_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr(staging, "MOST_BYTES", 25)
    folder = tmp_path / "ada"
    folder.mkdir()
    for name in "abc":
        (folder / name).write_text("x" * 10)
    (folder / "link").symlink_to("/etc/hostname")
    with staging.staged(folder) as (copy, left):
        assert sorted(path.name for path in copy.iterdir()) == ["a", "b"] and left == ["c", "link"]


def answers(style: int, length: int = 3) -> dict[str, str]:
    """Answers to three cells, written as nobody else does."""
    body = "\n".join(
        f"    a{n} = x.f{style}_{n}(y{n}).g{n}({style}, {n}).h{style}(k[{n}:{style}])" for n in range(length)
    )
    return {cell: f"def {cell}(x, k):\n{body}\n    return x" for cell in ("one", "two", "three")}


def test_as_many_as_are_usual_are_a_group_and_more_are_not():
    others = {f"other-{n}": answers(n + 10) for n in range(12)}
    ring = {f"copied-{n}": answers(1) for n in range(similarity.USUAL_COUNT)}
    (group,) = similarity.find_groups(ring | others, [], ())
    assert set(group.students) == set(ring)
    assert not similarity.find_groups(ring | {"one-more": answers(1)} | others, [], ())


def test_a_short_copy_of_a_long_answer_is_found():
    """What two share is measured by the one that has less."""
    long = {cell: answers(1)[cell] + "\n" + answers(2, 12)[cell] for cell in answers(1)}
    texts = {"long": long, "short": answers(1)} | {f"other-{n}": answers(n + 10) for n in range(12)}
    (group,) = similarity.find_groups(texts, [], ())
    assert set(group.students) == {"long", "short"} and group.pairs[0].share > 0.8


def summary_of(course, student):
    """The list on top of a student's feedback."""
    notebook = nbformat.read(course.assignment.autograded(student) / f"{NAME}.ipynb", 4)
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission_notebook(NAME, NAME, student)
        scores = {grade.name: grade.score for grade in submission.grades}
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") in scores:
                cell.metadata.nbgrader.score = scores[cell.metadata.nbgrader.grade_id]
        where = {
            "student": student, "notebook": NAME, "assignment": NAME, "score": submission.score,
            "max_score": submission.max_score, "late_penalty": 0.0, "db_url": f"sqlite:///{course.root}/gradebook.db",
        }  # fmt: skip
    return " ".join(summary.summary(notebook, where, course.assignment).split())


def test_feedback_lists_what_is_wrong_apart_from_what_is_right(small):
    small.hand_in("ada")
    small.hand_in("bob", largest="def largest(values):\n    return 7.5")
    small.grade_class()
    right, wrong = summary_of(small, "ada"), summary_of(small, "bob")
    assert "Look at these again" not in right and "Look at these again" in wrong
    again = wrong.partition("Look at these again")[2].partition("Written answers")[0]
    assert "largest" in again and "total" not in again and "0 of 1" in again


PIXEL = "UklGRiQAAABXRUJQVlA4"


@pytest.mark.parametrize("kind", PICTURES)
def test_an_attached_picture_that_is_kept_is_shown(kind):
    html = markdown("![two bars](attachment:a)", {"a": {kind: PIXEL}})
    assert f'src="data:{kind};base64,{PIXEL}"' in html


@pytest.mark.parametrize("kind", ["image/svg+xml", "image/heic", "image/tiff"])
def test_in_the_place_of_a_picture_that_is_not_shown_stands_a_sentence(kind):
    html = markdown("![two bars](attachment:a)", {"a": {kind: "", "text/html": SCRIPT}})
    assert "<img" not in html and "two bars" in html
    assert f"a picture of type {kind}, which cannot be shown here" in html


def test_a_drawing_that_is_called_an_image_runs_nothing():
    svg = "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"
    html = markdown(
        f"![x](attachment:a) ![y](data:image/svg+xml;base64,{svg})", {"a": {"image/svg+xml": svg}}
    )
    assert "<img" not in html and svg not in html
