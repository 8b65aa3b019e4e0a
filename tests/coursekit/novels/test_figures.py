"""Losses and gaps of tiny models on the made-up shelf: what is counted is what a loop by hand would count."""

import numpy as np
import pytest
import torch

from coursekit.novels import figures
from coursekit.novels.corpus import ROW, WORDS, Ragged
from coursekit.novels.kneser_ney import KneserNey
from coursekit.novels.recipes import build_bert, build_elmo, build_gpt, spelling_of
from coursekit.small.bert import BOS, EOS, MASK
from tests.coursekit.novels.texts import TINY, TINY_ELMO


@pytest.mark.slow
def test_a_row_s_loss_is_the_sum_over_its_pieces(corpus):
    model = build_gpt(corpus, **TINY).eval()
    found = figures.losses_of_gpt(model, corpus, "test", [1, 0])
    for loss, number in zip(found, (1, 0), strict=True):
        ids = torch.tensor([[BOS, *map(int, corpus.rows("test")[number])]])
        log_p = model(ids).logits[0, :-1].log_softmax(dim=1)
        assert loss == pytest.approx(-log_p.gather(1, ids[0, 1:, None]).sum().item(), rel=1e-5)


def test_elmo_pays_for_each_word_in_both_directions(corpus):
    model = build_elmo(corpus, **TINY_ELMO).eval()
    (left, right), (end, beginning) = figures.losses_of_elmo(model, spelling_of(corpus), corpus, "test", [0])
    row = corpus.word_rows("test")[0]
    ids = torch.tensor([[BOS, *map(int, row), EOS]])
    output = model(spelling_of(corpus).of_ids(ids), ids != 0)
    after, before = (
        logits[0].log_softmax(dim=1) for logits in (output.forward_logits, output.backward_logits)
    )
    places = range(len(row))  # neither the end nor the beginning is a word
    assert left[0] == pytest.approx(-sum(after[at, row[at]].item() for at in places), rel=1e-5)
    assert right[0] == pytest.approx(-sum(before[at + 2, row[at]].item() for at in places), rel=1e-5)
    assert end[0] == pytest.approx(-after[len(row), EOS].item(), rel=1e-5)
    assert beginning[0] == pytest.approx(-before[1, BOS].item(), rel=1e-5)


def test_elmo_fills_a_gap_without_reading_its_word(corpus):
    model, spelling = (
        build_elmo(corpus, **TINY_ELMO).eval(),
        spelling_of(corpus),
    )
    gaps = figures.draw_gaps(corpus, "test", 8, str.isalpha)
    counts = KneserNey(figures.stream(corpus.word_rows("train"), WORDS), WORDS, 1)
    prior = counts.log_p(np.arange(model.config.vocabulary))
    found = figures.gaps_of_elmo(model, spelling, corpus, "test", gaps, prior)
    with torch.no_grad():
        for at, gap in enumerate(gaps):
            row = [int(word) for word in corpus.word_rows("test")[gap.row]]
            row[gap.place] = 7  # another word there changes nothing
            ids = torch.tensor([[BOS, *row, EOS]])
            output = model(spelling.of_ids(ids), ids != 0)
            before = output.forward_logits[0, gap.place].log_softmax(dim=0)
            after = output.backward_logits[0, gap.place + 2].log_softmax(dim=0)
            possible = torch.from_numpy(np.isfinite(prior))
            p = torch.where(possible, (before + after - torch.from_numpy(prior).float()).exp(), 0.0)
            both = (p / p.sum()).log()
            for side, log_p in (("left", before), ("right", after), ("both", both)):
                ranks, nats = found[side]
                assert nats[at] == pytest.approx(-log_p[gap.word].item(), abs=1e-4)
                assert abs(ranks[at] - (log_p > log_p[gap.word]).sum().item()) <= 1


