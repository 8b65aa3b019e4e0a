"""Does a small decoder learn a task from the examples in its prompt, and do their labels matter?

SmolLM2-135M-Instruct classifies 96 opinions with 0 to 8 examples in the prompt, for several draws of the examples; as a
control with all labels swapped (notebook 07, part 8): accuracy, accuracy with the threshold of empty texts, AUC, and the
share answered "positive". Writes `data/results/gpt_few_shot.csv` (about five minutes).
"""

from coursekit.few_shot import SWAPPED, WITHOUT_TEXT, draw_demos, leaning, opinions, scores
from coursekit.models import load
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

DRAWS, COUNTS = range(5), (0, 1, 2, 4, 8)


def _steps(options: Options) -> Steps:
    prompt = names_of("07_gpt")["few_shot_prompt"]
    loaded, (pool, questions) = load("SmolLM2-135M-Instruct", head="causal-lm"), opinions()
    texts, positive = questions.text.tolist(), (questions.label == "positive").to_numpy()

    def measure(model: str, draw: int, labels: str, examples: int) -> list[dict]:
        shown = draw_demos(pool, draw)[:examples]
        if labels == "swapped":
            shown = [(text, SWAPPED[label]) for text, label in shown]
        empty = leaning(loaded, prompt, shown, WITHOUT_TEXT).mean().item()
        found = scores(leaning(loaded, prompt, shown, texts), empty, positive)
        return [{"measure": name, "value": value} for name, value in found.items()]

    runs = [
        {"model": loaded.name, "draw": draw, "labels": labels, "examples": count}
        for draw in DRAWS
        for labels, counts in (("right", COUNTS), ("swapped", (8,)))
        for count in counts
        if count or not draw  # without examples there is nothing to draw
    ]
    yield Step("gpt_few_shot", runs, measure, digits=3)


EXPERIMENT = Experiment(_steps)
