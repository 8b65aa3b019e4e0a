"""Tables and printed results of notebook 03: what it measures of the layer, of stacks of layers and of their training."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy
from coursekit.intervals import mean_and_half
from coursekit.language import Language
from coursekit.pictures.tables import accuracies_by_question, markdown_table


def changes_of_bank(changes: Mapping[str, float], moved_along: float) -> None:
    """How much the vector of *bank* changes with its sentence, and how far attention is from being permutation-equivariant."""
    for what, change in changes.items():
        print(f"{what:<42} bank changes by {change:.7f}")
    print(
        f"largest difference between the outputs of the shuffled sentence and the shuffled outputs: {moved_along:.0e}"
    )


def changes_with_positions(changes: Mapping[str, float]) -> None:
    """How much the vector of *bank* changes with its sentence, as a table."""
    rows = [[what, f"{change:.1e}"] for what, change in changes.items()]
    display(Markdown(markdown_table(["", "change of *bank*"], rows)))


def sizes_of_parts(dim: int, heads: int, inner: int) -> dict[str, int]:
    """The number of parameters of each part of PyTorch's layer."""
    layer = nn.TransformerEncoderLayer(dim, heads, inner)
    parts = ("self_attn", "linear1", "linear2", "norm1", "norm2")
    return {name: sum(p.numel() for p in layer.get_submodule(name).parameters()) for name in parts}


def parameters(sizes: Mapping[str, int]) -> None:
    """The number of parameters of a layer and of its parts."""
    print(f"{sum(sizes.values()):,} parameters in a layer:")
    print(", ".join(f"{name} {size:,}" for name, size in sizes.items()))


def differences_from_torch(apart: Mapping[str, Mapping[str, float]]) -> None:
    """For each kind of norm, the largest differences between PyTorch's layer and one's own, and those of variants."""
    for kind, gaps in apart.items():
        for what, gap in gaps.items():
            print(f"{kind:<9}  {what:<32} largest difference {gap:.1e}")


def own_share(hidden: Float[Tensor, "L B T D"], real: Bool[Tensor, "B T"]) -> Float[np.ndarray, " L"]:
    """Per layer: distance of the word vectors from their sentence mean, relative to their length; `real` marks the words."""
    weight = real[..., None] / real.sum(1)[:, None, None]
    rest = hidden - (hidden * weight).sum(2, keepdim=True)
    size = hidden[:, real].square().sum((1, 2))
    return (rest[:, real].square().sum((1, 2)) / size).sqrt().numpy()


def by_initialisation(
    kept: Mapping[tuple[str, str], Sequence[float]], ratios: Mapping[tuple[str, str], Sequence[float]]
) -> None:
    """How far the vectors are from the sentence mean after 12 layers, and the ratio of gradients, by kind of layer and initialisation."""
    rows = [
        [*where, *("{:.2f} ± {:.2f}".format(*mean_and_half(found[where])) if where in found else "–" for found in (kept, ratios))]
        for where in kept
    ]  # fmt: skip
    head = ["12 layers, 5 seeds", "initialisation", "distance from the sentence mean / length of the vector, after layer 12", "gradient, first layer / last"]  # fmt: skip
    display(Markdown(markdown_table(head, rows, align="llrr")))


def watched(
    direction: Callable[[nn.Module, Tensor], Float[Tensor, " 2"]],
    pair: Int[Tensor, "2 T"],
    language: Language,
) -> Callable[[nn.Module, int, float], None]:
    """A function that prints every 30 steps how probable a model finds it that each version of a sentence is backwards.

    The first version of `pair` is forwards; both are printed at once.
    """
    print("forwards: ", language.decode(pair[0]))
    print("backwards:", language.decode(pair[1]), "\n")

    def look(model: nn.Module, step: int, loss: float) -> None:
        if step % 30 == 0:
            said = " ".join(f"{p:.2f}" for p in direction(model, pair).sigmoid())
            print(
                f"step {step:>3}   loss {loss:.3f}   probability of “backwards” for the first and second version: {said}"
            )

    return look


def directions_found(found: Mapping[str, Sequence[float]]) -> None:
    """The accuracy on the direction task for each kind of embedding: the mean, and each seed."""
    for name, values in found.items():
        seeds = " ".join(f"{value:.3f}" for value in values)
        print(f"{name:<15} accuracy: {np.mean(values):.3f}   (seeds {seeds})")


def accuracies(of: Mapping[str, Accuracy]) -> None:
    """The accuracy of each encoder on each kind of question."""
    for name, accuracy in of.items():
        print(f"{name:<22} {accuracy}")


def learned_by_rate(rates: pd.DataFrame) -> pd.DataFrame:
    """In how many of the recorded runs deep post-norm learned the task, with and without warm-up (rows), by learning rate."""
    learned = rates.assign(found=rates.accuracy > 0.8).groupby(["how", "rate"], sort=False).found.sum()
    names = {"warm-up and clipping": "post-norm, warm-up", "no warm-up": "post-norm, no warm-up"}
    return learned.unstack("rate").rename(index=names)


def learning_rates() -> None:
    """The recorded runs of deep post-norm at four learning rates, as a table."""
    learned = learned_by_rate(read_table("results/warm_up_rates.csv"))
    learned = learned.rename_axis("runs out of five with an accuracy above 0.8", axis=0)
    display(learned.rename_axis("learning rate", axis=1))


