"""Tables and printed results of notebook 06, of values that the notebook has computed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import BertConfig, BertForPreTraining

from coursekit.architectures import LONG, SHORT, keep_measured
from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy
from coursekit.intervals import mean_and_half
from coursekit.language import Language, Passages
from coursekit.models import Loaded
from coursekit.small import BERT, ELMo
from coursekit.small.both_sides import coordinates_that_depend, elmo_losses
from coursekit.small.long_rows import first_word_left, one_layer_ms
from coursekit.small.masked import MaskedLoss, MaskedSentences
from coursekit.small.pairs import PairTest

PAPER = "as in the paper"
MEASURES = {
    "above the bound": "KL divergence (nats)",
    "right": "cue only on the right",
    "order2": "order, two clauses",
}
"""Columns of the table of ablations, and their titles."""


def _in_short(values: Sequence[float]) -> str:
    """The mean and half the width of its 95 % interval."""
    return "{:.3f} ± {:.3f}".format(*mean_and_half(values))


def first_losses(by_std: Mapping[float, Float[np.ndarray, "seeds 2"]], uniform: float) -> None:
    """Expected and measured first losses of ten seeds by the standard deviation σ of the embeddings; `uniform` is ln V."""
    display(pd.DataFrame({
        f"σ = {std}": {
            "expected (your function)": f"{found[:, 0].mean():.2f}",
            "measured, mean of ten seeds": "{:.2f} ± {:.2f}".format(*mean_and_half(found[:, 1])),
            "lowest and highest of the ten": f"{found[:, 1].min():.2f} to {found[:, 1].max():.2f}",
        }
        for std, found in by_std.items()
    }).T.rename_axis(f"first loss in nats; ln V = {uniform:.2f}"))  # fmt: skip


def one_layer_alone() -> pd.Series:
    """The recorded accuracies of notebook 03's one-layer models where word order decides, in two clauses."""
    depth = read_table("results/transformer_depth.csv")
    return depth[(depth.layers == 1) & depth.positions & (depth.steps == depth.steps.max())].order2


def order_by_model(by_layer: Mapping[int, Sequence[Accuracy]]) -> None:
    """The accuracy where word order decides, in two clauses: BERT's layers 1 and 2, and the one-layer models of notebook 03."""
    shares = {
        "BERT's layer 1": [one.order2 for one in by_layer[1]],
        "BERT's layer 2": [one.order2 for one in by_layer[2]],
        "a model with one layer, trained on labelled senses (03)": one_layer_alone(),
    }
    said = "; ".join(f"{name} **{_in_short(values)}**" for name, values in shares.items())
    display(
        Markdown(f"Accuracy on sentences of two clauses in which word order determines the sense: {said}.")
    )


def bert_and_elmo(accuracy: Mapping[str, Sequence[Accuracy]]) -> None:
    """The mean accuracies of BERT and ELMo on each kind of question, and whether they differ over the seeds."""

    def compared(kind: str) -> str:
        (elmo_mean, elmo_half), (bert_mean, bert_half) = (
            mean_and_half([one[kind] for one in accuracy[name]]) for name in ("ELMo", "BERT")
        )
        apart = abs(bert_mean - elmo_mean) > np.hypot(elmo_half, bert_half)
        place = (
            "not distinguishable with these seeds"
            if not apart
            else "higher"
            if bert_mean > elmo_mean
            else "lower"
        )
        return f"{QUESTIONS[kind]} {bert_mean:.3f} and {elmo_mean:.3f} ({place})"

    display(Markdown("BERT and ELMo: " + "; ".join(map(compared, QUESTIONS)) + "."))


# --- further: ELMo and BERT compared ---


def elmo_and_bert(
    elmo: ELMo,
    bert: BERT,
    held_out: MaskedSentences,
    loss: MaskedLoss,
    reads: Mapping[str, Mapping[str, float]],
    accuracy: Mapping[str, Sequence[Accuracy]],
) -> None:
    """The two models, their losses on the held-out sentences and their accuracies, property by property.

    `reads` contains the fractions of coordinates that depend on each side, `accuracy` the accuracies of each seed.
    """
    forward, backward, exact = elmo_losses(held_out.language, elmo, held_out.ids)
    with torch.no_grad():
        bert_loss = loss(bert(held_out.masked).logits, held_out.labels).item()
    against: dict[str, Any] = {
        "architecture": ("LSTMs in both directions", "transformer encoder"),
        "tokenisation": ("words, as characters", "words here; in the original, WordPiece"),
        "context of a word": ("left in one half, right in the other", "both sides, in every layer"),
        "pre-training objective": ("next word and previous word", "masked words, next sentence"),
        "labels from 100 words": ("100 in each direction", f"{held_out.labels_per_100_words:.0f}"),
        "loss (entropy)": (
            f"{forward:.2f} and {backward:.2f} ({exact:.2f} each)",
            f"{bert_loss:.2f} ({held_out.entropy:.2f})",
        ),
        "coordinates that depend on both sides": [f"{share['both']:.0%}" for share in reads.values()],
        **{
            f"accuracy on senses, {text}": [
                _in_short([one[kind] for one in senses]) for senses in accuracy.values()
            ]
            for kind, text in QUESTIONS.items()
        },
        "parameters": [f"{sum(w.numel() for w in model.parameters()):,}" for model in (elmo, bert)],
        "use in a task": ("frozen, as input to a task model", "fine-tuned (09)"),
    }
    display(pd.DataFrame(against, index=["ELMo", "BERT"]).T)


