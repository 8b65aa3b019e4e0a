"""How firm are the weights with which a task mixes ELMo's layers?

For three tasks, with other penalties on the weights and with fewer and more steps (notebook 05, part 6): the weights of
the mix and its accuracy. Writes `data/results/elmo_mix.csv` (about a minute).
"""

from collections.abc import Iterator
from functools import cache, partial

from coursekit.small import load
from coursekit.word_tasks import learn, task_data
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

SETTINGS = {
    "as above: penalty 0.001, 200 steps": {},
    "no penalty": {"strength": 0.0},
    "penalty 0.01": {"strength": 0.01},
    "50 steps": {"steps": 50},
    "600 steps": {"steps": 600},
}


def _steps(options: Options) -> Steps:
    names = names_of("05_elmo")

    @cache
    def data(seed: int) -> dict:
        return task_data(partial(names["layers"], load("elmo")), seed)

    def measure(setting: str, seed: int) -> Iterator[dict]:
        for task, examples in data(seed).items():
            weights, accuracy = learn(names["scalar_mix"], *examples, seed, **SETTINGS[setting])
            layers = {f"layer {layer}": float(weight) for layer, weight in enumerate(weights)}
            yield {"setting": setting, "task": task, "seed": seed} | layers | {"accuracy": accuracy}

    yield Step("elmo_mix", grid(setting=SETTINGS, seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(5))
