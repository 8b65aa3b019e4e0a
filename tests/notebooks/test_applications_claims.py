"""What the prose of notebook 10 says without computing it holds in what the notebook measures; its measures are the field's."""

import random

import numpy as np
import pytest
import torch

from autograder.source import code_cells, grade_id, is_demo, read_source
from coursekit.intervals import bootstrap, mean_and_half
from tests.conftest import ASSIGNMENTS
from tests.notebooks.answers import right_cells

slow = pytest.mark.slow
NOTEBOOKS = ["10_applications"]


@pytest.fixture(scope="module")
def solution():
    """The names of the cells that are graded, without models and data."""
    names: dict = {}
    for cell in code_cells(read_source(ASSIGNMENTS["10_applications"].source)):
        if not is_demo(cell) and not grade_id(cell).endswith("-check"):
            exec(cell.source, names)
    return names


# ------------------------------------------------------------------------------------------ the field's own measures


def random_tags(rng: random.Random, length: int) -> list[str]:
    kinds = ("PER", "LOC", "ORG", "MISC")
    return [rng.choice(["O", "O", f"B-{rng.choice(kinds)}", f"I-{rng.choice(kinds)}"]) for _ in range(length)]


@pytest.mark.slow
def test_entities_and_their_f1_are_seqeval_s_also_for_tags_that_are_not_well_formed(solution):
    from seqeval.metrics import f1_score, precision_score, recall_score
    from seqeval.metrics.sequence_labeling import get_entities

    rng = random.Random(0)
    for _ in range(200):
        truth = [random_tags(rng, rng.randint(1, 12)) for _ in range(rng.randint(1, 5))]
        predicted = [[tag if rng.random() < 0.6 else other for tag, other in zip(row, random_tags(rng, len(row)), strict=True)]
                     for row in truth]  # fmt: skip
        for tags in (*truth, *predicted):
            theirs = [(begin, last + 1, kind) for kind, begin, last in get_entities(tags)]
            assert solution["bio_spans"](tags) == theirs
        theirs = [
            score(truth, predicted, zero_division=0) for score in (precision_score, recall_score, f1_score)
        ]
        assert solution["entity_f1"](truth, predicted) == pytest.approx(theirs)


def squad(said: dict[str, str], accepted: dict[str, list[str]]) -> tuple[float, float]:
    from torchmetrics.functional.text import squad as score

    found = score(
        [{"prediction_text": text, "id": id} for id, text in said.items()],
        [
            {
                "answers": {"answer_start": [0] * max(len(accepted[id]), 1), "text": accepted[id] or [""]},
                "id": id,
            }
            for id in said
        ],
    )
    return found["exact_match"].item() / 100, found["f1"].item() / 100


@pytest.mark.slow
def test_marks_of_made_up_answers_are_squad_s(solution):
    rng = random.Random(1)
    words = "The a an river river's bank, Bank 340 metres. “the bank” north–south An".split()
    said, accepted = {}, {}
    for number in range(300):
        said[str(number)] = " ".join(rng.choices(words, k=rng.randint(0, 4)))
        accepted[str(number)] = [
            " ".join(rng.choices(words, k=rng.randint(1, 4))) for _ in range(rng.randint(0, 3))
        ]
    for id in said:
        ours = solution["exact_match_and_f1"](said[id], accepted[id])
        assert ours == pytest.approx(squad({id: said[id]}, accepted), abs=1e-6), (said[id], accepted[id])


def test_best_span_is_the_best_of_all_allowed_ones(solution):
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        T, max_len = 14, 4
        start, end = torch.randn(2, T, generator=generator)
        context = torch.arange(T) > 5
        first, last, margin = solution["best_span"](start, end, context, max_len)
        every = {(i, j): start[i] + end[j] for i in range(6, T) for j in range(i, min(i + max_len, T))}
        assert (first, last) == max(every, key=every.get)
        assert margin == pytest.approx(max(every.values()) - start[0] - end[0])


@slow
def test_on_the_recorded_answers_the_marks_are_seqeval_s_and_squad_s(measured):
    from seqeval.metrics import f1_score

    for seeds in measured["found_spans"].values():
        for tags in seeds:
            ours = measured["entity_f1"](measured["true_tags"], tags)[2]
            assert ours == pytest.approx(f1_score(measured["true_tags"], tags))
    accepted = measured["test_questions"]["answers"].to_dict()
    for name in ("fine-tuned", "frozen", "likeliest sentence"):
        for rows in (rows for (model, _), rows in measured["given"].items() if model == name):
            said = rows["answer"].where(rows["margin"] > 0, "").reindex(measured["test_questions"].index)
            ours = measured["marks"](said).mean()
            assert tuple(ours) == pytest.approx(squad(said.to_dict(), accepted), abs=1e-6)


