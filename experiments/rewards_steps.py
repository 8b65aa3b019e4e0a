"""Does reinforcement learning with only the final answer checked discover a chain of steps, or does it only sharpen one?

Small GPTs learn where a route of one to eight buses ends from correct answers, written step by step or, for twice and eight times
as long, at once (greedy accuracy by number of buses). Two bases, one whose training data contained the steps in
one answer in five and one that never saw them, are then trained by GRPO with the functions of notebook 16 on whether the last
town is correct: pass@k, majority vote, length and form of the answers before and after (notebook 16, *Further: a chain of
steps*). Writes `data/results/rewards_forms.csv`, `data/results/rewards_verified.csv` and `data/results/rewards_at_once.csv` (about
ten minutes).
"""

from functools import cache

from coursekit import routes
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

STEPS, TUNING_STEPS = {"at once": 800, "step by step": 400, "mixed": 800}, 60
"""Half as many are enough for answers that are all written step by step."""
LONGER = (3200,)
"""Steps of further models that answer at once."""
TESTS = 300
"""New routes of each number of buses."""
SHARES = (0.2, 0.0)
"""The fraction of the base's training answers that were written step by step; the others were at once."""


def _steps(options: Options) -> Steps:
    names = names_of("16_rewards")

    @cache
    def learned(form: str, seed: int):
        return routes.learn({form: 1.0}, seed, STEPS[form])

    def by_buses(form: str, seed: int) -> list[dict]:
        found = routes.accuracies(learned(form, seed), TESTS, seed=99)
        return [{"buses": buses, "accuracy": accuracy} for buses, accuracy in found.items()]

    def before_and_after(share: float, seed: int) -> list[dict]:
        shares = {"step by step": share, "at once": 1 - share}
        base = routes.learn(shares, seed, STEPS["mixed"]) if share else learned("at once", seed)
        tuned, rewards = routes.reinforce(
            base, names["group_advantages"], names["grpo_loss"], seed, TUNING_STEPS
        )
        found = []
        for stage, model, reward in (("base", base, rewards[:5]), ("tuned", tuned, rewards[-5:])):
            judged = routes.judged(model, names["pass_at_k"], names["majority_vote"])
            found.append({"stage": stage, "reward": sum(reward) / len(reward)} | judged)
        return found

    def longer(steps: int, seed: int) -> list[dict]:
        found = routes.accuracies(routes.learn({"at once": 1.0}, seed, steps), TESTS, seed=99)
        return [{"buses": buses, "accuracy": accuracy} for buses, accuracy in found.items()]

    yield Step("rewards_at_once", grid(steps=LONGER, seed=options.seeds), longer)
    yield Step("rewards_verified", grid(share=SHARES, seed=options.seeds), before_and_after)
    yield Step("rewards_forms", grid(form=routes.FORMS[::-1], seed=options.seeds), by_buses)


EXPERIMENT = Experiment(_steps, seeds=range(3))
