"""Opinions that a decoder classifies from its prompt, without examples or with a few solved ones."""

from collections.abc import Callable, Sequence
from copy import deepcopy

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.intervals import wilson
from coursekit.models.loading import Loaded

Demos = Sequence[tuple[str, str]]
"""Solved examples: texts and labels."""
SWAPPED = {"positive": "negative", "negative": "positive"}
WITHOUT_TEXT = ["N/A", "...", ""]
"""Empty texts, whose mean score is the threshold of the calibrated answers (Zhao et al., 2021)."""


def opinions() -> tuple[pd.DataFrame, pd.DataFrame]:
    """(pool, questions): the 24 texts that serve as examples, one of each label for each subject, and the 96 others."""
    table = read_table("opinions/opinions.csv")
    in_pool = table.groupby(["subject", "label"]).cumcount() == 0
    return table[in_pool], table[~in_pool]


def draw_demos(pool: pd.DataFrame, seed: int, count: int = 8) -> list[tuple[str, str]]:
    """Texts and labels from the pool: each consecutive pair contains both labels, in random order."""
    rng = np.random.default_rng(seed)
    drawn = [pool[pool.label == label].iloc[rng.permutation(12)[: count // 2]] for label in SWAPPED]
    pairs = zip(*(part[["text", "label"]].itertuples(index=False, name=None) for part in drawn), strict=True)
    return [demo for pair in pairs for demo in (pair if rng.random() < 0.5 else pair[::-1])]


@torch.no_grad()
def leaning(
    loaded: Loaded, few_shot_prompt: Callable[..., Tensor], demos: Demos, texts: Sequence[str], rows: int = 32
) -> Float[Tensor, " texts"]:
    """log p(positive) − log p(negative) after each text's prompt. The examples are processed once.

    few_shot_prompt(demos, query, mark, end) returns the ids of a prompt; the texts are processed in batches of `rows`.
    """

    def ids(text: str) -> list[int]:
        return loaded.tokenizer(text, add_special_tokens=False).input_ids

    mark, end = torch.tensor(ids("\nSentiment:")), torch.tensor(ids("\n\n"))
    labels = {label: ids(f" {label}") for label in SWAPPED}
    solved = [(ids(f"Review: {text}"), labels[label]) for text, label in demos]
    prompts = [few_shot_prompt(solved, ids(f"Review: {text}"), mark, end) for text in texts]
    shared = sum(len(text) + len(mark) + len(label) + len(end) for text, label in solved)
    cache, found = None, []
    if shared:
        read = loaded.model(prompts[0][None, :shared], use_cache=True, logits_to_keep=1)
        cache = read.past_key_values
    for some in (prompts[start : start + rows] for start in range(0, len(prompts), rows)):
        last = torch.tensor([len(prompt) - shared - 1 for prompt in some])
        own = torch.nn.utils.rnn.pad_sequence([prompt[shared:] for prompt in some], batch_first=True)
        copied = deepcopy(cache)  # a cache stores every token passed to it
        if copied is not None:
            copied.batch_repeat_interleave(len(some))
        output = loaded.model.model(own, past_key_values=copied, use_cache=bool(shared))
        hidden = output.last_hidden_state[torch.arange(len(some)), last]
        logits = loaded.model.lm_head(hidden).double()
        found.append(logits[:, labels["positive"][0]] - logits[:, labels["negative"][0]])
    return torch.cat(found)


def scores(
    lean: Float[Tensor, " texts"], empty: float, positive: Bool[np.ndarray, " texts"]
) -> dict[str, float]:
    """The accuracy, the calibrated accuracy (threshold from empty texts), the AUC, and the fraction answered "positive"."""
    leans = lean.numpy()
    return {
        "accuracy": ((leans > 0) == positive).mean(),
        "accuracy, calibrated": ((leans > empty) == positive).mean(),
        "pairs in order": (leans[positive][:, None] > leans[~positive]).mean(),
        "answered positive": (leans > 0).mean(),
    }


def scores_by_count(
    loaded: Loaded, few_shot_prompt: Callable[..., Tensor], demos: Demos, questions: pd.DataFrame, counts: Sequence[int]
) -> dict[int, dict[str, float]]:  # fmt: skip
    """`scores` on the questions, for each number of examples in the prompt."""
    positive, found = (questions.label == "positive").to_numpy(), {}
    for count in counts:
        lean = leaning(loaded, few_shot_prompt, demos[:count], questions.text.tolist() + WITHOUT_TEXT)
        empty = lean[len(questions) :].mean().item()
        found[count] = scores(lean[: len(questions)], empty, positive)
    return found


def baselines(recorded: pd.DataFrame, questions: pd.DataFrame) -> dict[str, tuple[float, float, float]]:
    """The accuracy and its interval of the "zero-shot" prompt, as recorded, and of a "bag of words" trained on other reviews."""
    reviews = read_table("sentiment/sentiment.csv")
    counted = CountVectorizer(binary=True).fit(reviews.text)
    bag = LogisticRegression(max_iter=1_000).fit(counted.transform(reviews.text), reviews.label)
    found = {
        "zero-shot": recorded.query("labels == 'right' and examples == 0 and measure == 'accuracy'").value.mean(),
        "bag of words": (bag.predict(counted.transform(questions.text)) == questions.label).mean(),
    }  # fmt: skip
    return {name: (share, *wilson(share, len(questions))) for name, share in found.items()}
