"""How vocabularies of subwords split words: what notebook 06 prints and tabulates about them.

`cut` is always a function (word, vocabulary) -> ids, such as the student's `wordpiece`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from coursekit.datasets import read_table
from coursekit.language import SPECIAL_TOKENS, Language

Cut = Callable[[str, dict[str, int]], list[int]]
Score = Callable[[int, int, int], float]
"""The score of a merge, from the counts of the pair, of its left part and of its right part."""
MERGES = 5
"""First merges that are shown of each score."""


def cut_into(cut: Cut, word: str, vocab: dict[str, int]) -> str:
    """The subwords of a word, separated by spaces."""
    names = {i: piece for piece, i in vocab.items()}
    return " ".join(names[i] for i in cut(word, vocab))


def examples(cut: Cut, toy: dict[str, int], real: dict[str, int]) -> None:
    """Print how a toy vocabulary splits one word, and how BERT's vocabulary splits a few."""
    print(f"toy vocabulary ({len(toy)}):    unforgettable →", cut_into(cut, "unforgettable", toy))
    print(f"BERT's vocabulary ({len(real):,}):", end="")
    for word in "unforgettable contextualized embeddings photosynthesis wardens prisoner".split():
        print(f"\n    {word:<15} →", cut_into(cut, word, real), end="")


@dataclass(frozen=True)
class CutLanguage:
    """The words of the generated language in BERT's vocabulary."""

    words: int
    single_token: float
    """The fraction of the words that are single tokens."""
    longest: tuple[str, int, str]
    """The word with the most subwords, their number, and the subwords."""
    agree: float
    """The fraction of the words that Hugging Face's tokeniser splits in the same way."""


def cut_language(language: Language, cut: Cut, tokenizer: PreTrainedTokenizerBase) -> CutLanguage:
    """Split every word of the language with a tokeniser's vocabulary."""
    vocab = tokenizer.get_vocab()
    words = [word for word in language.vocabulary if word not in SPECIAL_TOKENS]
    pieces = [cut(word, vocab) for word in words]
    counts = np.array([len(ids) for ids in pieces])
    theirs = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word)) for word in words]
    most = words[counts.argmax()]
    return CutLanguage(
        len(words),
        float((counts == 1).mean()),
        (most, int(counts.max()), cut_into(cut, most, vocab)),
        float(np.mean([ours == other for ours, other in zip(pieces, theirs, strict=True)])),
    )


def language_summary(found: CutLanguage) -> None:
    """A sentence on the words that are single tokens, and one on the agreement with Hugging Face."""
    word, count, pieces = found.longest
    display(Markdown(
        f"Of the {found.words:,} words of our language, **{found.single_token:.1%}** are single tokens. The word with the most subwords is "
        f"*{word}* with {count} subwords ({pieces}). Your function agrees with Hugging Face's tokeniser on "
        f"**{found.agree:.1%}** of the words."
    ))  # fmt: skip


def count_words(texts: Iterable[str], tokenizer: PreTrainedTokenizerBase) -> Counter[str]:
    """The counts of the words of the texts, in lower case, split as in BERT, without numbers or punctuation."""
    splits = tokenizer.backend_tokenizer
    small = (splits.normalizer.normalize_str(text) for text in texts)
    return Counter(
        word for text in small for word, _ in splits.pre_tokenizer.pre_tokenize_str(text) if word.isalpha()
    )


def frequent_words(tokenizer: PreTrainedTokenizerBase, at_least: int = 3) -> dict[str, int]:
    """The words of `data/senses` that occur at least so many times, with their counts."""
    counts = count_words(read_table("senses/senses.csv").sentence, tokenizer)
    return {word: count for word, count in counts.items() if count >= at_least}


def first_merges(
    learn: Callable[[dict[str, int], int, Score], list[str]],
    frequent: Mapping[str, int],
    scores: Mapping[str, Score],
) -> dict[str, list[str]]:
    """Print the first merges that each score chooses in a text of six different words, and return them."""
    six_words = {word: frequent[word] for word in ("the", "then", "their", "quite", "quiet", "of")}
    print(six_words)
    merges = {}
    for name, score in scores.items():
        letters = len(learn(six_words, 0, score))
        merges[name] = learn(six_words, letters + MERGES, score)[letters:]
        print(f"merged by {name:<10} →", ", ".join(merges[name]))
    return merges


def next_to_trainer(theirs: Tokenizer, ours: Sequence[str]) -> tuple[int, list[str]]:
    """Print and return how many of our subwords are in a trained tokeniser's vocabulary, and the subwords that only it contains."""
    pieces = set(theirs.get_vocab())
    shared, only_theirs = len(pieces & set(ours)), sorted(pieces - set(ours))
    print(
        f"{shared} of your {len(ours)} subwords are also in Hugging Face's vocabulary. The subwords that "
        f"only Hugging Face's vocabulary contains: {', '.join(only_theirs)}"
    )
    return shared, only_theirs


def at_work(
    cut: Cut, tokenizer: PreTrainedTokenizerBase, learned: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Statistics of the reviews in `data/sentiment` when tokenised with each learned vocabulary and with BERT's; displayed, and returned."""
    counts = count_words(read_table("sentiment/sentiment.csv").text, tokenizer)
    vocabularies = {
        f"learned by {name}": {piece: i for i, piece in enumerate([*pieces, "[UNK]"])}
        for name, pieces in learned.items()
    }
    table = pd.DataFrame({
        name: _column(cut, counts, vocab) for name, vocab in (vocabularies | {"BERT's own": tokenizer.get_vocab()}).items()
    })  # fmt: skip
    display(table)
    return table


def _column(cut: Cut, counts: Counter[str], vocab: dict[str, int]) -> dict[str, str]:
    shares: Counter[str] = Counter()
    for word, count in counts.items():
        ids = cut(word, vocab)
        unknown = ids == [vocab["[UNK]"]]
        shares.update(
            pieces=count * len(ids), whole=count * (len(ids) == 1 and not unknown), unknown=count * unknown
        )
    total = counts.total()
    return {
        "size of the vocabulary": f"{len(vocab):,}",
        "subwords per word": f"{shares['pieces'] / total:.2f}",
        "words that are a single token": f"{shares['whole'] / total:.1%}",
        "words that are replaced by [UNK]": f"{shares['unknown'] / total:.1%}",
        **{
            word: cut_into(cut, word, vocab)
            for word in ("the", "wonderful", "boring", "responsibility", "enjoyed")
        },
    }
