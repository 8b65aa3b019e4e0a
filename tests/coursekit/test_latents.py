"""The autoencoder on SmolLM2 and what is measured with it (notebook 15)."""

import hashlib
import json
from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from coursekit import latents
from coursekit.datasets import read_table
from coursekit.features import Dictionary
from coursekit.models import load
from coursekit.pictures.latents import f1_by_word
from coursekit.stored import ModelMissing, models_folder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def decoder():
    return load("SmolLM2-135M-Instruct")


def test_the_stream_is_that_of_the_whole_model_and_padding_changes_nothing(decoder):
    texts = [
        "The guard locked the prisoner in his cell.",
        "The bank lent us money, and we bought a boat that we moored at the other bank.",
    ]
    for text, stream in zip(texts, latents.stream_after(decoder, texts), strict=True):
        given = decoder.tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states = decoder.model(**given, output_hidden_states=True).hidden_states
        torch.testing.assert_close(stream, states[latents.LAYER][0], rtol=1e-3, atol=1e-2)


def test_the_first_token_is_left_out_and_the_sense_is_read_at_the_word(decoder):
    text = "We sat on the bank."
    x, shown = latents.in_context(decoder, [text])
    assert len(x) == 5 and x.norm(dim=1).max() < latents.MASSIVE
    assert shown[-2] == "We sat on the [bank]."
    (stream,) = latents.stream_after(decoder, [text])
    assert stream[0].norm() > latents.MASSIVE
    train, test = latents.senses_of(decoder, ["bank"])
    labelled = read_table("senses/senses.csv").query("word == 'bank' and kind != 'right'")
    assert (len(train.x), len(test.x)) == (
        (labelled.split == "train").sum(),
        (labelled.split == "test").sum(),
    )
    assert not set(train.words) & set(test.words)
    sentence = train.words[0]
    (whole,) = latents.stream_after(decoder, [sentence])
    at = decoder.tokenizer(sentence[: sentence.index("bank") + len("bank")]).input_ids
    torch.testing.assert_close(train.x[0], whole[len(at) - 1], rtol=1e-3, atol=1e-2)


def test_training_did_not_see_the_labelled_sentences():
    ours, held_out = latents.texts_of_the_course()
    labelled = set(read_table("senses/senses.csv").sentence)
    assert not labelled & {*ours, *held_out} and not set(ours) & set(held_out)


def test_the_weights_are_those_that_the_card_describes(tmp_path):
    made = latents.load_dictionary()
    about = json.loads((models_folder() / "smollm2_latents.json").read_text(encoding="utf-8"))
    content = (models_folder() / latents.FILE).read_bytes()
    assert hashlib.sha256(content).hexdigest() == about["sha256"] and len(content) < 2e6
    card = (models_folder() / "smollm2_latents.md").read_text(encoding="utf-8")
    assert f"{len(made.directions)} latents" in card and f"{about['tokens']:,} tokens" in card
    assert made.directions.shape == made.encoder.T.shape == (len(made.bias), 576)
    latents.save_dictionary(made, tmp_path, {})
    again = latents.load_dictionary(tmp_path)
    torch.testing.assert_close(again.directions, made.directions)
    assert (again.k, again.scale) == (made.k, made.scale)
    (tmp_path / latents.FILE).write_bytes(b"damaged")
    with pytest.raises(ModelMissing, match="sparse_autoencoder_smollm2"):
        latents.load_dictionary(tmp_path)


def test_a_latent_that_two_seeds_share_has_cosine_one_whatever_its_length():
    directions = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    one = Dictionary(directions, None, torch.zeros(2), torch.zeros(2))
    other = Dictionary(torch.tensor([[5.0, 0.0], [-1.0, 1.0]]), None, torch.zeros(2), torch.zeros(2))
    assert latents.nearest_cosines(one, other).tolist() == pytest.approx([1, 0.5**0.5])


def test_the_probe_separates_what_a_line_separates():
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(200, 5, generator=draw)
    truth = torch.stack([x[:, 0] > 0, x[:, 0] <= 0], dim=1)
    side = SimpleNamespace(x=x, truth=truth, asked=torch.ones_like(truth))
    scores, again = latents.logistic_scores(side, side)
    assert ((scores > 0) == truth).float().mean() > 0.95 and torch.equal(scores, again)


def test_f1_of_a_word_is_the_mean_over_its_senses_and_seeds():
    recorded = pd.DataFrame({
        "method": ["probe", "probe", "probe", "other"],
        "name": ["sense bank#river", "sense bank#money", "sense cell#phone", "sense bank#river"],
        "f1": [0.5, 1.0, 0.25, 0.0],
    })  # fmt: skip
    assert f1_by_word(recorded, "probe").to_dict() == {"bank": 0.75, "cell": 0.25}
