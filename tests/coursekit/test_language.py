"""The generated language: exact distributions against enumeration, the split, the promises of its card."""

import itertools
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from coursekit.language import (
    BOS,
    EOS,
    MASK,
    PAD,
    Grammar,
    GrammarError,
    Language,
    load_language,
    masked_word_bound,
    next_word_bound,
    sense_bound,
)
from coursekit.language.__main__ import main as print_language
from coursekit.language.inflection import past, plural, third_person
from coursekit.language.notation import Production, unfold
from coursekit.small.__main__ import main as print_models
from tests.coursekit.small_languages import SMALL, SMALL_ORDER, Enumeration

RUNNING_EXAMPLES = [
    "the prisoner sat in a dark cell",
    "the red blood cell carries oxygen",
    "plug in your cell phone",
    "i will hike along the bank of a river",
    "i will open a new account at my bank and deposit some money",
]


@pytest.fixture(scope="module", params=[SMALL, SMALL_ORDER], ids=["first", "order"])
def grammar(request) -> Grammar:
    return request.param


@pytest.fixture(scope="module")
def small(grammar: Grammar) -> Language:
    return Language.from_grammar(grammar)


@pytest.fixture(scope="module")
def enumeration(grammar: Grammar, small: Language) -> Enumeration:
    return Enumeration(grammar, small)


@pytest.fixture(scope="module")
def some(small: Language) -> np.ndarray:
    return small.sample(12, np.random.default_rng(7)).ids


@pytest.fixture(scope="module")
def every(small: Language, enumeration: Enumeration) -> np.ndarray:
    """The ids of each sentence."""
    return np.stack([small.encode(list(words)) for words in enumeration.probability])


@pytest.fixture(scope="module")
def sides(small: Language, enumeration: Enumeration, every: np.ndarray) -> dict:
    """A sample of each side of the split, so large that it holds all sentences of its side: 13 of the rarest are expected."""
    probability, held_out = np.array(list(enumeration.probability.values())), small.held_out(every)
    of_side = {"train": probability[~held_out], "held_out": probability[held_out]}
    return {
        split: small.sample(int(13 * p.sum() / p.min()), np.random.default_rng(0), split)
        for split, p in of_side.items()
    }


# --- the notation ---


def test_unfolding_agrees_with_a_distribution_worked_out_by_hand():
    rule = Production("({t}) a {a old big} {n1 owl}", "birds", "none", 1.0)
    lists = {"past": "once", "present": "now"}
    found: Counter = Counter()
    for template in unfold([Production("a {a old big} {n1 owl} ({v1 eat fly})", "birds", "none", 1.0)]):
        for fillers in itertools.product(*template.slots):
            found[" ".join(f.word for f in fillers)] += template.probability / np.prod(
                [len(s) for s in template.slots]
            )
    expected = {}
    for start in ("an old", "a big"):
        for noun, verbs in (("owl", "eats flies ate flew"), ("owls", "eat fly ate flew")):
            expected[f"{start} {noun}"] = 1 / 2 * 1 / 2 * 1 / 2
            for verb in verbs.split():
                expected[f"{start} {noun} {verb}"] = 1 / 2 * 1 / 2 * 1 / 2 * 1 / 4
    assert found == pytest.approx(expected)
    openings = {template.slots[0][0].word for template in unfold([rule], lists)}
    assert openings == {"once", "now", "a", "an"}


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("the {q owl fox} {v see fear}", "not a kind of slot"),
        ("the {n @birds} {v see fear}", "list '@birds'"),
        ("zebra {n owl fox} {v see fear}", "'zebra'.*outside a slot"),
        ("the ({n owl fox} {v see fear}", "never closed"),
        ("the ({n owl fox} ({v see fear}))", "nested"),
        ("the {n bat#animal owl} {v see fear}", "mixes an ambiguous word"),
        ("the {n bat#animal} {v see fear} the {n bat#club}", "more than one ambiguous"),
        ("the {n owl owl} {v see fear}", "contains a word twice"),
        ("the {n} {v see fear}", "contains no word"),
        ("the {n owl} {v see}", "nothing to hold out"),
    ],
)
def test_a_line_that_cannot_be_read_is_told(pattern, message):
    with pytest.raises(GrammarError, match=message):
        Language.from_grammar(Grammar({}, {"birds": pattern}))


