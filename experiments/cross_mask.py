"""How much does a translator lose by a wrong cross-attention mask, and does longer training reveal it?

Translators are trained with the mask of 2021 and with the corrected one for 80, 400 and 800 steps (notebook 04, *find
the bug*): nats per token on held-out sentences, given their own source or, as a control, that of another sentence.
Writes `data/results/cross_mask.csv` (about five minutes).
"""

from dataclasses import replace
from functools import partial

from coursekit.language import BOS
from coursekit.translator import Translator, fused_cross_attention
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of


def _steps(options: Options) -> Steps:
    names = names_of("04_recurrence")

    teacher, held_out = names["teacher"], names["held_out"]
    inputs_of = partial(names["shift_right"], bos=BOS)
    other_source = replace(held_out, source=held_out.source.roll(1, dims=0))

    def measure(steps: int, mask: str, seed: int) -> dict:
        cross_mask, inputs = names["masks"][mask], inputs_of(held_out.target)
        model, _ = teacher.train(Translator, steps, inputs_of, cross_mask, seed)
        model.cross = fused_cross_attention  # accepts masks with three axes
        return {
            "own source": teacher.held_out_loss(model, cross_mask, held_out, inputs),
            "another source": teacher.held_out_loss(model, cross_mask, other_source, inputs),
        }

    yield Step("cross_mask", grid(steps=(80, 400, 800), mask=names["masks"], seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
