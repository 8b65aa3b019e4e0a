"""How should a task use ELMo: with a trainable γ, with dropout, at the input or at the output of its own network?

The tasks of notebook 05, part 6, with 50 labelled sentences, where there is something to gain, and with 1,500. For γ and
dropout the network of the task is a linear classifier on the mix, for input and output a bidirectional LSTM of its own
(Peters et al., 2018, section 5.2 and table 3). A seed draws other sentences and other initial weights. Writes
`data/results/elmo_use.csv` (about twenty minutes).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from coursekit.language import Language, load_language
from coursekit.small import load
from coursekit.word_tasks import examples, task_sentences
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

SENTENCES, BATCH, RATE = (50, 1_500), 32, 0.01
STEPS = {300: ("syntax", "sense", "morphology"), 1_200: ("sense",)}
"""Training steps, and the tasks trained for so long: do more steps change the result for the senses?"""
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
"""A use with `places` has an LSTM of its own."""


class Mix(nn.Module):
    """A weighted sum of the layers, each normalised: 05's `scalar_mix` with trainable weights."""

    def __init__(self, layers: int, scalar_mix, gamma: bool):
        super().__init__()
        self.s, self.scalar_mix = nn.Parameter(torch.zeros(layers)), scalar_mix
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=gamma)

    def forward(self, R: Tensor) -> Tensor:
        """From the layers (L+1 …) to their weighted sum."""
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
        """The logits of each token."""
        mixed = {place: dropout(mix(R), self.dropped, self.training) for place, mix in self.mixes.items()}
        if self.places is None:
            return self.classify(mixed["output"])
        read = torch.cat([self.own(ids), *([mixed["input"]] if "input" in mixed else [])], dim=-1)
        states = self.lstm(read)[0]
        return self.classify(torch.cat([states, *([mixed["output"]] if "output" in mixed else [])], dim=-1))


def accuracy(
    names: dict, model, language: Language, task: str, seed: int, count: int, steps: int, use: dict
) -> float:
    """The accuracy of a task on held-out sentences, after training on `count` labelled ones."""
    sides = {}
    for split in ("train", "held_out"):
        sentences = task_sentences(seed, split)
        sentences = sentences[:count] if split == "train" else sentences
        chosen, labels = examples(task, sentences, split == "held_out", seed)
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


def _steps(options: Options) -> Steps:
    names, model, language = names_of("05_elmo"), load("elmo"), load_language()

    def measure(steps: int, seed: int, sentences: int, task: str, use: str) -> dict:
        return {"accuracy": accuracy(names, model, language, task, seed, sentences, steps, USES[use])}

    runs = [
        run
        for steps, tasks in STEPS.items()
        for run in grid(steps=[steps], seed=options.seeds, sentences=SENTENCES, task=tasks, use=USES)
    ]
    yield Step("elmo_use", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(5))
