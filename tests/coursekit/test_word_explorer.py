"""Where a word's vector is between its senses, and which words move it: numbers that can be checked another way."""

from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from jupyter_client.manager import start_new_kernel

from coursekit.word_explorer import explore, explorer, pooled
from coursekit.word_explorer.drawing import Panel, Picture, Walk
from coursekit.word_explorer.explorer import PREPARED, compare, picture
from coursekit.word_explorer.fooling import NotKept, keep
from coursekit.word_explorer.plane import corners, plane_of
from coursekit.word_explorer.readers import MOST_WORDS, NotInSentence, Reading, all_readers, find_word
from tests.conftest import ROOT


class Made:
    """A reader whose vectors are drawn at random around one mean for each first word, after a first layer without context."""

    name, how = "made", "the first word"

    def __init__(self, apart: float):
        self.means, self.generator = apart * torch.eye(3, 20), torch.Generator().manual_seed(0)

    def __call__(self, sentence):
        sense = "abc".index(sentence.text[0])
        noise = torch.randn(20, generator=self.generator)
        return Reading(torch.stack([torch.ones(20), self.means[sense] + noise]))


def group(first, n=30):
    return [find_word(f"{first} word", "word")] * n


def test_a_word_is_found_as_a_whole_word_and_in_the_plural():
    found = find_word("Embankments: two Banks.", "bank")
    assert (found.text[found.start : found.end], found.position) == ("Banks", 2)
    with pytest.raises(NotInSentence, match="does not contain the word “bank”"):
        find_word("An embankment.", "bank")
    with pytest.raises(NotInSentence, match=f"more than {MOST_WORDS} words"):
        find_word("bank " * (MOST_WORDS + 1), "bank")


@pytest.mark.parametrize("senses", ["ab", "abc"])
def test_the_means_of_the_senses_are_the_corners(senses):
    plane = plane_of(Made(apart=20), {sense: group(sense, 400) for sense in senses})
    reader = Made(apart=20)
    for sense, corner in zip(senses, corners(len(senses)), strict=True):
        places = torch.stack([plane.path(reader(one))[-1] for one in group(sense, 200)])
        assert torch.allclose(places.mean(dim=0), corner, atol=0.1)
        assert plane.nearest(places.mean(dim=0)) == senses.index(sense)


def test_layer_0_and_differences_that_chance_explains_are_in_the_middle():
    apart, alike = (plane_of(Made(apart), {sense: group(sense) for sense in "ab"}) for apart in (20, 0))
    places = torch.stack([alike.path(Made(0)(one)) for one in group("a")])
    assert not apart.path(Made(20)(group("a")[0]))[0].any()
    assert places[:, 1].abs().mean() < 0.5  # without the correction: 0.9


def test_what_a_sentence_holds_is_text_and_the_picture_says_it_in_words():
    sentence = find_word('<script>alert(1)</script> "word" & more', "word")
    plane = plane_of(Made(20), {sense: group(sense) for sense in "ab"})
    walk = Walk(sentence, torch.tensor([[0.0], [-0.9]]), torch.tensor([[-0.4, 0.0, 0.0, 0.1]]))
    bundle = Picture(
        ["<b>left", "right"], [Panel("made", "the first word", plane, [walk])]
    )._repr_mimebundle_()
    assert "<script>" not in bundle["text/html"] and "<b>left" not in bundle["text/html"]
    assert bundle["text/plain"] == (
        "made (the first word) after 1 layers: sentence 1: at -0.9, nearest to <b>left, moved most by "
        "“<script>alert(1)</script>”, towards <b>left."
    )


