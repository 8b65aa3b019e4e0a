"""Does a small decoder learn a task from the examples in its prompt, and do their labels matter?

SmolLM2-135M-Instruct classifies 96 opinions with 0 to 8 examples in the prompt, for several draws of the examples; as a
control with all labels swapped (notebook 07, part 8): accuracy, accuracy with the threshold of empty texts, AUC, and the
share answered "positive". Writes `data/results/gpt_few_shot.csv` (about five minutes).
"""

from coursekit.models import load
from experiments.harness import Experiment, Options, Step, Steps
from experiments.induction import names_of_gpt

DRAWS, COUNTS = range(5), (0, 1, 2, 4, 8)


def _steps(options: Options) -> Steps:
    names, loaded = names_of_gpt(), load("SmolLM2-135M-Instruct", head="causal-lm")
    leaning, swapped, questions = names["leaning"], names["SWAPPED"], names["questions"]
    texts, positive = questions.text.tolist(), (questions.label == "positive").to_numpy()

    def measure(model: str, draw: int, labels: str, examples: int) -> list[dict]:
        shown = names["draw_demos"](draw)[:examples]
        if labels == "swapped":
            shown = [(text, swapped[label]) for text, label in shown]
        empty = leaning(loaded, shown, names["WITHOUT_TEXT"]).mean().item()
        found = names["scores"](leaning(loaded, shown, texts), empty, positive)
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
