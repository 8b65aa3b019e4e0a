"""docs/bugs: each example shows its bug, and each test catches it and lets the right code pass."""

import contextlib
import inspect
import io
import re
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from autograder.source import grade_id
from tests.conftest import ASSIGNMENTS, ROOT, release_of

FOLDER = ROOT / "docs" / "bugs"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "index.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cbow_gradient(contexts, target):
    return ((torch.sigmoid(contexts.mean(dim=0) @ target) - 1) * target / len(contexts)).expand_as(contexts)


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).flatten(0, 1)


def leakless(x, layers):
    for _ in range(layers):
        x = x.cumsum(dim=1)
    return x


def words_of(subwords, spans, words):
    return [
        next(i for i, (begin, end) in enumerate(words) if begin <= first and last <= end)
        for first, last in spans
    ]


def subword_tags(word_ids, tags):
    before = [None, *word_ids]
    return [
        None if word is None else tags[word].replace("B-", "I-") if word == before[i] else tags[word]
        for i, word in enumerate(word_ids)
    ]


def spearman(a, b):
    ranks = [(x[:, None] > x).sum(dim=1) + (x[:, None] == x).sum(dim=1) / 2 for x in (a, b)]
    return torch.corrcoef(torch.stack(ranks).double())[0, 1]


FIXED = {
    "01_gradient_of_cbow": cbow_gradient,
    "02_heads_without_a_transpose": split_heads,
    "03_positions_of_sentences": lambda ids, words, positions: words[ids] + positions[: ids.shape[1]],
    "03_standard_deviation": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
    "04_cross_attention_mask": lambda source, target: source[:, None].expand(-1, target.shape[1], -1),
    "05_leak_between_directions": leakless,
    "06_one_label_two_meanings": cross_entropy,
    "07_end_of_text_as_padding": lambda ids, end: ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100),
    "08_words_by_hash_signs": words_of,
    "09_mean_of_means": lambda parts: torch.cat(parts).mean(),
    "10_entities_from_subwords": subword_tags,
    "11_mean_over_padding": lambda hidden, keep: (hidden * keep[..., None]).sum(1) / keep.sum(1)[:, None],
    "11_ranks_by_argsort": spearman,
    "12_answers_of_several_machines": lambda gathered, items: gathered.T.flatten()[:items],
    "13_two_conventions_of_rotation": lambda weight: torch.cat([weight[::2], weight[1::2]]),
    "14_adapter_left_behind": lambda base, A, B: base + B @ A,
    "14_packed_conversations": lambda segments: (segments[:, None] == segments).tril(),
}
"""They are not on the pages: students write them."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_shows_the_bug_and_the_test_catches_it(page: Path):
    (_, example), (_, printed), (_, test) = BLOCK.findall(page.read_text(encoding="utf-8"))
    names, output = {}, io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(example, names)
    assert output.getvalue() == printed
    exec(test, names)
    (function,) = inspect.signature(names["test"]).parameters
    with pytest.raises(AssertionError):
        names["test"](names[function])
    names["test"](FIXED[page.stem])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_leads_to_its_notebook_and_the_index_to_the_page(page: Path):
    text = page.read_text(encoding="utf-8")
    (notebook,) = re.findall(r"\]\((\.\./\.\./notebooks/\S+\.ipynb)\)", text)
    assert (FOLDER / notebook).resolve().exists() and f"[{page.name[:2]}]" in text
    title = re.search(r"^# (.*)$", text, re.MULTILINE)[1]
    assert f"[{title}]({page.name})" in (FOLDER / "index.md").read_text(encoding="utf-8")


CHECKS = {
    "01_gradient_of_cbow": "static-cbow_gradient-check",
    "02_heads_without_a_transpose": "attention-mended_heads-check",
    "03_positions_of_sentences": "transformer-mended_positions-check",
    "04_cross_attention_mask": "recurrence-mended_cross_mask-check",
    "05_leak_between_directions": "elmo-two_stacks-check",
    "06_one_label_two_meanings": "bert-pretraining_loss-check",
    "07_end_of_text_as_padding": "gpt-mended_labels-check",
    "08_words_by_hash_signs": "inside-mended_words-check",
    "09_mean_of_means": "fine_tuning-train_step-check",
    "10_entities_from_subwords": "applications-mended_piece_labels-check",
    "11_ranks_by_argsort": "sentences-spearman-check",
    "12_answers_of_several_machines": "comparison-mended_answers-check",
    "13_two_conventions_of_rotation": "decoders-mended_rows-check",
    "14_adapter_left_behind": "assistant-mended_unload-check",
    "14_packed_conversations": "assistant-pack-check",
}
"""The exercise in which each bug is fixed."""
ONLY_SHOWN = {
    "03_standard_deviation": "transformer-layer_norm-check",
    "11_mean_over_padding": "",
}
"""Bugs without an exercise of their own, and the check after which they are shown, if any."""


@pytest.mark.parametrize("page", CHECKS | ONLY_SHOWN)
def test_the_notebook_leads_to_the_page_once_and_after_the_check(page: str):
    """The page says what is wrong, which the exercise asks."""
    (name,) = (name for name in ASSIGNMENTS if name.startswith(page[:3]))
    cells = release_of(name).cells
    (linked,) = (place for place, cell in enumerate(cells) if f"(../../docs/bugs/{page}.md)" in cell.source)
    check = (CHECKS | ONLY_SHOWN)[page]
    assert cells[linked].cell_type == "markdown"
    assert not check or check in [grade_id(cell) for cell in cells[:linked]]
