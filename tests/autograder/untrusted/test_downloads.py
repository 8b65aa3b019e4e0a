"""Which of a download's files are read, and by what path."""

import io
import struct
import zipfile
import zlib

import pytest

from autograder.errors import CourseError
from autograder.untrusted.downloads import Budget, inside, opened
from autograder.untrusted.submission import Unreadable
from tests.autograder.here import NAME

FILE = f"{NAME}.ipynb"


def archive(folder, *files):
    """Each file holds an x; a pair has another content."""
    path = folder / "download.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for file in files:
            name, content = file if isinstance(file, tuple) else (file, "x")
            packed.writestr(zipfile.ZipInfo(name), content)
    return path


def test_only_so_much_is_read_of_all_notebooks_together(tmp_path):
    with opened(archive(tmp_path, ("a", "x" * 10), ("b", "y" * 10))) as (files, _):
        budget = Budget(15)
        assert budget.read(files[0]) == b"x" * 10
        with pytest.raises(Unreadable, match="the notebooks are too large to read at once"):
            budget.read(files[1])


@pytest.mark.parametrize(
    "path", ["../ada/x.ipynb", "ada/../../x.ipynb", "/ada/x.ipynb", "C:/ada/x.ipynb", "ada\\..\\x"]
)
def test_a_path_that_leads_elsewhere_is_left_out(tmp_path, path):
    with opened(archive(tmp_path, (path, "x"), ("ada/x.ipynb", "y"))) as (files, left):
        pass
    assert [file.path for file in files] == ["ada/x.ipynb"]
    assert [entry.reason for entry in left] == ["its path leads out of the archive."]


def paths(source, knows=lambda part: False):
    with opened(source, knows=knows) as (files, _):
        return [file.path for file in files]


def with_raw_names(folder, encoding, *names):
    """An archive whose names are in an encoding that it does not tell, as Windows' own programs make it."""
    path = folder / "download.zip"
    places = {chr(ord("A") + n) * len(name.encode(encoding)): name for n, name in enumerate(names)}
    with zipfile.ZipFile(path, "w") as packed:
        for place in places:
            packed.writestr(place, "")
    blob = path.read_bytes()
    for place, name in places.items():
        blob = blob.replace(place.encode(), name.encode(encoding))
    path.write_bytes(blob)
    return path


def test_windows_own_programs_write_backslashes(tmp_path):
    """PowerShell 5 and .NET before 4.6.1; in a path with a slash a backslash is a sign like any other."""
    files = (f"ada\\{NAME}\\{FILE}", "ada/a\\b.ipynb", "ada\\")
    assert paths(archive(tmp_path, *files)) == [f"ada/{NAME}/{FILE}", "ada/a\\b.ipynb"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "cp850", "cp437"])
def test_names_without_a_flag_are_read_in_the_encoding_that_knows_the_students(tmp_path, encoding):
    names = [f"müller/{FILE}", f"éva/{FILE}", f"jörg/{FILE}"]
    knows = {"müller", "éva", "jörg"}.__contains__
    assert paths(with_raw_names(tmp_path, encoding, *names), knows) == names


def test_so_are_japanese_ones_in_which_a_byte_looks_like_a_backslash(tmp_path):
    name = f"ソラ/{FILE}"
    assert b"\\" in name.encode("cp932")
    assert paths(with_raw_names(tmp_path, "cp932", name), {"ソラ"}.__contains__) == [name]


def test_a_name_in_an_encoding_that_nobody_knows_is_marked(tmp_path):
    with opened(with_raw_names(tmp_path, "cp1252", f"müller/{FILE}")) as (files, _):
        assert files[0].guessed
    with opened(with_raw_names(tmp_path, "utf-8", f"müller/{FILE}")) as (files, _):
        assert files[0].path == f"müller/{FILE}" and not files[0].guessed


def test_a_name_that_is_there_in_unicode_too_is_read_from_there(tmp_path):
    """Info-ZIP on Windows writes it into a field of its own."""
    entry = zipfile.ZipInfo("ada/x.ipynb")
    raw, name = b"ada/x.ipynb", f"Łucja/{FILE}".encode()
    entry.extra = struct.pack("<HHBL", 0x7075, 5 + len(name), 1, zlib.crc32(raw)) + name
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr(entry, "x")
    assert paths(tmp_path / "x.zip") == [f"Łucja/{FILE}"]


def test_a_name_that_is_no_utf_8_although_it_says_so_makes_no_archive(tmp_path):
    path = with_raw_names(tmp_path, "latin-1", "\xe9\xe8\xe9")
    blob = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", blob, blob.index(mark) + place, 0x800)
    path.write_bytes(blob)
    with pytest.raises(CourseError, match="zip archive"):
        paths(path)


def test_an_archive_of_the_student_s_own_is_read_within_bounds():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("work/x.ipynb", "x")
        archive.writestr("../../evil.ipynb", "y")
    (file,) = inside(packed.getvalue(), "ada/hw.zip")
    assert file.path == "ada/hw.zip/work/x.ipynb" and file.read(10) == b"x"
    for blob in (b"", b"PK\x03\x04 and no more", packed.getvalue()[:40]):
        with pytest.raises(Unreadable, match="zip archive"):
            inside(blob, "ada/hw.zip")
