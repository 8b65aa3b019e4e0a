"""Which of the choices in BERT's paper matter on the generated language?

Small BERTs of two layers, as in the paper and with one choice changed (notebook 06, *Further: what BERT's choices are
worth*): nats above the best possible at masked words of held-out sentences, accuracy of next-sentence prediction, and the
scoreboard's test by kind of question. Writes `data/results/ablations.csv` (four minutes per run, 18 runs).
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from coursekit.exam import nearest_sense, sense_exam
from coursekit.language import PAD, Language, load_language
from coursekit.small.bert import BERT, UNCHOSEN, BERTConfig, corrupt
from coursekit.small.figures import bert_loss, next_sentence, sense_vectors
from coursekit.small.recipes import BLOCK, Recipe, new_model, passages, schedule, weight_groups
from experiments.harness import Experiment, Options, Step, Steps

STEPS, BATCH, RATE = 6_000, 64, 3e-3
SENTENCES, SEED = 2_000, 7_001


@dataclass(frozen=True)
class Choices:
    """The choices of the paper (Devlin et al., 2019, sections 3.1 and A.2), in the sizes of the course."""

    share: float = 0.15  # of the words that are to be predicted
    masked: float = 0.8  # share of these that becomes [MASK]
    replaced: float = 0.1  # share that becomes a random word
    next_sentence: bool = True
    warm_up: bool = True
    weight_decay: float = 0.1


PAPER = Choices()
VARIANTS = {
    "as in the paper": PAPER,
    "no next sentence": replace(PAPER, next_sentence=False),
    "every chosen word masked": replace(PAPER, masked=1.0, replaced=0.0),
    "40 % chosen": replace(PAPER, share=0.4),
    "no warm-up": replace(PAPER, warm_up=False),
    "no weight decay": replace(PAPER, weight_decay=0.0),
}


def build(language: Language) -> BERT:
    """A BERT before training."""
    return BERT(BERTConfig(len(language.vocabulary), 2 * language.max_length - 1))


def losses(choices: Choices, model: BERT, language: Language, batch: int, seed: int) -> Iterator[Tensor]:
    """The loss of one fresh batch of passages after another, in nats."""
    generator = torch.Generator().manual_seed(seed)
    for ids, segments, not_next in passages(language, batch, seed):
        corrupted, labels = corrupt(
            ids, len(language.vocabulary), generator, choices.share, choices.masked, choices.replaced
        )
        top = model.encode(model.embeddings(corrupted, segments), ids != PAD)[-1]  # B T D
        chosen = labels != UNCHOSEN  # B T
        logits = model.masked_word(top[chosen], model.embeddings.token.weight)
        loss = nn.functional.cross_entropy(logits, labels[chosen])
        if choices.next_sentence:
            loss = loss + nn.functional.cross_entropy(model.next_sentence(top), not_next)
        yield loss


def trained(choices: Choices, seed: int, steps: int, language: Language) -> BERT:
    """A BERT after `steps` steps."""
    recipe = Recipe(
        build, partial(losses, choices), steps, BATCH, RATE, choices.weight_decay, decay_until=0.5
    )
    model = new_model(recipe, language, seed).train()
    groups = weight_groups(model, recipe)
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98))
    done = 0
    while done < steps:
        batches = recipe.losses(model, language, BATCH, seed * 1_000_000 + done // BLOCK)
        for _ in range(min(BLOCK, steps - done)):
            for group in optimizer.param_groups:
                group["lr"] = RATE * (schedule(done, steps) if choices.warm_up else cosine(done, steps))
                group["weight_decay"] = recipe.decay(done) if group["decays"] else 0.0
            optimizer.zero_grad()
            next(batches).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            done += 1
    return model.eval()


def cosine(step: int, steps: int) -> float:
    """The learning rate without warm-up, as a share of its peak."""
    return 0.5 * (1 + float(np.cos(np.pi * step / steps)))


@torch.no_grad()
def scores(model: BERT, language: Language) -> dict[str, float]:
    """Results at masked words of held-out sentences (15 %, all as [MASK]), at next sentences, and at senses from the top layer."""
    rng = np.random.default_rng(SEED)
    sample = language.sample(SENTENCES, rng, "held_out")
    loss = bert_loss(model, language, sample, rng, "held-out")
    following = next_sentence(model, language, SENTENCES, rng)
    exam = sense_exam()
    labelled, asked = (sense_vectors(model, part)[-1] for part in (exam.labelled, exam.held_out))
    return {
        "above the bound": loss["held-out: masked word, above the bound"],
        "next sentence": following["held-out: next sentence, accuracy"],
        **asdict(nearest_sense(exam, labelled, asked)),
    }


def _steps(options: Options) -> Steps:
    language = load_language()

    def measure(variant: str, seed: int) -> dict:
        return {"steps": STEPS} | scores(trained(VARIANTS[variant], seed, STEPS, language), language)

    runs = [{"variant": variant, "seed": seed} for seed in options.seeds for variant in VARIANTS]
    yield Step("ablations", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
