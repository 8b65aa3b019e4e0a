"""How does β in direct preference optimisation trade reward against distance from the reference?

DPO on 2,000 comparisons of two-word continuations, by β (notebook 14, part 5): mean reward and distances to the reference
and to the best policy, exact over all continuations, next to those of the best policy itself. Writes
`data/results/assistant_preferences.csv` (about five minutes).
"""

from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of


def _steps(options: Options) -> Steps:
    names = names_of("14_assistant")

    def measure(beta: float, lr: float, seed: int) -> dict:
        policy, tables = names["learn_preferences"](beta, lr, seed)
        above_bound = names["instructions"].above_bound(policy)
        return names["judged"](policy, tables, beta) | {"above_bound": above_bound}

    runs = [
        {"beta": beta, "lr": 3e-4, "seed": seed} for seed in options.seeds for beta in (0.1, 0.3, 1.0, 3.0)
    ]
    yield Step("assistant_preferences", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
