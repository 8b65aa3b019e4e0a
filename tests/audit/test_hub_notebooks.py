"""The notebooks that offer a model of the hub, with a model of the hub: a small random one, under the real vocabulary."""

from pathlib import Path

import pytest
import torch
import transformers

from autograder.source import code_cells, read_source
from coursekit.models import tokenizer
from tests.conftest import ASSIGNMENTS
from tests.near_hub import near_hub
from tests.notebooks.running import run_here

pytestmark = [pytest.mark.audit, pytest.mark.timeout(1800)]
BERT, SMOLLM2 = "google-bert/bert-base-uncased", "HuggingFaceTB/SmolLM2-135M"
OFFERED = {
    "06_bert": (
        BERT,
        {
            'load_pretrained("all-MiniLM-L6-v2")': 'load_pretrained("bert-base-uncased", from_hub=True)',
            'load_pretrained("all-MiniLM-L6-v2", head="masked-lm")': 'load_pretrained("bert-base-uncased", head="masked-lm", from_hub=True)',
        },
    ),
    "07_gpt": (
        SMOLLM2,
        {
            'load_pretrained("SmolLM2-135M-Instruct", head="causal-lm")': 'load_pretrained("SmolLM2-135M", head="causal-lm", from_hub=True)'
        },
    ),
    "08_inside": (
        BERT,
        {
            'load("all-MiniLM-L6-v2", attentions=True)': 'load("bert-base-uncased", attentions=True, from_hub=True)'
        },
    ),
    "09_fine_tuning": (
        BERT,
        {'load_pretrained("all-MiniLM-L6-v2")': 'load_pretrained("bert-base-uncased", from_hub=True)'},
    ),
}
"""Of each notebook the model, and the calls that its text tells a reader with a network to replace."""


def publish(repository: str, folder: Path) -> None:
    """Write what the hub has of the model: few random weights, and the real files of its tokeniser."""
    torch.manual_seed(0)
    if repository == BERT:
        config = transformers.BertConfig(
            hidden_size=48, num_hidden_layers=4, num_attention_heads=4, intermediate_size=96
        )
        transformers.BertForPreTraining(config).save_pretrained(folder)
        same_words = "all-MiniLM-L6-v2"
    else:
        config = transformers.LlamaConfig(
            vocab_size=49_152, hidden_size=48, intermediate_size=96, num_hidden_layers=4, num_attention_heads=6,
            num_key_value_heads=3, tie_word_embeddings=True, bos_token_id=0, eos_token_id=0,
        )  # fmt: skip
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
        same_words = "SmolLM2-135M-Instruct"
    words = tokenizer(same_words)
    words.save_pretrained(folder)
    words.backend_tokenizer.model.save(str(folder))  # vocab.txt, or vocab.json and merges.txt


@pytest.mark.parametrize("name", OFFERED)
def test_a_notebook_runs_with_the_model_of_the_hub(name, tmp_path, monkeypatch):
    repository, calls = OFFERED[name]
    publish(repository, tmp_path / "published")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    notebook = read_source(ASSIGNMENTS[name].source)
    for theirs, ours in calls.items():
        cells = [cell for cell in code_cells(notebook) if theirs in cell.source]
        assert cells, theirs
        for cell in cells:
            cell.source = cell.source.replace(theirs, ours)
    with (
        near_hub(tmp_path / "published", repository, monkeypatch) as server,
        run_here(notebook, tmp_path / "home", HF_HUB_OFFLINE="0") as run,
    ):
        assert run.error == ""
    assert any(path.endswith("model.safetensors") for path in server.asked)
