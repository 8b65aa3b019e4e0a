"""Attention with planted faults, for those who test it: 15 wrong implementations, 3 right but unusual ones.

All take queries [B, Tq, d], keys [B, Tk, d], values [B, Tk, dv] and keep [B, Tq, Tk], as the attention of notebook 02 does.
"""

import numpy as np
from jaxtyping import Bool, Float

from coursekit.planted import Planted, Task

Scores = Float[np.ndarray, "B Tq Tk"]


def truth(queries, keys, values, keep) -> Float[np.ndarray, "B Tq dv"]:
    """Scaled dot-product attention in float64. A query that may attend to no key gets zeros."""
    return attend(scores(queries, keys), keep, values)


def scores(queries, keys) -> Scores:
    """Scaled dot products of all queries with all keys, [B, Tq, Tk] (Vaswani et al., 2017, equation 1)."""
    return queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1])


def hide(scores: Scores, keep: Bool[np.ndarray, "B Tq Tk"], fill: float = -np.inf) -> Scores:
    """The scores with `fill` wherever `keep` is False."""
    return np.where(keep, scores, fill)


def softmax(scores: Scores, axis: int = -1) -> Scores:
    """Along an axis; zeros where everything is hidden."""
    largest = scores.max(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total > 0, total, 1)


def attend(scores: Scores, keep: Bool[np.ndarray, "B Tq Tk"], values) -> Float[np.ndarray, "B Tq dv"]:
    """Values averaged with the softmax of the scores that `keep` leaves visible, [B, Tq, dv]."""
    return softmax(hide(scores, keep)) @ values


# ------------------------------------------------------------------------------------------ faults

SCALE, SHAPE, HIDDEN, WHOSE, EXTREME = (
    "how strongly scores differ from one another",
    "which weights add up to 1",
    "keys that are masked",
    "masks that differ between queries and between the sequences of a batch",
    "queries for which all keys are masked, and scores for which exp overflows",
)


def not_scaled(queries, keys, values, keep):
    """Wrong: the dot products are not divided by √d."""
    return attend(queries @ keys.swapaxes(1, 2), keep, values)


def divided_by_d(queries, keys, values, keep):
    """Wrong: the dot products are divided by d instead of √d."""
    return attend(queries @ keys.swapaxes(1, 2) / queries.shape[-1], keep, values)


def even_weights(queries, keys, values, keep):
    """Wrong: uniform attention to all visible keys, whatever their scores."""
    return attend(np.zeros(keep.shape), keep, values)


def best_key_only(queries, keys, values, keep):
    """Wrong: hard attention; only the keys with the highest score get any weight."""
    hidden = hide(scores(queries, keys), keep)
    best = hidden == hidden.max(axis=-1, keepdims=True)
    return attend(np.where(best, 0, -np.inf), keep, values)


def softmax_over_queries(queries, keys, values, keep):
    """Wrong: the softmax is taken over the queries, not over the keys."""
    return softmax(hide(scores(queries, keys), keep), axis=1) @ values


def weights_not_divided_by_their_sum(queries, keys, values, keep):
    """Wrong: the exponentials are used as weights without normalising them."""
    hidden = hide(scores(queries, keys), keep)
    return np.exp(hidden) @ values


def mask_ignored(queries, keys, values, keep):
    """Wrong: every query attends to every key."""
    return attend(scores(queries, keys), np.ones_like(keep), values)


def mask_inverted(queries, keys, values, keep):
    """Wrong: each query attends to exactly the keys that it may not see."""
    return attend(scores(queries, keys), ~keep, values)


def mask_after_softmax(queries, keys, values, keep):
    """Wrong: hidden keys are set to zero after the softmax, so the weights no longer add up to 1."""
    return softmax(scores(queries, keys)) * keep @ values


def hidden_scores_zero(queries, keys, values, keep):
    """Wrong: hidden scores are set to 0 instead of −∞, so hidden keys still get weight."""
    return softmax(hide(scores(queries, keys), keep, fill=0.0)) * keep.any(axis=-1, keepdims=True) @ values


