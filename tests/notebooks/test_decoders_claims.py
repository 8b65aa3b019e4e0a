"""What the prose of notebook 13 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest
from gguf import GGUFReader

from coursekit.datasets import read_table
from coursekit.intervals import mean_and_half
from coursekit.language import Language
from coursekit.language.grammar import GRAMMAR
from coursekit.models.catalogue import SMOLLM2
from tests.notebooks.answers import right_cells

pytestmark = pytest.mark.slow
NOTEBOOKS = ["13_decoders"]


def test_own_merges_cut_hard_texts_as_the_published_tokenizer_does(measured):
    assert len(measured["HARD"]) >= 10 and all(measured["same"])


def test_rare_languages_cost_more_tokens_and_digits_one_each(measured):
    per_token = measured["per_token"]
    assert max(per_token, key=per_token.get) == "English" and per_token["digits"] == 1
    assert per_token["Chinese"] == min(per_token[name] for name in per_token if name != "digits")


def test_scores_know_distances_only(measured):
    assert measured["different"] == 2 * 12 - 1


def test_three_query_heads_that_share_make_the_cache_three_times_smaller(measured):
    cached = measured["cache_sizes"]
    assert cached[9] == 3 * cached[3] == 9 * cached[1]


def test_own_code_with_published_weights_is_transformers_model(measured):
    assert len(measured["logit_error"]) == 5 and max(measured["logit_error"].values()) < 1e-3
    assert measured["with_cache"] == measured["without_cache"] == measured["generated"]


def test_attention_in_blocks_is_attention(measured):
    assert measured["online_error"] < 1e-5


def test_rows_in_another_order_give_the_published_scores(measured):
    assert measured["row_errors"]["loaded as they are"] > 0.5 and measured["row_errors"]["reordered"] < 1e-5


def test_the_loss_shares_out_the_choices_and_five_runs_show_no_smaller_error(measured):
    runs = measured["experts_trained"]
    share, error = (
        {weight: np.array([run[what] for run in seeds]) for weight, seeds in runs.items()}
        for what in ("largest share", "error")
    )
    assert all(len(values) == 5 for values in share.values())
    assert (share[0.1] < share[0.0]).all() and (share[0.3] < share[0.0]).all()
    for weight in (0.1, 0.3):
        mean, half = mean_and_half(error[weight] - error[0.0])
        assert mean - half < 0 < mean + half


def test_four_bits_cost_something_at_every_size_and_long_blocks_more(measured):
    four_bits = measured["four_bits"]
    errors = [error for error, _ in four_bits.values()]
    assert list(four_bits) == [16, 64, 192, 576] and errors == sorted(errors)
    for _, lost in four_bits.values():
        mean, half = mean_and_half(lost)
        assert mean - half > 0
    mean, half = mean_and_half(four_bits[576][1] - four_bits[16][1])
    assert mean - half > 0
    mean, half = mean_and_half(four_bits[64][1] - four_bits[16][1])
    assert mean - half < 0 < mean + half


def test_parameters_of_the_table_are_those_of_the_papers(measured):
    parameters = measured["decoders_table"]["parameters"].str.removesuffix(" B").astype(float)
    published = {
        "GPT": 0.117,
        "GPT-2 XL": 1.558,
        "LLaMA 7B": 6.738,
        "Mistral 7B": 7.242,
        "Mixtral 8×7B": 46.703,
        "Llama 3 8B": 8.030,
        "Qwen2.5 0.5B": 0.494,
        "DeepSeek-V3": 671.026,
        "SmolLM2 135M": 0.135,
        "Gemma 3 1B": 1.000,
        "Qwen3 0.6B": 0.596,
        "SmolLM3 3B": 3.075,
        "gpt-oss 20B": 20.915,
        "GLM-5": 743.911,
    }
    assert parameters.to_dict() == pytest.approx(published, abs=6e-4)


def test_since_2023_all_have_rotary_positions_rms_norm_and_a_gate_and_more_text(measured):
    table = measured["decoders_table"]
    new = table[table["year"] >= 2023]
    assert len(new) >= 10 and table["year"].is_monotonic_increasing
    assert new["positions"].str.startswith("rotary").all() and new["norm"].str.startswith("RMSNorm").all()
    assert new["activation"].str.contains("GLU").all()
    assert not table[table["year"] < 2023]["activation"].str.contains("GLU").any()
    context = table["context"].str.replace(",", "").astype(int)
    text = table["trained on"].str.extract(r"([\d.]+) T")[0].astype(float)
    assert (context["LLaMA 7B"], context.max()) == (2_048, 202_752)
    assert (text["LLaMA 7B"], text.max()) == (1, 36)
    assert table.loc["GLM-5", "year"] == 2026 == table["year"].max()
    assert set(table.index[table["norm"].str.contains("QK-norm")]) == {"Gemma 3 1B", "Qwen3 0.6B"}


def test_the_census_has_about_as_many_decoders_as_the_library_and_the_ideas_spread_as_the_text_says(measured):
    census, shares = measured["census"], measured["shares"]
    assert len(census) > 90 and census["decoder"].is_unique
    before, since = shares.iloc[:, 0], shares.iloc[:, -1]
    assert before["rotary"] < 1 / 3 and before["RMSNorm"] < 0.1  # "fewer than a third", "rare"
    assert since["rotary"] > 0.9 and since["RMSNorm"] > 0.9 and 0.45 < since["experts"] < 0.6


def test_costs_are_exact_for_models_of_one_kind_and_flops_are_those_that_pytorch_counts(measured):
    rows = measured["cost_rows"]
    assert len(rows) == 5 and all(row["predicted"] == row["built"] for row in rows.values())
    assert measured["counted_flops"] == rows["SmolLM2 135M"]["short"]
    for name, row in rows.items():
        attention = row["long"] - row["short"]  # of 8,064 more tokens
        assert (attention > row["short"]) == (name == "SmolLM2 135M")
    for name in ("LLaMA 7B", "Mistral 7B", "Llama 3 8B", "SmolLM2 135M"):  # "about two FLOPs per parameter"
        assert rows[name]["short"] / (2 * rows[name]["built"]) == pytest.approx(1, abs=0.1)


def test_the_formula_predicts_too_few_parameters_for_decoders_with_experts(measured):
    ratio, experts = measured["ratio"], measured["has_experts"]
    assert ratio[experts].median() < 0.5 < 0.8 < ratio[~experts].median() < 1.2
    assert (ratio == 1).sum() >= 3


def test_two_models_with_a_gate_keep_to_8_thirds_and_most_others_are_wider(measured):
    inner = {
        name: config.intermediate_size / config.hidden_size
        for name, (year, config, *_) in measured["MODELS"].items()
        if year >= 2023
    }
    kept = [name for name, width in inner.items() if width == pytest.approx(8 / 3, abs=0.05)]
    assert kept == ["LLaMA 7B", "SmolLM2 135M"]
    wider = [name for name, width in inner.items() if width > 2.9]
    assert len(wider) > (len(inner) - len(kept)) / 2


def test_layers_that_look_at_the_latest_tokens_alone(measured):
    configs = {name: config for name, (_, config, *_) in measured["MODELS"].items()}
    assert configs["Mistral 7B"].sliding_window == 4096
    for name, of in (("gpt-oss 20B", 2), ("Gemma 3 1B", 6)):
        layers = configs[name].layer_types
        assert {place for place, what in enumerate(layers) if what == "full_attention"} == {
            *range(of - 1, len(layers), of)
        }


def test_the_package_has_matrices_in_four_bits_and_the_table_in_eight():
    tensors = GGUFReader(SMOLLM2.package.folder() / next(iter(SMOLLM2.package.sha256))).tensors
    kinds = {tensor.name: tensor.tensor_type.name for tensor in tensors if len(tensor.shape) == 2}
    assert kinds.pop("token_embd.weight") == "Q8_0" and set(kinds.values()) == {"Q4_1"}


# ------------------------------------------------------------------------------------------ scaling


def test_the_grid_is_whole_and_its_bound_is_the_language_s(measured):
    runs = measured["scaling"]
    assert len(runs) == 60 == len(runs.drop_duplicates(["dim", "steps", "seed"]))
    assert runs["dim"].nunique() == 4 and runs["steps"].nunique() == 5 and runs["seed"].nunique() == 3
    language = Language.from_grammar(GRAMMAR.only("prison", "biology", "phone"))
    assert len(language.vocabulary) == 486
    sample = language.sample(4_000, np.random.default_rng(7_013), "train")
    bound = language.log_loss_next(sample.ids).sum() / (sample.lengths - 1).sum()
    assert (runs["bound"] - bound).abs().max() < 1e-4
    gain = language.split_gain(sample, "train").sum() / (sample.lengths - 1).sum()
    assert runs["above"].min() > 5 * gain  # what could be had by learning the split by heart explains nothing


def test_the_rate_of_each_size_is_the_best_of_four_and_not_at_their_edge(measured):
    tried, runs = read_table("results/scaling_rates.csv"), measured["scaling"]
    assert not set(tried["seed"]) & set(runs["seed"])
    for dim, rows in tried.groupby("dim"):
        best = rows.loc[rows["loss"].idxmin(), "rate"]
        assert len(rows) == 4 and rows["rate"].min() < best < rows["rate"].max()
        assert (runs[runs["dim"] == dim]["rate"] == best).all()


def test_after_the_longest_training_the_smallest_is_behind_and_the_two_largest_are_one(measured):
    runs = measured["scaling"]
    above = runs[runs["steps"] == 1600].pivot(index="seed", columns="dim", values="above")
    assert (above[[16, 32, 64]].max(axis=1) < above[8]).all()
    mean, half = mean_and_half(above[64] - above[32])
    assert mean - half < 0 < mean + half


def test_larger_models_are_ahead_after_few_tokens(measured):
    runs = measured["scaling"]
    above = runs[runs["steps"] == 160].pivot(index="seed", columns="dim", values="above")
    assert (above[8] > above[16]).all() and (above[16] > above[32]).all() and (above[32] > above[64]).all()
    after_many = runs[runs["steps"] == 1600].pivot(index="seed", columns="dim", values="above")
    for dim in (8, 16, 32):  # a sum of two powers has the same lead at both
        assert (above[dim] - above[64] > after_many[dim] - after_many[64]).all()


def test_the_loss_of_each_size_falls_up_to_the_longest_training(measured):
    above = measured["scaling"].pivot(index="steps", columns=["dim", "seed"], values="above")
    assert above.index.max() == 1600 and (above.diff().iloc[1:] < 0).all(axis=None)


def test_the_law_is_rough_and_predicts_the_longest_runs_better_than_no_further_gain(measured):
    assert round(100 * measured["wrong_by"]) == 13
    assert (measured["misses"]["law"] < measured["misses"]["baseline"]).all()


def test_exponents_are_above_those_of_text_and_the_power_below_that_of_kaplan(measured):
    for (mean, half), of_text in zip(measured["exponents"].values(), (0.35, 0.37), strict=True):
        assert mean > 3 * of_text and mean - half > of_text
    assert [round(beta / (alpha + beta), 2) for alpha, beta in ((0.34, 0.28), (0.35, 0.37))] == [0.45, 0.51]
    assert {steps: round(mean, 1) for steps, (mean, _) in measured["powers"].items() if steps > 40} == {
        160: 0.4,
        320: 0.4,
    }
    assert round(measured["powers"][40][0], 2) == 0.27
    for mean, half in measured["powers"].values():
        assert mean + half < 0.73 and mean < 0.50 and mean + half < 0.52


def test_tokens_per_parameter(measured):
    def per_parameter(name, tokens):
        return tokens / 1e9 / float(measured["decoders_table"].loc[name, "parameters"].removesuffix(" B"))

    assert per_parameter("SmolLM2 135M", 2e12) == pytest.approx(15_000, rel=0.02)
    assert per_parameter("Llama 3 8B", 15e12) == pytest.approx(1_900, rel=0.02)


# ------------------------------------------------------------------------------------------ half-finished states

MERGES = right_cells("13_decoders", "bpe_train", "bpe_encode")
ALL_BUT_NAMES = MERGES | right_cells(
    "13_decoders", "rotary", "grouped_attention", "cache", "attention", "norm_and_gate", "decoder"
)
HALF_FINISHED = {
    "merges right, neighbours turned together": MERGES
    | {
        "decoders-rotary": """def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    angle = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
    even, odd = x[..., ::2], x[..., 1::2]
    turned = [even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)"""
    },
    "the longest token from the left": right_cells("13_decoders", "bpe_train")
    | {
        "decoders-bpe_encode": """def bpe_encode(word, merges):
    content = [bytes([i]) for i in range(256)]
    for left, right in merges:
        content.append(content[left] + content[right])
    data, ids = word.encode(), []
    while data:
        best = max((len(token), -i) for i, token in enumerate(content) if data.startswith(token))
        ids.append(-best[1])
        data = data[best[0]:]
    return ids"""
    },
    "a decoder whose cache nobody resets": ALL_BUT_NAMES
    | {
        "decoders-decoder": ALL_BUT_NAMES["decoders-decoder"].replace("layer.attention.reset(cached)", "pass")
    },
}
SAYS = {
    "merges right, neighbours turned together": "adjacent coordinates paired",
    "the longest token from the left": "WordPiece",
    "a decoder whose cache nobody resets": "reset",
}


def test_the_corner_of_the_grid_is_predicted_too_low_and_no_better_than_by_the_next_smaller_model(measured):
    law, baseline = (np.array(measured["corner"][name]) for name in ("law", "baseline"))
    assert (law < 1).all() and np.abs(np.log(law)).mean() > np.abs(np.log(baseline)).mean()