def test_a_word_with_a_sense_has_one_everywhere():
    lines = "the {n bat#animal} {v see fear} the {n owl fox}\n the {n owl fox} {v see fear} the {n bat cat}"
    with pytest.raises(
        GrammarError, match="'bat' occurs with a sense in one line and without one in another"
    ):
        Language.from_grammar(Grammar({}, {"birds": lines}))


@pytest.mark.parametrize(
    ("inflect", "base", "form"),
    [
        (plural, "cell", "cells"), (plural, "mouse", "mice"), (plural, "spy", "spies"),
        (plural, "match", "matches"),
        (plural, "monkey", "monkeys"), (plural, "leaf", "leaves"), (third_person, "carry", "carries"),
        (third_person, "wash", "washes"), (third_person, "play", "plays"), (past, "carry", "carried"),
        (past, "drop", "dropped"), (past, "open", "opened"), (past, "load", "loaded"), (past, "fix", "fixed"),
        (past, "ring", "rang"), (past, "release", "released"), (past, "control", "controlled"),
    ],
)  # fmt: skip
def test_inflection(inflect, base, form):
    assert inflect(base) == form


# --- exact distributions against enumeration ---


def test_enumeration_covers_the_language(small, enumeration, every):
    assert np.exp(small.log_probability(every)) == pytest.approx(list(enumeration.probability.values()))
    assert np.exp(small.log_probability(every)).sum() == pytest.approx(1)


@pytest.mark.slow
def test_next_word(small, enumeration, some):
    predicted = small.next_word(some)
    losses = small.log_loss_next(some)
    for row, distribution, loss in zip(some, predicted, losses, strict=True):
        tokens = [small.vocabulary[i] for i in row]
        for t in range(1, tokens.index("[EOS]") + 1):
            expected = enumeration.distribution(
                lambda other, t=t, tokens=tokens: len(other) > t and list(other[:t]) == tokens[:t],
                lambda other, t=t: other[t],
            )
            assert distribution[t] == pytest.approx(expected, abs=1e-12)
            assert loss[t] == pytest.approx(-np.log(expected[row[t]]))
    assert predicted.sum(axis=2) == pytest.approx(1)
    assert (losses[some == PAD] == 0).all()


def test_the_loss_from_the_right_knows_only_what_stands_to_the_right(small, enumeration, some):
    losses = small.log_loss_previous(some)
    for row, loss in zip(some, losses, strict=True):
        tokens = [small.vocabulary[i] for i in row if i != PAD]
        for t in range(len(tokens) - 1):
            right = tokens[t + 1 :]
            expected = enumeration.distribution(
                # any number of words may stand to the left
                lambda other, right=right: len(other) > len(right) and list(other[-len(right) :]) == right,
                lambda other, right=right: other[-len(right) - 1],
            )
            assert loss[t] == pytest.approx(-np.log(expected[row[t]]))


@pytest.mark.parametrize("count", [1, 2])
def test_masked_words(small, enumeration, some, count):
    rng = np.random.default_rng(count)
    masked = np.zeros(some.shape, dtype=bool)
    for row, chosen in zip(some, masked, strict=True):
        chosen[rng.choice(np.arange(1, (row != PAD).sum() - 1), count, replace=False)] = True
    hidden = np.where(masked, MASK, some)
    predicted, losses = small.masked_word(hidden, masked), small.log_loss_masked(some, masked)
    for row, chosen, distribution, loss in zip(some, masked, predicted, losses, strict=True):
        tokens = [small.vocabulary[i] for i in row if i != PAD]
        seen = np.flatnonzero(~chosen[: len(tokens)])
        for t in np.flatnonzero(chosen):
            expected = enumeration.distribution(
                lambda other, tokens=tokens, seen=seen: (
                    len(other) == len(tokens) and all(other[i] == tokens[i] for i in seen)
                ),
                lambda other, t=t: other[t],
            )
            assert distribution[t] == pytest.approx(expected, abs=1e-12)
            assert loss[t] == pytest.approx(-np.log(expected[row[t]]))
    assert predicted.argmax(axis=2)[~masked] == pytest.approx(some[~masked])
    assert (losses[~masked] == 0).all()


