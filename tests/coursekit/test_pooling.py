"""Vectors of texts come back in the order of the texts."""

import torch

from coursekit.pooling import in_batches
from coursekit.retrieved_answers import added


def test_texts_are_read_by_length_and_their_vectors_come_in_the_order_of_the_texts():
    texts = ["x" * (37 * n % 100 + 1) for n in range(70)]
    batches = []

    def lengths(some: list[str]) -> torch.Tensor:
        batches.append([len(text) for text in some])
        return torch.tensor([[float(len(text))] for text in some])

    assert in_batches(lengths, texts).flatten().tolist() == [len(text) for text in texts]
    assert sum(batches, []) == sorted(map(len, texts)) and max(map(len, batches)) == 32


def test_an_answer_adds_the_words_that_are_not_in_the_question():
    assert added("Padding is a token", "what is padding", lambda text: text.lower().split()) == "a token"
