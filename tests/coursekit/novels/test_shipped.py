"""The models of the novels that come with the course: what is written is read back, what is damaged is said, the card has the figures."""

import json

import numpy as np
import pytest
import torch

from coursekit.datasets import read_table
from coursekit.models.learned_head import MOVING, load_with_head, published
from coursekit.novels import figures, missing_head, record, shipped, skip_gram
from coursekit.novels.recipes import build_bert, build_elmo, build_gpt
from coursekit.stored import ModelMissing, models_folder, read, write
from experiments import novels_gaps
from experiments.harness import ExperimentError, Options
from experiments.harness import record as record_experiment
from tests.coursekit.novels.texts import TINY, TINY_ELMO

ABOUT = {"seed": 0, "steps": 40, "minutes": 2.0, "figures": {"nats per gap": "3.210 (3.100 to 3.320)"}}
SHIPPED = [name for name in shipped.TITLES if (models_folder() / f"novels_{name}.json").exists()]


@pytest.fixture(scope="module")
def moved():
    """MiniLM with a head, as if it had learned."""
    torch.manual_seed(0)
    model = published()
    for name, weight in model.named_parameters():
        if name.startswith(MOVING):
            weight.data += 0.01 * torch.randn_like(weight)
    return model


@pytest.mark.slow
def test_minilm_is_stored_as_the_difference_to_what_was_published(moved, tmp_path):
    path = missing_head.save_minilm(moved, tmp_path, ABOUT)
    assert path.stat().st_size < 8e6
    read = dict(load_with_head(tmp_path).named_parameters())
    for name, weight in moved.named_parameters():
        assert torch.allclose(weight, read[name], atol=1e-4), name  # stored in float16
    card = path.with_suffix(".md").read_text()
    assert (
        "40 steps of one seed (0), 2 CPU minutes" in card
        and "| nats per gap | 3.210 (3.100 to 3.320) |" in card
    )


@pytest.mark.slow
def test_updates_of_low_rank_come_back_as_part_of_the_weights(corpus, tmp_path, monkeypatch):
    torch.manual_seed(0)
    with pytest.raises(ValueError, match="start again from the head that novels-minilm records"):
        missing_head.save_minilm(
            missing_head.build_continued(corpus), tmp_path, ABOUT
        )  # from the shipped head
    monkeypatch.setattr(missing_head, "load_with_head", published)
    model = missing_head.build_continued(corpus)
    for name, weight in model.named_parameters():
        if ".up." in name:
            weight.data += 0.05 * torch.randn_like(weight)
    path = missing_head.save_minilm(model, tmp_path, ABOUT)
    assert path.stat().st_size < 8e6
    ids = torch.tensor([[101, 2000, 103, 2001, 102]])
    with torch.no_grad():
        before, after = published()(ids).logits, load_with_head(tmp_path)(ids).logits
        assert torch.allclose(model(ids).logits, after, atol=0.05)  # stored in float16
    assert (before - after).abs().max() > 1


@pytest.mark.slow
def test_the_start_of_the_head_is_the_same_each_time_and_gives_the_vectors_as_they_are():
    first, second = published(), published()
    assert all(
        torch.equal(one, two) for one, two in zip(first.parameters(), second.parameters(), strict=True)
    )
    transform = first.cls.predictions.transform
    assert torch.equal(transform.dense.weight, torch.eye(384)) and not first.training


def test_skip_gram_and_gpt_come_back_with_their_words(corpus, tmp_path):
    vectors = skip_gram.build(corpus, dim=8)
    shipped.save_skipgram(vectors, corpus, tmp_path, ABOUT)
    words, read = shipped.load_skipgram(tmp_path)
    assert words == corpus.words and torch.allclose(read, vectors.word.weight, atol=1e-4)
    gpt = build_gpt(corpus, **TINY).eval()
    shipped.save_gpt(gpt, corpus, tmp_path, ABOUT)
    again, tokenizer = shipped.load_gpt(tmp_path)
    ids = torch.tensor([tokenizer.encode("she sat in a dark cell", add_special_tokens=False).ids])
    assert torch.allclose(gpt(ids).logits, again(ids).logits, atol=1e-3)