def first_mask_for_all_rows(queries, keys, values, keep):
    """Wrong: the mask of the first sequence is used for the whole batch."""
    return attend(scores(queries, keys), np.broadcast_to(keep[:1], keep.shape), values)


def first_query_s_mask_for_all(queries, keys, values, keep):
    """Wrong: the mask of the first query is used for every query of the sequence."""
    return attend(scores(queries, keys), np.broadcast_to(keep[:, :1], keep.shape), values)


def exp_overflows(queries, keys, values, keep):
    """Wrong for large scores: the maximum is not subtracted, so exp overflows in float32."""
    exponentials = np.exp(scores(queries, keys).astype(np.float32)) * keep
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total) @ values


def mean_where_nothing_is_seen(queries, keys, values, keep):
    """Wrong where all keys are hidden: returns the mean of the values instead of zeros."""
    return softmax(hide(scores(queries, keys), keep, fill=np.finfo(np.float64).min)) @ values


def nan_where_nothing_is_seen(queries, keys, values, keep):
    """Wrong where all keys are hidden: returns NaN (0 / 0) instead of zeros."""
    hidden = hide(scores(queries, keys), keep)
    exponentials = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ values


# ------------------------------------------------------------------------------------------ right, but unusual


def query_by_query(queries, keys, values, keep):
    """Right: a loop over the queries that reads only the keys each may see."""
    out = np.zeros((*queries.shape[:2], values.shape[-1]))
    for b, q in np.ndindex(*queries.shape[:2]):
        seen = keep[b, q]
        if seen.any():
            score = keys[b, seen] @ queries[b, q] / np.sqrt(queries.shape[-1])
            weight = np.exp(score - score.max())
            out[b, q] = weight @ values[b, seen] / weight.sum()
    return out


def float32_scaled_first(queries, keys, values, keep):
    """Right: computed in float32, with the queries scaled before the dot product."""
    small = (queries / np.sqrt(queries.shape[-1])).astype(np.float32)
    return attend(small @ keys.astype(np.float32).swapaxes(1, 2), keep, values.astype(np.float32))


def filled_with_minus_a_billion(queries, keys, values, keep):
    """Right: in float32, with hidden scores at −10⁹ and their weights set to zero afterwards."""
    score = scores(queries.astype(np.float32), keys.astype(np.float32))
    return softmax(hide(score, keep, fill=-1e9)) * keep @ values.astype(np.float32)


TASK = Task(
    truth=truth,
    yes_or_no=frozenset({"keep"}),
    largest=1e6,
    practice=(
        Planted("scores not scaled", SCALE, not_scaled),
        Planted("scores divided by d", SCALE, divided_by_d),
        Planted("the same weight for every key", SCALE, even_weights),
        Planted("all weight on the best key", SCALE, best_key_only),
        Planted("softmax over the queries", SHAPE, softmax_over_queries),
        Planted("weights not divided by their sum", SHAPE, weights_not_divided_by_their_sum),
        Planted("mask ignored", HIDDEN, mask_ignored),
        Planted("mask inverted", HIDDEN, mask_inverted),
        Planted("mask after the softmax", HIDDEN, mask_after_softmax),
        Planted("hidden scores set to 0", HIDDEN, hidden_scores_zero),
        Planted("the first sequence's mask for the whole batch", WHOSE, first_mask_for_all_rows),
        Planted("the first query's mask for all queries", WHOSE, first_query_s_mask_for_all),
        Planted("exp overflows", EXTREME, exp_overflows),
        Planted("mean of the values where all keys are hidden", EXTREME, mean_where_nothing_is_seen),
        Planted("NaN where all keys are hidden", EXTREME, nan_where_nothing_is_seen),
        Planted("right: query by query, over the visible keys", "", query_by_query, right=True),
        Planted("right: float32, queries scaled first", "", float32_scaled_first, right=True),
        Planted("right: hidden scores −10⁹, float32", "", filled_with_minus_a_billion, right=True),
    ),
)
