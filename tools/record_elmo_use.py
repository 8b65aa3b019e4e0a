"""Record data/results/elmo_use.csv: notebook 05, how a task uses ELMo: γ, dropout, and the input or the output of its network.

    python tools/record_elmo_use.py         # some twenty minutes on one core; what is there is kept

The tasks are those of 05's part 6. With 50 labelled sentences as with 1,500, so that there is something to gain. A seed is
other sentences and other first weights. The task's network is a linear classifier on the mix for γ and dropout; for the
places a bidirectional LSTM of its own (Peters et al., 2018, section 5.2 and table 3).
"""

from itertools import product
from pathlib import Path

import pandas as pd
import torch
from notebook_names import names_of
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from coursekit.language import Language, load_language
from coursekit.small import load

COLUMNS = ["steps", "seed", "sentences", "task", "use", "accuracy"]
TABLE = Path(__file__).parents[1] / "data/results/elmo_use.csv"
SEEDS, SENTENCES, BATCH, RATE = range(5), (50, 1_500), 32, 0.01
STEPS = {300: ("syntax", "sense", "morphology"), 1_200: ("sense",)}
"""Of training, and the tasks: would more steps change what the senses say?"""
OWN, HIDDEN = 32, 32
"""Dimensions of the task's own word vectors, and of each direction of its LSTM."""
USES = {
    "linear, γ learned": {},
    "linear, γ = 1": {"gamma": False},
    "linear, dropout 0.5 on the mix": {"dropped": 0.5},
    "LSTM, no ELMo": {"places": ()},
    "LSTM, ELMo at the input": {"places": ("input",)},
    "LSTM, ELMo at the output": {"places": ("output",)},
    "LSTM, ELMo at both": {"places": ("input", "output")},
}
"""A use with `places` has a network of its own."""


class Mix(nn.Module):
    """A weighted sum of the layers, each normalised: 05's `scalar_mix` with weights to learn."""

    def __init__(self, layers: int, scalar_mix, gamma: bool):
        super().__init__()
        self.s, self.scalar_mix = nn.Parameter(torch.zeros(layers)), scalar_mix
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=gamma)

    def forward(self, R: Tensor) -> Tensor:
        return self.scalar_mix(R, self.s, self.gamma)


class Task(nn.Module):
    """From ids (B T) and ELMo's layers (L+1 B T E) to logits (B T classes)."""

    def __init__(self, V: int, R: Tensor, classes: int, scalar_mix, places=None, gamma=True, dropped=0.0):
        super().__init__()
        layers, _, _, E = R.shape
        self.places, self.dropped = places, dropped
        if places is None:
            self.mixes = nn.ModuleDict({"output": Mix(layers, scalar_mix, gamma)})
            self.classify = nn.Linear(E, classes)
            return
        self.mixes = nn.ModuleDict({place: Mix(layers, scalar_mix, gamma) for place in places})
        self.own = nn.Embedding(V, OWN)
        self.lstm = nn.LSTM(OWN + E * ("input" in places), HIDDEN, bidirectional=True, batch_first=True)
        self.classify = nn.Linear(2 * HIDDEN + E * ("output" in places), classes)

    def forward(self, ids: Tensor, R: Tensor) -> Tensor:
        mixed = {place: dropout(mix(R), self.dropped, self.training) for place, mix in self.mixes.items()}
        if self.places is None:
            return self.classify(mixed["output"])
        read = torch.cat([self.own(ids), *([mixed["input"]] if "input" in mixed else [])], dim=-1)
        states = self.lstm(read)[0]
        return self.classify(torch.cat([states, *([mixed["output"]] if "output" in mixed else [])], dim=-1))


def accuracy(
    names: dict, model, language: Language, task: str, seed: int, count: int, steps: int, use: dict
) -> float:
    """Of a task on held-out sentences, with so many labelled ones."""
    sides = {}
    for split in ("train", "held_out"):
        sentences = names["task_sentences"](seed, split)
        sentences = sentences[:count] if split == "train" else sentences
        chosen, labels = names["examples"](task, sentences, split == "held_out", seed)
        ids = torch.from_numpy(sentences.ids)
        sides[split] = (
            ids,
            names["layers"](model, ids),
            torch.from_numpy(chosen),
            torch.from_numpy(labels).long(),
        )
    ids, R, chosen, labels = sides["train"]
    classes = 1 + int(max(labels[chosen].max() for _, _, chosen, labels in sides.values()))
    torch.manual_seed(seed)
    network = Task(len(language.vocabulary), R, classes, names["scalar_mix"], **use)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    for _ in range(steps):
        rows = torch.randint(len(ids), (BATCH,))
        asked = chosen[rows]
        if not asked.any():
            continue
        loss = cross_entropy(network(ids[rows], R[:, rows])[asked], labels[rows][asked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids, R, chosen, labels = sides["held_out"]
    with torch.no_grad():
        found = network.eval()(ids, R)[chosen].argmax(-1)
    return (found == labels[chosen]).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    names, model, language = names_of("05_elmo"), load("elmo"), load_language()
    rows = list(pd.read_csv(TABLE).itertuples(index=False, name=None)) if TABLE.exists() else []
    done = {row[:-1] for row in rows}
    for steps, tasks in STEPS.items():
        for key in product(SEEDS, SENTENCES, tasks, USES):
            seed, count, task, use = key
            if (steps, *key) not in done:
                found = accuracy(names, model, language, task, seed, count, steps, USES[use])
                rows.append((steps, *key, round(found, 4)))
                pd.DataFrame(rows, columns=COLUMNS).to_csv(TABLE, index=False)
        print(f"{steps} steps: done", flush=True)


if __name__ == "__main__":
    main()