def test_elmo_and_bert_come_back_with_what_they_read(corpus, tmp_path):
    elmo = build_elmo(corpus, **TINY_ELMO).eval()
    shipped.save_elmo(elmo, corpus, tmp_path, ABOUT)
    again, spelling = shipped.load_elmo(tmp_path)
    assert spelling.words == corpus.words
    tokens = spelling.split("It's a Zyzzyva, she said.")  # a word that no book has
    assert tokens == ["it", "'", "s", "a", "zyzzyva", ",", "she", "said", "."]
    characters, real = spelling.of_words(tokens)[None], torch.ones(1, len(tokens), dtype=torch.bool)
    assert torch.allclose(elmo(characters, real).hidden, again(characters, real).hidden, atol=1e-2)
    bert = build_bert(corpus, **TINY).eval()
    shipped.save_bert(bert, corpus, tmp_path, ABOUT)
    again, tokenizer = shipped.load_bert(tmp_path)
    ids = torch.tensor([tokenizer.encode("she sat in a dark cell", add_special_tokens=False).ids])
    assert torch.allclose(bert(ids).logits, again(ids).logits, atol=1e-2)


def test_weights_of_other_sizes_get_a_sentence(corpus, tmp_path):
    shipped.save_bert(build_bert(corpus, **TINY), corpus, tmp_path, ABOUT)
    weights, about = read(tmp_path / "novels_bert.safetensors", "")
    about["config"]["dim"] = 32
    write(tmp_path / "novels_bert.safetensors", weights, about)
    with pytest.raises(
        ModelMissing,
        match="novels_bert.safetensors does not match the model of this version.*pretrain novels-bert",
    ):
        shipped.load_bert(tmp_path)


def test_what_is_damaged_or_missing_gets_a_sentence_with_the_command(corpus, tmp_path):
    path = shipped.save_skipgram(skip_gram.build(corpus, dim=8), corpus, tmp_path, ABOUT)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelMissing, match="is not the file that novels_skipgram.json describes"):
        shipped.load_skipgram(tmp_path)
    path.with_suffix(".json").write_text("{")
    with pytest.raises(ModelMissing, match="damaged.*pretrain novels-skipgram --corpus FOLDER --record data"):
        shipped.load_skipgram(tmp_path)
    path.with_suffix(".json").unlink()
    with pytest.raises(ModelMissing, match="cannot be read"):
        shipped.load_skipgram(tmp_path)


def test_a_row_can_be_read_from_one_side_only():
    words = ["he", "sat", "in", "a", "cell"]
    assert figures.cut_to(words, 2, "both") == (words, 2)
    assert figures.cut_to(words, 2, "left") == (["he", "sat", "in"], 2)
    assert figures.cut_to(words, 2, "right") == (["in", "a", "cell"], 0)


def test_figures_come_with_their_intervals():
    assert record.share(np.array([True] * 30 + [False] * 10)) == "0.750 (0.598 to 0.858)"
    low, high = record.mean(np.arange(100.0)).split("(")[1].rstrip(")").split(" to ")
    assert 40 < float(low) < 49.5 < float(high) < 59
    assert record.ratio(np.array([[2.0, 1.0], [6.0, 3.0]])) == "2.000 (2.000 to 2.000)"


def test_what_was_recorded_has_a_row_for_each_who_was_measured(corpus, tmp_path):
    figures = {"GPT: nats per subword": "3.2 (3.1 to 3.3)", "unigrams: nats per subword": "5.2 (5.1 to 5.3)"}
    shipped.save_skipgram(skip_gram.build(corpus, dim=8), corpus, tmp_path, ABOUT | {"figures": figures})
    table = shipped.recorded("skipgram", tmp_path)
    assert table["nats per subword"].to_dict() == {"GPT": "3.2 (3.1 to 3.3)", "unigrams": "5.2 (5.1 to 5.3)"}