def coordinates(
    language: Language, elmo: ELMo, bert: BERT, words: str, place: int
) -> dict[str, dict[str, float]]:
    """The fractions of the coordinates of a word's last vector that depend on each side, and on both; displayed, and returned."""
    reads = coordinates_that_depend(language, elmo, bert, words, place)
    display(pd.DataFrame(reads).T.map("{:.0%}".format).rename_axis("coordinates that depend on: "))
    return reads


def encoder_column(bert: BERT) -> list[float]:
    """Measure the encoder's column of the architecture table, display it and keep it for notebook 12.

    Returns, for each of eight draws, how much less the first of 64 words influences the last than the first of 2 words does.
    """
    left, ms = first_word_left(bert), {tokens: one_layer_ms(bert, tokens) for tokens in (SHORT, LONG)}
    keep_measured("encoder (BERT)", "06", left, ms)
    survives = np.exp(np.log(left).mean())
    column = {
        "a word sees": "all words",
        "attention": "both sides, every layer",
        "objective": "masked words, next sentence",
        "generates text": "no",
        "steps in sequence": "1 per layer",
        "first word's derivative, 64 words over 2": f"{survives:.2g} (8 draws: {min(left):.1g} to {max(left):.1g})",
        "ms at T = 64": f"{ms[SHORT]:.2f}",
        "ms at T = 4096": f"{ms[LONG]:.0f}",
        "used for": "vectors, fine-tuning",
    }
    display(pd.DataFrame({"encoder only (BERT)": column}))
    return left


# --- further: the next sentence ---


def passages(language: Language, pairs: Passages) -> None:
    """Print sentence pairs with their labels and the exact probability that the second sentence continues the first."""
    certainty = language.continuation_posterior(pairs.first.ids, pairs.second.ids)
    for i, probability in enumerate(certainty):
        pair = " / ".join(language.decode(side.ids[i]) for side in (pairs.first, pairs.second))
        print(
            f"label {int(~pairs.continues[i])}, exact probability of label 0: {probability:.2f}\n    {pair}"
        )


def pairs_of_documents(pairs: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]) -> None:
    """Print how many pairs are made from 400 documents of five sentences, and how often the second sentence comes from another document."""
    document = torch.arange(2000) // 5
    draws = torch.rand(2, len(document), generator=torch.Generator().manual_seed(3))
    first, second, _ = pairs(document, *draws)
    elsewhere = (document[first] != document[second]).float().mean().item()
    print(
        f"{len(first)} pairs from {len(document)} sentences; in {elsewhere:.0%} of the pairs the second sentence comes from another document"
    )


@torch.no_grad()
def loss_of_head(loss: Callable[..., Tensor], model: BERT, test: PairTest, expected: float) -> float:
    """Print and return the next-sentence loss of a head with the model's weights, and print the expected loss next to it.

    `loss` is computed from the last layer's vectors, the weights and biases of both maps, and the labels.
    """
    ids, segments, not_next = test.batch
    pooler, classify = model.next_sentence.pooler, model.next_sentence.classify
    top = model(ids, segments).hidden[-1]
    found = loss(top, pooler.weight.T, pooler.bias, classify.weight.T, classify.bias, not_next).item()
    print(
        f"NSP loss on the held-out pairs: {found:.4f} nats with your head, {expected:.4f} nats in the evaluation above"
    )
    return found


# --- further: size and ablations ---


def parameters(configurations: Mapping[str, BertConfig]) -> pd.DataFrame:
    """Parameters by part of each model, built without memory for its weights; displayed with the sizes, and returned."""
    size = {}
    for name, configuration in configurations.items():
        with torch.device("meta"):
            model = BertForPreTraining(configuration)
        parts = {
            "embeddings": model.bert.embeddings,
            "layers": model.bert.encoder,
            "pooler": model.bert.pooler,
        }
        size[name] = {part: sum(w.numel() for w in module.parameters()) for part, module in parts.items()}
        size[name]["encoder, total"] = sum(size[name].values())
        size[name]["with both heads"] = sum(w.numel() for w in model.parameters())
    configured = {
        name: {
            "layers (L)": c.num_hidden_layers, "hidden size (H)": c.hidden_size,
            "attention heads (A)": c.num_attention_heads, "feed-forward size": c.intermediate_size,
        }
        for name, c in configurations.items()
    }  # fmt: skip
    sizes = pd.DataFrame(size)
    display(pd.concat([pd.DataFrame(configured), sizes]).map("{:,}".format))
    return sizes


