"""Attention with more planted faults, which students cannot read: 14 wrong implementations, 4 right but unusual ones."""

import numpy as np

from coursekit.planted import Planted
from coursekit.planted.attention import (
    EXTREME,
    HIDDEN,
    SCALE,
    SHAPE,
    WHOSE,
    attend,
    hide,
    scores,
    softmax,
)

# ------------------------------------------------------------------------------------------ faults


def scaled_by_the_number_of_keys(queries, keys, values, keep):
    return attend(queries @ keys.swapaxes(1, 2) / np.sqrt(keys.shape[1]), keep, values)


def cosines(queries, keys, values, keep):
    unit = (x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12) for x in (queries, keys))
    return attend(np.matmul(*(x if i == 0 else x.swapaxes(1, 2) for i, x in enumerate(unit))), keep, values)


def negative_scores_cut(queries, keys, values, keep):
    return attend(np.maximum(scores(queries, keys), 0), keep, values)


def base_two(queries, keys, values, keep):
    return attend(scores(queries, keys) * np.log(2), keep, values)


def scores_clipped(queries, keys, values, keep):
    return attend(np.clip(scores(queries, keys), -50, 50), keep, values)


def sums_to_one_over_the_batch(queries, keys, values, keep):
    weights = softmax(hide(scores(queries, keys), keep))
    return weights / np.maximum(weights.sum(axis=0, keepdims=True), 1e-12) @ values


def minus_ten_for_hidden(queries, keys, values, keep):
    filled = softmax(hide(scores(queries, keys), keep, fill=-10.0))
    return filled * keep.any(axis=-1, keepdims=True) @ values


def later_keys_hidden_too(queries, keys, values, keep):
    later = np.triu(np.ones(keep.shape[1:], bool), 1)
    return attend(scores(queries, keys), keep & ~later, values)


def last_key_forgotten(queries, keys, values, keep):
    without = keep.copy()
    without[:, :, -1] = False
    return attend(scores(queries, keys), without, values)


def seen_by_one_seen_by_all(queries, keys, values, keep):
    everywhere = np.broadcast_to(keep.any(axis=1, keepdims=True), keep.shape)
    return attend(scores(queries, keys), everywhere, values)


def hidden_from_one_hidden_from_all(queries, keys, values, keep):
    everywhere = np.broadcast_to(keep.all(axis=1, keepdims=True), keep.shape)
    return attend(scores(queries, keys), everywhere, values)


def masks_shifted_by_a_row(queries, keys, values, keep):
    return attend(scores(queries, keys), np.roll(keep, 1, axis=0), values)


def largest_score_of_hidden_keys_too(queries, keys, values, keep):
    score = scores(queries, keys)
    exponentials = np.exp((score - score.max(axis=-1, keepdims=True)).astype(np.float32)) * keep
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total > 0, total, 1) @ values


def small_number_in_the_denominator(queries, keys, values, keep):
    exponentials = np.exp(np.minimum(scores(queries, keys), 80)) * keep
    return exponentials / (exponentials.sum(axis=-1, keepdims=True) + 1e-9) @ values


# ------------------------------------------------------------------------------------------ right, but unusual


def key_by_key(queries, keys, values, keep):
    """The weighted sum computed one key at a time, as fast attention kernels do (Milakov and Gimelshein, 2018)."""
    shape = queries.shape[:2]
    largest, total = np.full(shape, -np.inf), np.zeros(shape)
    out = np.zeros((*shape, values.shape[-1]))
    for j in range(keys.shape[1]):
        score = (queries @ keys[:, j, :, None])[..., 0] / np.sqrt(queries.shape[-1])
        score = np.where(keep[:, :, j], score, -np.inf)
        new = np.maximum(largest, score)
        base = np.where(np.isfinite(new), new, 0)
        old, own = np.exp(largest - base), np.exp(score - base)
        out = out * old[..., None] + own[..., None] * values[:, None, j]
        total, largest = total * old + own, new
    return out / np.where(total > 0, total, 1)[..., None]


def half_of_the_scale_each(queries, keys, values, keep):
    root = np.float32(queries.shape[-1] ** 0.25)
    return attend((queries.astype(np.float32) / root) @ (keys.astype(np.float32) / root).swapaxes(1, 2), keep, values)  # fmt: skip


def keys_in_another_order(queries, keys, values, keep):
    return attend(scores(queries, keys[:, ::-1].astype(np.float32)), keep[:, :, ::-1], values[:, ::-1])


def powers_of_two(queries, keys, values, keep):
    score = hide(scores(queries, keys).astype(np.float32) * np.float32(1 / np.log(2)), keep)
    largest = score.max(axis=-1, keepdims=True)
    powers = np.exp2(score - np.where(np.isfinite(largest), largest, 0))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total > 0, total, 1) @ values


UNSEEN = (
    Planted("scaled by the number of keys", SCALE, scaled_by_the_number_of_keys),
    Planted("cosines instead of dot products", SCALE, cosines),
    Planted("negative scores set to 0", SCALE, negative_scores_cut),
    Planted("powers of 2 instead of e", SCALE, base_two),
    Planted("scores clipped at 50", EXTREME, scores_clipped),
    Planted("weights add up to 1 over the batch", SHAPE, sums_to_one_over_the_batch),
    Planted("hidden scores set to −10", HIDDEN, minus_ten_for_hidden),
    Planted("later keys hidden as well", HIDDEN, later_keys_hidden_too),
    Planted("last key always hidden", HIDDEN, last_key_forgotten),
    Planted("every query sees what any query may see", WHOSE, seen_by_one_seen_by_all),
    Planted("keys hidden from one query hidden from all", WHOSE, hidden_from_one_hidden_from_all),
    Planted("masks shifted by one row of the batch", WHOSE, masks_shifted_by_a_row),
    Planted("the largest of all scores subtracted, hidden ones too", EXTREME, largest_score_of_hidden_keys_too),
    Planted("a small number in the denominator, scores clipped at 80", EXTREME, small_number_in_the_denominator),
    Planted("right: key by key", "", key_by_key, right=True),
    Planted("right: half of the scale on each side, float32", "", half_of_the_scale_each, right=True),
    Planted("right: keys in another order", "", keys_in_another_order, right=True),
    Planted("right: powers of 2 with the scale adapted", "", powers_of_two, right=True),
)  # fmt: skip