@pytest.mark.slow
def test_a_run_s_curve_stands_beside_the_card(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "BATCHES", 2)
    curve = [(32, 4.2, float("nan")), (64, 3.9, 4.0), (80, 3.8, 3.95)]
    path = record.record(
        "skipgram", skip_gram.build(corpus, dim=8), corpus, tmp_path, curve, seed=0, steps=80, minutes=1.0
    )
    assert path.with_suffix(".csv").read_text().splitlines() == [
        "step,training,validation", "32,4.2,", "64,3.9,4.0", "80,3.8,3.95",
    ]  # fmt: skip
    card, picture = path.with_suffix(".md").read_text(), path.with_suffix(".svg").read_text()
    assert "(novels_skipgram.svg)" in card and "in nats per pair" in card
    assert "unread authors" in picture and "nats per pair" in picture
    shipped.load_skipgram(tmp_path / "models")  # what was written can be read
    assert shipped.curve("skipgram", tmp_path / "models").dropna().step.tolist() == [64, 80]


def test_how_far_seeds_differ_stands_in_the_models_readme():
    table, said = read_table("results/novels_seeds.csv"), (models_folder() / "README.md").read_text()
    assert (table.groupby(["model", "figure"]).seed.nunique() == 3).all()
    ends = table.groupby(["model", "figure"])["value"].agg(["min", "max"])
    for (model, figure), digits in {
        ("elmo", "nats per word, from left to right"): 2, ("gpt", "nats per character"): 3, ("bert", "nats per gap"): 2,
    }.items():  # fmt: skip
        low, high = ends.loc[(model, figure)]
        assert f"{low:.{digits}f} to {high:.{digits}f} nats" in said, model
    filled = (read_table("results/novels_gaps.csv") == 0).mean()
    assert (
        f"fills a fraction of {filled['BERT, seed 1']:.3f} of the gaps correctly and the shipped one {filled['BERT']:.3f}"
        in said
    )
    low, high = ends.loc[("bert", "top-1 accuracy")]
    assert f"{100 * low:.0f} to {100 * high:.0f} %" in said


def test_the_card_of_minilm_quotes_the_table_of_its_further_training():
    card = (models_folder() / "novels_minilm.md").read_text(encoding="utf-8")
    for head, rows in read_table("results/minilm_modern.csv").groupby("head"):
        found = rows.set_index("text")
        shares = " | ".join(f"{found['top-1'][text]:.3f}" for text in ("novels", "Brown", "WordNet"))
        among_five = round(10 * found["top-5"]["ten sentences"])
        assert f"| {shares} | {among_five} |" in card, head
        assert head == "unigrams" or f"| {found.minutes.iloc[0]:.1f}".removesuffix(".0") in card, head


def test_the_gaps_are_not_recorded_without_a_run_of_another_seed(tmp_path):
    options = Options(results=tmp_path, checkpoints=tmp_path, corpus=tmp_path)
    with pytest.raises(ExperimentError, match="no finished run of another seed"):
        list(record_experiment(novels_gaps.EXPERIMENT, options))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_is_whole_and_small(name):
    path = models_folder() / f"novels_{name}.safetensors"
    about = json.loads(path.with_suffix(".json").read_text())
    assert path.stat().st_size < (8e6 if name == "minilm" else 15e6)
    assert about["model"] == f"novels-{name}" and about["figures"]
    loaders = {
        "minilm": load_with_head,
        "skipgram": shipped.load_skipgram,
        "gpt": shipped.load_gpt,
        "bert": shipped.load_bert,
        "elmo": shipped.load_elmo,
    }
    loaders[name]()
