"""Whose a file of a download is, whatever students call their files and folders."""

import unicodedata

import pytest

from autograder.untrusted.layouts import Called, FileOwner, Misplaced, decide, is_hidden, which_assignment

NAME, OTHER = "01_steps", "02_more"
FILE = f"{NAME}.ipynb"
ADA, BOB = "Ada Lovelace_12345_assignsubmission_file", "Bob Builder_7_assignsubmission_file"
BLACKBOARD = "Homework 1_{}_attempt_2026-10-05-21-58-00_{}"
KNOWN = {"ada", "bob", "cem", "mallory", "lovelaceada"}


def owners(*paths, known=KNOWN, called="download", inside=()):
    """{path: whose it is}, with None for what is left out."""
    layout = decide(paths, [NAME, OTHER], known.__contains__, called, ["stats 101"], inside)
    found = {}
    for path in paths:
        try:
            owner = layout.owner(path)
            found[path] = owner.number or owner.person
        except Misplaced:
            found[path] = None
    return list(found.values())


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        (f"{ADA}_/{FILE}", FileOwner("moodle", "Ada Lovelace", "12345", FILE, f"{ADA}_/")),
        (f"{ADA}/inner/{FILE}", FileOwner("moodle", "Ada Lovelace", "12345", FILE, f"{ADA}/")),
        (
            "Ada Lovelace_12345_assignsubmission_onlinetext.html",
            FileOwner(
                "moodle", "Ada Lovelace", "12345", "onlinetext.html", "Ada Lovelace_12345_assignsubmission_"
            ),
        ),
        (f"{ADA}_{FILE}", FileOwner("moodle", "Ada Lovelace", "12345", FILE, f"{ADA}_")),
        (
            f"lovelaceada_LATE_12_345_{FILE}",
            FileOwner("canvas", "lovelaceada", "12", FILE, "lovelaceada_LATE_12_345_", late=True, order=345),
        ),
        (
            "lovelaceada_LATE_12_text.html",
            FileOwner("canvas", "lovelaceada", "12", "text.html", "lovelaceada_LATE_12_", late=True),
        ),
        (f"ada/{NAME}/{FILE}", FileOwner("plain", "ada", "", FILE, "ada/", NAME)),
        (f"submitted/ada/{NAME}/{FILE}", FileOwner("plain", "ada", "", FILE, "ada/", NAME)),
        (f"LATE_anon_abc_12_{FILE}", FileOwner("canvas", "", "", f"LATE_anon_abc_12_{FILE}")),
        (
            BLACKBOARD.format("ada", FILE),
            FileOwner(
                "blackboard",
                "ada",
                file=FILE,
                prefix=BLACKBOARD.format("ada", ""),
                order=20261005215800,
                login="Homework 1_ada",
            ),
        ),
    ],
)
def test_a_path_names_a_person_as_its_system_does(path, owner):
    assert decide([path], [NAME], KNOWN.__contains__).owner(path) == owner


@pytest.mark.parametrize(
    "forged",
    [
        f"mallory/ada/{FILE}",
        f"mallory/ada/{NAME}/{FILE}",
        f"mallory/{NAME}/ada/{FILE}",
        f"mallory/{BOB}_/{FILE}",
        f"mallory/{BOB}_{FILE}",
        f"mallory/{NAME}/{BOB}/{FILE}",
        f"mallory/lovelaceada_12_345_{FILE}",
        f"mallory/x/y/z/ada/{NAME}/{FILE}",
    ],
)
def test_a_name_chosen_by_a_student_replaces_nobody_s_hand_in(forged):
    honest = [f"ada/{FILE}", f"bob/{NAME}/{FILE}", f"mallory/{FILE}"]
    assert owners(*honest, forged) == ["ada", "bob", "mallory", None]
    assert owners(f"new/{FILE}", forged, known=set()) == ["new", None], (
        "though the gradebook knows nobody yet"
    )
    assert "ada" not in owners(forged), "nor where there is nothing else"


def test_in_moodle_s_and_canvas_archives_only_the_top_says_whose_a_file_is():
    forged = f"Mallory_5_assignsubmission_file/{BOB}/{FILE}"
    assert owners(f"{ADA}/{FILE}", forged, f"{BOB}/{FILE}") == ["12345", None, "7"]
    assert owners(f"{ADA}/{FILE}", f"Mallory_5_assignsubmission_file/ada/{FILE}") == ["12345", "5"]
    flat = f"Mallory_5_assignsubmission_file_{BOB}_{FILE}"
    assert owners(f"{ADA}_{FILE}", flat) == ["12345", "5"]
    canvas = [f"lovelaceada_12_345_{FILE}", f"mallory_5_346_lovelaceada_12_999_{FILE}"]
    assert owners(*canvas) == ["12", "5"]


