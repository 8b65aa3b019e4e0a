"""What notebook 14 prints of values that it has computed."""

import html
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Float
from torch import Tensor, nn

from coursekit import instructions, json_answers, judges
from coursekit.instruction_tuning import Tuned, TuningRuns, count, five_steps, logits_apart, trained
from coursekit.instructions import Questions
from coursekit.intervals import mean_and_half, wilson
from coursekit.judged_reviews import Judged
from coursekit.language import load_language
from coursekit.pictures.tables import markdown_table
from coursekit.small import GPT

MARKUP = str.maketrans({"\n": " ", **{letter: f"&#{ord(letter)};" for letter in "|`*_$[]\\~#"}})
"""Letters of a generated text that Markdown would take as its own."""


def asked_three_ways(texts: Mapping[str, tuple[str, str, str]]) -> None:
    """For each question the texts of the novels' GPT and of SmolLM2, without and with its chat template."""
    head = ["question", "novels' GPT", "SmolLM2 without its template", "SmolLM2 with its template"]
    rows = [[_plain(question), *map(_plain, each)] for question, each in texts.items()]
    display(Markdown(markdown_table(head, rows, "llll")))


def json_before_and_after(
    asked: pd.DataFrame, before: Sequence[str], after: Sequence[str], model: nn.Module
) -> None:
    """A question of three topics with the answers before and after training, how many of all answers have the format, and the trainable parameters."""
    shown = [(asked["topic"] == topic).idxmax() for topic in ("geography", "animals", "numbers")]
    rows = [[_plain(asked["question"][n]), _plain(before[n]), _plain(after[n])] for n in shown]
    display(Markdown(markdown_table(["held-out question", "before", "after"], rows, "lll")))
    counts = [_of(json_answers.counted(texts, asked)["in format"], len(asked)) for texts in (before, after)]
    print(f"answers in the format: before {counts[0]}, after {counts[1]}")
    print(f"trainable parameters: {count(trained(model)):,} of {count(list(model.parameters())):,}")


def json_recorded(runs: pd.DataFrame) -> None:
    """What each prompt and each seed of LoRA reaches on 20 held-out questions and 10 other requests, and the change on plain text."""
    names = {
        "no instruction": "SmolLM2, no instruction",
        "format described": "SmolLM2, format described in the prompt",
        "five examples": "SmolLM2, five examples in the prompt",
    }
    head = [
        "", "in the format (95 % interval)", "contains the answer", "other requests in the format",
        "more tokens in the prompt", "change on plain text (nats per token)", "KL on plain text (nats per token)",
    ]  # fmt: skip
    rows = [
        [
            names.get(run.run, f"LoRA, seed {run.seed}"), _of(run.in_format, 20), f"{run.answer} of 20",
            _requests(run.requests_in_format), f"{run.tokens_before}",
            f"{run.nats_above:+.3f} ({run.nats_above_low:+.3f} to {run.nats_above_high:+.3f})" if run.run == "LoRA" else "–",
            f"{run.kl:.3f}" if run.run == "LoRA" else "–",
        ]
        for run in runs.itertuples()
    ]  # fmt: skip
    display(Markdown(markdown_table(head, rows)))


def _requests(found: float) -> str:
    """How many of the ten requests, if they were made."""
    return "–" if np.isnan(found) else f"{found:.0f} of 10"


def _of(found: int, asked: int) -> str:
    """A count with the 95 % interval of the proportion."""
    low, high = wilson(found / asked, asked)
    return f"{found} of {asked} ({100 * low:.0f} to {100 * high:.0f} %)"


def _plain(text: str) -> str:
    """A generated text in a cell of a Markdown table, letter by letter."""
    return html.escape(text.strip(), quote=False).translate(MARKUP)


@torch.no_grad()
def base_model(base: GPT, tests: Questions, right: float, frequent: float) -> None:
    """What the base model says after four questions, and its accuracy next to two others."""
    vocabulary = load_language().vocabulary
    written = base(tests.asked[:4]).logits[:, -1].argmax(dim=-1)
    for row, word in zip(tests.ids[:4].tolist(), written.tolist(), strict=True):
        question = " ".join(vocabulary[i] for i in row[:6])
        print(question, "→", vocabulary[word], f"(answer: {vocabulary[row[6]]})")
    print(
        f"accuracy: base model {right:.1%}; always the most frequent topic {frequent:.1%}; best possible {tests.best.mean():.1%}"
    )