@pytest.mark.slow
@pytest.mark.parametrize("reader", [2, 3], ids=["MiniLM", "SmolLM2"])
def test_attention_times_value_is_what_the_attention_of_the_model_adds(reader):
    reader, sentence = all_readers()[reader], find_word("The river has a muddy bank.", "bank")
    added, post_norm = [], hasattr(reader.model, "encoder")
    layers = reader.model.encoder.layer if post_norm else reader.model.layers
    name = "attention.output.dense" if post_norm else "self_attn.o_proj"
    hooks = [
        layer.get_submodule(name).register_forward_hook(
            lambda module, read, made: added.append((module, made[0]))
        )
        for layer in layers
    ]
    reading = reader(sentence)
    for hook in hooks:
        hook.remove()
    token = reader.tokenizer(sentence.text).char_to_token(sentence.start)
    directions = torch.randn(
        len(layers), 2, reading.vectors.shape[1], generator=torch.Generator().manual_seed(0)
    )
    along = reading.attended.along(directions).sum(dim=(1, 2))
    for layer, (module, made) in enumerate(added):
        result = made[token] if module.bias is None else made[token] - module.bias
        for norm in reader._norms[layer]:
            result = norm.weight * (result - result.mean()) / reader._normed[norm][token].std(correction=0)
        assert torch.allclose(along[layer], directions[layer] @ result, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_the_prepared_sentences_show_what_their_titles_say():
    glove, elmo, bert, decoder = range(4)
    bank = picture(*_word_and_sentences("two senses of bank"))
    assert bank.senses == ["river", "money"]
    for model in (elmo, bert, decoder):
        first, second = (float(walk.path[-1, 0]) for walk in bank.panels[model].walks)
        assert first < 0 < second
    assert torch.equal(*(walk.path for walk in bank.panels[glove].walks))
    assert bank.panels[elmo].walks[0].pull is None
    words = [walk.sentence.text[slice(*walk.sentence.words[i])] for walk, i in _strongest(bank.panels[bert])]
    assert words == ["river", "account"]

    later = picture(*_word_and_sentences("the cues come after the word"))
    first, second = (walk.path for walk in later.panels[decoder].walks)
    assert torch.allclose(first, second, atol=1e-4)
    assert float(later.panels[bert].walks[0].path[-1, 0]) < 0 < float(later.panels[bert].walks[1].path[-1, 0])

    cell = picture(*_word_and_sentences("three senses of cell"), models=["BERT (MiniLM)"])
    (panel,) = cell.panels
    nearest = [cell.senses[panel.plane.nearest(walk.path[-1])] for walk in panel.walks]
    assert nearest == ["prison", "biology", "phone"]


@pytest.mark.slow
def test_what_attention_adds_agrees_with_where_other_sentences_end():
    from coursekit.word_explorer.explorer import _examples, _plane

    for reader in all_readers()[2:]:
        plane = _plane(reader, "bank", ())
        readings = [reader(one) for group in _examples("bank", "test").values() for one in group]
        ends = torch.stack([plane.path(one)[-1, 0] for one in readings])
        pulls = torch.stack([plane.pull(one).sum() for one in readings])
        assert torch.corrcoef(torch.stack([ends, pulls]))[0, 1] > 0.8


@pytest.mark.slow
def test_the_picture_follows_what_is_typed():
    begin = """
import ipywidgets
from coursekit.word_explorer import explore
made, Text = [], ipywidgets.Text
ipywidgets.Text = lambda **options: made.append(Text(**options)) or made[-1]
explore("bank", models=["GloVe"])
"""
    manager, client = start_new_kernel(
        kernel_name="python3", cwd=str(ROOT)
    )  # its loop runs between cells, too
    try:
        client.execute(begin)
        assert _next_picture(client).startswith("GloVe (one vector per word): sentence 1: at +")
        client.execute("for text in ('A ban', 'A bank'): made[0].value = text\nmade[1].value = ''")
        assert "sentence 2" not in _next_picture(client)
        client.execute("made[0].value = 'Nothing'")
        assert "does not contain" in _next_picture(client, "text/html")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _next_picture(client, kind="text/plain"):
    while True:
        message = client.get_iopub_msg(timeout=120)
        data = message["content"].get("data", {})
        is_widget = "application/vnd.jupyter.widget-view+json" in data
        if message["header"]["msg_type"] in ("display_data", "update_display_data") and not is_widget:
            return data[kind]


def test_other_words_need_examples():
    with pytest.raises(ValueError, match="at least two senses"):
        compare("cat", "The cat slept.", senses={"animal": ["A cat.", "The cat."]})


SENTENCE = "The boat with all our money drifted to the muddy bank"


def test_a_sentence_is_kept_once_with_the_reading_of_each_model_that_it_fools(tmp_path):
    file = tmp_path / "fooled.csv"
    assert keep("bank", "river", SENTENCE, {"ELMo": "river", "BERT": "money"}, file) == (
        f"Added to {file}: BERT reads money."
    )
    keep("bank", "river", 'He said "bank",\n  and sat on it', {"BERT": "money", "GPT": "money"}, file)
    for sense, sentence, says in (
        ("river", SENTENCE, "already"),
        ("money", "A bank.", "No model is fooled"),
        ("river", "=bank()", "spreadsheet"),
    ):
        with pytest.raises(NotKept, match=says):
            keep("bank", sense, sentence, {"BERT": "money"}, file)
    with pytest.raises(NotInSentence):
        keep("bank", "river", "Nothing", {"BERT": "money"}, file)
    rows = pd.read_csv(file)
    assert list(rows.columns) == ["word", "sense", "sentence", "model", "reading"]
    assert rows.model.tolist() == ["BERT", "BERT", "GPT"]
    assert rows.sentence[1] == 'He said "bank", and sat on it'


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"", b"\xff\xfe\x00", b"word\n" + b"x" * 200_000])
def test_another_file_of_this_name_is_left_alone(tmp_path, content):
    file = tmp_path / "fooled.csv"
    file.write_bytes(content)
    with pytest.raises(NotKept, match=r"exactly the columns|cannot be read"):
        keep("bank", "river", SENTENCE, {"BERT": "money"}, file)
    assert file.read_bytes() == content
    assert pooled([file]).empty


