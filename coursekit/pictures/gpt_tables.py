"""Tables of notebook 07: losses, accuracies on senses, and architectures, with the sentences that state their numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from jaxtyping import Bool, Float
from torch import Tensor, nn

from coursekit.exam import QUESTIONS, Accuracy, Exam, bounds
from coursekit.intervals import mean_and_half, wilson
from coursekit.language import BOS, EOS, PAD, Language, Sentences
from coursekit.pictures import exam as exam_pictures
from coursekit.pictures.gpt import share_of_later_words
from coursekit.plots import BLUE, GREY, PINK, show
from coursekit.small import recorded_senses
from coursekit.small.figures import MORE_LABELS

Seeds = Mapping[str, Sequence[Accuracy]]
"""For each model the accuracies of its seeds."""


def against_the_entropy(losses: Mapping[str, float], bound: float) -> pd.DataFrame:
    """Each loss, its perplexity, and its distance from the entropy."""
    return pd.DataFrame({
        name: {
            "cross-entropy (nats)": f"{loss:.2f}",
            "perplexity": f"{np.exp(loss):.1f}",
            "KL divergence (nats)": f"{loss - bound:.2f}",
        }
        for name, loss in losses.items()
    }).T  # fmt: skip


def recorded_accuracies() -> dict[str, list[Accuracy]]:
    """The recorded accuracies of GPT, untrained and with three numbers of labels, and of BERT, for each seed."""
    few_labels, many_labels = MORE_LABELS
    return {
        "GPT, untrained": recorded_senses("gpt", 2, trained=False),
        f"GPT, {few_labels:,} labelled": recorded_senses("gpt", 2, few_labels),
        "GPT": recorded_senses("gpt", 2),
        f"GPT, {many_labels:,} labelled": recorded_senses("gpt", 2, many_labels),
        "BERT": recorded_senses("bert", 2),
    }


def accuracies(seeds: Seeds) -> None:
    """The figure of `recorded_accuracies`, and the numbers for the questions on word order."""
    show(*exam_pictures.rows([
        exam_pictures.Reader(name, exam_pictures.over_seeds(runs), colour)
        for (name, runs), colour in zip(seeds.items(), (GREY, BLUE, BLUE, BLUE, PINK), strict=True)
    ]))  # fmt: skip
    before = bounds().words_before
    display(Markdown(
        f"Where word order determines the sense, GPT's accuracy over {len(seeds['GPT'])} seeds is "
        f"**{_over_seeds(seeds['GPT'], 'order1')}** with one clause and **{_over_seeds(seeds['GPT'], 'order2')}** with two "
        f"clauses. Given the preceding words, the upper bounds are {before.order1:.3f} and {before.order2:.3f}. BERT, which "
        f"uses both sides, reaches {_over_seeds(seeds['BERT'], 'order1')} and {_over_seeds(seeds['BERT'], 'order2')}."
    ))  # fmt: skip


def _over_seeds(runs: Sequence[Accuracy], kind: str) -> str:
    """The mean over the seeds and half the width of its 95 % interval."""
    mean, half = mean_and_half([run[kind] for run in runs])
    return f"{mean:.3f} ± {half:.3f}"


def by_information(
    exam: Exam,
    told: Bool[np.ndarray, " held_out"],
    best_guess: Float[np.ndarray, " held_out"],
    readers: Mapping[str, Bool[np.ndarray, " held_out"]],
) -> None:
    """The accuracy of each classifier where the preceding words determine the sense (`told`) and where they do not.

    `best_guess` is the probability of the most probable sense given the preceding words. The sentence is about the first classifier.
    """
    parts = {
        f"{text}, {'determined' if half else 'not determined'}": (exam.held_out.cue == kind) & (told == half)
        for kind, text in QUESTIONS.items()
        for half in (True, False)
    }
    display(pd.DataFrame({
        name: {"questions": f"{part.sum():,}"} | {
            reader: f"{right[part].mean():.3f}" for reader, right in readers.items()
        }
        for name, part in parts.items() if part.any()
    }).T)  # fmt: skip
    hits, guess = next(iter(readers.values())), best_guess[~told].mean()
    share = hits[~told].mean()
    low, high = wilson(share, (~told).sum())
    display(Markdown(
        f"Where the preceding words determine the sense, the nearest-neighbour classifier answers **{hits[told].mean():.1%}** of "
        f"the questions correctly. Of the other questions, it answers **{share:.1%}** correctly ({low:.1%} to "
        f"{high:.1%}); the chance level for these questions is {guess:.1%}."
    ))  # fmt: skip


def names_and_shapes(*models: nn.Module) -> None:
    """The names and shapes of all weights outside the layers and in layer 0, model by model."""
    print(*("\n".join(_names_and_shapes(model)) for model in models), sep="\n\n")


def _names_and_shapes(model: nn.Module) -> list[str]:
    weights = {name: tuple(weight.shape) for name, weight in model.state_dict().items()}
    return [f"{name} {shape}" for name, shape in weights.items() if ".1." not in name and ".2." not in name]


def published_decoders() -> None:
    """The published sizes of four decoders, and the numbers of parameters that their matrices contain."""
    table = sizes_of_decoders()
    counted = counted_parameters(table)
    shown = [f"{n / 1e9:.3g} B" if n > 1e9 else f"{n / 1e6:.0f} M" for n in counted]
    table.insert(6, "counted", shown)
    display(table)


def counted_parameters(sizes: pd.DataFrame) -> pd.Series:
    """The parameters of the matrices: 4D² and 2DF (3DF if gated) per layer, VD for tokens, and TD for learned positions."""
    gated = sizes.index.str.startswith("LLaMA")
    layers = sizes.L * (4 * sizes.D**2 + (2 + gated) * sizes.D * sizes.F)
    second = np.where(gated, sizes.V, sizes["T"])  # LLaMA has a second table and no position embeddings
    return layers + (sizes.V + second) * sizes.D


def sizes_of_decoders() -> pd.DataFrame:
    """As published: layers L, width D, inner width F, vocabulary V, and tokens T."""
    return pd.DataFrame(
        [
            ("GPT (2018)", 12, 768, 3072, 40_478, 512, "117 M", "pre-training, then fine-tuning"),
            ("GPT-2 (2019)", 48, 1600, 6400, 50_257, 1024, "1.5 B", "zero-shot tasks"),
            ("GPT-3 (2020)", 96, 12_288, 49_152, 50_257, 2048, "175 B", "few-shot tasks"),
            ("LLaMA (2023)", 80, 8192, 22_016, 32_000, 2048, "65 B", "public data, more tokens per parameter"),
        ],
        columns=["model", "L", "D", "F", "V", "T", "published", "key innovation"],
    ).set_index("model")  # fmt: skip


def bert_and_gpt(
    two_cells: Mapping[str, Sequence[float]],
    influences: Mapping[str, Float[Tensor, "T T"]],
    seeds: Seeds,
    possible: float,
    held_out: Sentences,
) -> None:
    """Encoder-only and decoder-only models compared by what the notebook has measured.

    `possible` is the fraction of GPT's sentences at temperature 1 that are possible; the labels per sentence are counted in
    `held_out`.
    """
    targets = (held_out.lengths - 1).sum() / held_out.lengths.sum()
    no_special = np.isin(held_out.ids, (PAD, BOS, EOS), invert=True).sum() / held_out.lengths.sum()

    def senses(name: str) -> dict[str, str]:
        return {
            f"accuracy on senses, {text}": _over_seeds(seeds[name], kind) for kind, text in QUESTIONS.items()
        }

    display(pd.DataFrame({
        "encoder only (BERT)": {
            "architecture": "encoder blocks, post-norm",
            "attention mechanism": "bidirectional self-attention",
            "pre-training objective": "masked words (and next sentence)",
            "labels per sentence": f"{0.15 * no_special:.0%} of the tokens",
            "context understanding": "both sides of a word, in every layer",
            "two senses of cell, difference in the last layer": f"{two_cells['small BERT'][-1]:.2f}",
            "influence from later words": f"{share_of_later_words(influences['BERT']):.2f}",
            **senses("BERT"),
            "output": "a vector per token; fills masked positions",
            "primary strength": "understanding",
            "applications": "tagging, classification, retrieval",
            "examples": "BERT, RoBERTa, MiniLM, ModernBERT",
        },
        "decoder only (GPT)": {
            "architecture": "decoder blocks without cross-attention, pre-norm since GPT-2",
            "attention mechanism": "causal (masked) self-attention",
            "pre-training objective": "next word",
            "labels per sentence": f"{targets:.0%} of the tokens",
            "context understanding": "the left side of a word",
            "two senses of cell, difference in the last layer": f"{two_cells['small GPT'][-1]:.0g}",
            "influence from later words": f"{share_of_later_words(influences['GPT']):.2f}",
            **senses("GPT"),
            "output": f"generates text; {possible:.0%} of its sentences are possible at temperature 1",
            "primary strength": "generation",
            "applications": "text, dialogue, code; tasks described in the prompt",
            "examples": "GPT-2, LLaMA, SmolLM2",
        },
    }))  # fmt: skip


def loss_and_entropy(loss: float, language: Language, sentences: Sentences) -> None:
    """Print a loss on some sentences, its perplexity, and how far it is above the entropy of their next tokens."""
    bound = language.log_loss_next(sentences.ids).sum() / (sentences.lengths - 1).sum()
    print(
        f"GPT on {len(sentences):,} held-out sentences: {loss:.3f} nats per token",
        f"(perplexity {np.exp(loss):.2f}); entropy {bound:.3f} (the loss is {loss / bound - 1:.1%} higher)",
    )
