"""What do a second layer and position embeddings contribute to telling senses apart?

Encoders of one and two layers, with and without positions, are taught the senses and take the scoreboard's test after 0
to 2,000 steps (notebook 03, part 8). Writes `data/results/transformer_depth.csv` (about twelve minutes).
"""

from dataclasses import asdict

from coursekit.language import load_language
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

STEPS = [0, 500, 1000, 2000]


def _steps(options: Options) -> Steps:
    language = load_language()
    names = names_of("03_transformer_layer", V=len(language.vocabulary), language=language)

    def measure(layers: int, positions: bool, seed: int) -> list[dict]:
        embed = names["with_positions" if positions else "words_alone"]
        found = names["lessons_and_exams"](layers, seed, embed, STEPS)
        return [{"steps": steps} | asdict(accuracy) for steps, accuracy in found.items()]

    yield Step("transformer_depth", grid(layers=(1, 2), positions=(False, True), seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(5))
