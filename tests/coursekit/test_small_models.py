"""The small GPT, BERT and ELMo: what each may see, what loading says when something is wrong, how good they are."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from coursekit.datasets import read_table
from coursekit.intervals import half_width
from coursekit.language import load_language
from coursekit.small import ModelMissing, Spelling, load, save
from coursekit.small.bert import CLS, MASK, SEP, UNCHOSEN, corrupt, pair
from coursekit.small.figures import measure
from coursekit.small.files import card
from coursekit.small.recipes import RECIPES
from coursekit.small.results import recorded, write_rows
from coursekit.stored import models_folder

NAMES = ["gpt", "bert", "elmo"]
SHIPPED = [name for name in NAMES if (models_folder() / f"{name}.json").exists()]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def untrained():
    """Makes an untrained model of either kind."""

    def make(name: str) -> torch.nn.Module:
        torch.manual_seed(0)
        return RECIPES[name].build(load_language()).eval()

    return make


@pytest.fixture
def ids() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(7, len(load_language().vocabulary), (2, 10), generator=generator)
    ids[:, 0], ids[0, 9], ids[1, 6], ids[1, 7:] = 1, 2, 2, 0  # a row of 10 tokens, and one of 7
    return ids


def influence(outputs: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """[T, T]: how much output i of the first row depends on input j, as the norm of a gradient."""
    rows = [torch.autograd.grad(out.square().sum(), x, retain_graph=True)[0][0] for out in outputs[0]]
    return torch.stack([row.norm(dim=-1) for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_parameters_stay_near_a_million_at_most(name, untrained):
    assert 100_000 < sum(weight.numel() for weight in untrained(name).parameters()) < 1_100_000


def test_gpt_shapes_and_that_no_position_sees_the_future(untrained, ids):
    model, vocabulary = untrained("gpt"), len(load_language().vocabulary)
    x = model.embed(ids).detach().requires_grad_()
    output = model.run(x)
    assert output.logits.shape == (2, 10, vocabulary) and output.hidden.shape == (3, 2, 10, 64)
    assert torch.allclose(output.hidden[-1] @ model.token.weight.T, output.logits, atol=1e-5)
    seen = influence(output.logits, x)
    assert torch.equal(seen > 0, torch.ones(10, 10).tril().bool())


def test_gpt_refuses_more_tokens_than_it_has_positions(untrained):
    with pytest.raises(ValueError, match="17 positions, but the sequence has 18"):
        untrained("gpt")(torch.ones(1, 18, dtype=torch.long))


def test_bert_sees_both_sides_and_no_padding(untrained, ids):
    model, vocabulary = untrained("bert"), len(load_language().vocabulary)
    x = model.embeddings(ids, torch.zeros_like(ids)).detach().requires_grad_()
    output = model.run(x, ids != 0)
    assert output.logits.shape == (2, 10, vocabulary) and output.hidden.shape == (3, 2, 10, model.config.dim)
    assert output.next_sentence.shape == (2, 2)
    assert (influence(output.logits, x) > 0).all()
    alone = model(ids[1:, :7])
    assert torch.allclose(alone.hidden, output.hidden[:, 1:, :7], atol=1e-5)
    assert torch.allclose(alone.next_sentence, output.next_sentence[1:], atol=1e-5)


def test_a_pair_is_cls_a_sep_b_sep_with_its_segments():
    a, b = (
        torch.tensor([[1, 8, 9, 2, 0], [1, 8, 9, 10, 2]]),
        torch.tensor([[1, 11, 12, 13, 2], [1, 11, 2, 0, 0]]),
    )
    joined, segments = pair(a, b)
    assert joined.tolist() == [
        [CLS, 8, 9, SEP, 11, 12, 13, SEP, 0],
        [CLS, 8, 9, 10, SEP, 11, SEP, 0, 0],
    ]
    assert segments.tolist() == [[0, 0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1, 1, 0, 0]]


def test_corruption_is_80_10_10_of_15_percent_and_spares_special_tokens():
    ids = torch.full((400, 100), 50)
    ids[:, ::10] = CLS
    corrupted, labels = corrupt(ids, len(load_language().vocabulary), torch.Generator().manual_seed(0))
    chosen = labels != UNCHOSEN
    assert not chosen[:, ::10].any() and (labels[chosen] == 50).all()
    assert torch.equal(corrupted[~chosen], ids[~chosen])
    assert chosen.sum() / 36_000 == pytest.approx(0.15, abs=0.01)
    assert (corrupted[chosen] == MASK).float().mean() == pytest.approx(0.8, abs=0.03)
    assert (corrupted[chosen] == 50).float().mean() == pytest.approx(0.1, abs=0.03)
    assert (corrupted > SEP)[corrupted != ids].logical_or((corrupted == MASK)[corrupted != ids]).all()


@pytest.mark.slow
def test_elmo_halves_see_one_side_each(untrained, ids):
    model, vocabulary = untrained("elmo"), len(load_language().vocabulary)
    dim = model.config.dim
    x = model.token(Spelling().of_ids(ids)).detach().requires_grad_()
    output = model.run(x, ids != 0)
    assert output.forward_logits.shape == output.backward_logits.shape == (2, 10, vocabulary)
    assert output.hidden.shape == (3, 2, 10, 2 * dim)
    assert torch.equal(output.hidden[0, :, :, :dim], output.hidden[0, :, :, dim:])
    below = torch.ones(10, 10).tril().bool()
    for layer in (1, 2):
        assert torch.equal(influence(output.hidden[layer][..., :dim], x) > 0, below)
        assert torch.equal(influence(output.hidden[layer][..., dim:], x) > 0, below.T)


@pytest.mark.slow
def test_elmo_is_the_same_with_and_without_padding(untrained, ids):
    model, spelling = untrained("elmo"), Spelling()
    padded = model(spelling.of_ids(ids), ids != 0).hidden[:, 1:, :7]
    alone = model(spelling.of_ids(ids[1:, :7]), ids[1:, :7] != 0).hidden
    assert torch.allclose(padded, alone, atol=1e-5)


@pytest.mark.slow
def test_elmo_s_words_start_out_spread_evenly(untrained):
    model, table = untrained("elmo"), Spelling().table
    vectors = model.token(table[:, None])[:, 0].detach()  # V D
    assert vectors.mean(dim=0).abs().max() < 1e-4
    spread = torch.cov(vectors.T)
    assert torch.allclose(spread, 0.09 * torch.eye(len(spread)), atol=1e-3)


def test_spelling_tells_words_apart_and_spells_words_never_seen():
    spelling, words = Spelling(), load_language().vocabulary
    assert len({tuple(row.tolist()) for row in spelling.table}) == len(words)
    assert spelling.table.max() < spelling.characters
    assert torch.equal(spelling.of_words(["Bank"]), spelling.of_ids(torch.tensor([words.index("bank")])))
    assert spelling.of_words(["unforgettable", "zyx"]).shape == (2, Spelling.LONGEST)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_is_what_is_loaded(name, untrained, tmp_path):
    model = untrained(name)
    save(name, model, tmp_path, seed=1, steps=2, figures={"loss": 1.5})
    again = load(name, tmp_path)
    assert again.config == model.config and not again.training
    for key, value in model.state_dict().items():
        assert torch.equal(value, again.state_dict()[key])


@pytest.fixture
def saved(untrained, tmp_path) -> Path:
    save("gpt", untrained("gpt"), tmp_path, seed=0, steps=1, figures={})
    return tmp_path


def fails(folder: Path, words: str) -> None:
    with pytest.raises(ModelMissing, match=words) as caught:
        load("gpt", folder)
    assert "python -m coursekit.pretrain --models gpt" in str(caught.value) and "\n" not in str(caught.value)


def test_an_absent_model_gets_a_sentence(saved, tmp_path):
    fails(tmp_path / "nowhere", "cannot be read")
    (saved / "gpt.safetensors").unlink()
    fails(saved, "gpt.safetensors cannot be read")


def test_a_damaged_model_gets_a_sentence(saved):
    weights = saved / "gpt.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    fails(saved, "is not the file that gpt.json describes")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"sha256": "0", "config": {"dim": "wide"}}'])
def test_a_damaged_description_gets_a_sentence(saved, text):
    (saved / "gpt.json").write_text(text)
    fails(saved, "damaged")


def test_another_models_weights_get_a_sentence(saved, untrained):
    save("bert", untrained("bert"), saved, seed=0, steps=1, figures={})
    about = json.loads((saved / "gpt.json").read_text())
    about["sha256"] = json.loads((saved / "bert.json").read_text())["sha256"]
    (saved / "gpt.json").write_text(json.dumps(about))
    shutil.copy(saved / "bert.safetensors", saved / "gpt.safetensors")
    fails(saved, "does not match")


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match="gpt, bert, elmo"):
        load("t5")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_load_are_small_and_have_their_card(name):
    assert (models_folder() / f"{name}.safetensors").stat().st_size < 4_400_000
    about = json.loads((models_folder() / f"{name}.json").read_text())
    assert sum(weight.numel() for weight in load(name).parameters()) == about["parameters"]
    assert (models_folder() / f"{name}.md").read_text() == card(about)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name if name == "gpt" else pytest.param(name, marks=pytest.mark.audit) for name in SHIPPED]
)
def test_shipped_models_reach_the_figures_of_their_card(name):
    """On other sentences than the card's, so with a margin: four standard errors of 1,000 sentences are about 0.02."""
    said = json.loads((models_folder() / f"{name}.json").read_text())["figures"]
    found = measure(name, load(name), sentences=1000, seed=5)
    assert set(found) == set(said)
    for what in found:
        if "above the bound" in what or "accuracy" in what or "sense" in what:
            assert found[what] == pytest.approx(said[what], abs=0.03), what


