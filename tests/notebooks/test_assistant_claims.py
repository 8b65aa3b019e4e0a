"""What the prose of notebook 14 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest

from coursekit import json_answers
from coursekit.answering import continued_by_assistant
from coursekit.intervals import bootstrap, mean_and_half, wilson
from coursekit.models import load

pytestmark = pytest.mark.slow
NOTEBOOKS = ["14_assistant"]


def above_zero(values) -> bool:
    mean, half = mean_and_half(values)
    return mean - half > 0


QUESTION = "What is the capital of France?"


def test_one_question_is_continued_as_in_a_novel_repeated_and_answered(measured):
    by_novels, without, within = measured["three_ways"][QUESTION]
    assert "paris" not in by_novels.lower() and "said" in by_novels and '"' in by_novels
    assert without.count("Paris") > 2 and within.count("Paris") == 1 and within.endswith(".")


def test_without_its_template_the_assistant_would_end_at_once():
    """ "If the text were allowed to end, it would end immediately." The notebook's own SmolLM2 has been tuned by now."""
    smol = load("SmolLM2-135M-Instruct", head="causal-lm")
    assert continued_by_assistant(smol, [QUESTION], at_least=0) == [""]


def test_a_base_model_does_not_answer_and_nobody_always_can(measured):
    assert measured["base_right"] < measured["frequent"] < measured["tests"].best.mean() < 0.9


def test_packed_with_boundaries_is_alone_and_without_is_not(measured):
    errors = measured["errors_of_packing"]
    assert errors["packed, with boundaries"] < 1e-4 < 0.5 < errors["packed, without boundaries"]


def test_the_live_lora_answers_forgets_and_merges(measured):
    tuned = measured["tuned"]
    assert tuned.right > measured["frequent"] + 0.2
    assert tuned.paid > 3 * measured["base_paid"]
    assert tuned.merged_error < 1e-3


def test_the_library_gives_the_same_losses(measured):
    yours, theirs = measured["peft_losses"].values()
    assert yours == pytest.approx(theirs, abs=1e-4) and len(yours) == 5
    assert len(set(measured["peft_counts"].values())) == 1


def clearly_above(found: int, other: int, asked: int) -> bool:
    """Whether the interval of one count out of as many lies above that of another."""
    return wilson(found / asked, asked)[0] > wilson(other / asked, asked)[1]


def test_the_live_run_teaches_the_format(measured):
    held_out = measured["held_out"]
    before, after = (
        json_answers.counted(measured[name], held_out)["in format"]
        for name in ("written_before", "written_after")
    )
    assert before == 0 and clearly_above(after, before, len(held_out))
    trained = [weight for weight in measured["smol"].model.parameters() if weight.requires_grad]
    assert sum(weight.numel() for weight in trained) == 30 * 8 * (2 * 576 + 576 + 192)


def test_every_seed_learns_the_format_carries_it_to_requests_and_pays_on_plain_text(measured):
    runs = measured["json_runs"]
    tuned, plain = runs[runs["run"] == "LoRA"], runs.set_index("run").loc["no instruction"]
    assert list(tuned["seed"]) == [0, 1, 2] and plain["in_format"] == plain["requests_in_format"] == 0
    for run in tuned.itertuples():
        assert clearly_above(run.in_format, 0, 20)
        assert run.requests_in_format >= 8  # "at least eight of the ten"
        assert run.nats_above_low > 0
        assert not clearly_above(run.answer, plain["answer"], 20)  # "correct no more often"


def test_five_examples_in_the_prompt_do_so_too_and_a_description_does_not(measured):
    runs = measured["json_runs"].set_index("run")
    described, shown = runs.loc["format described"], runs.loc["five examples"]
    assert described["in_format"] == 0 and clearly_above(shown["in_format"], 0, 20)
    assert shown["tokens_before"] == 154


def test_lora_forgets_less_at_its_rate_and_more_than_full_tuning_one_rate_lower(measured):
    tuning = measured["tuning"]
    full, lora, lower = tuning.at_rate["full"], tuning.at_rate["LoRA 16"], tuning.lower
    assert [len(runs) for runs in (full, lora, lower)] == [3, 3, 3] and lower["lr"].iloc[0] < full["lr"].iloc[
        0
    ]
    assert above_zero(full["forgotten"].to_numpy() - lora["forgotten"].to_numpy())
    assert above_zero(lora["forgotten"].to_numpy() - lower["forgotten"].to_numpy())
    for runs in (lora, lower):
        mean, half = mean_and_half(runs["right"].to_numpy() - full["right"].to_numpy())
        assert mean - half < 0 < mean + half


def test_rank_one_is_too_little_and_all_stay_below_the_best_possible(measured):
    at_rate, best = measured["tuning"].at_rate, measured["tests"].best.mean()
    assert above_zero(at_rate["LoRA 16"]["right"].to_numpy() - at_rate["LoRA 1"]["right"].to_numpy())
    assert all(above_zero(best - runs["right"].to_numpy()) for runs in at_rate.values())


