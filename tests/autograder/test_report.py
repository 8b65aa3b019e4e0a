"""The instructor's page says what is in the gradebook and the verdicts, and accuses nobody of the ordinary."""

import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from itertools import chain, combinations
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from autograder.grading.reference import mistake_sources, solution_sources
from autograder.report import contents, read_class, write_report
from autograder.source import grade_id, read_source
from autograder.untrusted import similarity
from tests.autograder.small_class import FIRST, FORMULA, NAME, SCRIPT, SECOND, SOFTMAX
from tests.conftest import ASSIGNMENTS, TWO_NOTEBOOKS


@pytest.fixture(scope="module")
def page(graded_class, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(graded_class.assignment, path)
    return path


@pytest.fixture(scope="module")
def everybody(graded_class):
    return read_class(graded_class.assignment)


@pytest.fixture(scope="module")
def shown(everybody):
    return contents(everybody)


@pytest.mark.slow
def test_mistakes_come_by_name_with_the_number_of_students(graded_class, shown):
    found = shown["mistakes"]
    counted = {(row.name, row.exercise): sorted(row.students) for row in found}
    first = graded_class.assignment.by_check_id[f"{FIRST}-check"]
    assert counted[first.mistakes[0].name, first.name] == ["dua", "eva"]
    assert counted[first.mistakes[1].name, first.name] == ["fay"]
    assert [len(row.students) for row in found] == sorted((len(row.students) for row in found), reverse=True)
    assert sum(len(row.students) for row in found) == 3  # the second hand-in of "cem" has no known mistake


@pytest.mark.slow
def test_each_exercise_has_its_success_and_its_attempts(graded_class, everybody, shown):
    rows = {row.name: row for row in shown["exercises"]}
    scale = graded_class.assignment.by_check_id[f"{SECOND}-check"]
    right = [
        s for s, known in everybody.histories.items() if known.by_cell()[scale.check_id].status == "passed"
    ]
    assert rows[scale.name].right == len(right) == 8
    assert dict(rows[scale.name].statuses) == {"failed": 7, "malformed": 1, "error": 1}
    assert rows[scale.name].most_attempts == 2  # of "cem"
    assert (
        everybody.histories["cem"].attempts(SECOND) == 2 and everybody.histories["cem"].attempts(FIRST) == 1
    )
    assert everybody.histories["gil"].attempts(SECOND) == 0


@pytest.mark.slow
def test_what_is_wrong_with_an_earlier_exercise_is_said_to_be(shown):
    rows = {row.name: row for row in shown["exercises"]}
    assert rows["attention.attention"].inherited == 2  # "mia", and "gil", who wrote nothing
    assert "mia" not in {
        student
        for row in shown["unnamed"]
        if row.exercise == "attention.attention"
        for student in row.students
    }
    assert "mia" in {
        student for row in shown["unnamed"] if row.exercise == "attention.scale" for student in row.students
    }


@pytest.mark.slow
def test_scores_are_the_gradebook_s(graded_class, everybody, shown):
    with graded_class.gradebook() as gradebook:
        for student, score in everybody.scores.items():
            submission = gradebook.find_submission(NAME, student)
            assert (score.raw, score.penalty) == (submission.score, submission.late_submission_penalty)
            assert score.waiting == submission.needs_manual_grade
    assert everybody.scores["dua"].penalty > 0
    bars = shown["bars"]
    assert sum(bar.finished + bar.waiting for bar in bars) == len(everybody.scores) == 17


@pytest.mark.slow
def test_who_could_not_be_run_is_listed_with_the_reason(shown):
    failed = {student: (why, lost) for student, why, lost in shown["failed"]}
    assert failed["ian"] == ("The notebook's process stopped.", "all")
    assert "not a notebook" in failed["hao"][0]
    assert set(failed) == {"ian", "hao"}


@pytest.mark.slow
def test_copies_are_found_behind_other_names_and_comments(shown):
    (group,) = shown["groups"]
    assert set(group.group.students) == {"jon", "kit", SCRIPT}
    assert {FIRST, SOFTMAX} <= set(group.cells)
    assert group.group.pairs[0].share > 0.9
    assert {student for student, _ in group.cells[SOFTMAX]} == {"jon", "kit", SCRIPT}


@pytest.mark.slow
def test_short_answers_and_those_we_expect_accuse_nobody(shown):
    """Alike are: perfect notebooks, a listed alternative, a known mistake, and a short answer that is neither."""
    accused = {student for group in shown["groups"] for student in group.group.students}
    assert not accused & {"ada", FORMULA, "bob", "bea", "dua", "eva", "lea", "mia", "gil", "nia"}


def test_an_answer_of_many_is_no_group_but_is_shown():
    text = "def f(x):\n    first = x.cumsum(0).flip(0)\n    return first.roll(3).tril().sum(-1).log2() / len(x)\n"
    odd = {cell: text for cell in ("one", "two", "three", "four")}
    alone = {f"other-{number}": {"one": f"x = {number}"} for number in range(10)}
    few = {f"student-{number}": odd for number in range(similarity.USUAL_COUNT)}
    many = few | {"one-more": odd}
    assert len(similarity.find_groups(few | alone, [], ())) == 1
    assert similarity.find_groups(many | alone, [], ()) == []
    assert similarity.find_groups(few | alone, [{"one": text, "two": text, "three": text}], ()) == []
    found = similarity.find_common(many | alone, [], ())
    assert {cell: len(who) for cell, who in found} == {cell: len(many) for cell in odd}
    assert similarity.find_common(many | alone, [odd], ()) == []


def functions(number: int) -> dict[str, str]:
    """Answers to three cells in a style of its own: no two numbers write alike."""
    names = [
        "exp",
        "log",
        "tanh",
        "sigmoid",
        "cumsum",
        "flip",
        "roll",
        "tril",
        "triu",
        "diff",
        "sort",
        "abs",
        "sin",
        "cos",
    ]
    drawn = np.random.default_rng(number)

    def body() -> str:
        steps = [
            f"    x{step + 1} = x{step}.{a}(dim={d}) {sign} y.{b}().{c}()"
            for step, (a, b, c, d, sign) in enumerate(
                (*drawn.choice(names, 3), drawn.integers(-3, 3), drawn.choice(["+", "*", "-", "@"]))
                for _ in range(8)
            )
        ]
        return "\n".join(["def f(x0, y):", *steps, "    return x8"])

    return {cell: body() for cell in ("one", "two", "three")}


def with_junk(texts: dict[str, str], number: int) -> dict[str, str]:
    """A copy in which each cell has a line of its own that does nothing, at another place for each copy."""
    changed = {}
    for cell, text in texts.items():
        lines = text.splitlines()
        lines.insert(
            1 + number % (len(lines) - 2),
            f"    junk = len(str({number})) + {number} ** {number + 1} // {number + 3}",
        )
        changed[cell] = "\n".join(lines)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("members, others", [(6, 14), (8, 40), (12, 100), (25, 120)])
def test_a_ring_of_many_is_found_behind_junk(members, others):
    ring = {f"ring-{number}": with_junk(functions(0), number) for number in range(members)}
    honest = {f"other-{number}": functions(100 + number) for number in range(others)}
    (group,) = similarity.find_groups(honest | ring, [], ())
    assert set(group.students) == set(ring)
    assert set(group.pairs[0].cells) == {"one", "two", "three"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_popular_answers_in_any_mixture_are_no_ring(seed):
    """In each cell every honest student writes one of three natural answers, most of it like everybody else who does.

    Those who are good at it choose the first more often, in every cell.
    """
    drawn = np.random.default_rng(seed)
    kinds = [functions(seed * 10 + kind) for kind in range(3)]
    honest = {}
    for number in range(40):
        often = [0.6, 0.2, 0.2] if number % 2 else [0.2, 0.4, 0.4]
        texts = {cell: kinds[drawn.choice(3, p=often)][cell] for cell in kinds[0]}
        honest[f"student-{number}"] = with_junk(texts, number)
    assert similarity.find_groups(honest, [], ()) == []


DISGUISES = {
    "exec": lambda text: f"exec({text!r})",
    "exec of pieces": lambda text: (
        "exec(" + " + ".join(repr(f"{line}\n") for line in text.splitlines()) + ")"
    ),
    "exec of joined lines": lambda text: f"code = '\\n'.join({text.splitlines()!r})\nexec(code)",
    "exec of exec": lambda text: f"exec({f'exec({text!r})'!r})",
    "run by the shell": lambda text: f'get_ipython().run_cell("""\n{text}\n""")',
    "within a function": lambda text: f"def outer():\n    exec({text!r}, globals())\nouter()",
    "look-alike letters": lambda text: f"import torch as сору\n{text.translate(str.maketrans('xy', 'ху'))}",
    "tuples around assignments": lambda text: re.sub(r"(\n +)(x\d) = (.*)", r"\1(\2,) = (\3,)", text),
    "one assignment of tuples": lambda text: re.sub(
        r"(\n +)(x\d) = (.*)\n +(x\d) = (.*)", r"\1\2, (\4, *_) = [\3, (\5,)]", text
    ),
    "an item of a tuple": lambda text: re.sub(r"(\n +)(x\d) = (.*)", r"\1\2 = (\3, 0)[0]", text),
    "annotations and walruses": lambda text: re.sub(r"(\n +)(x[1-4]) = (.*)", r"\1(\2 := \3)", text).replace(
        "x8 =", "x8: 'Tensor' ="
    ),
    "letters of another width": lambda text: text.replace("exp", "\N{FULLWIDTH LATIN SMALL LETTER E}xp"),
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_copy_is_found_in_a_disguise(disguise):
    honest = {f"other-{number}": functions(100 + number) for number in range(10)}
    copy = {cell: DISGUISES[disguise](text) for cell, text in functions(0).items()}
    (group,) = similarity.find_groups(honest | {"ada": functions(0), "bob": copy}, [], ())
    assert set(group.students) == {"ada", "bob"}


PROSE = (
    "A vector for each word says where it stands among the others, and the nearest neighbours of a bank by a river are "
    "not those of a bank that lends money; one vector has to lie between both, and is near to neither of them at all. "
)


def test_prose_is_found_behind_letters_that_look_alike():
    twisted = str.maketrans({"a": "а", "e": "е", "o": "о", "c": "с", " ": " \N{ZERO WIDTH SPACE}"})
    texts = {cell: f"{cell} {PROSE}" for cell in ("one", "two")}
    copy = {cell: text.translate(twisted) for cell, text in texts.items()}
    others = {f"other-{number}": {"one": f"My own words number {number}."} for number in range(10)}
    (group,) = similarity.find_groups(others | {"ada": texts, "bob": copy}, [], ["one", "two"])
    assert set(group.students) == {"ada", "bob"}


def test_a_copied_helper_is_found_where_it_is_called():
    """One calls it from an added cell, another has written it into the answer."""
    whole = functions(0)
    added = "\n\n".join(text.replace("def f(", f"def _{cell}(") for cell, text in whole.items())
    called = {cell: f"def f(x, y):\n    return _{cell}(x, y)" for cell in whole}
    other = (
        added.replace("x0", "start")
        .replace("_one(", "_first(")
        .replace("_two(", "_second(")
        .replace("_three(", "_third(")
    )
    theirs = {
        "one": "def f(a, b): return _first(a, b)",
        "two": "def f(a, b): return _second(a, b)",
        "three": "f = _third",
    }
    honest = {f"other-{number}": functions(100 + number) for number in range(10)}
    hidden = similarity.with_helpers(called, added)
    (group,) = similarity.find_groups(honest | {"ada": whole, "bob": hidden}, [], ())
    assert set(group.students) == {"ada", "bob"}
    (group,) = similarity.find_groups(
        honest | {"bob": hidden, "cem": similarity.with_helpers(theirs, other)}, [], ()
    )
    assert set(group.students) == {"bob", "cem"}


def test_a_copied_helper_is_found_where_nobody_calls_it():
    """The answers look like something else, and call by a name that is put together."""
    whole = functions(0)
    added = "\n\n".join(text.replace("def f(", f"def _{cell}(") for cell, text in whole.items())
    called = {cell: f"def f(x, y):\n    return globals()['_' + '{cell}'](x, y)" for cell in whole}
    honest = {f"other-{number}": functions(100 + number) for number in range(10)}
    hidden = similarity.with_helpers(called, added)
    (group,) = similarity.find_groups(honest | {"ada": whole, "bob": hidden}, [], ())
    assert set(group.students) == {"ada", "bob"} and set(group.pairs[0].cells) == {"one", "two", "three"}


def test_a_helper_does_not_change_what_the_names_in_an_answer_mean():
    """Its variables are called like the modules and functions that the copy uses."""

    def answers(number):
        return {
            cell: re.sub(r"(x\d)\.(\w+)\(", r"torch.\2(\1, ", text)
            for cell, text in functions(number).items()
        }

    copied = {cell: text.replace("x8", "out") for cell, text in answers(0).items()}
    honest = {f"other-{number}": answers(100 + number) for number in range(10)}
    hiding = "def y():\n    torch = 0\n    return torch\n"  # y is the name of an argument, too
    hidden = {
        cell: f"torch = torch\n{text}" for cell, text in similarity.with_helpers(copied, hiding).items()
    }
    both = similarity.phrases(answers(0), ()) & similarity.phrases(hidden, ())
    assert len(both) > 0.9 * len(similarity.phrases(answers(0), ()))
    (group,) = similarity.find_groups(honest | {"ada": answers(0), "bob": hidden}, [], ())
    assert set(group.students) == {"ada", "bob"}


def test_plots_and_attempts_in_added_cells_accuse_nobody():
    """Two have found the same picture of a page that everybody reads, and both keep an attempt of their own."""
    picture = "\n".join(
        ["def draw(a, b):", *(f"    plt.{kind}(a[{n}], b.{kind}, alpha={n})" for n, kind in enumerate(DRAWN))]
    )
    honest = {f"other-{number}": functions(100 + number) for number in range(10)}
    both = {
        student: similarity.with_helpers(functions(number), f"{picture}\n\n{functions(number + 50)['one']}")
        for student, number in (("ada", 1), ("bob", 2))
    }
    assert similarity.find_groups(honest | both, [], ()) == []


DRAWN = (
    "plot",
    "bar",
    "hist",
    "scatter",
    "fill",
    "text",
    "legend",
    "axhline",
    "imshow",
    "contour",
    "quiver",
    "stem",
)


def test_who_takes_from_two_does_not_make_them_a_pair():
    """Framing: neither of them is said to share anything with the other."""
    ada, bob = functions(1), functions(2)
    mallory = {cell: f"{ada[cell]}\n\n{bob[cell]}" for cell in ada}
    honest = {f"other-{number}": functions(100 + number) for number in range(10)}
    (group,) = similarity.find_groups(honest | {"ada": ada, "bob": bob, "mallory": mallory}, [], ())
    assert {frozenset(pair.students) for pair in group.pairs} == {
        frozenset({"ada", "mallory"}),
        frozenset({"bob", "mallory"}),
    }


def test_helpers_that_nobody_calls_stand_apart_and_damaged_ones_do_no_harm():
    enriched = similarity.with_helpers(
        {"one": "x = f(1)"}, "def f(a):\n    return g(a)\ndef g(a): return a\ny = 2"
    )
    assert enriched["one"].count("def ") == 2 and enriched[similarity.OWN_CELLS] == "y = 2"
    assert similarity.with_helpers({"one": "x"}, "def f(:")[similarity.OWN_CELLS] == "def f(:"
    assert similarity.with_helpers({"one": "x"}, "") == {"one": "x"}


@pytest.mark.slow
@pytest.mark.parametrize("name", TWO_NOTEBOOKS)
def test_an_honest_class_of_our_own_answers_has_no_groups(name):
    """Everybody has, cell by cell, our solution or one of two other answers of which the report has not been told."""
    assignment = ASSIGNMENTS[name]
    drawn = np.random.default_rng(0)
    solutions, wrong = solution_sources(assignment), mistake_sources(assignment)
    kinds = {}
    for exercise in assignment.exercises.values():
        others = [*exercise.alternatives.values(), *wrong[exercise.name].values()]
        kinds[exercise.solution_id] = [solutions[exercise.name], *others[:2]]
    known = [{cell: text} for cell, (text, *_) in kinds.items()]
    honest = {
        f"student-{number}": {
            cell: f"{drawn.choice(texts)}\nspare = {number} ** {number + 1}" for cell, texts in kinds.items()
        }
        for number in range(60)
    }
    assert similarity.find_groups(honest, known, ()) == []


@pytest.mark.parametrize(
    "text",
    ["def f(:", "x = '''", "\0", "(" * 5000, "%%time\nx", "ключ = 'é'", "-" * 20_000 + "1", "\\", " x\n\ty"],
)
def test_any_text_has_tokens(text):
    assert all(isinstance(token, str) for token in similarity.code_tokens(text))


def test_layout_names_and_comments_do_not_count():
    one = (
        'def f(a: "Tensor", b=1) -> "Tensor":\n    """Words."""\n    c = a.exp(dim=b)  # why\n    return c\n'
    )
    other = "def g(x, y = 1):\n\n  total = x.exp( dim = y )\n  return total"
    assert similarity.code_tokens(one) == similarity.code_tokens(other)
    assert similarity.code_tokens(one) != similarity.code_tokens(one.replace("exp", "log"))


@pytest.mark.slow
def test_different_right_answers_share_little():
    """Of our own solutions and alternatives, which one author wrote and which are the only ones we have."""
    shares = []
    for assignment in ASSIGNMENTS.values():
        solutions = solution_sources(assignment)
        release = {grade_id(cell): cell.source for cell in read_source(assignment.source).cells}
        for exercise in assignment.exercises.values():
            stub = re.sub(r"### BEGIN.*?### END SOLUTION", "", release[exercise.solution_id], flags=re.S)
            texts = [solutions[exercise.name], *exercise.alternatives.values()]
            own = [similarity.phrases({"": text}, ()) - similarity.phrases({"": stub}, ()) for text in texts]
            # As in a class: what most have is what the task asks for, such as the parts of a module by their names.
            usual = {phrase for phrase, count in Counter(chain(*own)).items() if count > max(2, len(own) / 2)}
            own = [phrases - usual for phrases in own]
            own = [phrases for phrases in own if phrases]  # of one line, nothing may be left
            shares += [len(one & other) / min(len(one), len(other)) for one, other in combinations(own, 2)]
    assert len(shares) > 100
    assert median(shares) < 0.15
    assert sum(share >= similarity.LEAST_SHARE for share in shares) < 0.02 * len(shares)


class Tags(HTMLParser):
    """Every tag that a browser would see, with its attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.slow
def test_the_page_needs_nothing_else_and_runs_nothing_of_a_student_s(page):
    text = page.read_text()
    tags = Tags(text).found
    assert not {tag for tag, _ in tags} & {
        "script",
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
    }
    assert not [attrs for _, attrs in tags if any(name.startswith("on") for name in attrs)]
    assert all(attrs["href"].startswith("#") for tag, attrs in tags if tag == "a")
    assert not re.search(r"url\(|@import", text)
    assert "default-src 'none'" in text
    assert SCRIPT not in text and SCRIPT in unescape(text)
    (picture,) = [attrs for tag, attrs in tags if tag == "svg"]
    assert "points: " in picture["aria-label"]


@pytest.mark.browser
@pytest.mark.slow
def test_the_page_in_a_browser(page, chromium, picture):
    """No script runs, nothing is fetched, and nothing is wider than a phone."""
    for width, scheme in ((390, "dark"), (1200, "light")):
        view = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
        asked, dialogs = [], []
        view.on("request", lambda request, asked=asked: asked.append(request.url))
        view.on("dialog", lambda dialog, dialogs=dialogs: (dialogs.append(dialog.message), dialog.dismiss()))
        view.goto(page.as_uri())
        assert asked == [page.as_uri()] and dialogs == []
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        picture(view, f"report-{scheme}", full_page=True)
