"""What the prose of notebook 09 says without computing it holds in what the notebook measures and in its recorded tables."""

import numpy as np
import pytest
import torch

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS
from coursekit.intervals import half_width, mean_and_half
from coursekit.length_sorting import positions
from tests.conftest import ROOT
from tests.notebooks.answers import right_cells

pytestmark = pytest.mark.slow
NOTEBOOKS = ["09_fine_tuning"]


def mean(table, measure, **where):
    """The mean of a measure over the seeds of one row of the table."""
    for name, value in where.items():
        table = table[table[name] == value]
    assert len(table) >= 3
    return table[measure].mean()


def test_the_sizes_are_those_of_the_papers_models(measured):
    counted = measured["counted"]
    assert list(counted["BERT-Base"].values()) == [109_483_778, 1_538]
    assert list(counted["MiniLM"].values()) == [22_713_986, 770]
    assert 70_000 < 109_483_778 / 1_538 < 72_000
    assert measured["learning"]["frozen features"] == 1_538


def test_the_head_begins_near_log_2_and_the_best_reader_makes_no_mistake_worth_naming(measured):
    assert abs(measured["first_loss"] - np.log(2)) < 0.15
    assert min(measured["best"].values()) > 0.97
    assert measured["chance"]["swap"] < 0.55 and measured["chance"]["topic"] < 0.2


def test_a_bag_of_words_has_a_part_of_the_topics_and_no_swap(measured):
    by_bag, best = measured["by_bag"], measured["best"]
    assert measured["chance"]["topic"] + 0.3 < by_bag["topic"] < best["topic"] - 0.1
    assert by_bag["swap"] < 0.55


def test_the_schedule_is_that_of_transformers(measured):
    assert measured["same"] < 1e-12


def test_the_step_of_2018_is_several_times_too_long_for_hundreds_of_steps(measured):
    wild, mended = measured["step_length"].values()
    assert wild[0] == pytest.approx(0.1 / np.sqrt(0.001), rel=1e-3)
    assert wild[:300].min() > 1.9 and 6 < wild.max() < 7 and np.allclose(mended, 1, atol=1e-3)
    assert measured["adam_difference"] < 1e-4