def test_the_best_policy_gives_up_the_language_as_beta_falls(measured):
    names, rewards, distances, tops = zip(*measured["best_rows"], strict=True)
    assert list(rewards) == sorted(rewards) and list(distances) == sorted(distances)
    assert distances[1] < 0.1 and tops[-1][0][0] == "championships championships"


def test_dpo_nears_the_best_policy_at_one_and_stops_far_from_it_below(measured):
    table = measured["recorded_runs"]
    runs = {beta: rows.sort_values("seed") for beta, rows in table.groupby("beta")}
    assert all(len(rows) == 3 for rows in runs.values()) and list(runs) == [0.1, 0.3, 1.0, 3.0]
    assert above_zero(runs[1.0]["ref_to_best"].to_numpy() - runs[1.0]["to_best"].to_numpy())
    for beta in (0.1, 0.3):
        assert above_zero(runs[beta]["to_best"].to_numpy() - 1)
    assert above_zero(runs[3.0]["to_ref"].to_numpy() - runs[3.0]["best_to_ref"].to_numpy())
    mean, half = mean_and_half(runs[3.0]["ref_to_best"].to_numpy() - runs[3.0]["to_best"].to_numpy())
    assert mean - half < 0 < mean + half  # "We cannot detect that it ends closer to π*"
    for what in ("reward", "to_ref"):
        rising = np.array([runs[beta][what].to_numpy() for beta in (3.0, 1.0, 0.3, 0.1)])
        assert (np.diff(rising, axis=0) > 0).all()


def test_no_policy_gains_more_than_the_best_one_that_is_as_far(measured):
    """The curve of the best policies goes through those of the table, which were computed over all continuations."""
    curve, table = measured["best_curve"], measured["recorded_runs"]
    assert (np.diff(curve, axis=0) > 0).all()
    on_curve = np.interp(table["best_to_ref"], curve[:, 0], curve[:, 1])
    assert on_curve == pytest.approx(table["best_reward"].to_numpy(), rel=0.01)
    assert (table["reward"] <= np.interp(table["to_ref"], curve[:, 0], curve[:, 1]) + 1e-3).all()


def test_dpo_lowers_most_chosen_answers_and_the_best_policy_lowers_them_on_average(measured):
    changes = measured["displaced"]
    assert len(changes["DPO"]) == len(changes["π*"]) == 2000
    assert (changes["DPO"] < 0).mean() > 0.55
    assert changes["π*"].mean() < 0
    assert measured["found"]["reward"] > measured["found"]["ref_reward"]


def order(margin, liked) -> float:
    gap = margin[liked][:, None] - margin[~liked]
    return float(((gap > 0) + (gap == 0) / 2).mean())


def apart(measured, statistic, runs: tuple[str, str]) -> tuple[float, float]:
    """The interval over test reviews of how far a statistic of one run lies above that of another."""
    reviews = measured["reviews"]
    items = np.column_stack([*map(reviews.scores, runs), reviews.liked[reviews.is_test]])
    return bootstrap(
        items, lambda some: np.subtract(*(statistic(some[:, n], some[:, 2] == 1) for n in (0, 1))), draws=1000
    )


def accuracy(margin, liked) -> float:
    return float(((margin > 0) == liked).mean())


def gap(measured, name: str, way: str, other: str) -> tuple[float, float]:
    """The interval over reviews of how far the mean over runs of one way lies above that of another."""
    each = measured["reviews"].per_review
    return bootstrap(each[way][name] - each[other][name])


ZERO, EXAMPLES, LORA, ENCODER = (
    "SmolLM2, zero-shot", "SmolLM2, 8 examples", "SmolLM2, your LoRA", "MiniLM, fine-tuned",
)  # fmt: skip


def test_lora_gains_nothing_that_can_be_told_and_examples_cost(measured):
    reviews = measured["reviews"]
    assert {way: len(runs) for way, runs in reviews.ways.items()} == {
        ZERO: 1,
        EXAMPLES: 3,
        LORA: 3,
        ENCODER: 3,
    }
    assert reviews.is_test.sum() == 160
    low, high = gap(measured, "accuracy", LORA, ZERO)
    assert low < 0 < high
    assert gap(measured, "accuracy", EXAMPLES, ZERO)[1] < 0
    runs = ["question 1", *reviews.ways[EXAMPLES]]
    items = np.column_stack([*map(reviews.scores, runs), reviews.liked[reviews.is_test]])

    def further(some) -> float:
        zero, *drawn = (order(some[:, n], some[:, -1] == 1) for n in range(len(runs)))
        return np.mean(drawn) - zero

    low, high = bootstrap(items, further, draws=1000)
    assert low < 0 < high


