"""Does a small decoder answer questions about the course better when it is given the passage that contains the answer?

SmolLM2-135M-Instruct answers every question of data/retrieval with no passage, with the right one, with the three that
MiniLM finds and with that of another question, each in two wordings, by greedy decoding (notebook 11, *Further:
retrieval, then an answer*). Writes `data/results/retrieval_answers.csv` (about five minutes).
"""

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from coursekit.models import load
from coursekit.models.catalogue import MINILM
from coursekit.sentence_vectors import encode
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

TOKENS, ROWS = 20, 8
"""Tokens of an answer, at most, and requests that are answered together."""


def passages_given(names: dict) -> dict[str, list[list[str]]]:
    """The ids of the passages that come with each question, for each way to ask."""
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
    """What SmolLM2 generates, up to the first line break."""
    batch = smol.tokenizer(requests, padding=True, return_tensors="pt")
    generated = smol.model.generate(**batch, max_new_tokens=TOKENS, do_sample=False)
    texts = smol.tokenizer.batch_decode(generated[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
    return [text.strip().split("\n")[0].strip() for text in texts]


def _steps(options: Options) -> Steps:
    logging.disable_progress_bar()
    names = names_of("11_sentences", AutoModel=AutoModel, AutoTokenizer=AutoTokenizer, MINILM=MINILM)
    passages = passages_given(names)
    smol = load("SmolLM2-135M-Instruct", head="causal-lm")
    smol.tokenizer.padding_side = "left"
    smol.tokenizer.pad_token = smol.tokenizer.pad_token or smol.tokenizer.eos_token

    def measure(wording: str, given: str) -> list[dict]:
        asks = list(zip(names["asks"].itertuples(), passages[given], strict=True))
        requests = [
            names["request"](ask.question, [names["texts_of"][id] for id in ids], wording)
            for ask, ids in asks
        ]
        said = []
        for first in options.track(range(0, len(requests), ROWS), "batches of requests"):
            said += answers(smol, requests[first : first + ROWS])
        return [
            {"id": ask.id, "passages": " ".join(ids), "answer": answer}
            for (ask, ids), answer in zip(asks, said, strict=True)
        ]

    yield Step("retrieval_answers", grid(wording=names["WORDINGS"], given=passages), measure)


EXPERIMENT = Experiment(_steps)
