"""Byte-level merges of a published tokeniser, with the ids of notebook 13: bytes are 0 to 255, and merge i is 256 + i."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

Encode = Callable[[str, list[tuple[int, int]]], list[int]]
"""bpe_encode(word, merges) returns the tokens of a word."""

# GPT-2 represents each byte by a visible character: the character with the same number if it is visible, otherwise a
# character numbered from 256.
VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
SIGNS = {chr(byte): byte for byte in VISIBLE} | {chr(256 + place): byte for place, byte in enumerate(HIDDEN)}


def bytes_of(signs: str) -> bytes:
    """The bytes of a token as GPT-2's files write it."""
    return bytes(SIGNS[sign] for sign in signs)


@dataclass(frozen=True)
class ByteMerges:
    """The merges of a published tokeniser in the order in which they were learned.

    contents   the bytes of each of our ids
    their_id   the published id of each of our ids
    """

    published: PreTrainedTokenizerBase
    merges: list[tuple[int, int]]
    contents: dict[int, bytes]
    their_id: dict[int, int]

    def encode(self, text: str, bpe_encode: Encode) -> list[int]:
        """The published token ids of a text, whose words are tokenised by `bpe_encode`."""
        split = self.published.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
        words = [bytes_of(piece).decode() for piece, _ in split]
        return [self.their_id[token] for word in words for token in bpe_encode(word, self.merges)]

    def stages(self, word: str, bpe_encode: Encode) -> list[list[bytes]]:
        """The bytes of a word, then its tokens after each merge that changed them."""
        rows = [list(word.encode())]
        for end in sorted({token - 255 for token in self._all_tokens(word, bpe_encode) if token > 255}):
            row = bpe_encode(word, self.merges[:end])
            if row != rows[-1]:
                rows.append(row)
        return [[self.contents[token] for token in row] for row in rows]

    def _all_tokens(self, word: str, bpe_encode: Encode) -> set[int]:
        """The tokens of a word and all tokens from which they were merged."""
        found, todo = set(), bpe_encode(word, self.merges)
        while todo:
            token = todo.pop()
            found.add(token)
            if token > 255:
                todo += self.merges[token - 256]
        return found


def read_merges(published: PreTrainedTokenizerBase) -> ByteMerges:
    """The merges of a tokeniser in GPT-2's format, in which tokens are strings with ids of their own."""
    backend = published.backend_tokenizer
    own_id = {bytes([byte]): byte for byte in range(256)}  # a token's bytes → our id
    merges = []
    for place, (left, right) in enumerate(json.loads(backend.to_str())["model"]["merges"]):
        first, second = bytes_of(left), bytes_of(right)
        merges.append((own_id[first], own_id[second]))
        own_id[first + second] = 256 + place
    their_id = {
        own_id[bytes_of(token)]: number
        for token, number in backend.get_vocab(with_added_tokens=False).items()
        if set(token) <= set(SIGNS) and bytes_of(token) in own_id
    }
    return ByteMerges(published, merges, {number: content for content, number in own_id.items()}, their_id)