def counted_parameters(
    count: Callable[..., tuple[int, int, int, int]],
    configurations: Mapping[str, BertConfig],
    sizes: pd.DataFrame,
) -> None:
    """Print the parameters that a function counts from the sizes, and whether they agree with the table of `parameters`."""
    for name, c in configurations.items():
        *encoder_parts, heads = count(
            c.vocab_size, c.max_position_embeddings, c.hidden_size, c.num_hidden_layers, c.intermediate_size
        )
        total = sum(encoder_parts)
        agrees = (total, total + heads) == tuple(sizes[name].iloc[-2:])
        print(name, "=", " + ".join(f"{part:,}" for part in encoder_parts), f"= {total:,}")
        print(f"    with both heads {total + heads:,}; agrees with transformers: {agrees}")


def paired_differences(ablations: pd.DataFrame) -> dict[tuple[str, str], tuple[float, float]]:
    """The paired difference of each variant from the first row in each measure, with half the width of its interval."""
    paper = ablations.loc[PAPER]
    return {
        (variant, column): mean_and_half(ablations.loc[variant][column] - paper[column])
        for variant in ablations.index.unique("variant").drop(PAPER)
        for column in MEASURES
    }


def ablations() -> pd.DataFrame:
    """The recorded ablations by variant and seed."""
    return read_table("results/ablations.csv").set_index(["variant", "seed"])


def ablation_table() -> None:
    """Each variant of BERT's design with its means, and its paired differences from the first row."""
    runs = ablations()
    differences = paired_differences(runs)
    lines: dict[str, dict[tuple[str, str], str]] = {}
    for variant in runs.index.unique("variant"):
        lines[variant] = {}
        for column, title in MEASURES.items():
            lines[variant][title, "mean"] = _in_short(runs.loc[variant][column])
            lines[variant][title, "difference"] = ""
            if variant != PAPER:
                mean, half = differences[variant, column]
                lines[variant][title, "difference"] = f"{mean:+.3f} ± {half:.3f}" + (
                    " *" if abs(mean) > half else ""
                )
    display(pd.DataFrame(lines).T.rename_axis(columns=["", "* interval excludes 0"]))


# --- extensions ---

NEAR_SYNONYMS = {
    "florists": "gardeners", "lumberjacks": "workers", "chauffeurs": "drivers", "belfry": "tower", "acorns": "nuts",
    "woodpecker": "bird", "tulips": "flowers", "whiskers": "beard", "cursor": "pointer", "welders": "builders",
}  # fmt: skip
"""Words of several subwords, each with a near-synonym of one or two."""


def near_synonyms(loaded: Loaded, pool: Callable[[Tensor, Tensor, str], Tensor]) -> None:
    """How similar the vector of a word of several subwords is to that of its near-synonym, with both ways of pooling.

    `pool` maps the hidden states, the index of each token's word and "mean" or "first" to a vector for each word.
    """

    @torch.no_grad()
    def vector_of(word: str, how: str) -> Float[Tensor, " D"]:
        inputs = loaded.tokenizer(f"they wrote a story about {word} last year", return_tensors="pt")
        numbers = torch.tensor([-1 if number is None else number for number in inputs.word_ids(0)])
        return pool(loaded.model(**inputs).last_hidden_state[0], numbers, how)[5]

    near, own = {}, torch.eye(len(NEAR_SYNONYMS), dtype=torch.bool)
    for how in ("mean", "first"):
        in_pieces = torch.stack([vector_of(word, how) for word in NEAR_SYNONYMS])
        meaning_it = torch.stack([vector_of(word, how) for word in NEAR_SYNONYMS.values()])
        cosines = torch.cosine_similarity(in_pieces[:, None], meaning_it[None], dim=-1)
        near[how] = _similarity(cosines, own)
    display(pd.DataFrame(near).T)


def _similarity(cosines: Float[Tensor, "words words"], own: Bool[Tensor, "words words"]) -> dict[str, str]:
    hits = (cosines.argmax(dim=1) == torch.arange(len(cosines))).sum().item()
    return {
        "mean cosine with its near-synonym": f"{cosines[own].mean().item():.2f}",
        "mean cosine with the nine others": f"{cosines[~own].mean().item():.2f}",
        "near-synonym is the nearest": f"{hits} of {len(cosines)}",
    }