def test_one_download_is_of_one_system():
    paths = [f"{ADA}/{FILE}", f"{BOB}/{FILE}", f"lovelaceada_12_345_{FILE}", f"ada/{FILE}"]
    assert owners(*paths) == ["12345", "7", None, None]


@pytest.mark.parametrize(
    "outer",
    [
        "download",
        "submitted",
        "Downloads",
        "Stats 101",
        NAME,
        f"Stats 101/{NAME}",
        f"submitted/{OTHER}",
        "ÜBUNG",
    ],
)
def test_a_folder_of_a_known_name_stands_around_those_of_the_students(outer):
    called = unicodedata.normalize("NFD", "übung (2)") if outer == "ÜBUNG" else "download"
    paths = [f"{outer}/ada/{FILE}", f"{outer}/bob/{NAME}/{FILE}", f"{outer}/new/{FILE}"]
    assert owners(*paths, called=called) == ["ada", "bob", "new"]
    assert owners(f"{outer}/{ADA}/{FILE}", f"{outer}/{BOB}/{FILE}", called=called) == ["12345", "7"]
    assert owners(f"{outer}/a_1_2_{FILE}", f"{outer}/b_3_4_{FILE}", called=called) == ["1", "3"]


def test_so_do_several_and_a_stray_file_in_one_stops_nobody():
    assert owners(f"{NAME}/ada/{FILE}", f"{OTHER}/bob/{OTHER}.ipynb") == ["ada", "bob"]
    assert owners(f"submitted/ada/{FILE}", f"submitted/{FILE}") == ["ada", None]
    assert owners(f"submitted/{FILE}", f"{NAME}/{FILE}") == [None, None], "which names no student"


WITHIN = {
    "a class": (["class"], [f"class/ada/{FILE}", f"class/bob/{NAME}/{FILE}"]),
    "a student": (["zoe"], [f"zoe/ada/{FILE}", f"zoe/bob/{FILE}"]),
    "in submitted": (["zoe"], [f"submitted/zoe/ada/{FILE}", f"submitted/zoe/bob/{FILE}"]),
    "like the archive": (["late"], [f"submitted/late/ada/{FILE}", f"submitted/late/bob/{FILE}"]),
    "two": (["Group A", "Group B"], [f"Group A/ada/{FILE}", f"Group B/bob/{FILE}"]),
    "numbered": (["Group-1", "Group-2"], [f"Group-1/ada/{FILE}", f"Group-2/bob/{FILE}"]),
    "two in one": (["x", "A", "B"], [f"x/A/ada/{FILE}", f"x/B/bob/{FILE}"]),
    "Moodle's": (["x"], [f"x/{ADA}/{FILE}", f"x/{BOB}/{FILE}"]),
    "Canvas'": (["x"], [f"x/a_1_2_{FILE}", f"x/b_3_4_{FILE}"]),
}


@pytest.mark.parametrize("case", WITHIN)
def test_any_other_folder_may_be_a_student_s_unless_the_instructor_confirms_it(case):
    """Whatever it holds: who makes a folder can put any name into it."""
    inside, paths = WITHIN[case]
    assert owners(*paths, called="late") == [None, None]
    assert None not in owners(*paths, called="late", inside=inside)
    assert owners(*paths, called="late", inside=inside[:-1]).count(None) in (1, 2), "which holds for each"


def test_what_is_left_out_for_it_says_what_to_do():
    paths = [f"ada/{FILE}", f"{ADA}/{FILE}", f"{ADA}_{FILE}", f"a_1_2_{FILE}"]
    for path in [f"{outer}Group A/{path}" for outer in ("", "submitted/") for path in paths]:
        with pytest.raises(Misplaced, match="add --inside 'Group A'\\."):
            decide([path], [NAME], KNOWN.__contains__).owner(path)
    with pytest.raises(Misplaced, match="/\\.$"):
        decide([f"new/{FILE}"], [NAME], KNOWN.__contains__).owner(FILE)


def test_a_confirmed_folder_may_stand_beside_students():
    paths = [f"mallory/{FILE}", f"class/ada/{FILE}", f"class/class/bob/{FILE}"]
    assert owners(*paths, inside=["class"]) == ["mallory", "ada", None], "and holds none of its own name"


def test_a_folder_of_a_student_is_not_taken_for_one_around_students():
    assert owners(f"mallory/ada/{FILE}", f"mallory/bob/{FILE}") == ["mallory", "mallory"], "who is known"
    for called in ("download", "someone"):  # an archive is called like what it holds
        assert owners(f"someone/ada/{FILE}", called=called) == [None], "who may be a class or a student"
    assert owners(f"zoe/ada/{FILE}", f"new/{FILE}") == [None, "new"]
    assert owners(f"zoe/ada/{FILE}", f"new/{NAME}/{FILE}") == [None, "new"]