# ------------------------------------------------------------------------------------------ what the prose says


@slow
def test_the_head_is_a_thousandth_of_the_encoder(measured):
    assert max(measured["heads"].values()) < 0.001 * measured["encoder_size"]
    assert measured["heads"]["a span"] == sum(
        p.numel() for p in torch.nn.Linear(measured["D"], 2).parameters()
    )


@slow
def test_fine_tuning_gains_on_contrast_and_hardly_elsewhere(measured):
    by_kind, gains = measured["by_kind"], measured["gains"]
    for control in ("bag of words", "frozen", "random weights"):
        assert gains[control][1] > 0, control  # more than the noise
    assert gains["frozen"][0] == pytest.approx(0.07, abs=0.005)  # "by seven points"
    of_the_gain = gains["frozen, contrast"][0] * 40 / (gains["frozen"][0] * 320)
    assert of_the_gain == pytest.approx(2 / 3, abs=0.02)
    assert (
        (measured["test_reviews"]["phenomenon"] == "contrast").sum()
        == 40
        == len(measured["test_reviews"]) / 8
    )
    assert gains["frozen, contrast"][1] > 0.2
    assert by_kind["frozen"]["contrast"][0] == pytest.approx(0.54, abs=0.005)
    assert by_kind["fine-tuned"]["contrast"][0] == pytest.approx(0.93, abs=0.006)
    assert gains["frozen, negation"][1] < 0 < gains["frozen, negation"][2]
    assert gains["frozen, plain"][1] < 0 < gains["frozen, plain"][2]  # "within the noise"
    assert gains["frozen, negation"][2] > 0.1  # "even a gain of ten points could go undetected"
    low, high = by_kind["fine-tuned"]["sarcasm"][1:]
    assert low < 0.5 < high and high - low > 0.2
    assert (measured["test_reviews"]["phenomenon"] == "sarcasm").sum() == 20


@slow
def test_everything_o_has_four_fifths_of_the_tokens_and_no_entity(measured):
    assert measured["silent_accuracy"] == pytest.approx(0.8, abs=0.01)
    assert measured["points"]["everything O"] == [(measured["silent_accuracy"], 0.0)]


@slow
def test_in_the_live_run_f1_begins_at_nothing_and_learns(measured):
    curve = measured["curve"]
    at_five = next(row for row in curve if row[0] == 5)
    assert at_five[2] == pytest.approx(measured["silent_accuracy"], abs=0.02) and at_five[3] < 0.05
    assert curve[-1][3] > 0.4
    assert curve[-1][2] == pytest.approx(0.92, abs=0.025)
    assert curve[-1][1] < 0.5 * curve[0][1]


@slow
def test_accuracy_is_a_narrow_band_and_f1_a_wide_one(measured):
    table = measured["entity_table"]
    spread = table.max() - table.min()
    assert spread["token accuracy"] < 0.2 and spread["entity F1"] > 0.5
    assert (measured["flattery"] > 0.2).all()
    assert (
        0.84
        < table.loc["most frequent tag", "token accuracy"]
        < table.loc["window of words", "token accuracy"]
        < 0.92
    )
    assert table.loc["window of words", "entity F1"] < 0.5
    gains = measured["f1_gains"]
    assert gains["fine-tuned", "frozen"][1] > 0.1 and gains["fine-tuned", "window of words"][1] > 0.05
    low, high = gains["fine-tuned, with capitals", "fine-tuned"][1:]
    assert low < 0.02  # capitals at the head: no gain beyond the noise
    assert high < 0.1


@slow
def test_each_doubling_of_the_sentences_adds_to_f1(measured):
    scores = [np.array(of) for _, of in sorted(measured["f1_by_size"].items())]
    assert len(scores) == 4 and all(len(of) == 3 for of in scores)
    for fewer, more in zip(scores, scores[1:], strict=False):
        mean, half = mean_and_half(more - fewer)
        assert mean - half > 0


