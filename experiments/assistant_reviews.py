"""How well does a small assistant judge reviews when it is asked, shown examples, or tuned, and at what cost?

SmolLM2 asked in eight ways, given eight examples drawn three times, and tuned by LoRA on 128 reviews, next to an encoder
fine-tuned on as many (notebook 14, parts 6 and 7): log p(positive) − log p(negative) of every second validation and test
review, a column per run; trainable parameters, and seconds of one core for training and per review. Writes
`data/results/assistant_reviews.csv` and `data/results/assistant_reviews_costs.csv` (about fifteen minutes).
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from time import process_time

import numpy as np
import pandas as pd
import torch

from coursekit import judges
from coursekit.datasets import read_table
from coursekit.models import load
from experiments.fine_tuning import NOTEBOOK
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

TRAINED, TESTED, DRAWS, EXAMPLES = 128, 2, 3, 8
"""Reviews for training; every which validation and test review is judged; draws of the examples, and how many each."""
JUDGE_RATE, JUDGE_EPOCHS = 1e-3, 2
ENCODER_RATE, ENCODER_EPOCHS = 2e-4, 4


def _steps(options: Options) -> Steps:
    table = read_table("sentiment/sentiment.csv")
    train = table[table["split"] == "train"]
    asked = pd.concat([table[table["split"] == split].iloc[::TESTED] for split in ("validation", "test")])
    texts = asked["text"].tolist()
    judge, loaded = load("SmolLM2-135M-Instruct", head="causal-lm"), load("all-MiniLM-L6-v2")
    tune_judge, ours = names_of("14_assistant")["tune_judge"], names_of(NOTEBOOK)

    # Each returns the margins of the texts, the number of trainable parameters, and the seconds of training.

    def question(wording: str):
        return judges.margins(judge, texts, wording), 0, 0.0

    def few_shot(seed: int):
        draws = [
            train[train.label == label].sample(EXAMPLES // 2, random_state=seed)
            for label in ("positive", "negative")
        ]
        shown = pd.concat(draws).sample(frac=1, random_state=seed)
        before = judges.with_examples(list(zip(shown["text"], shown["label"], strict=True)))
        return judges.margins(judge, texts, before=before), 0, 0.0

    def lora(seed: int):
        tuned = replace(judge, model=deepcopy(judge.model))
        some, start = train.sample(TRAINED, random_state=seed), process_time()
        positive = (some["label"] == "positive").tolist()
        parameters = tune_judge(tuned, some["text"].tolist(), positive, JUDGE_RATE, JUDGE_EPOCHS, seed)
        seconds = process_time() - start
        return judges.margins(tuned, texts), parameters, seconds

    def encoder(seed: int):
        """Full fine-tuning by the code of notebook 09."""
        torch.manual_seed(seed)
        model = ours["on_pretrained"](deepcopy(loaded.model), 2)
        data = ours["review_task"](loaded.tokenizer, "train", TRAINED, seed)
        start = process_time()
        ours["fine_tune"](model, data, "full", ENCODER_RATE, ENCODER_EPOCHS * TRAINED // 16, seed)
        seconds = process_time() - start
        ids = loaded.tokenizer(texts, padding=True, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            logits = torch.cat([model.eval()(part) for part in ids.split(32)])
        return (logits[:, 1] - logits[:, 0]).numpy(), sum(w.numel() for w in model.parameters()), seconds

    judged: dict[str, Callable] = {
        f"question {number}": partial(question, wording)
        for number, wording in enumerate(judges.QUESTIONS, start=1)
    }
    judged |= {f"LoRA {JUDGE_RATE:g} seed {seed}": partial(lora, seed) for seed in options.seeds}
    judged |= {
        f"{loaded.name} {ENCODER_RATE:g} seed {seed}": partial(encoder, seed) for seed in options.seeds
    }
    judged |= {f"examples draw {seed}": partial(few_shot, seed) for seed in range(DRAWS)}

    def measure(run: str) -> dict:
        if run == "id":
            return {"assistant_reviews": asked["id"].tolist()}
        start = process_time()
        margins, parameters, training = judged[run]()
        per_review = (process_time() - start - training) / len(texts)
        costs = {
            "parameters": parameters,
            "training seconds": round(training, 1),
            "seconds per review": per_review,
        }
        return {"assistant_reviews": np.round(margins, 2), "assistant_reviews_costs": costs}

    yield Step("assistant_reviews", grid(run=["id", *judged]), measure, wide=True)


EXPERIMENT = Experiment(_steps, seeds=range(3))
