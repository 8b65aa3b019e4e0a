"""Can SmolLM2 tell a right answer from a wrong one, and what happens when its verdict is a reward?

SmolLM2-135M-Instruct compares a right and a wrong passage of data/retrieval as answers to a question, in both orders and with
two ways to name them. With the names A and B, it also compares each of them, padded with an empty sentence, with each plain one
(notebook 16, *Further: a judge model as a reward*). Writes `data/results/rewards_judge.csv` (about ten minutes).
"""

from coursekit import judged_answers
from coursekit.models import load
from experiments.harness import Experiment, Options, Step, Steps, grid


def _steps(options: Options) -> Steps:
    judge, texts = load("SmolLM2-135M-Instruct", head="causal-lm"), judged_answers.texts_of_answers()
    by_id = {one.id: one for one in judged_answers.asked()}
    main = next(iter(judged_answers.LABELS))

    def compared(labels: str, id: str) -> list[dict]:
        one, found = by_id[id], []
        for first, seconds in judged_answers.comparisons(one, padded=labels == main).items():
            shown = [texts[second] for second in seconds]
            margins = judged_answers.preferred(
                judge, one.question, texts[first], shown, judged_answers.LABELS[labels]
            )
            found += [
                {"first": first, "second": second, "margin": margin}
                for second, margin in zip(seconds, margins, strict=True)
            ]
        return found

    yield Step("rewards_judge", grid(labels=judged_answers.LABELS, id=by_id), compared)


EXPERIMENT = Experiment(_steps)