@pytest.mark.slow
def test_counts_of_one_side_do_not_see_the_other(corpus):
    counts = KneserNey(figures.stream(corpus.word_rows("train"), WORDS), WORDS, 3)
    (gap,) = figures.draw_gaps(corpus, "test", 1, str.isalpha)
    row = [int(word) for word in corpus.word_rows("test")[gap.row]]
    _, left = figures.gaps_of_counts(counts, corpus, "test", [gap], "left")
    whole = np.array([BOS, *row[: gap.place], gap.word])
    expected = counts.log_p(np.array([[*whole[:-1], word] for word in range(WORDS)]))[:, -1]
    assert left[0] == pytest.approx(np.logaddexp.reduce(expected) - expected[gap.word], rel=1e-6)
    _, right = figures.gaps_of_counts(counts, corpus, "test", [gap], "right")
    after = row[gap.place + 1 : gap.place + 3]
    expected = counts.log_p(np.array([[word, *after] for word in range(WORDS)])).sum(axis=1)
    assert right[0] == pytest.approx(np.logaddexp.reduce(expected) - expected[gap.word], rel=1e-6)


def test_a_stream_begins_each_row_anew():
    rows = Ragged(np.array([7, 8, 9, 7]), np.array([2, 3, 4]))
    assert figures.stream(rows).tolist() == [BOS, 7, 8, BOS, 9, BOS, 7]
    assert figures.stream(rows, most=9).tolist() == [BOS, 7, 8, BOS, 4, BOS, 7]


@pytest.mark.parametrize(("before", "after"), [(3, 4), (200, 4), (4, 200), (200, 200), (0, 0)])
def test_a_long_row_is_cut_around_its_gap(before, after):
    words = [*["left"] * before, "gap", *["right"] * after]
    row = figures.with_gap(words, before, lambda word: [1 if word == "left" else 2], mask=99)
    assert len(row) == min(ROW, before + after + 1) and row.count(99) == 1
    assert row == sorted(row[: row.index(99)]) + [99] + [2] * (len(row) - row.index(99) - 1)
    if before > ROW and after > ROW:
        assert row.index(99) == ROW // 2


def test_gaps_are_words_that_fit_and_each_row_has_at_most_one(corpus):
    gaps = figures.draw_gaps(corpus, "test", 8, lambda word: len(word) > 3)
    assert len({gap.row for gap in gaps}) == len(gaps) == 8
    for gap in gaps:
        word = corpus.words[gap.word]
        assert corpus.word_rows("test")[gap.row][gap.place] == gap.word and len(word) > 3 and word.isalpha()


def test_a_bert_that_names_the_right_word_has_rank_0(corpus):
    model = build_bert(corpus, **TINY).eval()

    def in_one_piece(word: str) -> bool:
        return len(corpus.tokenizer.encode(word, add_special_tokens=False).ids) == 1

    gaps = figures.draw_gaps(corpus, "test", 6, in_one_piece)
    ranks, nats = figures.gaps_of_bert(model, corpus, "test", gaps)
    assert (nats > 0).all() and ranks.max() < corpus.tokenizer.get_vocab_size()
    right = corpus.tokenizer.token_to_id(corpus.words[gaps[0].word])
    with torch.no_grad():
        model.masked_word.bias[right] = 100.0  # now it says this word everywhere
    ranks, nats = figures.gaps_of_bert(model, corpus, "test", gaps)
    assert ranks[0] == 0 and nats[0] == pytest.approx(0, abs=1e-4)
    assert all((rank == 0) == (gap.word == gaps[0].word) for rank, gap in zip(ranks, gaps, strict=True))
    assert MASK not in [gap.word for gap in gaps]


def test_counts_that_see_both_sides_find_what_only_the_right_side_tells(corpus):
    number = {word: place for place, word in enumerate(corpus.words)}
    model = KneserNey(figures.stream(corpus.word_rows("train"), WORDS), WORDS, order=3)
    rows = corpus.word_rows("test")
    bank = next(
        figures.Gap(row, place, number["bank"])
        for row in range(len(rows))
        for place in range(len(rows[row]) - 1)
        if [corpus.words[word] for word in rows[row][place : place + 2]] == ["bank", "of"]
    )
    ranks, nats = figures.gaps_of_counts(model, corpus, "test", [bank])
    assert ranks[0] == 0 and nats[0] < 0.5
    assert EOS not in rows[bank.row]