def recorded_encoders() -> pd.DataFrame:
    """The recorded accuracies of encoders with one and two layers, with and without positions, by number of steps."""
    recorded = read_table("results/transformer_depth.csv")
    recorded = recorded.sort_values(["positions", "layers"], ascending=[False, True], kind="stable")
    names = [
        f"{layers} layer{'s' * (layers > 1)}{'' if positions else ', no positions'}"
        for layers, positions in zip(recorded.layers, recorded.positions, strict=True)
    ]
    return recorded.assign(encoder=names)


def after_training(recorded: pd.DataFrame) -> dict[str, list[Accuracy]]:
    """For each encoder, the accuracies of its seeds after the largest number of steps."""
    longest = recorded[recorded.steps == recorded.steps.max()]
    return {
        name: [Accuracy(*shares) for shares in runs[list(QUESTIONS)].to_numpy().tolist()]
        for name, runs in longest.groupby("encoder", sort=False)
    }


def encoders(found: Mapping[str, Sequence[Accuracy]], recorded: pd.DataFrame) -> None:
    """The accuracy of each encoder after 2,000 steps, as a table, with the seeds of one layer and the accuracy before training."""
    untrained = recorded[recorded.steps == 0].groupby("encoder").right.mean()
    seeds = ", ".join(f"{accuracy.order2:.3f}" for accuracy in found["1 layer"])
    display(Markdown(
        f"{accuracies_by_question(found, 'after 2,000 steps')}\n\n± is half the width of a 95 % interval over {recorded.seed.nunique()} "
        f"seeds (`experiments/transformer_depth.py`). Accuracy of one layer with positions on questions with two clauses, by seed: "
        f"{seeds}. Before training, the same encoder already scores {untrained['1 layer']:.2f} where the cue is to the right: "
        "random mixtures of different words are themselves different."))  # fmt: skip


def epoch(
    accuracy: float, rows: Sequence[Sequence[int]], widths: Sequence[int], filled: Sequence[float]
) -> None:
    """The accuracy after an epoch, and how many tokens are real, compared with padding to the longest of all sequences.

    `widths` and `filled` have the number of tokens and the share of real ones for each batch.
    """
    longest = max(map(len, rows))
    print(f"accuracy after one epoch: {accuracy:.3f}")
    print(
        f"{len(widths)} batches, {min(widths)} to {max(widths)} tokens wide; {np.mean(filled):.0%} of the tokens are real. "
        f"With padding to the longest sequence of all, {longest} tokens, the fraction would be {np.mean([len(row) for row in rows]) / longest:.0%}"
    )


def symptoms(name: str, change: float, apart: float, accuracy: float) -> None:
    """Three measurements of a function that adds positions, as a table."""
    rows = [
        ["change in the vector of *bank* when the other words are shuffled", f"{change:.0e}"],
        ["the same sentence twice in a batch: largest difference between the two outputs", f"{apart:.1e}"],
        ["accuracy on the direction task", f"{accuracy:.3f}"],
    ]
    display(Markdown(markdown_table([name, ""], rows)))


def vectors_of_several_sizes(bank: Float[Tensor, " 50"]) -> dict[str, Float[Tensor, " D"]]:
    """Vectors with few and with many coordinates, of ordinary size and small."""
    drawn = torch.Generator().manual_seed(1)
    return {
        "[1, 0, 0, 0]": torch.tensor([1.0, 0, 0, 0]),
        "*bank*, D = 50": bank,
        "random, D = 768": torch.randn(768, generator=drawn),
        "random, D = 768, standard deviation 0.02": 0.02 * torch.randn(768, generator=drawn),
        "random, D = 768, standard deviation 0.001": 0.001 * torch.randn(768, generator=drawn),
    }


def norms_compared(
    layer_norm: Callable[[Tensor, Tensor, Tensor], Tensor],
    other: Callable[[Tensor], Tensor],
    bank: Float[Tensor, " 50"],
) -> None:
    """The largest coordinate of vectors of several sizes after layer normalisation and after another kind, as a table."""
    rows = []
    for name, x in vectors_of_several_sizes(bank).items():
        ours, theirs = layer_norm(x, torch.ones(len(x)), torch.zeros(len(x))).max(), other(x).max()
        rows.append([name, f"{ours:.3f}", f"{theirs:.3f}", f"{theirs / ours:.4f}"])
    head = ["vector", "largest coordinate, ours", "tutorial's", "tutorial's / ours"]
    display(Markdown(markdown_table(head, rows)))


def differences_after_shifts(
    sinusoid: Callable[[int, int], Float[Tensor, "T D"]], shift_matrix: Callable[[int, int], Float[Tensor, "D D"]]
) -> dict[str, float]:  # fmt: skip
    """How far a shift by three positions is from the encoding three positions later, with a control, and from two shifts in a row."""
    table, M = sinusoid(60, 50), shift_matrix(3, 50)
    return {
        "M₃ PE(p) against PE(p + 3)": (table[:-3] @ M.T - table[3:]).abs().max().item(),
        "control: against PE(p + 4)": (table[:-4] @ M.T - table[4:]).abs().max().item(),
        "M₃ M₄ against M₇": (M @ shift_matrix(4, 50) - shift_matrix(7, 50)).abs().max().item(),
    }


def shifts(
    sinusoid: Callable[[int, int], Float[Tensor, "T D"]], shift_matrix: Callable[[int, int], Float[Tensor, "D D"]]
) -> None:  # fmt: skip
    """How exact shifts of positions by a matrix are, printed."""
    for what, gap in differences_after_shifts(sinusoid, shift_matrix).items():
        print(f"{what:<27} largest difference {gap:.1e}")