@pytest.mark.parametrize("context", ["left", "right", "both"])
def test_sense_posterior(small, enumeration, context):
    sentences = small.sample(40, np.random.default_rng(3))
    sentences = sentences[sentences.position >= 0]
    found = small.sense_posterior(sentences.ids, sentences.position, context)
    for i, position in enumerate(sentences.position):
        tokens = ["[BOS]", *sentences.words(i), "[EOS]"]
        from_right = len(tokens) - position
        expected = np.zeros(len(small.senses))
        for (words, sense, _), p in enumeration.joint.items():
            other = ["[BOS]", *words, "[EOS]"]
            fits = {
                "left": other[: position + 1] == tokens[: position + 1],
                "right": other[-from_right:] == tokens[-from_right:],
                "both": other == tokens,
            }[context]
            if fits:
                expected[small.senses.index(sense)] += p
        assert found[i] == pytest.approx(expected / expected.sum(), abs=1e-12)


@pytest.mark.slow
def test_topic_and_continuation_posteriors(small, enumeration):
    pairs = small.passages(25, np.random.default_rng(2))
    found = small.continuation_posterior(pairs.first.ids, pairs.second.ids)
    topic_prior = Counter()
    for (_, _, topic), p in enumeration.joint.items():
        topic_prior[topic] += p

    def by_topic(words):
        return np.array(
            [
                sum(p for (w, _, k), p in enumeration.joint.items() if (w, k) == (words, t))
                for t in small.topics
            ]
        )

    prior = np.array([topic_prior[topic] for topic in small.topics])
    for i in range(len(pairs)):
        first, second = by_topic(tuple(pairs.first.words(i))), by_topic(tuple(pairs.second.words(i)))
        continues = (first * second / prior).sum()  # sum_k p(k, first) p(second | k)
        alone = first.sum() * second.sum()
        assert found[i] == pytest.approx(continues / (continues + alone))
        assert small.topic_posterior(pairs.first.ids)[i] == pytest.approx(first / first.sum())


@pytest.mark.slow
def test_forward_and_backward_losses_of_a_sentence_are_equal(language):
    """The chain rule holds in either direction."""
    ids = language.sample(300, np.random.default_rng(0)).ids
    forward, backward = language.log_loss_next(ids), language.log_loss_previous(ids)
    assert forward.sum(axis=1) == pytest.approx(backward.sum(axis=1))
    assert forward.sum(axis=1) == pytest.approx(-language.log_probability(ids))
    assert abs(forward - backward).max() > 1  # word by word they differ


def test_a_beginning_of_a_sentence_predicts_its_next_word(small, enumeration):
    found = small.next_word_after("the owl")
    expected = enumeration.distribution(lambda other: other[1:3] == ("the", "owl"), lambda other: other[3])
    assert found == pytest.approx(expected)


# --- sampling ---


@pytest.mark.slow
def test_sampled_frequencies_are_the_probabilities(small, enumeration):
    n = int(6 / min(enumeration.probability.values()))
    sentences = small.sample(n, np.random.default_rng(11))
    counts = Counter(tuple(sentences.words(i)) for i in range(n))
    assert set(counts) <= set(enumeration.probability)
    words, p = zip(*enumeration.probability.items(), strict=True)
    expected = n * np.array(p)
    squares = (np.array([counts[w] for w in words]) - expected) ** 2 / expected
    degrees = len(words) - 1
    assert expected.min() > 5
    assert abs(squares.sum() - degrees) < 5 * np.sqrt(2 * degrees)


@pytest.mark.slow
def test_a_continuing_sentence_keeps_the_topic_and_another_is_drawn_afresh(language):
    pairs = language.passages(4000, np.random.default_rng(5))
    same = pairs.first.topic == pairs.second.topic
    assert same[pairs.continues].all()
    assert same[~pairs.continues].mean() < 0.1
    assert abs(pairs.continues.mean() - 0.5) < 0.04


