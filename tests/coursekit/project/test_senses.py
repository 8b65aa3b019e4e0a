"""The occurrences of a word, the sheet for readings by hand, and tests that are tried on implementations."""

import numpy as np
import pytest
import torch

from coursekit.project import codes, senses, testing
from coursekit.project.reading import TextUnusable
from coursekit.project.senses import occurrences, read_sheet, write_sheet

PASSAGES = [f"In year {number} they set sail for the island of the {number}th king." for number in range(30)]


def test_only_whole_words_count_and_each_context_once():
    names = [
        "x.set = 1",
        "set_trace()",
        "__set__",
        "set() of",
        "a set-up",
        "the set’s end",
        "unset",
        *PASSAGES,
    ]
    found = occurrences([*names, *PASSAGES], "set")
    assert [one.text for one in found] == PASSAGES
    assert found[3].left == "In year 3 they " and found[3].right.startswith(" sail for")
    assert [one.word for one in occurrences([one.replace("set", "Set") for one in PASSAGES], "set")] == [
        "Set"
    ] * 30


def test_a_rare_word_is_refused_and_a_frequent_one_sampled():
    with pytest.raises(TextUnusable, match="'set' occurs 5 times in different contexts; at least 20"):
        occurrences(PASSAGES[:5], "set")
    found = occurrences(PASSAGES, "set", most=21)
    assert len(found) == 21 and (found[0].passage, found[-1].passage) == (0, 29)


def test_a_sheet_is_filled_in_by_hand_and_read_again(tmp_path, capsys):
    found, path = occurrences(PASSAGES, "set"), tmp_path / "set.csv"
    write_sheet(found, path)
    lines = path.read_text().splitlines()
    assert lines[0] == "number,left,word,right,first,second" and len(lines) == 31
    filled = [
        line[:-1] + "Assign," if number % 2 else line[:-1] + "?,type" for number, line in enumerate(lines[1:])
    ]
    path.write_text("\n".join([lines[0], *filled]))
    write_sheet(found, path)
    assert "was left as it is" in capsys.readouterr().out
    first, second = read_sheet(found, path, ["assign", "type"])
    assert first.tolist() == [-1, 0] * 15 and second.tolist() == [1, -1] * 15
    with pytest.raises(TextUnusable, match="column second: 'type' is not among the senses assign, group"):
        read_sheet(found, path, ["assign", "group"])
    with pytest.raises(TextUnusable, match="30 rows, but there are 29 occurrences"):
        read_sheet(found[1:], path, ["assign", "type"])
    with pytest.raises(TextUnusable, match="write_sheet"):
        read_sheet(found, tmp_path / "other.csv", ["assign"])


def test_our_readings_are_recognised_in_another_version_of_the_text(tmp_path, monkeypatch, capsys):
    passages = [f"On day {n} of spring {n} people set the {n} sails of all ships." for n in range(28)]
    passages += ["Then the ships were set with care.", "They also set with care what they had."]
    read = occurrences(passages, "set")
    lines = [f"{one.key},{','.join(one.sides)},{n % 3},{n % 2}" for n, one in enumerate(read)]
    (tmp_path / "data/project").mkdir(parents=True)
    (tmp_path / senses.READINGS).write_text("\n".join(["key,before,after,first,second", *lines]))
    monkeypatch.setattr(senses, "__file__", str(tmp_path / "coursekit" / "project" / "senses.py"))
    first, second = senses.our_readings(read)
    assert first.tolist() == [n % 3 for n in range(30)] and second.tolist() == [n % 2 for n in range(30)]
    assert "30 of the 30 occurrences of 'set' that we labelled are in this text." in capsys.readouterr().out
    before = [one.replace("people", "sailors") for one in passages[:10]]
    after = [one.replace("sails", "flags") for one in passages[10:20]]
    both = [one.replace("people", "sailors").replace("sails", "flags") for one in passages[20:24]]
    short = [one.partition(" spring ")[2].replace("sails", "flags") for one in passages[24:28]]
    unclear = ["The ships are set with care."]  # two readings differ after the same words
    edited = occurrences([*before, *after, *both, *short, *unclear], "set")
    assert senses.our_readings(edited)[0].tolist() == [*(n % 3 for n in range(20)), *[-1] * 9]
    assert "20 of the 30" in capsys.readouterr().out


@pytest.mark.slow
def test_an_occurrence_after_many_tokens_has_a_vector():
    table = "-+" * 300
    found = occurrences([f"{table} {one} {table}" for one in PASSAGES], "set")[:2]
    assert np.isfinite(senses.contextual_vectors(found)).all()


@pytest.mark.slow
def test_clusters_are_found_in_vectors_that_differ_in_direction():
    rng = np.random.default_rng(0)
    vectors = np.concatenate([rng.normal([3, 0, 0], 0.1, (9, 3)), rng.normal([0, 3, 0], 0.1, (7, 3))])
    found = senses.clustered(vectors, 2)
    assert len(set(found[:9])) == len(set(found[9:])) == 1 and found[0] != found[-1]


def test_a_test_rejects_with_any_error_and_a_stub_is_not_an_answer():
    def double(x):
        return 2 * x

    def test_double(function):
        assert function(3) == 6

    def stub(function):
        raise NotImplementedError

    right = torch.from_numpy(codes.packed("def double(x):\n    return x + x"))
    wrong = torch.from_numpy(codes.packed("def double(x):\n    return x * x"))
    broken = torch.from_numpy(codes.packed("def double(x):\n    return x.nothing"))
    case = {"code.double 2": wrong, "code.double 1": right, "code.double 3": broken, "other": right}
    verdicts = {name: bool(value) for name, value in testing.tried(case, double=test_double).items()}
    assert verdicts == {
        "double 1": False,
        "double 2": True,
        "double 3": True,
    }
    assert not testing.rejected(test_double, double)
    with pytest.raises(NotImplementedError):
        testing.tried(case, double=stub)
