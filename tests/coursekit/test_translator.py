"""The code that notebook 04 translates into has one translation a sentence, and the shipped model knows it."""

import numpy as np
import pytest
import torch

from coursekit.language import EOS, PAD, load_language
from coursekit.stored import ModelMissing, models_folder, trained
from coursekit.translator import (
    LONGEST,
    Translator,
    load_code,
    load_translator,
    sample_pairs,
    share_exactly_right,
    translated,
    trimmed,
)


def translate(words: str, tags: str, senses: dict[str, str] | None = None) -> str:
    code, given = load_code(), words.split()
    tokens = code.translate(given, tags.split(), [(senses or {}).get(word, "") for word in given])
    return " ".join(token for token, _ in tokens).replace(" -", "-")


def stem(word: str, tag: str) -> str:
    return load_code().stems[word, tag]


@pytest.mark.slow
def test_verbs_go_last_prepositions_and_adjectives_behind_their_noun():
    guard, thief, lock, cold, behind = (
        stem(*key)
        for key in (
            ("guard", "NOUN"),
            ("thief", "NOUN"),
            ("locked", "VERB"),
            ("cold", "ADJ"),
            ("behind", "ADP"),
        )
    )
    door = stem("door", "NOUN")
    given = "the guard locked thieves behind a cold door"
    assert (
        translate(given, "DET NOUN VERB NOUN ADP DET ADJ NOUN")
        == f"{guard}-o {thief}-r-n {door} {cold} {behind} {lock}-ta"
    )


def test_a_clause_keeps_its_verb():
    given = "anna sees the thief that hates the guard"
    words = translate(given, "PROPN VERB DET NOUN PRON VERB DET NOUN").split()
    assert words.index(stem("sees", "VERB") + "-s") + 1 == words.index(stem("that", "PRON"))
    assert words[-1] == stem("hates", "VERB") + "-s"


def test_each_sense_and_each_part_of_speech_has_a_stem_of_its_own():
    code = load_code()
    cells = {code.stems[sense, ""] for sense in load_language().ambiguous["cell"]}
    assert len(cells) == 3
    assert stem("guard", "NOUN") != stem("guard", "VERB")
    assert stem("guard", "NOUN") == stem("guards", "NOUN")


@pytest.mark.slow
def test_two_sentences_have_the_same_translation_only_up_to_a_and_an_being_left_out():
    pairs = sample_pairs(2_000, np.random.default_rng(0))
    language = load_language()
    sources = {}
    for source, target in zip(pairs.source, pairs.target, strict=True):
        words = " ".join(w for w in language.decode(source.tolist()).split() if w not in ("a", "an"))
        assert sources.setdefault(tuple(target.tolist()), words) == words


def test_targets_end_and_their_stems_know_where_they_come_from():
    code, pairs = load_code(), sample_pairs(300, np.random.default_rng(1))
    assert pairs.target.shape == (300, LONGEST)
    assert ((pairs.target == EOS).sum(dim=1) == 1).all()
    is_stem = torch.tensor([not token.startswith(("-", "[")) for token in code.vocabulary])
    assert ((pairs.origin >= 0) == is_stem[pairs.target]).all()
    assert (pairs.source.gather(1, pairs.origin.clamp(min=0))[pairs.origin >= 0] != PAD).all()


def test_trimming_loses_padding_alone():
    pairs = sample_pairs(5, np.random.default_rng(2))
    narrow = trimmed(pairs)
    assert (narrow.target != PAD).sum() == (pairs.target != PAD).sum()
    assert (narrow.target[:, -1] != PAD).any()


def test_padding_of_the_source_changes_nothing():
    model, pairs = load_translator(), trimmed(sample_pairs(4, np.random.default_rng(3)))
    keep = torch.ones(3, 3, dtype=torch.bool).tril()
    wider = torch.nn.functional.pad(pairs.source, (0, load_language().max_length - pairs.source.shape[1]))
    one, other = (model(source, pairs.target[:, :3], keep) for source in (pairs.source, wider))
    assert torch.allclose(one, other, atol=1e-4)


@pytest.mark.slow
def test_the_shipped_translator_gets_95_percent_of_held_out_sentences_exactly_right():
    held_out = sample_pairs(500, np.random.default_rng(7), split="held_out")
    assert not load_language().held_out(sample_pairs(50, np.random.default_rng(8)).source.numpy()).any()
    assert load_language().held_out(held_out.source.numpy()).all()
    assert share_exactly_right(load_translator(), held_out) >= 0.95
    assert share_exactly_right(Translator().eval(), held_out[:50]) == 0


def test_the_checkpoint_is_small():
    assert (models_folder() / "translator.safetensors").stat().st_size <= 1_000_000


def test_a_missing_checkpoint_says_what_to_do():
    with pytest.raises(ModelMissing, match="nowhere.safetensors .* --models nowhere --record data"):
        trained(Translator(), "nowhere")


def test_order_decides_which_stem_an_ambiguous_word_has():
    """The same words in another order, and another translation of the word."""
    language = load_language()
    code = load_code(language)
    sentences = language.sample(3000, np.random.default_rng(0))
    asked = sentences[(sentences.cue == "order2") & (sentences.sense == language.senses.index("cell#prison"))]
    pairs = translated(asked, language)
    own, other = (code.id_of[code.stems[f"cell#{meaning}", ""]] for meaning in ("prison", "biology"))
    assert len(asked) > 10
    assert (pairs.target == own).any(dim=1).all() and not (pairs.target == other).any()
    assert ((pairs.target != PAD).sum(dim=1) < pairs.target.shape[1]).all()  # there is room to spare
