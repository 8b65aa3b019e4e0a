"""Does more training on modern text make MiniLM's masked-LM head better, on modern text and on the novels?

Measures the head of data/models, unigrams, and the checkpoints of `python -m coursekit.pretrain novels-minilm modern-minilm
--corpus FOLDER --seeds 0`, of which copies (such as `modern-minilm_0_160.safetensors`) were made while it ran: top-1 and top-5
accuracy and nats per gap, on the novels' 1,000 gaps, on 1,000 gaps each in texts of the Brown corpus and in entries of WordNet
that were not used in training, and on ten sentences of our own. Computed in bfloat16. Writes
`data/results/minilm_modern.csv` (a CPU minute for each checkpoint).
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertForMaskedLM

from coursekit import pretrain
from coursekit.intervals import wilson
from coursekit.models.catalogue import MINILM
from coursekit.models.learned_head import load_with_head
from coursekit.novels import figures, missing_head, modern, record
from coursekit.novels.corpus import Corpus, prepare
from coursekit.novels.missing_head import CLS, MASK, SEP
from coursekit.novels.precision import bfloat16
from coursekit.novels.recipes import NOVELS
from coursekit.small.recipes import weight_groups
from coursekit.stored import models_folder
from experiments.harness import Experiment, Options, Step, Steps, grid

GAPS = 1_000
SENTENCES = {
    "The prisoner sat in a dark [MASK].": "cell", "The red blood [MASK] carries oxygen.": "cell",
    "Plug in your [MASK] phone.": "cell", "I will hike along the [MASK] of a river.": "bank",
    "I will open a new account at my [MASK].": "bank", "The judge sent the case to a higher [MASK].": "court",
    "Turn off the [MASK] before you go to bed.": "light", "The flowers bloom in [MASK], after a long winter.": "spring",
    "Turn right at the corner, and then turn [MASK].": "left", "The band played a [MASK] that everybody could sing.": "song",
}  # fmt: skip
"""Ten sentences of our own, the first five those of notebook 06, each with the expected word."""
Masked = tuple[list[list[int]], list[int]]
"""Rows of subwords with one [MASK] each, and the subwords that were there."""


def gaps_in(rows: modern.Ragged, pieces: Tokenizer, seed: int = 0) -> Masked:
    """A word of one subword is masked in each of GAPS rows."""
    rng, masked, targets = np.random.default_rng(seed), [], []
    for number in rng.permutation(len(rows)):
        row = rows[number].tolist()
        names = [pieces.id_to_token(piece) for piece in row] + [""]
        places = [i for i in range(len(row)) if names[i].isalpha() and not names[i + 1].startswith("##")]
        if places:
            place = int(rng.choice(places))
            masked.append([*row[:place], MASK, *row[place + 1 :]])
            targets.append(row[place])
        if len(masked) == GAPS:
            break
    return masked, targets


def gaps_of_novels(corpus: Corpus, pieces: Tokenizer) -> Masked:
    """The 1,000 gaps of the cards in data/models."""

    def pieces_of(word: str) -> list[int]:
        return pieces.encode(word, add_special_tokens=False).ids

    masked, targets, rows = [], [], corpus.word_rows("test")
    for gap in record.gaps_of(corpus):
        words = [corpus.words[word] for word in rows[gap.row]]
        masked.append(figures.with_gap(words, gap.place, pieces_of, MASK))
        targets.append(pieces_of(words[gap.place])[0])
    return masked, targets


def sentences(pieces: Tokenizer) -> Masked:
    """The ten sentences."""
    masked = [pieces.encode(text, add_special_tokens=False).ids for text in SENTENCES]
    return masked, [pieces.token_to_id(word) for word in SENTENCES.values()]


def ranks(model: BertForMaskedLM, gaps: Masked) -> figures.Found:
    """Rank and loss of the correct subword at each gap."""

    def logits_at(ids: Int[Tensor, "B T"], places: Int[Tensor, " B"]) -> Tensor:
        with bfloat16():
            top = model.bert(ids, attention_mask=(ids != 0).long()).last_hidden_state
        return model.cls(top[range(len(ids)), places].float())

    return figures.ranks_of_gaps(logits_at, *gaps, (CLS, SEP), MASK)


def by_frequency(rows: Sequence[modern.Ragged], targets: Sequence[int]) -> figures.Found:
    """The same for unigrams."""
    counts = sum(np.bincount(each.values, minlength=30_522) for each in rows) + 1
    right = counts[targets]
    return (counts[None] > right[:, None]).sum(axis=1), np.log(counts.sum() / right)


def with_intervals(found: figures.Found) -> dict[str, float]:
    """Shares of correct words, with their Wilson intervals, and the mean loss."""
    row: dict[str, float] = {"gaps": len(found[0])}
    for top in (1, 5):
        share = (found[0] < top).mean()
        low, high = wilson(share, len(found[0]))
        row |= {f"top-{top}": share, f"top-{top}, low": low, f"top-{top}, high": high}
    return row | {"nats": found[1].mean()}


def _steps(options: Options) -> Steps:
    corpus = prepare(options.corpus, options.checkpoints / "corpus")
    folder = options.checkpoints / "modern"
    pieces = Tokenizer.from_file(str(MINILM.package.folder() / "tokenizer.json"))
    pieces.no_padding()
    pieces.no_truncation()
    files = sorted(options.checkpoints.glob("*-minilm_0*.safetensors"))
    tests: dict[str, Callable[[], Masked]] = {
        "novels": cache(lambda: gaps_of_novels(corpus, pieces)),
        "Brown": cache(lambda: gaps_in(modern.rows(folder, "test")["brown, sequences"], pieces)),
        "WordNet": cache(lambda: gaps_in(modern.rows(folder, "test")["wordnet, sentences"], pieces)),
        "ten sentences": lambda: sentences(pieces),
    }

    def measured(head: str) -> list[dict]:
        if head == "unigrams":
            train = {
                "novels": [missing_head.rows_in_berts_pieces(corpus, "train")],
                "modern": list(modern.rows(folder, "train").values()),
            }
            return [
                {"steps": 0, "minutes": 0.0, "text": text}
                | with_intervals(by_frequency(train.get(text, train["modern"]), test()[1]))
                for text, test in tests.items()
            ]
        model, steps, minutes = _read(head, corpus, options.checkpoints)
        return [
            {"steps": steps, "minutes": minutes, "text": text, **with_intervals(ranks(model, test()))}
            for text, test in tests.items()
        ]

    yield Step(
        "minilm_modern", grid(head=["unigrams", "data/models", *(file.stem for file in files)]), measured
    )


def _read(head: str, corpus: Corpus, folder: Path) -> tuple[BertForMaskedLM, int, float]:
    """A model, its further steps and their CPU minutes."""
    if head == "data/models":
        about = json.loads((models_folder() / "novels_minilm.json").read_text(encoding="utf-8"))["continued"]
        return load_with_head(), about["steps"], about["minutes"]
    recipe = NOVELS[head.partition("_")[0]]
    model = recipe.build(corpus)
    optimizer = torch.optim.AdamW(weight_groups(model, recipe))
    steps, seconds, _ = pretrain.resume(folder / f"{head}.safetensors", model, optimizer)
    return model.eval(), *((steps, seconds / 60) if head.startswith("modern") else (0, 0.0))


EXPERIMENT = Experiment(_steps, novels=True)
