"""Readers of notebook 12 find the target in a sentence, and the cues before or after it."""

from types import SimpleNamespace

import pytest
import torch

from coursekit import comparisons, sense_readers
from coursekit.pictures.architecture_table import encoder_decoder_agrees
from coursekit.small.elmo import ELMo, ELMoConfig, Spelling


def test_the_target_is_the_word_that_begins_at_its_character():
    sentence = "It's a bank, by the river's bank."
    words, place = sense_readers.split(sentence, sentence.rindex("bank"))
    assert words == ["it's", "a", "bank", "by", "the", "river's", "bank"] and place == 6
    assert sense_readers.split(sentence, sentence.index("bank"))[1] == 2


@pytest.mark.parametrize(
    ("cue", "position"),
    [("river", sense_readers.BEFORE), ("money", sense_readers.LATER), ("money river", sense_readers.BEFORE)],
)
def test_a_cue_is_before_the_target_if_one_of_its_words_is(cue, position):
    sentence = "By the river a bank with money"
    row = SimpleNamespace(sentence=sentence, start=sentence.index("bank"), cue=cue)
    assert sense_readers.position_of_cue(row) == position


def test_a_plain_sentence_lists_no_cue():
    assert sense_readers.position_of_cue(SimpleNamespace(sentence="A bank", start=2, cue=float("nan"))) == ""


@pytest.mark.slow
def test_elmo_reads_a_sentence_in_a_batch_as_it_reads_it_alone():
    spelling = Spelling()
    torch.manual_seed(0)
    elmo = ELMo(ELMoConfig(vocabulary=5, characters=spelling.characters)).eval()
    sentences = [
        (["the", "bank", "by", "the", "river"], 1),
        (["a", "bank"], 1),
        (["banks", "close", "late"], 0),
    ]
    alone = torch.cat([sense_readers.by_elmo(elmo, [one]) for one in sentences])
    with torch.no_grad():
        spelt = spelling.of_words(["[BOS]", "a", "bank", "[EOS]"])[None]
        hidden = elmo(spelt, torch.ones(1, 4, dtype=torch.bool)).hidden
    torch.testing.assert_close(sense_readers.by_elmo(elmo, sentences), alone)
    torch.testing.assert_close(alone[1], hidden[-1, 0, 2])


def test_worlds_without_differences_are_called_clear_as_often_as_the_rule_says():
    answers, draws = torch.zeros(2, 8), torch.zeros(1, 8, dtype=torch.long)
    found = comparisons.falsely_clear(
        answers, draws, lambda answers, draws: torch.tensor([0.04]), lambda p: p < 0.01, worlds=3
    )
    assert found == {"each at 95 %": 1, "Holm": 0}


@pytest.mark.slow
def test_an_encoder_decoder_sees_every_source_word_and_no_later_target_word():
    torch.manual_seed(0)
    assert encoder_decoder_agrees()
