"""The recurrent translators: padding changes nothing, the fixed vector is all that its decoder knows, and cards say whose file it is."""

import hashlib

import numpy as np
import pytest
import torch

from coursekit.language import BOS, PAD
from coursekit.seq2seq import CONTEXTS, Seq2Seq, last_states, load_seq2seq
from coursekit.stored import models_folder
from coursekit.translator import exactly_right, sample_pairs, trimmed


@pytest.fixture(scope="module")
def pairs():
    return trimmed(sample_pairs(40, np.random.default_rng(3), split="held_out"))


@pytest.mark.parametrize("context", CONTEXTS)
def test_padding_changes_nothing(context, pairs):
    torch.manual_seed(0)
    model = Seq2Seq(context).eval()
    row = pairs.source[(pairs.source == PAD).any(dim=1)][:1]
    short = row[:, : int((row != PAD).sum())]
    inputs = torch.full((1, 4), BOS)
    with torch.no_grad():
        assert torch.allclose(model(row, inputs), model(short, inputs), atol=1e-5)


def test_the_fixed_decoder_knows_the_last_states_alone(pairs):
    torch.manual_seed(0)
    inputs, keep = torch.full((len(pairs), 3), BOS), pairs.source != PAD
    for context, same in (("fixed", True), ("additive", False), ("dot", False)):
        model = Seq2Seq(context).eval()
        with torch.no_grad():
            encoded = model.encode(pairs.source)
            middle = encoded.clone()
            middle[:, 1:3] += 1.0  # every sentence has words on both sides of these
            assert torch.equal(last_states(middle, keep), last_states(encoded, keep))
            found = torch.equal(model.decode(inputs, encoded, keep), model.decode(inputs, middle, keep))
        assert found == same


def test_all_have_as_many_parameters_as_the_transformer():
    from coursekit.translator import Translator

    sizes = [
        sum(weight.numel() for weight in model.parameters())
        for model in (*map(Seq2Seq, CONTEXTS), Translator())
    ]
    assert max(sizes) < 1.03 * min(sizes)


@pytest.mark.slow
def test_the_shipped_ones_are_those_of_the_card_and_translate(pairs):
    folder = models_folder()
    card = (folder / "seq2seq.md").read_text(encoding="utf-8")
    for context, least in (("fixed", 0.5), ("additive", 0.95), ("dot", 0.95)):
        assert hashlib.sha256((folder / f"seq2seq_{context}.safetensors").read_bytes()).hexdigest() in card
        assert exactly_right(load_seq2seq(context), pairs).float().mean() >= least


def test_another_context_is_refused():
    with pytest.raises(ValueError, match="no context 'none'"):
        Seq2Seq("none")
