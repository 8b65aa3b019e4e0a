"""Does an assistant learn a format of its answers from 40 examples, and what else does the training change?

SmolLM2-135M-Instruct as it is, with a prompt that describes the format, with five examples in the prompt, and tuned by LoRA
on 40 questions answered in JSON, three seeds (notebook 14, part 3): how many of 20 held-out answers are in the format, contain
the answer and state the correct topic; how many of 10 other requests are answered in the format (without the two prompts, which ask
for it); nats per token on reviews outside the chat template, how far above those of the untuned model (95 % interval over reviews),
and the KL divergence from the untuned model in nats per token; additional tokens in the prompt. Writes
`data/results/assistant_json.csv` (about three minutes).
"""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from coursekit import json_answers
from coursekit.datasets import read_table
from coursekit.instruction_tuning import add_lora
from coursekit.intervals import bootstrap
from coursekit.models import Loaded, load
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

REVIEWS = 10
"""Every which test review of data/sentiment is plain text for the comparison."""
UNTUNED: dict[str, json_answers.Messages] = {
    "no instruction": (),
    "format described": json_answers.DESCRIPTION,
    "five examples": json_answers.five_examples(),
}
"""Messages before the question, for the model as it is."""


def _steps(options: Options) -> Steps:
    smol, ours = load("SmolLM2-135M-Instruct", head="causal-lm"), names_of("14_assistant")
    held_out, requests = json_answers.questions("test"), json_answers.questions("request")
    reviews = read_table("sentiment/sentiment.csv").query("split == 'test'")["text"].iloc[::REVIEWS]
    texts = [torch.tensor([smol.tokenizer(text).input_ids]) for text in reviews]
    plain = [_logits(smol, ids) for ids in texts]

    def measure(run: str, seed: int) -> dict:
        before, model = UNTUNED.get(run, ()), smol
        if run == "LoRA":
            model = replace(smol, model=deepcopy(smol.model))
            torch.manual_seed(seed)
            weights = add_lora(model.model, ours["LoRALinear"])
            turns = json_answers.conversations(smol.tokenizer, json_answers.questions("train"))
            json_answers.train(model.model, weights, [ours["sft_labels"](each) for each in turns], seed=seed)
        found = json_answers.counted(json_answers.write(model, held_out, before), held_out)
        asked = None if before else json_answers.counted(json_answers.write(model, requests), requests)
        tuned = [_logits(model, ids) for ids in texts] if model is not smol else plain
        weight = np.array([ids.shape[1] - 1 for ids in texts])
        nats = [np.array([_loss(*each) for each in zip(some, texts, strict=True)]) for some in (plain, tuned)]
        kl = [
            ours["kl_to_reference"](logits, ref, torch.ones(logits.shape[:2], dtype=torch.bool)).item()
            for logits, ref in zip(tuned, plain, strict=True)
        ]
        low, high = bootstrap(
            np.column_stack([(nats[1] - nats[0]) * weight, weight]),
            lambda some: some[:, 0].sum() / some[:, 1].sum(),
        )
        return {
            "in_format": found["in format"],
            "answer": found["answer"],
            "topic": found["topic"],
            "requests_in_format": asked and asked["in format"],
            "nats": np.average(nats[1], weights=weight),
            "nats_above": np.average(nats[1] - nats[0], weights=weight),
            "nats_above_low": low,
            "nats_above_high": high,
            "kl": np.average(kl, weights=weight),
            "tokens_before": _length(smol, before) - _length(smol, ()),
        }

    runs = [{"run": run, "seed": 0} for run in UNTUNED]
    runs += [{"run": "LoRA", "seed": seed} for seed in options.seeds]
    yield Step("assistant_json", runs, measure)


@torch.no_grad()
def _logits(model: Loaded, ids: Tensor) -> Tensor:
    return model.model(ids).logits[:, :-1]


def _loss(logits: Tensor, ids: Tensor) -> float:
    return cross_entropy(logits[0], ids[0, 1:]).item()


def _length(model: Loaded, before: json_answers.Messages) -> int:
    text = json_answers.prompt(model.tokenizer, "", before)
    return len(model.tokenizer(text, add_special_tokens=False).input_ids)


EXPERIMENT = Experiment(_steps, seeds=range(3))