def test_what_is_no_notebook_is_a_student_s_however_deep_it_is():
    """So that who has handed in nothing else is named."""
    assert owners(f"ada/{FILE}", "bob/work/report.html", "zoe/work/report.html") == ["ada", "bob", None]


def test_what_systems_leave_behind_says_nothing_about_a_layout():
    junk = ["__MACOSX/._ada", ".DS_Store", f"ada/.ipynb_checkpoints/{FILE}", "ada/Thumbs.db", "ada/~$x.docx"]
    assert all(map(is_hidden, junk)) and not is_hidden(f"ada/{FILE}")
    assert owners(*junk, f"ada/{FILE}", f"new/{FILE}")[-2:] == ["ada", "new"]


@pytest.mark.parametrize(
    ("file", "called"),
    [
        (FILE, Called(NAME, True)),
        (f"{NAME} (2).ipynb", Called(NAME, True, 2)),
        (f"{NAME}-3.ipynb", Called(NAME, True, 3)),
        (f"{NAME}-3 (1).ipynb", Called(NAME, True, 1)),
        (f"{NAME}.IPYNB", Called(NAME, True)),
        (f"{NAME}.ipynb.txt", Called(NAME, True)),
        (f"{NAME}.ipynb.json", Called(NAME, True)),
        (f"{NAME}.zip", Called(NAME, True)),
        (f"Copy of {FILE}", Called(NAME, True)),
        (f"Kopie von {FILE}", Called(NAME, True)),
        (f"{NAME}-Copy1.ipynb", Called(NAME, True)),
        (f"{NAME} - Kopie.ipynb", Called(NAME, True)),
        (f"Kopia {FILE}", Called(NAME)),
        ("Ada 01 Steps final.ipynb", Called(NAME)),
        (f"{NAME} and {OTHER}.ipynb", Called()),
        ("homework.ipynb", Called()),
    ],
)
def test_what_browsers_editors_and_people_add_is_not_part_of_the_name(file, called):
    assert which_assignment(FileOwner("moodle", "x", file=file), [NAME, OTHER]) == called


def test_what_blackboard_writes_about_an_attempt_is_of_the_same_person():
    paths = [BLACKBOARD.format("ada", FILE), "Homework 1_ada_attempt_2026-10-05-21-58-00.txt"]
    first, about = map(decide(paths, [NAME], KNOWN.__contains__).owner, paths)
    assert first.identity == about.identity


def test_a_file_that_a_student_names_like_blackboard_s_stays_the_student_s():
    forged = BLACKBOARD.format("mallory", BLACKBOARD.format("bob", FILE))
    assert owners(BLACKBOARD.format("ada", FILE), forged) == ["ada", "mallory"]
    canvas = f"lovelaceada_12_345_{BLACKBOARD.format('bob', FILE)}"
    assert owners(canvas) == ["12"]
    assert owners(f"ada/{FILE}", f"mallory/{BLACKBOARD.format('bob', FILE)}") == ["ada", None]


def test_two_accounts_that_end_alike_are_two_people():
    paths = [BLACKBOARD.format(name, FILE) for name in ("jane_doe", "doe")]
    layout = decide(paths, [NAME], KNOWN.__contains__)
    assert len({layout.owner(path).identity for path in paths}) == 2


ILIAS = ("Lovelace_Ada_al815_4711", "von der Lippe_Bob Max_bl9_4712")


def test_ilias_folders_name_person_account_and_number():
    paths = [f"Blatt 1/Abgaben/{folder}/{FILE}" for folder in ILIAS]
    layout = decide(paths, [NAME], KNOWN.__contains__, "Blatt 1")
    assert layout.system == "ilias"
    first, second = map(layout.owner, paths)
    assert (first.person, first.login, first.number) == ("Lovelace Ada", "al815", "4711")
    assert (second.person, second.login) == ("von der Lippe Bob Max", "bl9")
    assert first.prefix == f"{ILIAS[0]}/"


def test_a_single_folder_that_looks_like_one_of_ilias_makes_no_download_of_ilias():
    assert decide([f"{ILIAS[0]}/{FILE}", f"ada/{FILE}"], [NAME], KNOWN.__contains__).system == "plain"
    known = KNOWN | {ILIAS[0]}
    assert decide([f"{ILIAS[0]}/{FILE}"], [NAME], known.__contains__).system == "plain"
    assert decide([f"team_a_1/{FILE}", f"team_b_2/{FILE}"], [NAME], KNOWN.__contains__).system == "plain"
