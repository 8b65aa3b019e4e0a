"""What the generated language is made for: order decides, position tells nothing, both sides of the split are alike."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from coursekit.language import Language, next_word_bound, sense_bound
from coursekit.language.blind import majority_accuracy, order_blind_accuracy, position_accuracy
from coursekit.language.grammar import GRAMMAR
from coursekit.language.kinds import productions, word_of
from coursekit.language.notation import combining, parse, unfold
from coursekit.language.partners import partners
from tests.coursekit.small_languages import SMALL_ORDER, Enumeration

ORDER = ("order1", "order2")
KINDS = ("left", "right", *ORDER, "both")


@pytest.fixture(scope="module")
def small() -> Language:
    return Language.from_grammar(SMALL_ORDER)


# --- each sentence in which order decides has a partner: the same words, another sense, the same probability ---


def exchanged(template, rule, lists) -> tuple[int, int]:
    """The positions of the two slots that change places in the partner."""
    places = [piece.place for piece in parse(rule.pattern, lists) if piece.exchanged]
    return tuple(template.places.index(place) for place in places)


def neutral(slot):
    """A slot without the sense of its word, which no reader sees."""
    return tuple(filler._replace(sense="") for filler in slot)


@pytest.mark.slow
@pytest.mark.parametrize("grammar", [SMALL_ORDER, GRAMMAR], ids=["small", "course"])
def test_every_template_of_order_has_its_partner(grammar):
    """A template stands for all its fillings, each equally probable: so this is so for each sentence."""
    rules = productions(grammar)
    templates = [one for one in unfold(rules, grammar.lists) if rules[one.rule].cue in ORDER]
    by_slots = defaultdict(list)
    for one in templates:
        by_slots[tuple(map(neutral, one.slots))].append(one)
    for one in templates:
        rule = rules[one.rule]
        a, b = exchanged(one, rule, grammar.lists)
        wanted = list(map(neutral, one.slots))
        wanted[a], wanted[b] = wanted[b], wanted[a]
        (partner,) = by_slots[tuple(wanted)]
        (sense,), (other) = ({f.sense for slot in each.slots for f in slot} - {""} for each in (one, partner))
        assert {sense} != other and {word_of(sense)} == set(map(word_of, other))
        assert partner.probability == pytest.approx(one.probability, rel=1e-12)
        assert exchanged(partner, rules[partner.rule], grammar.lists) in {(a, b), (b, a)}
    assert len(templates) > {True: 20, False: 800}[grammar is SMALL_ORDER]


@pytest.mark.slow
def test_every_sentence_of_order_has_its_partner_by_brute_force(small):
    joint = Counter()
    rules = productions(SMALL_ORDER)
    for (words, sense, _), p in Enumeration(SMALL_ORDER, small).joint.items():
        joint[words, sense] += p
    asked = {
        (tuple(f.word for f in row), next(f.sense for f in row if f.sense))
        for template in unfold(rules, SMALL_ORDER.lists)
        if rules[template.rule].cue in ORDER
        for row in product(*template.slots)
    }
    by_bag = defaultdict(list)
    for words, sense in asked:
        by_bag[tuple(sorted(words))].append((words, sense))
    for bag in by_bag.values():
        senses = Counter()
        for words, sense in bag:
            senses[sense] += joint[words, sense]
            assert any(s != sense and joint[w, s] == pytest.approx(joint[words, sense]) for w, s in bag)
        assert len(senses) == 2 and min(senses.values()) == pytest.approx(max(senses.values()))
    assert len(asked) > 300


@pytest.mark.slow
def test_partners_have_the_same_words_another_sense_and_the_same_probability(language):
    sentences = language.sample(1500, np.random.default_rng(3))
    sentences = sentences[np.isin(sentences.cue, ORDER)]
    others = partners(language, sentences)
    assert (np.sort(others.ids, axis=1) == np.sort(sentences.ids, axis=1)).all()
    assert (others.position == sentences.position).all() and (others.sense != sentences.sense).all()
    assert (others.cue == sentences.cue).all() and len(sentences) > 300
    assert np.allclose(language.log_probability(others.ids), language.log_probability(sentences.ids))
    posterior = language.sense_posterior(others.ids, others.position, "both")
    assert (posterior.argmax(axis=1) == others.sense).all()
    back = partners(language, others)
    assert (back.ids == sentences.ids).all() and (back.sense == sentences.sense).all()


def test_a_sentence_of_another_kind_has_no_partner(language):
    sentences = language.sample(100, np.random.default_rng(3))
    with pytest.raises(ValueError, match="has no partner"):
        partners(language, sentences)


@pytest.mark.slow
def test_who_does_not_know_the_order_is_at_chance_exactly(language, small):
    for each in (language, small):
        for kinds in (["order1"], ["order2"], ORDER):
            assert order_blind_accuracy(each, kinds) == pytest.approx(1 / 2, abs=1e-12)
    assert order_blind_accuracy(language, ["left"]) == pytest.approx(
        1
    )  # that reader can read, where a word tells


def test_a_blind_reader_s_accuracy_is_that_of_brute_force(small):
    """Position and length, by summing over all sentences."""
    rules = productions(SMALL_ORDER)
    known = defaultdict(Counter)
    for template in unfold(rules, SMALL_ORDER.lists):
        for row in product(*template.slots):
            place, sense = next(((i, f.sense) for i, f in enumerate(row) if f.sense), (None, None))
            if sense:
                each = template.probability / np.prod([len(slot) for slot in template.slots])
                known[row[place].word, place, len(row)][sense] += each
    best = sum(max(senses.values()) for senses in known.values()) / sum(map(Counter.total, known.values()))
    assert position_accuracy(small) == pytest.approx(best)
    assert best > majority_accuracy(small) + 0.02  # the lines of this grammar are not parallel


# --- position ---


@pytest.mark.slow
def test_position_and_length_tell_nothing_of_the_sense(language):
    for kinds in (None, *([kind] for kind in KINDS)):
        assert position_accuracy(language, kinds) <= majority_accuracy(language, kinds) + 0.02


@pytest.mark.slow
def test_parallel_rules_differ_in_nothing_but_words():
    grammar = GRAMMAR
    groups = defaultdict(list)
    for rule in productions(grammar):
        groups[rule.parallel].append(rule)
    for group in groups.values():
        assert len({shape(rule.pattern, grammar.lists) for rule in group}) == 1, group[0].pattern
        assert len({rule.cue for rule in group}) == 1
        probabilities = [rule.probability for rule in group]
        assert min(probabilities) == pytest.approx(max(probabilities))
    senses = len(grammar.right_cues)
    assert sum(len(group) > 1 for group in groups.values()) > 5 * senses


def shape(pattern, lists):
    """All of a pattern that templates, their positions and the split depend on, but the words."""
    pieces = parse(pattern, lists)
    held_out = combining(pattern, lists)
    return (
        tuple(
            (len(piece.words) * (2 if piece.kind == "nx" else 1), piece.optional, piece.exchanged,
             any("#" in word for word in piece.words) and piece.kind)
            for piece in pieces
        ),
        len({piece.group for piece in pieces} - {""}),
        any(piece.kind in ("v", "vp", "t") for piece in pieces),
        held_out.one_in,
        tuple(sorted(held_out.multipliers.items())),
    )  # fmt: skip


# --- the split ---


@pytest.mark.slow
def test_knowing_the_split_by_heart_gains_less_than_half_a_per_cent(language):
    q = language.tables.one_in[language.tables.rule_of]
    sample = language.sample(3000, np.random.default_rng(0))
    nats = next_word_bound(language, sample).mean * (sample.lengths - 1).mean()
    assert (language.tables.prior * np.log(q / (q - 1))).sum() / nats < 0.005


@pytest.mark.slow
def test_partners_stand_on_the_same_side_of_the_split(language):
    held_out = language.sample(4000, np.random.default_rng(0), "held_out")
    asked = held_out[np.isin(held_out.cue, ORDER)]
    rules, swapped = productions(GRAMMAR), asked.ids.copy()
    templates = unfold(rules, GRAMMAR.lists)
    for row, number in zip(swapped, asked.template, strict=True):
        template = templates[number]
        a, b = (1 + place for place in exchanged(template, rules[template.rule], GRAMMAR.lists))
        row[[a, b]] = row[[b, a]]
    assert language.held_out(swapped).all()
    there = language.sense_posterior(asked.ids, asked.position, "both").argmax(axis=1)
    then = language.sense_posterior(swapped, asked.position, "both").argmax(axis=1)
    assert (there == asked.sense).all() and (then != asked.sense).all()


@pytest.mark.slow
def test_a_beginning_tells_no_more_of_the_sense_on_either_side(language):
    """Where only the right tells the sense: how often a training sentence that begins alike has the sense of another.

    With a split of its own for each rule it has that of a held-out one less often than of a fresh training one: what was
    learnt of a beginning misleads. A left-to-right model with many labels then scores less than a guess.
    """

    def share_right(language, side):
        known = defaultdict(Counter)
        for seed in range(4):
            for row in beginnings(language, 50_000, 100 + seed, "train"):
                known[row[:-1]][row[-1]] += 1
        asked = [(known[row[:-1]], row[-1]) for row in beginnings(language, 20_000, 7, side, ("right",))]
        shares = [labels[sense] / labels.total() for labels, sense in asked if labels]
        return np.mean(shares), np.std(shares) / np.sqrt(len(shares))

    rules = np.arange(len(language.tables.offset))
    apart = replace(language, tables=replace(language.tables, offset=rules))
    (misled, _), (fresh, _) = (share_right(apart, side) for side in ("held_out", "train"))
    assert misled < fresh - 0.02
    (there, spread), (here, other) = (share_right(language, side) for side in ("held_out", "train"))
    assert abs(there - here) < 4 * np.hypot(spread, other)


def beginnings(language, n, seed, side, cues=None):
    """The words up to the ambiguous one and its sense, of n sentences."""
    sentences = language.sample(n, np.random.default_rng(seed), side)
    asked = sentences[sentences.position >= 0 if cues is None else np.isin(sentences.cue, cues)]
    for row, place, sense in zip(asked.ids, asked.position, asked.sense, strict=True):
        yield (*row[: place + 1], sense)


@pytest.mark.slow
def test_no_sentence_stands_on_both_sides(language):
    """Not even one that two rules make, with a verdict each."""
    rng = np.random.default_rng(1)
    for side in ("train", "held_out"):
        assert (language.held_out(language.sample(20_000, rng, side).ids) == (side == "held_out")).all()


# --- bounds, size ---


@pytest.mark.slow
def test_left_and_full_bounds_are_far_apart_for_part_of_the_questions(language):
    sentences = language.sample(8000, np.random.default_rng(2), "held_out")
    for kind in ORDER:
        asked = sentences[sentences.cue == kind]
        assert sense_bound(language, asked, "both").mean > 0.999
        assert 0.6 < sense_bound(language, asked, "left").mean < 0.9
        left = language.sense_posterior(asked.ids, asked.position, "left").max(axis=1)
        open_, told = (left < 0.7).mean(), (left > 0.99).mean()
        assert 0.3 < open_ < 0.7 and told > 0.3


@pytest.mark.slow
def test_the_language_is_varied(language):
    """At least as much as before order decided anything."""
    assert len(language.vocabulary) >= 1_498 and len(language.senses) == 26
    assert len(language.tables.prior) >= 3_472
    assert next_word_bound(language, language.sample(3000, np.random.default_rng(0))).mean > 1.376
    twice = [tags for tags in language.parts_of_speech_of.values() if {"NOUN", "VERB"} <= set(tags)]
    assert len(twice) >= 29


def test_a_part_of_the_grammar_is_a_language_of_its_own(part):
    assert part.topics == ("river", "money") and set(part.ambiguous) == {"bank"}
    assert order_blind_accuracy(part, ORDER) == pytest.approx(1 / 2)
    without = Language.from_grammar(GRAMMAR.only("kitchen", "night"))  # words with one sense have no rival
    assert "order1" not in set(without.tables.cue_of)