def test_files_of_a_class_are_pooled_without_what_the_button_would_not_write(tmp_path):
    files = [tmp_path / f"{name}.csv" for name in "abc"]
    for file in files[:2]:
        keep("bank", "river", SENTENCE, {"BERT": "money"}, file)
    with files[1].open("a") as edited:
        edited.write(
            "bank,river,=HYPERLINK(bank),BERT,money\nbank,river, @bank,BERT,money\nbank,river,A bank.,BERT,river\n"
        )
        edited.write(
            "bank,river,No such word.,BERT,money\nbank,river\nbank,river,A bank.,BERT,money,more\n,,,,\n"
        )
    rows = pooled([*files, tmp_path / "none.csv"])
    assert rows[["file", "sentence"]].to_numpy().tolist() == [[str(file), SENTENCE] for file in files[:2]]


@pytest.mark.slow
def test_the_button_keeps_a_sentence_that_fools_the_model_and_says_so(tmp_path, monkeypatch):
    import ipywidgets

    made = {"Text": [], "Dropdown": [], "Button": [], "HTML": []}
    for kind, list_of in made.items():
        widget = getattr(ipywidgets, kind)
        monkeypatch.setattr(
            ipywidgets,
            kind,
            lambda *args, widget=widget, list_of=list_of, **options: (
                list_of.append(widget(*args, **options)) or list_of[-1]
            ),
        )
    monkeypatch.setattr(
        explorer, "display", lambda *shown, **options: SimpleNamespace(update=lambda it: None)
    )
    monkeypatch.setattr(explorer, "_Later", lambda call: lambda: None)
    file = tmp_path / "fooled.csv"
    explore("bank", models=["BERT (MiniLM)"], file=file)
    text, meant, button, said = made["Text"][0], made["Dropdown"][2], made["Button"][0], made["HTML"][0]
    text.value, meant.value = SENTENCE, "money"
    readings = picture("bank", [SENTENCE], models=["BERT (MiniLM)"]).readings(0)
    (reading,) = readings.values()
    meant.value = {"money": "river", "river": "money"}[reading]
    button.click()
    assert said.value == f"Added to {file}: BERT (MiniLM) reads {reading}."
    assert pooled([file]).sense.tolist() == [meant.value]
    text.value = "<b>Nothing</b>"
    button.click()
    assert said.value == "The sentence does not contain the word “bank”."
    text.value = SENTENCE
    made["Dropdown"][1].value = "cell"
    assert said.value == "" and meant.options == ("prison", "biology", "phone")


@pytest.mark.parametrize("models", [["BERT"], "GloVe"])
def test_a_model_that_does_not_exist_is_named_with_those_that_do(models):
    with pytest.raises(ValueError, match=r"no model “\w+” here. Choose from GloVe, ELMo"):
        picture("bank", ["A bank."], models=models)


def _word_and_sentences(title):
    word, *sentences = PREPARED[title]
    return word, sentences


def _strongest(panel):
    for walk in panel.walks:
        size = walk.pull.norm(dim=0)
        size[walk.sentence.position] = 0
        yield walk, int(size.argmax())
