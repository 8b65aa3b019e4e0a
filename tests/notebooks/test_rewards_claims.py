"""What the prose of notebook 16 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest

from coursekit.intervals import bootstrap, mean_and_half

pytestmark = pytest.mark.slow
NOTEBOOKS = ["16_rewards"]


def above_zero(values) -> bool:
    mean, half = mean_and_half(np.asarray(values, dtype=float))
    return mean - half > 0


def test_few_samples_are_correct(measured):
    right = [one for marks in measured["verified"].values() for one in marks]
    assert 0 < sum(right) < len(right) / 3


def test_the_baseline_removes_most_of_the_noise_and_none_of_the_signal(measured):
    errors, biases = measured["squared_errors"], measured["biases"]
    assert measured["removed"] > 0.85
    assert bootstrap(errors["none", 16])[0] > 4 * bootstrap(errors["leave-one-out", 16])[1]
    assert (
        errors["none", 16].mean() > 4
    )  # "almost entirely of noise": more than twice as long as the gradient
    for name in ("none", "leave-one-out"):
        assert biases[name, 16] < errors[name, 16].mean() ** 0.5 / 10
        shrinks = (errors[name, 4].mean() / errors[name, 64].mean()) ** 0.5
        assert shrinks == pytest.approx(4, rel=0.25)  # "as 1/√n"


def chosen(measured, penalty: str, group: int, beta: float):
    grpo = measured["grpo"]
    runs = grpo[(grpo["penalty"] == penalty) & (grpo["group"] == group) & (grpo["beta"] == beta)]
    assert len(runs) == 3
    return runs.sort_values("seed")


def test_the_penalty_in_the_reward_leads_to_the_best_policy_and_in_the_loss_away(measured):
    for group in (4, 16):
        runs = chosen(measured, "in the reward", group, 1.0)
        assert runs["to_best"].max() < 0.03 and above_zero(0.1 * runs["ref_to_best"] - runs["to_best"])
    wide, narrow = (chosen(measured, "in the reward", group, 1.0)["to_best"].to_numpy() for group in (16, 4))
    assert abs(wide - narrow).max() < 0.01
    runs = chosen(measured, "in the loss", 16, 1.0)
    assert above_zero(runs["to_ref"] - 3 * runs["best_to_ref"])  # "several times as far away"
    assert runs["best_to_ref"].iloc[0] == pytest.approx(0.28, abs=0.005)  # the prediction says so


def test_the_gradient_of_the_penalty_is_that_of_the_other_divergence(measured):
    slopes, values, agreement = measured["slopes"], measured["divergences"], measured["agreement"]
    penalty = "the penalty, on samples from π"
    assert values[penalty].item() == pytest.approx(values["KL(π ‖ π_ref)"].item(), abs=1e-6)
    assert (slopes[penalty] - slopes["KL(π_ref ‖ π)"]).abs().max() < 1e-6
    assert agreement["KL(π ‖ π_ref)"] < 0.9


def test_training_stops_before_the_best_policy_of_a_small_beta(measured):
    runs = chosen(measured, "in the reward", 16, 0.3)
    assert above_zero(runs["best_to_ref"] - runs["to_ref"] - 0.5)


def on_curve(measured, nats):
    return np.interp(nats, *measured["best_curve"].T)


def test_no_method_is_above_the_curve_and_best_of_n_is_close(measured):
    assert (np.diff(measured["best_curve"], axis=0) > 0).all()
    for table in (measured["grpo"], measured["dpo"]):
        assert (table["reward"] <= on_curve(measured, table["to_ref"]) + 2e-3).all()
    begun = measured["ref_reward"]
    for n, nats, reward in measured["best_of"]:
        assert 0.8 < (reward - begun) / (on_curve(measured, nats) - begun) <= 1.001
        assert nats < np.log(n) - (n - 1) / n  # the formula is an upper bound


def test_grpo_is_on_the_curve_with_one_penalty_and_below_it_with_the_other(measured):
    begun, grpo = measured["ref_reward"], measured["grpo"]
    gained = (grpo["reward"] - begun) / (on_curve(measured, grpo["to_ref"]) - begun)
    in_reward = grpo["penalty"] == "in the reward"
    assert gained[in_reward].min() > 0.95
    for beta in (1.0, 0.5, 0.3):
        assert above_zero(0.9 - gained[~in_reward & (grpo["beta"] == beta)])


def test_dpo_is_below_the_curve_for_every_seed(measured):
    dpo = measured["dpo"]
    assert len(dpo) == 9
    assert (dpo["reward"] < on_curve(measured, dpo["to_ref"]) - 0.05).all()


def test_the_covariance_predicts_the_maximum_of_the_true_reward(measured):
    for name, one in measured["peaks"].items():
        curve = measured["curves"][name]
        at = curve["true"].idxmax()
        assert one["true"] >= curve["true"].max() - 1e-4
        assert one["kl"] == pytest.approx(curve["kl"][at], rel=0.1)
        assert (np.diff(curve["true"][: at - 1]) > 0).all()
        if name == "letters":
            assert (np.diff(curve["true"][at + 1 :]) < 1e-6).all()
    letters, checked = measured["peaks"]["letters"], measured["peaks"]["checked"]
    assert letters["kl"] == pytest.approx(1.1, abs=0.1)  # "about one nat"
    assert measured["curves"]["letters"]["true"].iloc[-1] < 0.01
    assert checked["true"] > letters["true"] and checked["kl"] > letters["kl"]
    assert (
        measured["curves"]["checked"]["true"].iloc[-1] < measured["begun_true"]
    )  # "only delays the decline"


def test_training_passes_the_maximum_while_the_proxy_rises(measured):
    stopped = measured["stopped"]["letters"]
    assert len(stopped["best"]) == 3 and (stopped["last"] < stopped["best"]).all()
    assert above_zero(stopped["best"] - stopped["last"])
    runs = measured["hacking"]
    for _, run in runs[runs["proxy"] == "letters"].groupby("seed"):
        at = run["true_reward"].argmax()
        assert run["proxy_reward"].iloc[-1] > run["proxy_reward"].iloc[at] > run["proxy_reward"].iloc[0]


def test_the_majority_and_the_verifier_beat_a_single_sample(measured):
    low, high = bootstrap(measured["majority_gain"])
    assert (low, high) == pytest.approx((0.02, 0.15), abs=0.01)  # as the prose has them
    assert measured["per_sum"]["pass@8"].min() == 1 > measured["voted"]["one sample"][2]


def test_steps_are_learned_and_direct_answers_are_not(measured):
    forms = measured["forms"]
    accuracy = {form: runs["accuracy"] for form, runs in forms.groupby("form")}
    assert all(len(values) == 3 * 8 for values in accuracy.values())
    assert accuracy["step by step"].min() > 0.98
    assert accuracy["at once"].mean() > 1 / 12 and accuracy["at once"].max() < 0.25
    assert accuracy["at once"].mean() == pytest.approx(0.15, abs=0.005)  # "15 %"


def test_longer_training_on_direct_answers_changes_little(measured):
    forms, longer = measured["forms"], measured["longer"]
    before = forms[forms["form"] == "at once"].groupby("seed")["accuracy"].mean()
    assert len(longer) == 3 and longer.index.tolist() == before.index.tolist()
    assert not above_zero(longer - before) and above_zero(0.2 - longer)


def by_seed(measured, share: float, stage: str):
    runs = measured["verified_runs"]
    runs = runs[(runs["share"] == share) & (runs["stage"] == stage)].sort_values("seed").reset_index()
    assert len(runs) == 3
    return runs


def test_rewards_for_the_last_town_make_the_steps_the_rule(measured):
    base, tuned = (by_seed(measured, 0.2, stage) for stage in ("base", "tuned"))
    assert base["stepwise"].mean() == pytest.approx(0.2, abs=0.05)  # "about a fifth"
    assert tuned["stepwise"].min() > 0.99 and tuned["pass@1"].min() > 0.95
    assert above_zero(base["correct if stepwise"] - base["correct if at once"])
    assert base["correct if stepwise"].max() < 0.5  # "most … were wrong"
    assert above_zero(tuned["correct if stepwise"] - base["correct if stepwise"])


def test_without_steps_in_training_nothing_is_reinforced(measured):
    base, tuned = (by_seed(measured, 0.0, stage) for stage in ("base", "tuned"))
    assert base["stepwise"].max() < 0.01  # "practically no steps"
    assert (tuned["stepwise"] > 0.05).sum() == 2  # "two of the three models write several towns"
    assert not above_zero(tuned["correct if stepwise"] - tuned["correct if at once"])
    assert not above_zero(tuned["pass@1"] - base["pass@1"])
    assert (tuned["pass@8"] < base["pass@8"]).all()  # "for each of the three seeds"


def test_pass_at_64_says_little_and_pass_at_8_does(measured):
    base, tuned = (by_seed(measured, 0.2, stage) for stage in ("base", "tuned"))

    def chance(k):
        return 1 - (11 / 12) ** k

    assert (base["pass@64"] == 1).all() and chance(64) == pytest.approx(0.996, abs=0.0005)
    assert above_zero(base["pass@8"] - chance(8)) and above_zero(tuned["pass@8"] - base["pass@8"] - 0.2)


def test_one_order_decides_most_verdicts_and_the_average_agrees_with_annotators(measured):
    found = measured["summaries"]["A, B"]
    assert len(measured["verdicts"].asked) == 58
    low, high = found["changed by the order"][1:]
    assert low > 0.5 and low < 0.75 < high  # "three verdicts in four"
    assert 0 < found["κ, one order"][0] < 0.3 and found["κ, one order"][2] < found["κ, both orders"][0]
    assert found["κ, both orders"] == pytest.approx((0.5, 0.24, 0.69), abs=0.02)  # as the prose has it


def test_with_the_names_exchanged_the_judge_names_a_and_agrees_with_nobody(measured):
    found = measured["summaries"]["B, A"]
    assert found["first chosen"] == (0, 0, 0) and found["changed by the order"] == (1, 1, 1)
    assert found["κ, both orders"][1] < 0 < found["κ, both orders"][2]


def test_the_two_biases_add_up_with_one_naming_and_nearly_cancel_with_the_other(measured):
    verdicts = measured["verdicts"]
    first = {
        names: (verdicts.margins("right", "wrong", names) + verdicts.margins("wrong", "right", names)) / 2
        for names in measured["summaries"]
    }
    second_place, name_a = -(first["A, B"] + first["B, A"]) / 2, (first["A, B"] - first["B, A"]) / 2
    assert bootstrap(second_place)[0] > 0.3 and bootstrap(name_a)[0] > 0.3
    assert bootstrap(np.abs(first["B, A"]) - 4 * np.abs(first["A, B"]))[0] > 0


def test_the_reward_selects_right_and_short_answers(measured):
    covariances, kept = measured["covariances"], measured["kept"]
    assert bootstrap(covariances["right"])[0] > 0 and bootstrap(covariances["padded"])[1] < 0
    for name, sign in (("right", 1), ("padded", -1)):
        assert (kept[name][1] == 0.5).all()
        means = [values.mean() for values in kept[name].values()]
        assert (sign * np.diff(means) > 0).all()
        assert bootstrap(sign * (kept[name][16] - 0.5))[0] > 0
    assert measured["plain_preferred"].mean() == pytest.approx(6 / 7, abs=0.02)
    assert bootstrap(measured["plain_preferred"])[0] > 0.7


LOSS = {
    "rewards-reinforce_loss": """def reinforce_loss(log_p, reward, baseline):
    return -((reward - baseline) * log_p).mean()"""
}
HALF_FINISHED = {
    "baseline not used": {"rewards-reinforce_loss": LOSS["rewards-reinforce_loss"].replace("(reward - baseline)", "reward")},
    "first function right, second not written": LOSS,
    "a function renamed": {
        "rewards-reinforce_loss": LOSS["rewards-reinforce_loss"].replace("def reinforce_loss", "def loss_of")
    },
}  # fmt: skip
SAYS = {
    "baseline not used": "Your loss does not depend on the baseline",
    "first function right, second not written": "leave_one_out",
    "a function renamed": "name 'reinforce_loss' is not defined",
}