def test_the_encoder_is_less_often_right_too_sure_and_cheap(measured):
    assert gap(measured, "accuracy", LORA, ENCODER)[0] > 0
    reviews = measured["reviews"]
    best = max(run["accuracy"] for run in reviews.per_run[ENCODER])
    assert all(run["accuracy"] > best for run in reviews.per_run[LORA])  # in every seed, too
    summary = measured["summary"]
    assert summary.loc[ENCODER, "overconfidence"] == pytest.approx(0.14, abs=0.005)
    assert summary.loc[ENCODER, "overconfidence low"] > 0
    for way in (ZERO, LORA):
        assert summary.loc[way, "overconfidence low"] < 0 < summary.loc[way, "overconfidence high"]
    paid = {way: reviews.costs.loc[reviews.ways[way]].mean() for way in (LORA, ENCODER)}
    shares = paid[ENCODER] / paid[LORA]
    assert shares["training seconds"] == pytest.approx(1 / 3, abs=0.03)  # as the table has them
    assert shares["seconds per review"] == pytest.approx(1 / 8, abs=0.01)


def test_the_first_question_is_right_most_often_and_two_others_order_as_well(measured):
    by_question = measured["by_question"]
    assert len(by_question) == 8 and by_question["accuracy"].max() - by_question["accuracy"].min() > 0.2
    for number in range(2, 9):
        assert apart(measured, accuracy, ("question 1", f"question {number}"))[0] > 0
    for number in (3, 4):
        low, high = apart(measured, order, ("question 1", f"question {number}"))
        assert low < 0 < high and by_question["said positive"][number - 1] == pytest.approx(0.9, abs=0.03)
    for number in (2, 6, 7):
        assert apart(measured, order, ("question 5", f"question {number}"))[0] > 0


def test_a_question_whose_answer_is_always_the_same_still_knows_the_order(measured):
    fifth = measured["by_question"].loc[4]
    assert fifth["said positive"] > 0.99 and fifth["in order"] > 0.7


def test_a_leaked_test_is_answered_better_than_anybody_can_and_another_one_is_not(measured):
    leaks = measured["leaks"]
    leaks = leaks[leaks["epochs"] == 16].sort_values("seed")
    none, whole, reworded = (
        leaks[(leaks["copies"] == copies) & (leaks["words_changed"] == changed)]
        for copies, changed in ((0, 0), (1, 0), (1, 1))
    )
    assert [len(runs) for runs in (none, whole, reworded)] == [3, 3, 3]
    assert whole["test"].mean() == pytest.approx(0.99, abs=0.005)
    assert whole["bound"].mean() == pytest.approx(0.75, abs=0.01)
    for runs in (whole, reworded):
        assert above_zero(runs["test"] - runs["bound"])
        mean, half = mean_and_half(runs["another test"].to_numpy() - none["another test"].to_numpy())
        assert mean - half < 0 < mean + half
    assert all(above_zero(runs["bound"] - runs["another test"]) for runs in (none, whole, reworded))


def test_after_four_epochs_a_leaked_test_gains_and_stays_below_the_best_possible(measured):
    leaks = measured["leaks"]
    leaks = leaks[leaks["epochs"] == 4].sort_values("seed")
    none, whole = leaks[leaks["copies"] == 0], leaks[(leaks["copies"] == 1) & (leaks["words_changed"] == 0)]
    assert above_zero(whole["test"].to_numpy() - none["test"].to_numpy())
    assert (whole["bound"] > whole["test"]).all()  # "for each of the three seeds"


def test_examples_shift_the_scores(measured):
    """ "about a fifth, a tenth and four fifths" """
    said = [(measured["reviews"].scores(f"examples draw {draw}") > 0).mean() for draw in range(3)]
    assert said == pytest.approx([0.21, 0.11, 0.79], abs=0.02)


def test_a_search_word_for_word_does_not_find_what_was_reworded(measured):
    leaks = measured["leaks"]
    leaks = leaks[leaks["epochs"] == 16].sort_values("seed")
    none = leaks[leaks["copies"] == 0]
    reworded = leaks[(leaks["copies"] == 1) & (leaks["words_changed"] == 1)]
    assert (leaks[(leaks["copies"] == 1) & (leaks["words_changed"] == 0)]["found verbatim"] == 1).all()
    mean, half = mean_and_half(reworded["found verbatim"].to_numpy() - none["found verbatim"].to_numpy())
    assert mean - half < 0 < mean + half and reworded["leaked"].min() > 0.9 * 512


def test_the_old_script_loses_what_was_learned(measured):
    assert measured["unload_error"]["unload"] > 1 and measured["unload_error"]["mended_unload"] < 1e-3


LABELS = {
    "assistant-sft_labels": """def sft_labels(turns):
    ids, labels = [], []
    for role, tokens in turns:
        ids += tokens
        labels += tokens if role == "assistant" else [-100] * len(tokens)
    return ids, labels"""
}
HALF_FINISHED = {
    "labels everywhere": {
        "assistant-sft_labels": LABELS["assistant-sft_labels"].replace(
            'tokens if role == "assistant" else [-100] * len(tokens)', "tokens"
        )
    },
    "labels right, packing not written": LABELS,
    "a function renamed": {
        "assistant-sft_labels": LABELS["assistant-sft_labels"].replace("def sft_labels", "def labels_of")
    },
}
SAYS = {
    "labels everywhere": "The model should learn to answer questions, not to ask them",
    "labels right, packing not written": "pack",
    "a function renamed": "name 'sft_labels' is not defined",
}
