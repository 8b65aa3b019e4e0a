"""MiniLM's missing head: only what is new and the top moves, and rows of words become rows of BERT's pieces."""

import numpy as np
import pytest
import torch

from coursekit import pretrain
from coursekit.novels import missing_head
from coursekit.novels.corpus import ROW, Ragged, in_pieces
from coursekit.novels.recipes import NOVELS
from coursekit.small.recipes import weight_groups

pytestmark = pytest.mark.slow


def test_words_become_pieces_row_by_row_and_long_rows_are_cut():
    rows = Ragged(np.array([0, 1, 2, *[1] * 50]), np.array([2, 3, 53]))
    found = in_pieces(rows, [[7], [8, 9, 10], [11]])
    assert [found[row].tolist() for row in range(2)] == [[7, 8, 9, 10], [11]]
    assert found[2].tolist() == ([8, 9, 10] * 50)[:ROW] and len(found) == 3


def test_rows_are_what_the_packaged_tokenizer_makes_of_the_text(corpus):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(missing_head.MINILM.package.folder())
    text = corpus.tokenizer.decode(corpus.rows("test")[0].tolist())
    ours = missing_head.rows_in_berts_pieces(corpus, "test")[0]
    assert ours.tolist() == tokenizer(text, add_special_tokens=False).input_ids[:ROW]


def test_only_the_head_and_the_top_learn(corpus):
    model = missing_head.build(corpus)
    next(missing_head.losses(model, corpus, 2, 0)).backward()
    moved = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert moved == {name for name, _ in model.named_parameters() if name.startswith(missing_head.MOVING)}
    assert (
        sum(weight.numel() for weight in model.parameters() if weight.requires_grad) < 4e6
    )  # 8 MB in half precision
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight


def test_the_special_pieces_are_bert_s(corpus):
    ids = torch.from_numpy(missing_head.rows_in_berts_pieces(corpus, "train").padded([0], 101, 102))
    assert ids[0, 0] == missing_head.CLS and ids[0, -1] == missing_head.SEP
    assert (ids[0, 1:-1] >= missing_head.FIRST).all()


def test_a_checkpoint_holds_the_tied_weights_and_the_moments(corpus, tmp_path):
    recipe = NOVELS["novels-minilm"]
    model, again = missing_head.build(corpus), missing_head.build(corpus)
    optimizers = [torch.optim.AdamW(weight_groups(one, recipe), lr=1e-3) for one in (model, again)]
    for _ in range(2):
        next(missing_head.losses(model, corpus, 2, 0)).backward()
        optimizers[0].step()
        if not (tmp_path / "run.safetensors").exists():
            path, progress, curve = (
                tmp_path / "run.safetensors",
                pretrain.Progress("x", 0, 1, 2, 3.0),
                [(1, 9.5, 9.6)],
            )
            pretrain.save_checkpoint(path, model, optimizers[0], progress, curve)
            assert pretrain.resume(path, again, optimizers[1]) == (1, 3.0, curve)
            again.zero_grad()
        optimizers[0].zero_grad()
    next(missing_head.losses(again, corpus, 2, 0)).backward()
    optimizers[1].step()
    for (name, whole), (_, cut) in zip(model.named_parameters(), again.named_parameters(), strict=True):
        assert torch.equal(whole, cut), name


def test_continued_training_reads_all_three_kinds_and_changes_the_lower_layers_by_low_rank(
    corpus, monkeypatch
):
    start = missing_head.load_with_head()
    model = missing_head.build_continued(corpus)
    ids = torch.tensor([[101, 2000, 103, 2001, 102]])
    with torch.no_grad():
        assert torch.allclose(model(ids).logits, start(ids).logits, atol=1e-4)  # the updates begin with 0
    trainable = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert all(
        name.startswith(missing_head.MOVING) or ".up." in name or ".down." in name for name in trainable
    )
    assert sum(".up." in name for name in trainable) == 4 * 6  # four layers, six linear maps each

    rows = {
        kind: Ragged(np.full(60, piece, np.uint16), np.arange(6, 66, 6))
        for kind, piece in (("brown, sequences", 2000), ("brown, sentences", 3000))
    }
    monkeypatch.setattr(missing_head.modern, "rows", lambda folder, split: rows)
    missing_head.modern_rows.cache_clear()
    seen = set()
    monkeypatch.setattr(
        missing_head, "masked_loss", lambda model, ids, generator: seen.add(ids[0, 1].item()) or ids.shape
    )
    batches = missing_head.continued_losses(model, corpus, 4, 0)
    shapes = [next(batches) for _ in range(60)]
    assert {2000, 3000} < seen
    assert any(rows > 4 for rows, _ in shapes)  # more of the short sentences
    missing_head.modern_rows.cache_clear()
