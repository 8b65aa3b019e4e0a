"""`Language`: sample sentences, and compute the exact probability of each word, masked word and sense.

The model is p(x) = sum_z p(z) prod_t p(x_t | s(z, t)): a topic, a rule and its choices of number, tense and
optional parts make a template z, whose slots are then filled independently of one another.

The split. Of the combinations of words in the obligatory slots of a rule, one in q (by rule, 12 to 32) is
*held out*: "guard, keep, thieves" may be held out of "the guard keeps the thieves in a cell" while guards
keep smugglers and wardens keep thieves. It is held out in either number and tense, and with or without
optional parts. A training sentence is drawn from p given that its combination is not held out, rule by rule,
and a held-out sentence from p given that it is. So topic, rule, number, tense and optional parts are
distributed alike in both, and so is each slot; only the combination of all of them differs. A model that
knows slots as independent loses nothing on held-out sentences.

The rules of the senses of a word are parallel and split in the same way. With a separate split for each rule,
a prefix that occurs in training with one sense would be held out with another, and a model that has learned
the training sentences would predict the senses of held-out sentences *below* chance level.

The bounds are losses of p, the language as a whole, on the sentences in question. Knowing the split as well
could lower them by log(q / (q - 1)) a sentence on training sentences and by log q on held-out ones, but only
by memorising combinations; `split_gain` gives both.
"""

import difflib
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from coursekit.language.exact import (
    Belief,
    Mixture,
    from_the_right,
    posteriors,
    predictive,
    probability_of,
    walk,
)
from coursekit.language.grammar import GRAMMAR
from coursekit.language.notation import PARTS_OF_SPEECH, Grammar
from coursekit.language.sentences import Passages, Sentences
from coursekit.language.tables import BOS, EOS, PAD, Tables, tabulate

Split = Literal["train", "held_out"]


@functools.cache
def load_language() -> "Language":
    """The generated language of the course, built on the first call in a process and then cached."""
    return Language.from_grammar(GRAMMAR)


