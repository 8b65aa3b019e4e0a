"""Rated sentences: groups stay on one side, both labels are drawn equally often, and agreement leaves out the rater's own rating."""

import io
import tarfile

import pandas as pd
import pytest

from experiments import applications_domains as domains


def archive_of(lines: dict[str, str]) -> tarfile.TarFile:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, text in lines.items():
            info = tarfile.TarInfo(f"hutto_ICWSM_2014/{name}.txt")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    file.seek(0)
    return tarfile.open(fileobj=file)


def test_sentences_are_joined_to_their_ratings_by_id_and_a_mean_of_zero_is_left_out():
    files = archive_of(
        {
            "amazonReviewSnippets_GroundTruth": "1_1\t1\tIt works.\n1_2\t0\tIt is a box.\n2_1\t-1\tIt broke.\n",
            "amazonReviewSnippets_anonDataRatings": "\ufeff1_1\t1\t0\t[1, 2]\n1_2\t0\t0\t[1, -1]\n2_1\t-1\t0\t[-2, 1]\n",
        }
    )
    table = domains.rated("product", files)
    assert table[["id", "text", "label", "group"]].to_numpy().tolist() == [
        ["product 1_1", "It works.", "positive", "1"],
        ["product 2_1", "It broke.", "negative", "2"],
    ]


def test_no_group_is_on_both_sides_and_both_labels_are_drawn_equally_often():
    table = pd.DataFrame(
        {
            "group": [n // 5 for n in range(600)],
            "label": ["positive" if n % 3 else "negative" for n in range(600)],
        }
    )
    split = domains.with_splits(table)
    assert split.groupby("group")["split"].nunique().eq(1).all()
    assert split["split"].value_counts().to_dict() == {"train": 400, "test": 200}
    assert domains.drawn(split, "test", 40)["label"].value_counts().to_dict() == {
        "positive": 20,
        "negative": 20,
    }


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [([1, 2, 3], 1), ([3, -1, -1], 0), ([0, 2, 2], 5 / 6), ([1, 1, 1, -1], 3 / 4)],
)
def test_a_rater_is_compared_with_the_others(ratings, expected):
    assert domains.agreement(ratings) == pytest.approx(expected)
