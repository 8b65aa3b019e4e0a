"""`python -m coursekit.language`: the contents of the generated language, and its bounds."""

import argparse

import numpy as np

from coursekit.language import (
    Language,
    load_language,
    masked_word_bound,
    next_word_bound,
    previous_word_bound,
    sense_bound,
)
from coursekit.language.blind import majority_accuracy, order_blind_accuracy, position_accuracy
from coursekit.language.bounds import choose_masked, ratio

TRAINING_SENTENCES = 60_000


def main() -> None:
    """Print the statistics of the generated language."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.language", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the sampled sentences (default: 0)")
    parser.add_argument(
        "--sentences",
        type=int,
        default=2000,
        help="number of sentences on which a bound is measured (default: 2000)",
    )
    arguments = parser.parse_args()
    if arguments.sentences < 100:
        parser.error("--sentences must be at least 100")
    _show(load_language(), arguments.sentences, arguments.seed)


def _show(language: Language, n: int, seed: int) -> None:
    """Print everything about a language."""
    for heading, lines in (
        ("The language", _inventory(language)),
        ("Ten sentences", _examples(language, np.random.default_rng(seed))),
        ("The split", _split(language, n, np.random.default_rng(seed))),
        ("The best possible, on held-out sentences", _bounds(language, n, seed)),
        ("The sense of the ambiguous word, by kind of sentence", _senses(language, n, seed)),
    ):
        print(heading, "-" * len(heading), *lines, "", sep="\n")


def _inventory(language: Language) -> list[str]:
    """The inventory: rules, templates, words, sentences, senses."""
    tables = language.tables
    two = [word for word, tags in language.parts_of_speech_of.items() if {"NOUN", "VERB"} <= set(tags)]
    senses = "; ".join(
        f"{word}: {', '.join(s.split('#')[1] for s in s_)}" for word, s_ in language.ambiguous.items()
    )
    return [
        f"{len(language.topics)} topics, {len(tables.topic_of)} rules, {len(tables.prior)} templates, "
        f"{len(tables.sizes)} slots",
        f"{len(language.vocabulary)} words, including special tokens; at most {language.max_length} tokens per sequence",
        f"distinct sentences: about {_distinct_sentences(language):,.0f}",
        f"{len(language.ambiguous)} ambiguous words with {len(language.senses)} senses: {senses}",
        f"{len(two)} words that are both noun and verb: {', '.join(two)}",
    ]


def _distinct_sentences(language: Language, draws: int = 1000) -> float:
    """Ways to fill a template, times E[1 / ways to the same sentence] over ways drawn uniformly."""
    tables = language.tables
    ways = np.prod(tables.sizes[tables.slot_of].astype(float), axis=0)
    rng = np.random.default_rng(0)
    templates = rng.choice(len(ways), draws, p=ways / ways.sum())
    slots = tables.slot_of[:, templates].T
    ids = tables.fillers[slots, (rng.random(slots.shape) * tables.sizes[slots]).astype(int)]
    positions = np.arange(ids.shape[1])
    counts = [(tables.probability[tables.slot_of, row[positions, None]] > 0).all(axis=0).sum() for row in ids]
    return float(ways.sum() * np.mean(1 / np.array(counts)))


def _examples(language: Language, rng: np.random.Generator) -> list[str]:
    """Ten sentences, with the sense of each ambiguous word and the side of the cue."""
    lines = []
    for sentence in language.sample(10, rng):
        words = sentence.words(0)
        if sentence.position[0] >= 0:
            words[sentence.position[0] - 1] += f"[{language.senses[sentence.sense[0]].split('#')[1]}]"
        lines.append(f"{sentence.cue[0]:>5}  {' '.join(words)}")
    return lines


def _split(language: Language, n: int, rng: np.random.Generator) -> list[str]:
    """The overlap of other samples with a training sample."""
    training = {row.tobytes() for row in language.sample(TRAINING_SENTENCES, rng, "train").ids}
    lines = [f"distinct sentences among {TRAINING_SENTENCES:,} training sentences: {len(training):,}"]
    for name, side in (("sentences of the language", None), ("held-out sentences", "held_out")):
        other = language.sample(n, rng, side).ids
        seen = np.mean([row.tobytes() in training for row in other])
        lines.append(f"of {n:,} {name}, {seen:.1%} are among them")
    share = language.held_out(language.sample(n, rng).ids).mean()
    return [*lines, f"held-out combinations make up {share:.1%} of the language"]


def _bounds(language: Language, n: int, seed: int) -> list[str]:
    """Entropies and sense accuracies, with standard errors."""
    rng = np.random.default_rng(seed)
    held_out = language.sample(n, rng, "held_out")
    masked = choose_masked(held_out.ids, rng)
    gains = {
        side: ratio(language.split_gain(sample, side), sample.lengths - 1).mean
        for side, sample in (("train", language.sample(n, rng, "train")), ("held_out", held_out))
    }
    pairs = language.passages(n, rng, "held_out")
    guesses = language.continuation_posterior(pairs.first.ids, pairs.second.ids)
    nats = {side: gain / next_word_bound(language, held_out).mean for side, gain in gains.items()}
    return [
        f"next word, nats per token          {next_word_bound(language, held_out)}",
        f"previous word                      {previous_word_bound(language, held_out)}",
        f"15 % masked, nats per masked word  {masked_word_bound(language, held_out, masked)}",
        f"(a model that had memorised the split could gain {gains['train']:.4f} nats per token in training, that is "
        f"{nats['train']:.2%}, and {gains['held_out']:.3f} on held-out sentences)",
        f"next-sentence prediction, accuracy  {ratio(np.maximum(guesses, 1 - guesses), np.ones(n))}",
    ]


KINDS = ("left", "right", "order1", "order2")


def _senses(language: Language, n: int, seed: int) -> list[str]:
    """The best possible accuracy on the sense by the information given: the first three exactly, the others on held-out sentences."""
    held_out = language.sample(4 * n, np.random.default_rng(seed), "held_out")
    lines = [f"{'':8}{'share':>8}{'majority':>10}{'position':>10}{'no order':>10}{'from the left':>17}"
             f"{'from the right':>17}{'from both':>17}"]  # fmt: skip
    for kind in (*KINDS, None):
        asked = held_out[held_out.cue == kind if kind else held_out.position >= 0]
        if not len(asked):
            continue
        exact = [
            f"{accuracy(language, kind and [kind]):10.3f}"
            for accuracy in (majority_accuracy, position_accuracy, order_blind_accuracy)
        ]
        best = [f"{sense_bound(language, asked, context)!s:>17}" for context in ("left", "right", "both")]
        lines.append(f"{kind or 'all':8}{len(asked) / len(held_out):8.1%}{''.join(exact)}{''.join(best)}")
    return [
        *lines,
        "majority: only the word and its number are known; position: also its position and the length of the sentence;",
        "no order: also all other words, but not their order.",
    ]


if __name__ == "__main__":
    main()