def tuning_now(
    base: GPT, model: GPT, losses: Sequence[float], before: tuple[float, float], after: Tuned, best: float
) -> None:
    """The losses of a run, and accuracy and loss on plain sentences before and after it; `best` is the best possible accuracy."""
    right, paid = before
    print(
        f"loss {np.mean(losses[:10]):.2f} → {np.mean(losses[-10:]):.2f}; trainable parameters: {count(trained(model)):,} "
        f"(the GPT has {count(list(base.parameters())):,})"
    )
    print(f"accuracy {right:.1%} → {after.right:.1%} (best possible {best:.1%})")
    print(f"nats per word above the bound on plain sentences: {paid:.2f} → {after.paid:.2f}")
    print(f"after merging, logits differ by up to {after.merged_error:.0e}")


def steps_of_both(
    models: Mapping[str, nn.Module], loss_of: Callable[[nn.Module, Questions], Tensor], questions: Questions
) -> tuple[dict[str, list[float]], dict[str, int]]:
    """The losses of five training steps and the numbers of trainable parameters of each model; printed, and returned."""
    losses, counts = {}, {}
    for name, model in models.items():
        counts[name], losses[name] = count(trained(model)), five_steps(model, loss_of, questions)
        said = ", ".join(f"{loss:.4f}" for loss in losses[name])
        print(f"{name}: {counts[name]:,} trainable parameters; losses of five steps {said}")
    return losses, counts


def tuning_runs(runs: TuningRuns, base_right: float) -> None:
    """Parameters, learning rate, points gained and nats forgotten of each method, with intervals over seeds."""
    print(
        f"{'':>22}{'trainable parameters':>22}{'learning rate':>15}{'points gained':>16}{'nats forgotten':>16}    (three seeds, 95 % intervals)"
    )
    for name, some in (runs.at_rate | {"full, lower rate": runs.lower}).items():
        points, points_half = mean_and_half(100 * (some["right"] - base_right))
        nats, nats_half = mean_and_half(some["forgotten"])
        print(
            f"{name:>22}{some['parameters'].iloc[0]:>22,}{some['lr'].iloc[0]:>15g}"
            f"{f'{points:.1f} ± {points_half:.1f}':>16}{f'{nats:.2f} ± {nats_half:.2f}':>16}"
        )


def preferences_learned(found: Mapping[str, float], per_token: float) -> None:
    """Rewards and KL divergences of the reference, DPO and π*; `per_token` is the KL to the reference on plain sentences."""
    print(f"reward {found['ref_reward']:.2f} → {found['reward']:.2f}; π* {found['best_reward']:.2f}")
    print(
        f"KL to the reference: DPO {found['to_ref']:.2f} nats, π* {found['best_to_ref']:.2f}; "
        f"KL to π*: DPO {found['to_best']:.2f}, reference {found['ref_to_best']:.2f}"
    )
    print(f"KL to the reference on plain sentences: {per_token:.3f} nats per token")


def displacement(displaced: Mapping[str, Float[np.ndarray, " pairs"]]) -> None:
    """By how much log p of the chosen answers changes, and how often it decreases."""
    for name, changes in displaced.items():
        print(
            f"change in log p of the chosen answers, {name}: {changes.mean():+.2f} nats on average; "
            f"a decrease in {(changes < 0).mean():.0%} of the pairs"
        )


def costs(judged: Judged) -> None:
    """Trainable parameters and seconds of each way to judge reviews."""
    for way, runs in judged.ways.items():
        paid = judged.costs.loc[runs].mean()
        print(
            f"{way}: {paid['parameters']:,.0f} trainable parameters; seconds on one core: {paid['training seconds']:.0f} "
            f"for training, {100 * paid['seconds per review']:.1f} for 100 reviews"
        )


def questions(by_question: pd.DataFrame) -> None:
    """The eight questions about a review, and how often the answer to each is the positive one."""
    for number, (form, good, bad) in enumerate(judges.QUESTIONS, start=1):
        print(
            f"{number}: {form.replace(chr(10), ' / ')!r} →{good},{bad}; {by_question['said positive'][number - 1]:.0%} of the answers are{good}"
        )


def found_verbatim(leaks: pd.DataFrame, epochs: int = 16) -> None:
    """What a verbatim search for the test questions finds in the training set, by the way in which they leaked."""
    for (changed, copies), runs in leaks[leaks["epochs"] == epochs].groupby(["words_changed", "copies"]):
        if copies != 0.5:
            how = (
                "nothing leaked"
                if not copies
                else "leaked with one word changed"
                if changed
                else "leaked verbatim"
            )
            print(
                f"{how}: {runs['found verbatim'].mean():.0%} of the test questions occur verbatim in the training set"
            )


def unloaded(model: GPT, tuned: GPT, tests: Questions, name: str) -> float:
    """The accuracy of an unloaded model, and the largest difference of its logits from those of the tuned model, which is returned."""
    error = logits_apart(model, tuned, tests)
    print(
        f"{name}: accuracy {instructions.right(model, tests).mean():.1%}, logits differ by up to {error:.0e}"
    )
    return error
