"""What a character network detects: the filter that responds best to plurals, and the letters that words share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import conv1d

from coursekit.language import Language
from coursekit.language.inflection import plural
from coursekit.small.elmo import ELMo, ELMoConfig, Spelling


@dataclass(frozen=True)
class PluralFilter:
    """The filter of a model whose largest response rises most reliably from singular to plural.

    effect    the mean rise, in standard deviations
    risen     the fraction of nouns for which it rises
    group     the index of its width among the model's widths
    index     its index among the filters of this width
    """

    effect: float
    risen: float
    group: int
    index: int


def plurals(language: Language) -> dict[str, str]:
    """The plurals of a language whose singular also occurs, with this singular: cells, cell."""
    nouns = [word for word, parts in language.parts_of_speech_of.items() if "NOUN" in parts]
    return {plural(word): word for word in nouns if plural(word) in nouns}


def plural_filter(model: ELMo, language: Language) -> PluralFilter:
    """The best of all filters of a model, by mean rise over standard deviation."""
    stems, found = plurals(language), []
    for group in range(len(model.token.convolutions)):
        many, one = (_responses(model, list(forms), group).amax(dim=-1) for forms in (stems, stems.values()))
        rise = (many - one).mean(dim=0) / ((many - one).std(dim=0) + 0.1)
        risen = (many > one).float().mean(dim=0)
        found += [(rise[k].item(), risen[k].item(), group, k) for k in range(len(rise))]
    return PluralFilter(*max(found))


def untrained_plural_filters(
    config: ELMoConfig, language: Language, seeds: Iterable[int]
) -> list[PluralFilter]:
    """The best filter of an untrained model for each seed."""
    found = []
    for seed in seeds:
        torch.manual_seed(seed)
        found.append(plural_filter(ELMo(config), language))
    return found


def responses(model: ELMo, one: PluralFilter, words: Sequence[str]) -> Float[Tensor, "word position"]:
    """The response of one filter at every position of the given words."""
    return _responses(model, words, one.group)[:, one.index]


def _responses(model: ELMo, words: Sequence[str], group: int) -> Float[Tensor, "word filter position"]:
    letters = model.token.character.weight[_spelling().of_words(words)].transpose(1, 2)
    convolution = model.token.convolutions[group]
    return conv1d(letters, convolution.weight, convolution.bias).detach()


@cache
def _spelling() -> Spelling:
    return Spelling()


def shared_pairs(one: str, other: str) -> float:
    """The number of pairs of adjacent letters that two words share, as a fraction (0 to 1) of those of the shorter word."""
    pairs = [{f"<{word}>"[i : i + 2] for i in range(len(word) + 1)} for word in (one, other)]
    return len(pairs[0] & pairs[1]) / min(map(len, pairs))


def shared_with(
    new: Sequence[str], words: Sequence[str], nearest: Int[Tensor, "new k"]
) -> tuple[float, float]:
    """The mean of `shared_pairs` for new words and their nearest words (indices into `words`), and for new words and all words.

    Raises ValueError if a new word is one of the words.
    """
    if known := set(new) & set(words):
        raise ValueError(f"These words are not new: {', '.join(sorted(known))}.")
    near = [
        shared_pairs(word, words[i]) for word, row in zip(new, nearest.tolist(), strict=True) for i in row
    ]
    all_words = [shared_pairs(word, other) for word in new for other in words]
    return sum(near) / len(near), sum(all_words) / len(all_words)
