"""How far does a small decoder get at both tasks when it is only asked in words?

Notebook 10: what SmolLM2-135M-Instruct answers to every second test review and every second test question, without any
training. Writes `data/results/applications_prompts.csv` (two minutes).
"""

from experiments.applications import NOTEBOOK, answers, likelier
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of


def _steps(options: Options) -> Steps:
    names = names_of(NOTEBOOK)

    def measure(task: str) -> list[dict]:
        some = names["reviews" if task == "sentiment" else "questions"]
        some = some[some["split"] == "test"].iloc[::2]
        if task == "sentiment":
            asks = [
                f"Is this review positive or negative? Answer with one word.\n\n{text}"
                for text in some["text"]
            ]
            found = likelier(asks, "This review is", ("positive", "negative"), options)
        else:
            asks = [
                f"{row.context}\n\n{row.question} Answer in a few words taken from the text. If the text does not say "
                "it, answer: none."
                for row in some.itertuples()
            ]
            found = answers(asks, 16, options)
        return [{"id": id, "answer": answer} for id, answer in zip(some["id"], found, strict=True)]

    yield Step("applications_prompts", grid(task=("sentiment", "questions")), measure)


EXPERIMENT = Experiment(_steps)