def test_the_live_run_learns_by_heart_and_forgets(measured):
    course, best = measured["course"], measured["best"]["swap"]
    assert course[-1, 1] < 0.1 < course[-1, 2] - course[:, 2].min()  # training loss; validation turns up
    assert 0.65 < course[-1, 3] < best
    assert course[:, 3].max() - course[-1, 3] < 0.06  # the accuracy hardly minds
    assert course[-1, 3] > course[course[:, 2].argmin(), 3] - 0.02  # "does not fall with it"
    assert measured["forgotten"] > 0.3
    assert round(course[0, 4], 1) == 1.1 and round(np.log(len(measured["language"].vocabulary)), 1) == 7.5
    early = course[len(course) // 2, 4] - course[0, 4]
    assert early > 0.6 * measured["forgotten"]  # damaged early


def test_a_rate_too_large_learns_nothing_and_loses_all(measured):
    last = measured["too_fast"][-1]
    assert last[1] > 0.68 and last[3] < 0.6
    assert last[4] > np.log(len(measured["language"].vocabulary))


def test_the_near_task_needs_little_more_than_a_head(measured):
    runs, most = measured["runs"], measured["most"]
    near = mean(runs, "test", task="topic", strategy="frozen features", labels=most)
    assert near > 0.94 > measured["by_bag"]["topic"] + 0.1
    assert mean(runs, "forgotten", strategy="frozen features") == 0
    assert mean(runs, "forgotten", task="topic", strategy="full", labels=most) > 0.3


def test_the_far_task_needs_the_layers_whatever_the_labels(measured):
    runs = measured["runs"]
    for labels in runs["labels"].unique():
        assert mean(runs, "test", task="swap", strategy="frozen features", labels=labels) < 0.65
    most = measured["most"]
    right = [
        mean(runs, "test", task="swap", strategy=strategy, labels=most)
        for strategy in ("frozen features", "last layer", "full")
    ]
    assert right == sorted(right) and right[-1] > 0.75
    last = measured["difference"]("swap", most, "full", "last layer")
    assert abs(last.mean()) < half_width(last)  # "three seeds cannot tell"
    head = measured["difference"]("swap", most, "full", "frozen features")
    assert head.mean() - half_width(head) > 0.1  # "far behind with many"
    assert mean(runs, "test", task="swap", strategy="from scratch", labels=most) < right[-1] - 0.1


def test_near_few_labels_speak_for_the_head_and_with_many_nothing_is_left_to_gain(measured):
    runs, most, least = measured["runs"], measured["most"], measured["least"]
    near = runs[(runs["task"] == "topic") & (runs["strategy"] != "from scratch")]
    means = near.groupby(["labels", "strategy"])["test"].mean().unstack()
    assert (means.max(axis=1) - means["frozen features"]).max() < 0.01  # "nothing is a point ahead"
    few = measured["difference"]("topic", least, "frozen features", "full")
    assert few.mean() > half_width(few)
    paid = measured["difference"]("topic", most, "full", "frozen features", "forgotten")
    assert paid.mean() > half_width(paid)
    told = [any("noise" in text for text in verdict.values()) for verdict in measured["verdicts"].values()]
    assert (sum(told), len(told)) == (3, 6)


def test_gradual_unfreezing_needed_a_higher_rate_and_lost_more(measured):
    chosen = measured["chosen"]["swap"]
    assert chosen["gradual unfreezing"] > chosen["full"]
    lost = measured["difference"]("swap", measured["most"], "gradual unfreezing", "full", "forgotten")
    assert lost.mean() > half_width(lost)


def test_from_scratch_learns_topic_in_part_and_swap_not_at_all(measured):
    runs, most = measured["runs"], measured["most"]
    assert 0.25 < mean(runs, "test", task="topic", strategy="from scratch", labels=most) < 0.9
    assert mean(runs, "test", task="swap", strategy="from scratch", labels=most) < 0.56


def test_a_training_eight_times_as_long_does_not_make_up_for_the_start(measured):
    """Three seeds of each."""
    right = measured["long_right"]
    assert all(len(values) == 3 for found in right.values() for values in found.values())
    for lr in (1e-3, 3e-3):
        scratch = right["from scratch", lr]
        assert scratch["topic"].mean() == pytest.approx(0.75, abs=0.06)  # "about three quarters"
        mean, half = mean_and_half(scratch["swap"])
        assert abs(mean - 0.5) < max(half, 0.02)  # "at chance"
        for task, tuned in right["full", 1e-3].items():
            gained, half = mean_and_half(tuned.to_numpy() - scratch[task].to_numpy())
            assert tuned.min() > 0.9 and gained - half > 0.1


def test_forgetting_grows_with_the_rate_also_where_it_buys_nothing(measured):
    tried = measured["tried"]
    for task in measured["TASKS"]:
        means = tried[tried["task"] == task].groupby("lr")["forgotten"].mean()
        assert means.is_monotonic_increasing
        assert means.iloc[-1] > 0.6 * measured["nothing_left"]  # most of it wiped out
        right = tried[tried["task"] == task].groupby("lr")["test"].mean()
        assert right.loc[1e-3] > right.loc[3e-3] - 0.005  # "beyond 1e-3 it buys nothing"
    assert tried["lr"].max() == measured["RECIPES"]["bert"].learning_rate


def test_with_every_seed_more_epochs_help_the_far_task_and_cost_nats(measured):
    by_seed = measured["lasting"].pivot(index="seed", columns="epochs", values=["test", "forgotten"])
    assert (by_seed["test"].diff(axis=1).dropna(axis=1) > 0).all(axis=None)
    assert (by_seed["forgotten"][[4, 16]].sub(by_seed["forgotten"][1], axis=0) > 0).all(axis=None)


def test_the_reviews_say_what_a_large_rate_does(measured):
    by_rate, best = measured["by_rate"], measured["best_rate"]
    assert by_rate[best].mean() > 0.65
    assert by_rate[5e-5].mean() < by_rate[best].mean() - 0.1  # too low for so few steps
    spread = by_rate.max() - by_rate.min()
    assert spread[1e-3] > 3 * spread[best]
    assert by_rate[1e-3].min() < 0.53
    assert measured["reviews"]["labels"].max() * 2 // 16 == 32
    assert mean(measured["reviews"], "test", strategy="frozen features") < 0.6
    pooled, averaged = (measured["alike"][name] for name in ("[CLS] after the pooler", "mean of the tokens"))
    assert pooled > averaged + 0.3
    assert "frozen: 0.747" in (ROOT / "data/sentiment/README.md").read_text(encoding="utf-8")


def test_the_recorded_run_of_trainer_had_more_labels_and_steps(measured):
    once, reviews = measured["once"], measured["reviews"]
    assert once["labels"] > 3 * reviews["labels"].max()
    assert once["labels"] * once["epochs"] > 4 * (reviews["labels"] * reviews["epochs"]).max()


def test_trainer_spares_what_we_spare(measured):
    assert measured["spared_by_them"] == measured["spared_by_us"]
    assert measured["trainer"].state.global_step == 6


def test_the_exam_hardly_notices_what_a_hidden_word_costs_more(measured):
    assert min(low for _, low, _ in measured["changes"].values()) > -3
    assert 0.3 < measured["forgotten"] / measured["course"][0, 4] < 0.7  # "half as much again"


def test_at_a_higher_rate_the_exam_notices_swap_and_hardly_topic(measured):
    """Over three seeds, in points of the exam."""
    lost, nats = measured["points_lost"], measured["course"][0, 4]
    assert all(len(values) == 3 for row in lost.values() for values in row.values())
    for task, again in (("swap", 0.6), ("topic", 1.1)):  # "half as much again or twice as much"
        row = lost[task, "0.001"]
        assert row["forgotten"].mean() / nats == pytest.approx(again, abs=0.15)
        assert min(row[kind].min() for kind in QUESTIONS) > -5  # "within a few points"
    fast = lost["swap", "0.003"]
    for kind, share in (("right", -21), ("order2", -38)):  # "a fifth", "more than a third"
        assert fast[kind].mean() == pytest.approx(share, abs=2)
        assert fast[kind].mean() + half_width(fast[kind]) < -10
    near = lost["topic", "0.003"]
    assert min(near[kind].mean() for kind in QUESTIONS) > -2 and near["forgotten"].min() > 5


def test_early_stopping_stops_before_the_end_with_less_forgotten(measured):
    course, best = measured["course"], measured["best_epoch"]
    assert measured["stopped"] < len(course) - 2
    assert measured["stopper"].best_epoch == best
    assert course[1 + best, 4] < course[-1, 4] - 0.2
    assert 0 < course[-1, 3] - course[1 + best, 3] < 0.06  # "a few points of accuracy before the end"


# ------------------------------------------------------------------------------------------ half-finished notebooks


HALF_FINISHED = {
    "layer depth reversed": {
        **right_cells("09_fine_tuning", "classification_head", "count_parameters", "freeze"),
        "fine_tuning-parameter_groups": """
def parameter_groups(model, lr, decay, weight_decay):
    groups = []
    for name, weight in model.named_parameters():
        pieces = name.split(".")
        below = {"embeddings": len(model.layers) + 1}.get(pieces[0], 0)
        if pieces[0] == "layers":
            below = 1 + int(pieces[1])
        groups.append({"params": weight, "lr": lr * decay**below, "weight_decay": weight_decay if weight.dim() > 1 else 0})
    return groups
""",
    },
    "the gradients never set to zero": {
        **right_cells(
            "09_fine_tuning",
            "classification_head",
            "count_parameters",
            "freeze",
            "parameter_groups",
            "warmup_linear",
            "adam_step",
        ),
        "fine_tuning-train_step": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    count, total = sum(len(labels) for _, labels in parts), 0.0
    for inputs, labels in parts:
        loss = torch.nn.functional.cross_entropy(model(inputs), labels, reduction="sum") / count
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return total
""",
    },
    "W transposed in the head": {
        "fine_tuning-classification_head": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return (pooled * (draws >= p) / (1 - p)) @ W.T + b
""",
    },
    "a function renamed": {
        **right_cells("09_fine_tuning", "classification_head", "count_parameters"),
        "fine_tuning-freeze": """
def freeze_parts(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(name.startswith(part + ".") or name == part for part in names)
""",
    },
}
SAYS = {
    "layer depth reversed": "layer 0 has the highest rate and the last layer the lowest",
    "the gradients never set to zero": "they accumulate until they are set to zero",
    "W transposed in the head": "mat1 and mat2 shapes cannot be multiplied",
    "a function renamed": "name 'freeze' is not defined",
}


def test_a_head_on_the_mean_has_most_of_what_fine_tuning_has(measured):
    heads = measured["heads_alone"].pivot(index="seed", columns=["vector", "steps"], values="test")
    pooled, mean_of_tokens = heads["[CLS] after the pooler"], heads["mean of the tokens"]
    more_steps = pooled[1024] - pooled[32]
    assert (more_steps > 0).all()  # "for each of the three seeds"
    lost = mean_of_tokens[32] - mean_of_tokens[1024]
    assert lost.mean() > half_width(lost)  # "by heart"
    gap = measured["by_rate"][measured["best_rate"]] - mean_of_tokens[32]
    assert gap.mean() < half_width(gap)  # "not clearly ahead"
    whole = measured["by_rate"][measured["best_rate"]] - measured["frozen_reviews"]
    assert gap.mean() < whole.mean() / 2  # "most of the difference above"


def test_lower_rates_below_buy_no_accuracy_and_forget_far_less(measured):
    runs = measured["layer_rates"]

    def difference(task: str, measure: str, lr: float) -> tuple[float, float]:
        """A quarter per layer with 3e-3 at the head, minus one rate for all."""
        mean, half = mean_and_half(
            (runs[measure, 0.25][task, 3e-3] - runs[measure, 1.0][task, lr]).to_numpy()
        )
        return mean - half, mean + half

    for task in measured["TASKS"]:
        low, high = difference(task, "test", 1e-3)
        assert low < 0 < high and high - low < 0.08  # "level with one rate at its best"
        best = runs["test", 1.0][task].groupby(level="lr").mean().idxmax()
        assert best == 1e-3
        lost, of_one = (
            mean_and_half(runs["forgotten", d][task, lr].to_numpy()) for d, lr in ((0.25, 3e-3), (1.0, 1e-3))
        )
        assert lost[0] < of_one[0] / 10 and sum(lost) < of_one[0] - of_one[1]  # "less than a tenth as much"
        assert difference(task, "forgotten", 3e-4)[1] < 0  # "still more than that"
        low, high = mean_and_half((runs["test", 0.25][task, 1e-2] - runs["test", 1.0][task, 1e-2]).to_numpy())
        assert low - high > 0.1  # "wrecks the model ... does no harm there"


def test_warm_up_helps_only_where_the_rate_is_far_too_high():
    runs = read_table("results/fine_tuning_warm_up.csv").pivot(
        index=["labels", "task", "lr", "seed"], columns="warmup", values="test"
    )
    best = runs[0.0].groupby(level=["labels", "task", "lr"]).mean().unstack("lr").idxmax(axis=1)
    assert (best == 1e-3).all()  # "the rate that works best"
    gain = runs[0.1] - runs[0.0]
    for labels, task in best.index:
        mean, half = mean_and_half(gain[labels, task, 1e-3])
        assert abs(mean) < half < 0.02  # "no difference that we can see"
    mean, half = mean_and_half(gain[512, "topic", 1e-2])
    assert mean > half  # "it helps where the rate is ten times too high"
    lower, too_high = runs.loc[512, "topic"][0.0][1e-3], runs.loc[512, "topic"][0.1][1e-2]
    mean_lower, half_lower = mean_and_half(lower - too_high)
    assert mean_lower - half_lower > 0.2  # "a lower rate helps far more"
    mean, half = mean_and_half(gain[512, "swap", 1e-2])
    assert abs(mean) < half  # on the other task it does not help there either
    mean, half = mean_and_half(100 * gain[512, "topic", 3e-3])
    assert mean + half < 0 and mean == pytest.approx(-0.5, abs=0.1)  # "warm-up costs half a point"


def test_the_best_of_twenty_guessing_models_seems_better_only_on_the_set_on_which_it_was_chosen(measured):
    on_validation, on_test = (np.array(values) for values in measured["reported"].values())
    centre, half = mean_and_half(on_validation)
    assert centre - half < 0.5 < centre + half
    assert measured["claimed"]["chosen on test reviews"] == pytest.approx(
        0.55, abs=0.01
    )  # "about five points"
    assert on_test.mean() > on_validation.mean() + 0.04


def test_sorting_by_length_saves_most_of_the_padding_and_leaves_the_vectors_as_they_are(measured):
    found = measured["by_length"]
    lengths, batches = found.lengths, found.batches
    tokens, by_length = int(lengths.sum()), positions(lengths, batches)
    shuffled = [positions(lengths, torch.randperm(len(lengths)).split(len(batches[0]))) for _ in range(20)]
    assert by_length < 0.75 * min(shuffled)
    assert 1 - tokens / by_length < 0.05  # "hardly any padding"
    assert found.restored < 1e-4 < 0.1 < found.unrestored
