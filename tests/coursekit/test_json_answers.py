"""What counts as JSON in the format, how questions become turns, and what is trained."""

from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from torch import nn

from coursekit import json_answers, models
from coursekit.instruction_tuning import add_lora
from coursekit.pictures import assistant_tables


@pytest.mark.parametrize(
    "text",
    [
        'Sure! {"answer": "Paris", "topic": "geography"}',
        '{"answer": "Paris", "topic": "geography"} I hope this helps.',
        '{"answer": "Paris", "topic": ["geography"]}',
        '{"answer": "Paris"}',
        '{"answer": 2, "topic": "numbers"}',
        '{"answer": "Paris", "topic": "geography", "sure": "yes"}',
        '{"answer": "Paris", "topic": "geography"',
        '["answer", "topic"]',
        "Paris",
    ],
)
def test_only_one_json_object_with_two_keys_and_strings_is_in_the_format(text):
    assert json_answers.parsed(text) is None
    assert json_answers.parsed(' {"topic": "numbers", "answer": "two"}\n') == {
        "answer": "two",
        "topic": "numbers",
    }


def test_an_answer_is_recognised_as_a_word_in_any_of_its_wordings():
    row = pd.Series({"answer": "twenty-four", "also": "24;twenty four"})
    assert all(
        json_answers.mentions_answer(text, row)
        for text in ("Twenty-four hours.", "It has 24.", "twenty four")
    )
    assert not json_answers.mentions_answer("There are 240 hours.", row)


def test_counts_are_those_of_each_question():
    asked = json_answers.questions("test").head(3)
    texts = [
        json_answers.as_json(asked.loc[0]),
        "Brazil is in South America.",
        '{"answer": "Spain", "topic": "animals"}',
    ]
    assert json_answers.counted(texts, asked) == {"in format": 2, "answer": 2, "topic": 1}


@pytest.mark.slow
def test_the_turns_are_the_chat_template_and_end_with_the_token_that_ends_a_turn():
    tokenizer = models.tokenizer("SmolLM2-135M-Instruct")
    asked = json_answers.questions("train").head(2)
    for (_, row), turns in zip(asked.iterrows(), json_answers.conversations(tokenizer, asked), strict=True):
        messages = [
            {"role": "system", "content": ""},
            {"role": "user", "content": row["question"]},
            {"role": "assistant", "content": json_answers.as_json(row)},
        ]
        whole = tokenizer.apply_chat_template(messages, tokenize=False)
        assert [role for role, _ in turns] == ["user", "assistant"]
        assert tokenizer.decode([token for _, ids in turns for token in ids]) == whole.rstrip("\n")
        assert turns[1][1][-1] == tokenizer.eos_token_id


def test_the_five_examples_are_training_questions_of_different_topics():
    messages = json_answers.five_examples()
    assert [message["role"] for message in messages] == ["user", "assistant"] * 5
    found = [json_answers.parsed(message["content"]) for message in messages[1::2]]
    assert {each["topic"] for each in found} == set(json_answers.TOPICS)


class Update(nn.Module):
    """A layer with an update, as the exercise asks for it."""

    def __init__(self, base: nn.Linear, rank: int, alpha: float):
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / 8)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(6, 6) for _ in range(3))


def small_decoder(vocabulary: int = 12) -> nn.Module:
    """A model with the names of SmolLM2's parts, in which each position sees only its own token."""
    decoder = nn.Module()
    decoder.token, decoder.layers = nn.Embedding(vocabulary, 6), nn.ModuleList()
    for _ in range(2):
        layer = nn.Module()
        layer.self_attn = Attention()
        decoder.layers.append(layer)

    def forward(ids, use_cache=False):
        x = decoder.token(ids)
        for layer in decoder.layers:
            x = x + layer.self_attn.v_proj(x) + layer.self_attn.q_proj(x)
        return SimpleNamespace(last_hidden_state=x)

    decoder.forward = forward
    model = nn.Module()
    model.model, model.lm_head = decoder, nn.Linear(6, vocabulary)
    return model


def test_only_the_updates_of_queries_and_values_are_trained_and_a_second_call_starts_anew():
    model = small_decoder()
    first = add_lora(model, Update, rank=2)
    assert len(first) == 8 and sum(weight.numel() for weight in first) == 2 * 2 * 2 * (6 + 6)
    with torch.no_grad():
        first[1].fill_(1.0)
    second = add_lora(model, Update, rank=2)
    assert len(second) == 8 and isinstance(model.model.layers[0].self_attn.q_proj.base, nn.Linear)
    assert not any(one is other for one in first for other in second)


def test_training_lowers_the_loss_at_the_labels_and_padding_does_not_count():
    torch.manual_seed(0)
    model = small_decoder()
    weights = add_lora(model, Update, rank=2)
    examples = [([1, 2, 3, 4], [-100, -100, 3, 4]), ([5, 6], [-100, 6])] * 10
    alone = [json_answers.labelled_loss(model, [example]).item() for example in examples[:2]]
    assert json_answers.labelled_loss(model, examples[:2]).item() == pytest.approx(
        (2 * alone[0] + alone[1]) / 3
    )
    losses = json_answers.train(model, weights, examples, lr=0.05, epochs=4)
    assert len(losses) == 4 * 5 and losses[-1] < losses[0] / 2


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The Markdown that a table displays."""
    found = []
    monkeypatch.setattr(assistant_tables, "display", lambda table: found.append(table.data))
    return found


def test_the_tables_show_three_questions_and_how_many_answers_are_in_the_format(shown, capsys):
    asked = json_answers.questions("test")
    after = [json_answers.as_json(row) for _, row in asked.iterrows()]
    assistant_tables.json_before_and_after(asked, ["It is | *Paris*."] * 20, after, small_decoder())
    assert len(shown[0].splitlines()) == 2 + 3 and "It is &#124; &#42;Paris&#42;." in shown[0]
    assert "before 0 of 20 (0 to 16 %), after 20 of 20 (84 to 100 %)" in capsys.readouterr().out


def test_the_recorded_runs_are_shown_with_what_was_not_measured_left_out(shown):
    runs = json_answers.recorded_json()
    assistant_tables.json_recorded(runs)
    lines = shown[0].splitlines()[2:]
    assert len(lines) == len(runs) and "five examples" in lines[2] and lines[2].count("–") == 3
    assert all("LoRA, seed" in line and "–" not in line for line in lines[3:])
