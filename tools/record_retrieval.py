"""Record data/results/retrieval_answers.csv: notebook 11, *Further: retrieval, then an answer* (about five minutes on one core).

    python tools/record_retrieval.py

SmolLM2-135M-Instruct answers every question of data/retrieval with nothing, with the right passage, with the three that
MiniLM finds, and with the passage of another question, each asked for in two wordings; each time the most probable token. Answers are written batch by
batch; started again, it goes on where it was stopped. It runs the cells of the instructor's source that make the
requests, so notebook and table cannot differ.
"""

import re
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of
from rich.progress import track
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from coursekit.models import load
from coursekit.models.catalogue import MINILM
from coursekit.sentence_vectors import encode

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "data/results/retrieval_answers.csv"
KEY = ["wording", "given", "id"]
TOKENS, ROWS = 20, 8


def passages_given(names: dict) -> dict[str, list[list[str]]]:
    """For each way to ask, the ids of the passages that each question comes with."""
    asks, passages = names["asks"], names["passages"]
    vectors = [torch.from_numpy(encode(list(texts))) for texts in (asks.question, names["texts_of"].values())]
    numbers, _ = names["search"](*vectors, 3)
    right = asks.passage.tolist()
    rng = np.random.default_rng(0)
    other = rng.permutation(len(right))
    while (other == np.arange(len(right))).any():
        other = rng.permutation(len(right))
    return {
        "nothing": [[] for _ in right],
        "the right passage": [[id] for id in right],
        "three found": [[passages.id[n] for n in row] for row in numbers.tolist()],
        "a wrong passage": [[right[n]] for n in other],
    }


@torch.no_grad()
def answers(smol, requests: list[str]) -> list[str]:
    """What SmolLM2 writes, up to the first line break."""
    batch = smol.tokenizer(requests, padding=True, return_tensors="pt")
    written = smol.model.generate(**batch, max_new_tokens=TOKENS, do_sample=False)
    texts = smol.tokenizer.batch_decode(written[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
    return [re.split(r"\n", text.strip())[0].strip() for text in texts]


def main() -> None:
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    names = names_of(
        "11_sentences", np=np, pd=pd, AutoModel=AutoModel, AutoTokenizer=AutoTokenizer, MINILM=MINILM
    )
    recorded = pd.read_csv(TABLE, keep_default_na=False) if TABLE.exists() else pd.DataFrame(columns=KEY)
    done = {tuple(row) for row in recorded[KEY].itertuples(index=False)}
    todo = []
    for wording, (way, lists) in product(names["WORDINGS"], passages_given(names).items()):
        for ask, ids in zip(names["asks"].itertuples(), lists, strict=True):
            if (wording, way, ask.id) not in done:
                found = [names["texts_of"][id] for id in ids]
                asked = names["request"](ask.question, found, wording)
                todo.append((wording, way, ask.id, " ".join(ids), asked))
    smol = load("SmolLM2-135M", head="causal-lm")
    smol.tokenizer.padding_side = "left"
    smol.tokenizer.pad_token = smol.tokenizer.pad_token or smol.tokenizer.eos_token
    start = process_time()
    for first in track(range(0, len(todo), ROWS), description=f"{len(todo)} answers"):
        few = todo[first : first + ROWS]
        said = answers(smol, [request for *_, request in few])
        rows = [(*row[:-1], answer) for row, answer in zip(few, said, strict=True)]
        table = pd.DataFrame(rows, columns=[*KEY, "passages", "answer"])
        table.to_csv(TABLE, mode="a", header=not TABLE.exists(), index=False)
    print(f"{(process_time() - start) / 60:.1f} CPU minutes for {len(todo)} answers")


if __name__ == "__main__":
    main()