def test_one_seed_one_sample(language):
    first, again, other = (
        language.sample(200, np.random.default_rng(seed), "train").ids for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_a_batch_knows_its_words_senses_and_parts_of_speech(language):
    sentences = language.sample(500, np.random.default_rng(0))
    assert sentences.ids.dtype == np.int64 and sentences.ids.shape == (500, language.max_length)
    for i in range(500):
        assert language.decode(sentences.ids[i]) == " ".join(sentences.words(i))
        assert (language.encode(sentences.words(i)) == sentences.ids[i]).all()
        for word, tag in zip(sentences.ids[i], sentences.parts_of_speech[i], strict=True):
            if word in (PAD, BOS, EOS):
                assert tag == -1
            else:
                name = language.parts_of_speech[tag]
                assert name in language.parts_of_speech_of[language.vocabulary[word]]
        if sentences.position[i] < 0:
            assert sentences.cue[i] == "none"
        else:
            base = language.senses[sentences.sense[i]].split("#")[0]
            assert language.vocabulary[sentences.ids[i, sentences.position[i]]] in (base, plural(base))
    part = sentences[10:20]
    assert len(part) == 10 and part.words(0) == sentences.words(10)
    assert len(sentences[sentences.cue == "right"]) == (sentences.cue == "right").sum()
    assert [len(one) for one in itertools.islice(sentences, 2)] == [1, 1]


# --- the split ---


@pytest.mark.slow
def test_the_split_parts_all_sentences_and_neither_side_has_the_other_s(small, every, sides):
    held_out = {row.tobytes() for row in every[small.held_out(every)]}
    training, rest = (
        {row.tobytes() for row in np.unique(sides[split].ids, axis=0)} for split in ("train", "held_out")
    )
    assert rest == held_out
    assert training == {row.tobytes() for row in every} - held_out


def test_a_held_out_combination_is_held_out_in_every_number_tense_and_company(small):
    forms = ["a heavy", "an old", "a"]
    for player, (present, plain, was) in itertools.product(
        ("player", "fan"), (("swings", "swing", "swung"), ("watches", "watch", "watched"))
    ):
        sentences = [
            f"the {noun} {verb} {a} bat"
            for a in forms
            for noun, verb in ((player, present), (player, was), (player + "s", plain), (player + "s", was))
        ]
        verdicts = small.held_out(np.stack([small.encode(s) for s in sentences]))
        assert len(set(verdicts)) == 1


@pytest.mark.slow
def test_the_split_leaves_topics_numbers_and_parts_of_speech_alone(language):
    rng = np.random.default_rng(1)
    training, rest = (language.sample(20_000, rng, split) for split in ("train", "held_out"))
    assert np.bincount(training.topic) / 2e4 == pytest.approx(np.bincount(rest.topic) / 2e4, abs=0.015)
    assert training.lengths.mean() == pytest.approx(rest.lengths.mean(), abs=0.05)
    assert next_word_bound(language, training[:2000]).mean == pytest.approx(
        next_word_bound(language, rest[:2000]).mean, abs=0.04
    )


@pytest.mark.slow
def test_as_many_sentences_are_held_out_as_the_rules_say(language):
    share = language.held_out(language.sample(4000, np.random.default_rng(2)).ids).mean()
    exact = (language.tables.prior / language.tables.one_in[language.tables.rule_of]).sum()
    assert share == pytest.approx(exact, abs=0.02)


@pytest.mark.slow
def test_most_sentences_are_new_even_after_a_large_training_sample(language):
    rng = np.random.default_rng(3)
    training = {row.tobytes() for row in language.sample(60_000, rng, "train").ids}
    for split, most in (("held_out", 0.0), (None, 1 / 3)):
        other = language.sample(4000, rng, split).ids
        assert np.mean([row.tobytes() in training for row in other]) <= most


@pytest.mark.slow
@pytest.mark.parametrize("split", ["train", "held_out"])
def test_split_gain_turns_the_language_into_one_side_of_it(small, sides, split):
    """p(sentence) exp(gain) adds up to one over the sentences of a side."""
    sentences = sides[split]
    _, first = np.unique(sentences.ids, axis=0, return_index=True)
    log_probability = small.log_probability(sentences.ids[first]) + small.split_gain(sentences[first], split)
    assert np.exp(log_probability).sum() == pytest.approx(1)


# --- promises ---


@pytest.mark.parametrize("sentence", RUNNING_EXAMPLES)
def test_the_running_examples_are_sentences_of_the_language(language, sentence):
    ids = language.encode(sentence)[None]
    assert np.isfinite(language.log_probability(ids))[0]
    position = np.array(
        [1 + next(i for i, word in enumerate(sentence.split()) if word in language.ambiguous)]
    )
    assert language.sense_posterior(ids, position, "left").max() > 0.99


@pytest.mark.slow
def test_a_cue_on_the_right_cannot_be_known_from_the_left(language):
    sentences = language.sample(3000, np.random.default_rng(6), "held_out")
    left, right = sentences[sentences.cue == "left"], sentences[sentences.cue == "right"]
    assert len(right) / 3000 == pytest.approx(0.22, abs=0.03)
    assert sense_bound(language, left, "left").mean > 0.98
    assert sense_bound(language, right, "left").mean < 0.5
    assert sense_bound(language, right, "both").mean > 0.99
    # word by word, not only on average: every sense of the word is still open
    worst = language.sense_posterior(right.ids, right.position, "left").max(axis=1)
    assert (worst < 0.7).mean() > 0.99


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("the prisoners sit", "the prisoners sits"),
        ("yesterday the prisoner sat", "yesterday the prisoner sits"),
        ("these cells", "these cell"),
        ("that was", "those was"),
    ],
)
def test_number_and_tense_agree(language, right, wrong):
    words = [sentence.split() for sentence in (right, wrong)]
    begun = [language.next_word_after(beginning[:-1])[language.id_of[beginning[-1]]] for beginning in words]
    assert begun[0] > 0 and begun[1] == 0


