"""The sense of a pseudo-word: places are found again, what is cut off is not read, and counts and vectors find a planted cue."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

from coursekit.novels import senses
from coursekit.novels.corpus import WORDS
from coursekit.novels.figures import stream
from coursekit.novels.kneser_ney import KneserNey
from coursekit.novels.pseudo_words import Pair, merge
from coursekit.novels.recipes import build_bert, build_elmo, build_gpt
from experiments import novels_senses
from experiments.harness import Experiment, Options, record
from tests.coursekit.novels.texts import TINY, TINY_ELMO

PAIRS = [Pair("cell", "bell", "unrelated"), Pair("letter", "money", "related")]
"""On the shelf: "sat in a dark cell", "rang the bell twice", "left the letter on the stairs", "put money into the bank"."""


@pytest.fixture(scope="module")
def corpora(corpus, tmp_path_factory):
    return corpus, merge(corpus, PAIRS, tmp_path_factory.mktemp("merged") / "corpus")


@pytest.fixture(scope="module")
def places(corpora):
    return [senses.places_of(corpora[0], PAIRS, split, 40) for split in ("train", "test")]


def test_each_place_holds_the_word_of_its_sense_and_in_the_merged_text_the_pseudo_word(corpora, places):
    apart, merged = corpora
    for of in places:
        assert {*of.pair} == {0, 1} and {*of.sense} == {False, True}
        for pair, sense, row, word in zip(of.pair, of.sense, of.row, of.word, strict=True):
            assert apart.words[apart.word_rows(of.split)[row][word]] == PAIRS[pair][int(sense)]
            assert merged.words[merged.word_rows(of.split)[row][word]] == PAIRS[pair].merged
    assert np.bincount(places[0].pair).tolist() == [40, 40]


def test_of_one_side_the_other_is_not_read():
    words = list(range(100, 300))
    assert senses.around(words, 5, "left") == (words[:6], 5)
    assert senses.around(words, 5, "right") == (words[5 : 6 + senses.AROUND], 0)
    read, place = senses.around(words, 90, "both")
    assert read[place] == words[90] and len(read) == 2 * senses.AROUND + 1


BUILT = {
    "elmo": partial(build_elmo, **TINY_ELMO),
    "bert": partial(build_bert, **TINY | {"layers": 2}),
    "gpt": partial(build_gpt, **TINY | {"layers": 2}),
}


@pytest.mark.parametrize("name", BUILT)
def test_vectors_are_those_of_the_place_and_depend_on_what_the_model_may_see(name, corpora, places):
    torch.manual_seed(0)
    merged, of = corpora[1], places[1]
    model = BUILT[name](merged).eval()
    found = {side: senses.VECTORS[name](model, merged, of, side) for side in ("both", "left", "right")}
    assert all(vectors.shape[:2] == (3, len(of.pair)) for vectors in found.values())
    same_word = of.pair == 0
    if name == "elmo":  # layer 0 has no context: one vector per pseudo-word
        layer = found["both"][0][same_word]
        assert torch.allclose(layer, layer[:1].expand_as(layer), atol=1e-5)
    assert torch.allclose(found["both"][-1], found["left"][-1], atol=1e-4) == (name == "gpt")
    left = found["right"][-1][same_word].chunk(2, dim=-1)[0]
    if name in (
        "gpt",
        "elmo",
    ):  # nothing stands before it: what reads to the right sees the pseudo-word alone
        assert torch.allclose(left, left[:1].expand_as(left), atol=1e-4)


@pytest.mark.slow
def test_a_cue_in_the_vectors_is_found_and_noise_is_not(places):
    learned_from, asked = places
    rng = torch.Generator().manual_seed(0)
    noise = [torch.randn(2, len(of.pair), 8, generator=rng) for of in places]
    for vectors, of in zip(noise, places, strict=True):
        vectors[1, :, 0] += 4 * torch.from_numpy(of.sense)
    right = senses.right_by_layer(*noise, learned_from, asked).mean(axis=1)
    assert right[0] < 0.75 and right[1] > 0.9
    mix = senses.learned_mix(noise[0], learned_from)
    assert mix.sum() == pytest.approx(1) and mix[1] > 0.8


def test_counts_find_what_stands_beside_the_word(corpora, places):
    apart, _ = corpora
    learned_from, asked = senses.places_of(apart, PAIRS, "train"), places[1]
    majority = senses.right_by_majority(learned_from, asked).mean()
    window = senses.right_by_words(apart, learned_from, asked, reach=2, by_place=True)
    bag = senses.right_by_words(apart, learned_from, asked, reach=3, by_place=False)
    assert majority < 0.7 and window.all() and bag.mean() > 0.95
    model = KneserNey(stream(apart.word_rows("train"), WORDS), WORDS, order=3)
    for side in ("both", "left", "right"):
        assert senses.right_by_n_grams(model, apart, PAIRS, asked, side).mean() > 0.95


@pytest.mark.slow
def test_the_experiment_trains_and_writes_a_row_for_each_layer_side_and_pair(corpora, tmp_path):
    recipes = {
        name: replace(novels_senses.RECIPES[name], build=build, steps=4, batch=8)
        for name, build in BUILT.items()
    }
    steps = partial(novels_senses.steps, apart=corpora[0], pairs=PAIRS, recipes=recipes)
    list(record(Experiment(steps, seeds=(0,)), Options(results=tmp_path, checkpoints=tmp_path)))
    table = pd.read_csv(tmp_path / "novels_senses.csv")
    assert {*table.pair} == {pair.merged for pair in PAIRS} and (table.right <= table.asked).all()
    lines = table.groupby("model").size().to_dict()
    assert lines == {"elmo": 2 * (3 * 3 + 1), "bert": 2 * 3 * 3, "gpt": 2 * 3 * 2} | {
        "more frequent word": 2, "window of two": 2, "bag of words": 2, "5-grams": 6,
    }  # fmt: skip
    losses = pd.read_csv(tmp_path / "novels_seeds.csv").set_index(["model", "figure"]).value
    assert len(losses) == 6 and 0 <= losses["bert", "top-1 accuracy"] < 1
    assert losses["gpt", "nats per subword"] > losses["gpt", "nats per character"] > 0
    assert (losses["elmo"] < np.log(len(corpora[1].words)) + 1).all()
    assert pd.read_csv(tmp_path / "novels_mix.csv").weight.sum() == pytest.approx(1, abs=1e-3)