def test_recorded_runs_are_read_with_intervals_and_beside_the_untrained(tmp_path, monkeypatch):
    for seed, value in enumerate((1.0, 2.0, 3.0)):
        write_rows(tmp_path / "data" / "results" / "small_test.csv", seed, 0, {"loss, all": 7.0 + seed})
        write_rows(
            tmp_path / "data" / "results" / "small_test.csv", seed, 9, {"loss, all": value, "minutes": 1}
        )
    monkeypatch.chdir(tmp_path)
    table = recorded("test")
    assert list(table.index) == ["loss, all", "minutes"] and (table.seeds == 3).all()
    assert table.loc["loss, all", "mean"] == 2.0 and table.loc["loss, all", "untrained"] == 8.0
    assert table.loc["loss, all", "half_width"] == pytest.approx(half_width([1, 2, 3]))
    assert table.untrained.isna()["minutes"]


REACHED = {
    "gpt": {
        "held-out: next word, above the bound": (0, 0.03),
        "sense, layer 2, cue only on the right": (0.43, 0.49),  # a guess: not below it either
        "sense with 96,000 labels, layer 2, cue only on the right": (0.43, 0.49),
        "sense, layer 2, order, two clauses": (0.7, 0.83),  # the words before allow 0.82
    },
    "bert": {
        "held-out: masked word, above the bound": (0, 0.08),
        "sense, layer 2, cue only on the right": (0.97, 1),
        "sense, layer 2, order, two clauses": (0.95, 1),
    },
    "elmo": {
        "held-out: next word, above the bound": (0, 0.037),  # the aim was 0.03
        "held-out: word before, above the bound": (0, 0.037),
        "sense, layer 2, order, two clauses": (0.98, 1),
        "sense, layer 2, cue only on the right": (0.8, 1),
    },
}
"""What the models reach; data/models/README.md says where that is short of the aim."""


@pytest.mark.parametrize("name", NAMES)
def test_recorded_figures_over_at_least_three_seeds(name):
    table = recorded(name)
    assert (table.seeds >= 3).all()
    assert (table.half_width[table.index.str.contains("above the bound")] > 0).all()  # the seeds differ
    for measured, (lowest, highest) in REACHED[name].items():
        assert lowest <= table.loc[measured, "mean"] <= highest, measured


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_model_is_one_of_the_recorded_runs(name):
    about = json.loads((models_folder() / f"{name}.json").read_text())
    rows = read_table(f"results/small_{name}.csv")
    rows = rows[(rows.seed == about["seed"]) & (rows.steps == about["steps"])].set_index("measure").value
    for measured, value in about["figures"].items():
        assert rows[measured] == pytest.approx(value, abs=2e-5), measured