@dataclass(frozen=True, eq=False)
class Language:
    """A small English whose probabilities are known exactly. Losses are in nats; ids are int64.

    Sentences are rows `[BOS] words [EOS] [PAD] ...` of at most `max_length` tokens. A row may be narrower
    than that if its sentences are. Methods raise ValueError for ids that are not such rows or are outside the
    vocabulary, and for conditions that no sentence of the language meets.
    """

    vocabulary: tuple[str, ...]
    topics: tuple[str, ...]
    senses: tuple[str, ...]  # "cell#phone": the word and its meaning
    max_length: int
    tables: Tables = field(repr=False)
    grammar: Grammar = field(repr=False)
    parts_of_speech: tuple[str, ...] = PARTS_OF_SPEECH

    @classmethod
    def from_grammar(cls, grammar: Grammar) -> "Language":
        """The language of any grammar in the notation of `notation.py`. Raises GrammarError, a ValueError."""
        tables = tabulate(grammar)
        return cls(tables.vocabulary, tables.topics, tables.senses, len(tables.slot_of), tables, grammar)

    @functools.cached_property
    def id_of(self) -> dict[str, int]:
        """The id of each word: [PAD] 0, then [BOS], [EOS], [MASK], [UNK], [CLS], [SEP], then the words in alphabetical order."""
        return {word: i for i, word in enumerate(self.vocabulary)}

    @functools.cached_property
    def ambiguous(self) -> dict[str, tuple[str, ...]]:
        """The ambiguous words, in the singular, with their senses."""
        words = dict.fromkeys(sense.split("#")[0] for sense in self.senses)
        return {word: tuple(s for s in self.senses if s.split("#")[0] == word) for word in words}

    @functools.cached_property
    def parts_of_speech_of(self) -> dict[str, tuple[str, ...]]:
        """Every word with the parts of speech as which it is used: "guard" is ("NOUN", "VERB")."""
        used: dict[str, set[str]] = {}
        for words, tags in zip(self.tables.fillers, self.tables.tags, strict=True):
            for word, tag in zip(words, tags, strict=True):
                if tag >= 0:
                    used.setdefault(self.vocabulary[word], set()).add(self.parts_of_speech[tag])
        return {word: tuple(sorted(tags)) for word, tags in sorted(used.items())}

    # --- sampling ---

    def sample(self, n: int, rng: np.random.Generator, split: Split | None = None) -> Sentences:
        """n independent sentences of the whole language or of one split."""
        if n < 0:
            raise ValueError(f"cannot sample {n} sentences; n must be 0 or more")
        every = np.zeros(n, dtype=np.int64), np.full(n, len(self.tables.topic_of))
        return self._fill(self._draw_templates(*every, rng), rng, split)

    def passages(self, n: int, rng: np.random.Generator, split: Split | None = None) -> Passages:
        """n pairs of sentences. In half of them, by chance, the second continues the topic of the first."""
        first = self.sample(n, rng, split)
        continues = rng.random(n) < 0.5
        rules = len(self.tables.topic_of)
        low = np.where(continues, np.searchsorted(self.tables.topic_of, first.topic), 0)
        high = np.where(continues, np.searchsorted(self.tables.topic_of, first.topic, side="right"), rules)
        return Passages(first, self._fill(self._draw_templates(low, high, rng), rng, split), continues)

    def held_out(self, ids: Int[np.ndarray, "sentences tokens"]) -> Bool[np.ndarray, " sentences"]:
        """Whether each sentence contains a held-out combination, and is therefore never a training sentence."""
        best = self.best_template(ids)
        return self.tables.held_out(best, self.tables.choices(best, self._checked(ids)))

    def best_template(self, ids: Int[np.ndarray, "sentences tokens"]) -> Int[np.ndarray, " sentences"]:
        """The most probable template of each sentence."""
        ids = self._checked(ids)
        best = np.empty(len(ids), dtype=np.int64)
        for rows, belief in posteriors(self._forward, ids, np.ones_like(ids, dtype=bool)):
            self._require(belief, ids[rows])
            best[rows] = belief.best()
        return best

    # --- exact distributions ---

    def next_word(
        self, ids: Int[np.ndarray, "sentences tokens"]
    ) -> Float[np.ndarray, "sentences tokens vocabulary"]:
        """p(x_t = v | x_<t) for every position t and word v. Row t does not depend on x_t or later words. The last column of `ids` is never used as a condition, so `ids` may contain the
        beginning of a sentence followed by any id.
        """
        return self._each_word(self._checked(ids))

    def next_word_after(self, words: str | Sequence[str]) -> Float[np.ndarray, " vocabulary"]:
        """The distribution of the word after a beginning, as in `next_word_after("the guard locked the")`."""
        prefix = np.append(self.encode(words, pad=False)[:-1], PAD)
        return self.next_word(prefix[None])[0, -1]

    def masked_word(
        self, ids: Int[np.ndarray, "sentences tokens"], masked: Bool[np.ndarray, "sentences tokens"]
    ) -> Float[np.ndarray, "sentences tokens vocabulary"]:
        """p(x_t = v | the words not masked) where masked; elsewhere 1 for the given word.

        Every masked word is unknown, whatever its id in `ids`; the length of the sentence is known.
        """
        ids, masked = self._checked(ids), np.asarray(masked, dtype=bool)
        result = np.zeros((*ids.shape, len(self.vocabulary)))
        np.put_along_axis(result, ids[:, :, None], 1.0, axis=2)
        for rows, belief in posteriors(self._forward, ids, ~masked):
            self._require(belief, ids[rows])
            for t in np.flatnonzero(masked[rows].any(axis=0)):
                chosen = masked[rows, t]
                result[rows, t][chosen] = predictive(self._forward, t, belief)[chosen]
        return result

    def sense_posterior(
        self,
        ids: Int[np.ndarray, "sentences tokens"],
        position: Int[np.ndarray, " sentences"],
        context: Literal["left", "right", "both"],
    ) -> Float[np.ndarray, "sentences senses"]:
        """p(sense of the word at `position` | that word and its context), over all senses of the language.

        "left": the words up to and with it; "right": it and the words after it, as a right-to-left model
        reads; "both": the whole sentence. Senses of other words have probability 0. Raises ValueError if the word at `position` is not ambiguous.
        """
        ids = context_ids = self._checked(ids)
        position = np.broadcast_to(position, len(ids))
        if context not in ("left", "right", "both"):
            raise ValueError(f'context is "left", "right" or "both", not {context!r}')
        places = np.arange(ids.shape[1])
        if context == "right":
            position = (ids != PAD).sum(axis=1) - 1 - position
            ids, mixture = from_the_right(ids), self._backward
        else:
            mixture = self._forward
        visible = np.ones_like(ids, dtype=bool) if context == "both" else places <= position[:, None]
        result = np.zeros((len(ids), len(self.senses)))
        for rows, belief in posteriors(mixture, ids, visible):
            self._require(belief, context_ids[rows])
            each = belief.by_sentence()
            sense = self.tables.sense_of[mixture.slot_of[position[rows][each.node], each.template]]
            told = sense >= 0
            np.add.at(result[rows], (each.node[told], sense[told]), each.weight[told])
        if (bad := np.flatnonzero(result.sum(axis=1) < 0.5)).size:
            word = self.vocabulary[ids[bad[0], position[bad[0]]]]
            raise ValueError(
                f"sentence {bad[0]}: {word!r} is not one of the ambiguous words {', '.join(self.ambiguous)}"
            )
        return result

    def topic_posterior(
        self, ids: Int[np.ndarray, "sentences tokens"]
    ) -> Float[np.ndarray, "sentences topics"]:
        """p(topic | sentence)."""
        ids = self._checked(ids)
        topic_of_template = self.tables.topic_of[self.tables.rule_of]
        result = np.zeros((len(ids), len(self.topics)))
        for rows, belief in posteriors(self._forward, ids, np.ones_like(ids, dtype=bool)):
            self._require(belief, ids[rows])
            each = belief.by_sentence()
            np.add.at(result[rows], (each.node, topic_of_template[each.template]), each.weight)
        return result

    def continuation_posterior(
        self, first: Int[np.ndarray, "sentences tokens"], second: Int[np.ndarray, "sentences tokens"]
    ) -> Float[np.ndarray, " sentences"]:
        """p(second continues first | both), by Bayes with prior one half.

        With k the topic, p(second | first, continues) / p(second) = sum_k p(k | first) p(k | second) / p(k).
        """
        topic_of_template = self.tables.topic_of[self.tables.rule_of]
        prior = np.bincount(topic_of_template, self.tables.prior, len(self.topics))
        ratio = (self.topic_posterior(first) * self.topic_posterior(second) / prior).sum(axis=1)
        return ratio / (1 + ratio)

    # --- exact losses, in nats ---

    def log_loss_next(
        self, ids: Int[np.ndarray, "sentences tokens"]
    ) -> Float[np.ndarray, "sentences tokens"]:
        """-log p(x_t | x_<t) in nats; 0 at [BOS] and at padding, which are certain."""
        return self._losses(self._forward, self._checked(ids))

    def log_loss_previous(
        self, ids: Int[np.ndarray, "sentences tokens"]
    ) -> Float[np.ndarray, "sentences tokens"]:
        """-log p(x_t | x_>t) in nats; 0 at [EOS] and at padding. At [BOS]: that the sentence begins."""
        ids = self._checked(ids)
        losses = self._losses(self._backward, from_the_right(ids))
        lengths = (ids != PAD).sum(axis=1, keepdims=True)
        places = np.arange(ids.shape[1])
        return np.take_along_axis(losses, np.where(places < lengths, lengths - 1 - places, places), axis=1)

    def log_loss_masked(
        self, ids: Int[np.ndarray, "sentences tokens"], masked: Bool[np.ndarray, "sentences tokens"]
    ) -> Float[np.ndarray, "sentences tokens"]:
        """-log p(x_t | the words not masked) in nats where masked, 0 elsewhere; `ids` are the true words."""
        ids, masked = self._checked(ids), np.asarray(masked, dtype=bool)
        losses = np.zeros(ids.shape)
        for rows, belief in posteriors(self._forward, ids, ~masked):
            self._require(belief, ids[rows])
            for t in np.flatnonzero(masked[rows].any(axis=0)):
                chosen = masked[rows, t]
                found = probability_of(self._forward, t, belief, ids[rows, t])
                losses[rows, t][chosen] = -np.log(found[chosen])
        return losses

    def log_probability(self, ids: Int[np.ndarray, "sentences tokens"]) -> Float[np.ndarray, " sentences"]:
        """log p(sentence) in nats, -inf for a sentence that the language cannot produce."""
        ids = self._checked(ids)
        result = np.zeros(len(ids))
        with np.errstate(divide="ignore"):
            for step in walk(self._forward, ids, np.ones_like(ids, dtype=bool)):
                result[step.rows] += np.log(step.evidence)
        return result

    def split_gain(self, sentences: Sentences, split: Split) -> Float[np.ndarray, " sentences"]:
        """-log p(split | rule) in nats: the reduction of the loss of a sentence for a model that knows its split.

        log(q / (q - 1)) on training sentences, log q on held-out ones, with one combination in q held out.
        """
        q = self.tables.one_in[self.tables.rule_of[sentences.template]]
        return np.log(q / (q - 1)) if split == "train" else np.log(q)

    # --- words ---

    def encode(self, words: str | Sequence[str], pad: bool = True) -> Int[np.ndarray, " tokens"]:
        """The ids of one sentence, with [BOS] and [EOS], padded to max_length. [MASK] is a word here.

        Raises ValueError for a word that is not in the language, and for a sentence that is too long.
        """
        words = words.split() if isinstance(words, str) else list(words)
        if unknown := [word for word in words if word not in self.id_of]:
            near = difflib.get_close_matches(unknown[0].lower(), self.vocabulary, n=1)
            raise ValueError(
                f"{unknown[0]!r} is not a word of the language"
                + (f"; did you mean {near[0]!r}?" if near else "")
            )
        if len(words) > self.max_length - 2:
            raise ValueError(
                f"{len(words)} words are too many: the language's sentences have at most {self.max_length - 2} words"
            )
        ids = [BOS, *(self.id_of[word] for word in words), EOS]
        return np.array(ids + [PAD] * (self.max_length - len(ids) if pad else 0))

    def decode(self, ids: Int[np.ndarray, " tokens"]) -> str:
        """The words of one row of ids; [PAD], [BOS] and [EOS] are left out, but other special tokens are kept."""
        return " ".join(self.vocabulary[i] for i in ids if i not in (PAD, BOS, EOS))

    # --- inside ---

    @functools.cached_property
    def _forward(self) -> Mixture:
        return Mixture(self.tables.prior, self.tables.slot_of, self.tables.probability)

    @functools.cached_property
    def _backward(self) -> Mixture:
        return self._forward.reversed()

    @functools.cached_property
    def _cumulative(self) -> tuple[np.ndarray, np.ndarray]:
        """Cumulative prior over templates, and the first template of each rule (and the end)."""
        cumulative = np.concatenate([[0.0], np.cumsum(self.tables.prior)])
        return cumulative, np.searchsorted(self.tables.rule_of, np.arange(len(self.tables.topic_of) + 1))

    def _draw_templates(self, low: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A template for each row, by its probability among those of the rules low, ..., high - 1."""
        cumulative, first = self._cumulative
        begin, end = cumulative[first[low]], cumulative[first[high]]
        drawn = np.searchsorted(cumulative, begin + rng.random(len(low)) * (end - begin), side="right") - 1
        return np.clip(drawn, first[low], first[high] - 1)

    def _fill(self, templates: np.ndarray, rng: np.random.Generator, split: Split | None) -> Sentences:
        """Sentences of the given templates; with a split, sentences on the wrong side are drawn again within their rule."""
        if split not in (None, "train", "held_out"):
            raise ValueError(f'split is "train", "held_out" or None, not {split!r}')
        tables, templates = self.tables, templates.copy()
        choice = self._draw_fillers(templates, rng)
        wrong = np.arange(0 if split is None else len(templates))
        while len(wrong):
            # only what was drawn last can have changed sides
            held_out = tables.held_out(templates[wrong], choice[wrong])
            wrong = wrong[held_out != (split == "held_out")]
            rule = tables.rule_of[templates[wrong]]
            templates[wrong] = self._draw_templates(rule, rule + 1, rng)
            choice[wrong] = self._draw_fillers(templates[wrong], rng)
        slots, rule = tables.slot_of[:, templates].T, tables.rule_of[templates]
        return Sentences(
            ids=tables.fillers[slots, choice],
            senses=tables.sense_of[slots],
            parts_of_speech=tables.tags[slots, choice],
            topic=tables.topic_of[rule],
            cue=tables.cue_of[rule],
            template=templates,
            vocabulary=self.vocabulary,
        )

    def _draw_fillers(self, templates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A filler for every slot of the given templates, drawn uniformly."""
        sizes = self.tables.sizes[self.tables.slot_of[:, templates].T]
        return np.minimum((rng.random(sizes.shape) * sizes).astype(np.int64), sizes - 1)

    def _each_word(self, ids: np.ndarray) -> np.ndarray:
        result = np.empty((*ids.shape, len(self.vocabulary)))
        for step in walk(self._forward, ids, np.ones_like(ids, dtype=bool)):
            self._require(step.before, ids[step.rows])
            result[step.rows, step.position] = predictive(self._forward, step.position, step.before)
        return result

    def _losses(self, mixture: Mixture, ids: np.ndarray) -> np.ndarray:
        losses = np.empty(ids.shape)
        for step in walk(mixture, ids, np.ones_like(ids, dtype=bool)):
            self._require(step.after, ids[step.rows])
            # a probability of 1 may be computed as 1 + 1e-16
            losses[step.rows, step.position] = np.maximum(-np.log(step.evidence), 0.0)
        return losses

    def _checked(self, ids: Int[np.ndarray, "sentences tokens"]) -> Int[np.ndarray, "sentences tokens"]:
        ids = np.asarray(ids)
        if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
            raise ValueError(
                f"ids are integers of shape [sentences, tokens], not {ids.dtype} {list(ids.shape)}"
            )
        if ids.shape[1] > self.max_length:
            raise ValueError(
                f"{ids.shape[1]} tokens per sequence are too many: max_length is {self.max_length}"
            )
        if ids.size and (ids.min() < 0 or ids.max() >= len(self.vocabulary)):
            bad = ids[(ids < 0) | (ids >= len(self.vocabulary))][0]
            raise ValueError(f"id {bad} is outside the vocabulary of {len(self.vocabulary)} words")
        if (ids[:, :1] != BOS).any():
            raise ValueError(f"every sequence of ids must begin with [BOS] = {BOS}; encode() adds this token")
        return ids.astype(np.int64)

    def _require(self, belief: Belief, ids: np.ndarray) -> None:
        possible = belief.total() > 0
        if not possible.all():
            words = self.decode(ids[np.flatnonzero(~possible)[0]])
            raise ValueError(
                f"the language cannot produce {words!r}; log_probability gives -inf for such a sentence"
            )
