"""A published tokenizer's merges, applied in the order in which they were learned."""

from itertools import pairwise

import pytest

from coursekit.byte_tokens import bytes_of, read_merges
from coursekit.models import tokenizer

pytestmark = pytest.mark.slow


def bpe_encode(word, merges):
    place = {pair: i for i, pair in enumerate(merges)}
    ids = list(word.encode())
    while pairs := [pair for pair in pairwise(ids) if pair in place]:
        first = min(pairs, key=place.get)
        at = next(i for i, pair in enumerate(pairwise(ids)) if pair == first)
        ids[at : at + 2] = [256 + place[first]]
    return ids


@pytest.fixture(scope="module")
def smollm2():
    return read_merges(tokenizer("SmolLM2-135M-Instruct"))


def test_a_space_is_written_as_a_visible_sign():
    assert bytes_of("Ġcell") == b" cell" and bytes_of("Ã©") == "é".encode()


def test_the_ids_are_the_published_ones(smollm2):
    for text in ("The prisoner sat in a dark cell.", "café 細胞"):
        assert smollm2.encode(text, bpe_encode) == smollm2.published(text, add_special_tokens=False).input_ids


def test_each_stage_is_the_word_and_the_last_has_its_tokens(smollm2):
    stages = smollm2.stages(" cells", bpe_encode)
    assert stages[0] == [bytes([byte]) for byte in b" cells"] and len(stages) > 2
    assert all(b"".join(tokens) == b" cells" for tokens in stages)
    assert len(stages[-1]) == len(bpe_encode(" cells", smollm2.merges))
    assert all(len(after) < len(before) for before, after in pairwise(stages))
