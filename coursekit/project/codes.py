"""What the cases of the project's checks contain, and what the codes mean that the checks return. Needs no torch."""

import zlib
from collections.abc import Mapping

import numpy as np

CODE = "code."
"""The prefix of the implementations among the inputs of a case, of the function and a number: "code.split 3"."""


def packed(source: str) -> np.ndarray:
    """Source code as an input of a case: compressed bytes."""
    return np.frombuffer(zlib.compress(source.strip().encode()), np.uint8).copy()


def named(arrays: Mapping[str, np.ndarray], case: Mapping) -> dict[str, np.ndarray]:
    """Whether each implementation is rejected, under its name, which the student's process does not know."""
    verdicts = {}
    for number, one in arrays.items():
        function, _, what = case["_names"].get(number, number).partition(": ")
        verdicts[f"test_{function} rejects “{what}”" if what else number] = one
    return verdicts


BELOW_UNIGRAM = {
    "inputs": "no input has a code of its own",
    "last 2": "Your function does not change the model's weights. Does it call loss.backward() and optimiser.step()?",
    "last 3": "The held-out loss is now higher than that of a uniform distribution, so training moves the model in the wrong direction. Look at the sign of the loss and at the learning rate.",
    "last 4": "The model now predicts the token that it has just read. The target at position t is the token at t + 1.",
    "last 5": "The model now predicts the token before the one that it has just read. The target at position t is the token at t + 1.",
    "last 6": "The model now predicts the token after the next one. Shift the targets by one position only.",
    "last 7": "Your windows come from only a part of the training text, or are the same at each step. Draw their starts from the whole text, and anew at each step.",
    "last 8": "The model was called more often than there are steps: one batch for each step.",
    "last 9": "Return a tensor that contains one loss for each step: its shape is (steps).",
    "last 10": "The returned losses are not the mean cross-entropies of your batches in nats per token. Return, for each step, the mean over all positions of its batch.",
    "last 11": "The held-out loss is not below that of the unigram baseline. Use Adam or AdamW with a learning rate of 0.003 to 0.01.",
    "last 12": "The model was called less often than there are steps: take one batch for each step.",
    "last 13": "The gradients of all steps add up in your loop, because nothing sets them to zero. Call optimiser.zero_grad() at each step.",
    "last 14": "The loss at most of the T positions does not count in your training. Take the mean cross-entropy at all positions, not only at the last one.",
    "last 15": "Your function does not minimise the cross-entropy of the next tokens, as the gradient at the logits shows. Give cross_entropy the logits themselves, because it computes the softmax, and the tokens at t + 1 as targets.",
    "last 16": "Some of the T positions never count in your loss. Draw windows of T + 1 tokens: the model reads the first T, and the last T are the targets.",
    "last 17": "Your batches are too large for the check, which has to read them, too: 16 windows in each step are enough.",
    "last": "The check could not read its own result.",
}  # fmt: skip
"""What the codes of `measuring.measured` mean; with 0, everything is fine."""
