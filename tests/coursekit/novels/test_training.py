"""The recipes of the novels on the made-up shelf: losses fall, a run that is cut off goes on as if it had not been."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from coursekit import pretrain
from coursekit.novels import recipes, skip_gram
from coursekit.novels.recipes import NOVELS
from tests.conftest import ROOT
from tests.coursekit.novels.texts import TINY, TINY_ELMO

SMALL = {
    "novels-bert": TINY,
    "novels-gpt": TINY,
    "novels-skipgram": {"dim": 8},
    "novels-elmo": TINY_ELMO,
}


def small(name: str, steps: int):
    build = NOVELS[name].build
    batch = 400 if name == "novels-skipgram" else 4
    return replace(NOVELS[name], build=lambda corpus: build(corpus, **SMALL[name]), steps=steps, batch=batch)


def weights_after(name, corpus, folder, cut=False) -> dict[str, torch.Tensor]:
    recipe = small(name, 40)
    if cut:
        run = pretrain.train(name, 0, recipe, corpus, folder, minutes=0)
        next(run)  # a block, saved; what follows is lost
        run.close()
    for _ in pretrain.train(name, 0, recipe, corpus, folder):
        pass
    return pretrain.load_trained(name, 0, recipe, corpus, folder).state_dict()


@pytest.fixture(scope="module", params=SMALL)
def whole(request, corpus, tmp_path_factory):
    """The name of a model, and the weights and the curve of a run that is not cut off."""
    name, folder = request.param, tmp_path_factory.mktemp("whole")
    return name, weights_after(name, corpus, folder), pretrain.read_curve(folder, name, 0)


@pytest.mark.slow
def test_a_run_that_is_cut_off_ends_with_the_same_weights(whole, corpus, tmp_path):
    name, weights, curve = whole
    cut = weights_after(name, corpus, tmp_path, cut=True)
    assert all(torch.equal(weights[key], cut[key]) for key in weights)
    after_cut = pretrain.read_curve(tmp_path, name, 0)
    assert [point[:2] for point in curve] == [point[:2] for point in after_cut]
    assert [point[0] for point in curve] == [32, 40]  # a block, and the end
    assert np.isnan(curve[0][2]) and curve[1][2] == after_cut[1][2] > 0  # unread authors: at the end only


@pytest.mark.slow
def test_a_look_at_unread_authors_leaves_the_training_as_it_is(whole, corpus, tmp_path, monkeypatch):
    name, weights, _ = whole
    monkeypatch.setattr(pretrain, "HELD_OUT_EVERY", 32)
    looked = weights_after(name, corpus, tmp_path)
    assert not np.isnan(pretrain.read_curve(tmp_path, name, 0)[0][2])
    assert all(torch.equal(weights[key], looked[key]) for key in weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_losses_fall(name, corpus):
    recipe = replace(small(name, 150), learning_rate=1e-2)
    model = recipe.build(corpus).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _, loss in zip(range(150), recipe.losses(model, corpus, recipe.batch, 0), strict=False):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-10:]) < 0.93 * sum(losses[:10])


def test_frequent_words_are_passed_over_and_negatives_are_drawn_by_counts_to_the_power_of_three_quarters(
    corpus,
):
    passed, up_to = skip_gram.tables(corpus, len(corpus.words))
    counts = np.bincount(np.asarray(corpus.word_rows("train").values), minlength=len(corpus.words))
    often, seldom = counts.argmax(), np.where(counts > 0, counts, counts.max()).argmin()
    assert passed[often] > passed[seldom] >= 0 and up_to[-1] == pytest.approx(1)
    share = np.diff(up_to, prepend=0)
    assert share[often] / share[seldom] == pytest.approx((counts[often] / counts[seldom]) ** 0.75)


def test_nothing_is_left_in_half_precision_outside_the_loss(corpus):
    model = small("novels-bert", 1).build(corpus)
    next(small("novels-bert", 1).losses(model, corpus, 2, 0))
    assert not torch.is_autocast_enabled("cpu")


def test_the_sampled_loss_is_near_the_whole_one_on_average():
    torch.manual_seed(0)
    softmax, states = torch.nn.Linear(8, 500), torch.randn(64, 8)
    targets = torch.from_numpy(recipes.ranks(64, 500, np.random.default_rng(0)))[:40]
    states = states[: len(targets)]
    whole = torch.nn.functional.cross_entropy(softmax(states), targets)
    drawn = [
        torch.from_numpy(recipes.ranks(recipes.NEGATIVES, 500, np.random.default_rng(seed)))
        for seed in range(20)
    ]
    sampled = torch.stack([recipes.sampled_loss(softmax, states, targets, one) for one in drawn]).mean()
    assert sampled.item() == pytest.approx(whole.item(), abs=0.05)


def test_a_model_of_the_novels_asks_for_the_novels(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    for arguments, said in (
        (["novels-bert"], "models of the novels need --corpus"),
        (
            ["novels-bert", "--corpus", ".", "--steps", "9", "--record", "data"],
            "--record needs complete runs",
        ),
        (["novels-t5", "--corpus", "."], "'novels-t5' is not a model of the novels"),
        (["novels-bert", "--corpus", ".", "--vocabulary", "none.json"], "there is no file none.json"),
    ):
        monkeypatch.setattr(sys, "argv", ["coursekit.pretrain", *arguments])
        with pytest.raises(SystemExit) as ended:
            pretrain.main()
        assert ended.value.code == 2 and said in capsys.readouterr().err


@pytest.mark.slow
def test_the_pieces_of_an_earlier_run_can_be_taken(corpus, tmp_path, monkeypatch):
    texts, pieces = corpus.folder.parent / "shelf", corpus.folder / "tokenizer.json"
    arguments = ["novels-bert", "--corpus", texts, "--to", tmp_path, "--vocabulary", pieces, "--seeds", "0"]
    monkeypatch.setitem(NOVELS, "novels-bert", small("novels-bert", 1))
    monkeypatch.setattr(sys, "argv", ["coursekit.pretrain", *map(str, arguments)])
    pretrain.main()
    assert (tmp_path / "corpus" / "tokenizer.json").read_bytes() == pieces.read_bytes()
    assert (tmp_path / "novels-bert_0.safetensors").exists()
