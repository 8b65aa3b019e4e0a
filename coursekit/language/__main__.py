"""`python -m coursekit.language`: what the generated language holds, and how well it can be known."""

import argparse

import numpy as np

from coursekit.language import (
    Estimate,
    Language,
    Sentences,
    load_language,
    masked_word_bound,
    next_word_bound,
    previous_word_bound,
    sense_bound,
)
from coursekit.language.bounds import choose_masked, ratio

TRAINING_SENTENCES = 60_000


def main() -> None:
    """Print the statistics of the generated language."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.language", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the sampled sentences (default: 0)")
    parser.add_argument(
        "--sentences", type=int, default=2000, help="sentences a bound is measured on (default: 2000)"
    )
    arguments = parser.parse_args()
    if arguments.sentences < 100:
        parser.error("--sentences is at least 100: fewer say nothing")
    language = load_language()
    for heading, lines in (
        ("The language", inventory(language)),
        ("Ten sentences", examples(language, np.random.default_rng(arguments.seed))),
        ("The split", split(language, arguments.sentences, np.random.default_rng(arguments.seed))),
        ("The best possible, on held-out sentences", bounds(language, arguments.sentences, arguments.seed)),
    ):
        print(heading, "-" * len(heading), *lines, "", sep="\n")


def inventory(language: Language) -> list[str]:
    """What there is: rules, templates, words, sentences, senses."""
    tables = language.tables
    two = [word for word, tags in language.parts_of_speech_of.items() if {"NOUN", "VERB"} <= set(tags)]
    senses = "; ".join(
        f"{word}: {', '.join(s.split('#')[1] for s in s_)}" for word, s_ in language.ambiguous.items()
    )
    return [
        f"topics {len(language.topics)}, rules {len(tables.topic_of)}, templates {len(tables.prior)}, "
        f"slots {len(tables.sizes)}",
        f"words {len(language.vocabulary)}, with special tokens; at most {language.max_length} tokens a row",
        f"distinct sentences: about {distinct_sentences(language):,.0f}",
        f"ambiguous words {len(language.ambiguous)}, senses {len(language.senses)}: {senses}",
        f"both noun and verb ({len(two)}): {', '.join(two)}",
    ]


def distinct_sentences(language: Language, draws: int = 1000) -> float:
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


def examples(language: Language, rng: np.random.Generator) -> list[str]:
    """Ten sentences, ambiguous words marked with their sense, and the side the cue stands on."""
    lines = []
    for sentence in language.sample(10, rng):
        words = sentence.words(0)
        if sentence.position[0] >= 0:
            words[sentence.position[0] - 1] += f"[{language.senses[sentence.sense[0]].split('#')[1]}]"
        lines.append(f"{sentence.cue[0]:>5}  {' '.join(words)}")
    return lines


def split(language: Language, n: int, rng: np.random.Generator) -> list[str]:
    """How much of other samples a training sample holds."""
    training = {row.tobytes() for row in language.sample(TRAINING_SENTENCES, rng, "train").ids}
    lines = [f"distinct among {TRAINING_SENTENCES:,} training sentences: {len(training):,}"]
    for name, side in (("all", None), ("held-out", "held_out")):
        other = language.sample(n, rng, side).ids
        seen = np.mean([row.tobytes() in training for row in other])
        lines.append(f"of {n:,} sentences, {name}: {seen:.1%} are among them")
    share = language.held_out(language.sample(n, rng).ids).mean()
    return [*lines, f"held-out combinations make up {share:.1%} of the language"]


def bounds(language: Language, n: int, seed: int) -> list[str]:
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
    left, right = held_out[held_out.cue == "left"], held_out[held_out.cue == "right"]
    return [
        f"next word, nats a token          {next_word_bound(language, held_out)}",
        f"previous word                    {previous_word_bound(language, held_out)}",
        f"15 % masked, nats a masked word  {masked_word_bound(language, held_out, masked)}",
        f"(one who knew the split by heart could gain {gains['train']:.3f} nats a token in training, "
        f"{gains['held_out']:.3f} on held-out sentences)",
        f"sense, cue on the left: from the left        {sense_bound(language, left, 'left')}",
        f"sense, cue only on the right: from the left  {sense_bound(language, right, 'left')}",
        f"                              from the right {sense_bound(language, right, 'right')}",
        f"                              from both      {sense_bound(language, right, 'both')}",
        f"sense, always the most frequent of its word  {majority(language, held_out)}",
        f"does the second sentence continue the first  {ratio(np.maximum(guesses, 1 - guesses), np.ones(n))}",
        f"only cue on the right: {len(right) / n:.1%} of sentences; on the left {len(left) / n:.1%}",
    ]


def majority(language: Language, sentences: Sentences) -> Estimate:
    """Accuracy of always answering the sense that a word has most often in these very sentences."""
    sense = sentences.sense[sentences.sense >= 0]
    counts = np.bincount(sense, minlength=len(language.senses))
    word = np.array([list(language.ambiguous).index(name.split("#")[0]) for name in language.senses])
    most = np.array([counts[word == w].max() for w in range(len(language.ambiguous))])
    hits = counts[sense] == most[word[sense]]
    return ratio(hits.astype(float), np.ones(len(hits)))


if __name__ == "__main__":
    main()
