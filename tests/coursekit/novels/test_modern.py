"""Modern text from packages: what each reader makes of its files and the split by document."""

import io
import tarfile

import pytest

from coursekit.novels import modern


def packed(path, content: str) -> tarfile.TarFile:
    """A package with one file."""
    buffer, data = io.BytesIO(), content.encode()
    with tarfile.open(fileobj=buffer, mode="w") as files:
        about = tarfile.TarInfo(path)
        about.size = len(data)
        files.addfile(about, io.BytesIO(data))
    return tarfile.open(fileobj=io.BytesIO(buffer.getvalue()))


def test_brown_loses_its_tags():
    files = packed("package/ca01", "\n\t``/`` We/ppss 've/hv sold/vbn 1\\/2/cd ''/'' ./.\n\n")
    ((name, sentences),) = modern.brown(files)
    assert name == "package/ca01" and sentences == ['" We \'ve sold 1\\/2 " .']


def test_wordnet_gives_each_word_its_definition_and_its_examples_alone():
    line = '02990000 06 n 02 jail_cell 0 cell 0 001 @ 1 n 0000 | a room where a prisoner is kept; "he sat in his cell"  '
    ((word, sentences),) = modern.wordnet(packed("package/dict/data.noun", f"  1 licence | \n{line}\n"))
    assert word == "jail cell"
    assert sentences == ["jail cell: a room where a prisoner is kept.", "he sat in his cell."]


def test_manuals_give_sentences_and_leave_out_what_is_no_prose():
    page = "<h1>Title.</h1><p>Short menu</p><p class='x'>Open the <b>bank</b>\n account. It&#39;s easy.</p><pre>x.</pre>"
    ((_, sentences),) = modern.manual(r"help/.*\.html")(packed("help/a.html", page))
    assert sentences == ["Open the bank account.", "It's easy."]


def test_a_document_always_belongs_to_the_same_split():
    found = [modern.split_of(f"document {number}") for number in range(2_000)]
    assert [n for n in range(60) if found[n] == "test"] == [
        15,
        20,
        29,
        45,
        55,
    ]  # in every process, unlike `hash`
    assert found.count("test") == pytest.approx(200, abs=50)
    assert found.count("validation") == pytest.approx(100, abs=40)


def test_sequences_consist_of_whole_sentences_as_far_as_they_fit():
    assert list(modern._joined([[1] * 100, [2] * 26, [3] * 5, [4] * 200])) == [
        [1] * 100 + [2] * 26, [3] * 5, [4] * modern.ROW,
    ]  # fmt: skip