def test_a_word_of_two_parts_of_speech_has_one_in_each_sentence(language):
    sentences = language.sample(20_000, np.random.default_rng(8))
    both = [w for w, tags in language.parts_of_speech_of.items() if {"NOUN", "VERB"} <= set(tags)]
    assert len(both) >= 20
    for word in ("guards", "cook", "water"):
        found = sentences.parts_of_speech[sentences.ids == language.id_of[word]]
        assert {language.parts_of_speech[tag] for tag in found} == {"NOUN", "VERB"}


def test_the_language_is_as_large_as_it_says(language):
    assert 700 <= len(language.vocabulary) <= 1800
    assert language.max_length <= 17
    assert language.vocabulary[:7] == ("[PAD]", "[BOS]", "[EOS]", "[MASK]", "[UNK]", "[CLS]", "[SEP]")
    assert {"cell": 3, "bank": 2}.items() <= {w: len(s) for w, s in language.ambiguous.items()}.items()
    assert len(language.ambiguous) == 12
    assert load_language() is language


@pytest.mark.slow
@pytest.mark.parametrize(("command", "folder"), [(print_language, "language"), (print_models, "models")])
def test_the_card_shows_what_the_command_prints(capsys, monkeypatch, command, folder):
    monkeypatch.setattr(sys, "argv", ["command"])
    command()
    card = Path(__file__).parents[2] / "data" / folder / "README.md"
    assert capsys.readouterr().out.strip() in card.read_text()


# --- errors ---


def test_an_unknown_word_is_named_and_a_near_one_offered(language):
    with pytest.raises(ValueError, match="'prisoners,' is not a word .* 'prisoners'"):
        language.encode("the prisoners, sat in a cell")


def test_ids_that_are_no_sentences_are_refused(language):
    good = language.encode("plug in your cell phone")[None]
    with pytest.raises(ValueError, match="id 99999 is outside the vocabulary"):
        language.next_word(np.where(good == PAD, 99999, good))
    with pytest.raises(ValueError, match="must begin with \\[BOS\\]"):
        language.log_loss_next(good[:, 1:])
    with pytest.raises(ValueError, match="shape \\[sentences, tokens\\]"):
        language.next_word(good[0])
    with pytest.raises(ValueError, match="integers"):
        language.next_word(good.astype(float))
    with pytest.raises(ValueError, match="are too many"):
        language.encode(["the"] * 40)


def test_a_sentence_that_cannot_be_is_told_and_has_probability_zero(language):
    ids = language.encode("the cell sat in a dark prisoner")[None]
    assert language.log_probability(ids) == -np.inf
    for ask in (language.log_loss_next, language.next_word, language.held_out, language.topic_posterior):
        with pytest.raises(ValueError, match="cannot produce 'the cell sat in a dark prisoner'"):
            ask(ids)


def test_a_word_that_is_not_ambiguous_has_no_sense(language):
    ids = language.encode("the prisoner sat in a dark cell")[None]
    with pytest.raises(ValueError, match="'prisoner' is not one of the ambiguous words"):
        language.sense_posterior(ids, np.array([2]), "left")
    with pytest.raises(ValueError, match="context is"):
        language.sense_posterior(ids, np.array([7]), "above")


def test_an_unknown_split_and_a_negative_count_are_refused(language):
    with pytest.raises(ValueError, match="split is"):
        language.sample(3, np.random.default_rng(0), "test")
    with pytest.raises(ValueError, match="0 or more"):
        language.sample(-1, np.random.default_rng(0))


@pytest.mark.slow
def test_a_masked_word_is_found_in_context(language):
    sentences = language.sample(500, np.random.default_rng(9))
    masked = np.zeros(sentences.ids.shape, dtype=bool)
    masked[:, 2] = True
    both = masked_word_bound(language, sentences, masked)
    left = language.log_loss_next(sentences.ids)[:, 2].mean()
    assert both.mean < left - 2 * both.standard_error