@slow
def test_labels_of_2021_invent_entities_and_the_fixed_ones_do_not(measured):
    assert measured["on_words"] == 250
    assert measured["in_labels"]["fixed"] == 250 < 1.2 * 250 < measured["in_labels"]["labels of 2021"]
    assert measured["marked"]["fixed"] == pytest.approx(measured["f1"])
    assert measured["marked"]["labels of 2021"] > measured["f1"] + 0.005


@slow
def test_start_and_end_alone_often_make_no_span(measured):
    assert measured["invalid"]["fine-tuned"].mean() > 0.1
    start, end, context, _ = measured["recorded_scores"](measured["drawn"])
    alone = start.argmax().item(), end.argmax().item()
    assert alone[0] > alone[1] > 0  # the picture shows what the text says
    recorded = measured["not_a_span"].loc[measured["drawn"]]
    assert alone == (recorded["start"], recorded["end"])


@slow
def test_the_trained_span_head_is_above_its_controls(measured):
    assert measured["fine"][1] > 1.5 * measured["sentence_f1"][0]
    exact = measured["of_paragraphs"](measured["forced"]["fine-tuned"], "exact match")[0]
    assert 0.25 < exact < 0.3  # "barely more than a quarter of its answers match an accepted answer exactly"
    silent = 1 - measured["answerable"].mean()
    assert measured["all_silent"][0] == pytest.approx(silent)
    low, high = measured["of_paragraphs"](measured["allowed"]["frozen"], "F1")[1:]
    assert low < silent < high < measured["all_fine"][0]
    assert measured["all_fine"][1] > measured["all_silent"][2]  # "clearly beats this baseline"
    zero_shot = measured["of_paragraphs"](measured["allowed"]["SmolLM2, zero-shot"], "F1")
    assert zero_shot[0] < silent  # "the frozen head and SmolLM2 do not"


@slow
def test_the_decoder_calls_most_reviews_positive_and_writes_sentences(measured):
    assert measured["called_positive"] > 0.7
    assert measured["no_span"] > 0.5


@slow
def test_the_three_ways_to_pool_are_above_chance_and_differ_by_no_more_than_the_noise(measured):
    assert all(bootstrap(right.numpy())[0] > 0.5 for right in measured["probes"].values())
    for gain in measured["pooling_gains"].values():
        low, high = bootstrap(gain)
        assert low < 0 < high


@slow
def test_a_threshold_chosen_on_the_test_promises_most(measured):
    for _, at_zero, chosen, best in measured["gained"]:
        assert best >= max(at_zero, chosen) - 1e-6
    mean, half = mean_and_half(measured["threshold_gain"])
    assert mean < half  # "brings no gain over a threshold of 0"


# ------------------------------------------------------------------------------------------ half-finished notebooks


UP_TO_ENTITIES = ("pool", "align_labels", "bio_spans", "entity_f1", "mended_piece_labels")

HALF_FINISHED = {
    "entities end one place too early": {
        **right_cells("10_applications", "pool", "align_labels"),
        "applications-bio_spans": """
def bio_spans(tags):
    spans = []
    for i, tag in enumerate(tags):
        if tag.startswith("I-") and spans and spans[-1][1] == i - 1 and spans[-1][2] == tag[2:]:
            spans[-1] = (spans[-1][0], i, tag[2:])
        elif tag != "O":
            spans.append((i, i, tag[2:]))
    return spans
""",
    },
    "scores of another shape": {
        **right_cells("10_applications", *UP_TO_ENTITIES),
        "applications-best_span": """
def best_span(start, end, context, max_len):
    scores = torch.stack([start, end], dim=1) + context[:, None, None]
    scores = scores.reshape(len(start), len(end))
    best = scores.argmax().item()
    return best // len(start), best % len(start), scores.max() - start[0] - end[0]
""",
    },
    "a function renamed": {
        **right_cells("10_applications", "pool"),
        "applications-align_labels": """
def align(word_ids, tags):
    return torch.tensor([-100 if word is None else tags[word] for word in word_ids])
""",
    },
}
SAYS = {
    "entities end one place too early": "All your ends are one too small",
    "scores of another shape": "is invalid for input of size",
    "a function renamed": "name 'align_labels' is not defined",
}


@slow
def test_the_margin_is_not_clearly_better_than_the_question_s_words_at_knowing_what_has_an_answer(measured):
    low, high = measured["margin_above_words"]
    assert low < 0 < high
    aucs = measured["aucs"]
    assert aucs["the words of the question alone"][1] > 0.5  # a classifier that has not seen the text
    _, low, high = aucs["margin, frozen"]
    assert low < 0.5 < high  # "at chance level"
