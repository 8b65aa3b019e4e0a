"""The file of the student's own that grows, and what a check asks of a class."""

import linecache

import pytest
import torch
from torch import nn

from coursekit import growing, modules

RIGHT = """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen, self.narrow = nn.Linear(dim, inner), nn.Linear(inner, dim)
        self.activation = activation

    def forward(self, x):
        if self.activation == "relu":
            return self.narrow(relu(self.widen(x)))
        return self.narrow(gelu(self.widen(x), approximate="tanh" if "tanh" in self.activation else "none"))
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_HOME", str(tmp_path))
    return tmp_path


def defined(source: str, name: str, cell: str = "<cell 1>"):
    """What a cell of a notebook defines, found by its source as IPython leaves it."""
    linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
    names: dict = {}
    exec(growing.HEAD, names)
    exec(compile(source, cell, "exec"), names)
    return names[name]


def test_what_is_kept_is_the_student_s_own_in_a_later_notebook(capsys):
    growing.keep(defined("x = 1\n" + RIGHT, "FeedForward"))
    assert growing.read_parts() == {"FeedForward": RIGHT.strip()}
    cls = growing.mine("FeedForward")
    assert cls is not modules.FeedForward and "FeedForward: yours\n" in capsys.readouterr().out


def test_a_second_version_takes_the_place_of_the_first_and_leaves_the_others():
    growing.keep(defined(RIGHT, "FeedForward"), defined("def one():\n    return 1\n", "one", "<cell 2>"))
    growing.keep(defined("def one():\n    return 2\n", "one", "<cell 3>"))
    assert list(growing.read_parts()) == ["FeedForward", "one"] and "return 2" in growing.path().read_text()
    assert "return 1" not in growing.path().read_text()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "my_model.py does not contain yours yet"),
        (RIGHT.replace('"tanh" if', '"none" if'), "different results with activation='gelu_tanh' (they"),
        (
            RIGHT.replace("self.narrow(relu", "float('nan') * self.narrow(relu"),
            "different results with activation='relu' (they",
        ),
        (RIGHT.replace("self.narrow(gelu", "self.narow(gelu"), "AttributeError"),
        (RIGHT.replace("self.widen, self.narrow = ", "self.layers = "), "RuntimeError: Error(s) in loading"),
        (RIGHT.replace("class", "this = nowhere\nclass"), "does not run: NameError"),
    ],
)
def test_a_missing_or_wrong_class_is_named_and_the_course_s_own_is_offered(home, capsys, source, said):
    if source:
        (home / growing.FILE).write_text(f"{growing.HEAD}\n\n# --- FeedForward ---\n{source}\n")
    assert growing.mine("FeedForward") is modules.FeedForward
    assert said in capsys.readouterr().out


STEP = """
def training_step(model, batch, optimiser, rate, most):
    ids, targets, counts = batch
    optimiser.zero_grad()
    loss = cross_entropy(model(ids)[counts], targets[counts])
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("", ""),
        ("self.norm_first = False", "with norm_first=True (they"),
        ("self.norm_attention.eps = 1e-5", "with eps=0.1 (they"),
        ("self.feed_forward = modules.FeedForward(dim, inner)", "with activation='relu' (they"),
        ("self.dropout.forward = torch.dropout", "TypeError"),
    ],
)
def test_a_block_is_tried_with_each_of_its_choices(change, said):
    class Block(modules.Block):
        def __init__(self, dim, heads, inner, *rest, **choices):
            super().__init__(dim, heads, inner, *rest, **choices)
            exec(change)

    assert said in growing.complaint(Block, growing.trials()["Block"])
    assert bool(said) == bool(growing.complaint(Block, growing.trials()["Block"]))


COLLATE = """
def collate(rows):
    ids = nn.utils.rnn.pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], batch_first=True)
    return ids, torch.tensor([[place < len(row) for place in range(ids.shape[1])] for row in rows])
"""


@pytest.mark.parametrize(
    ("source", "old", "new", "said"),
    [
        (STEP, "", "", ""),
        (STEP, "    optimiser.zero_grad()\n", "", "different results (they"),
        (STEP, "[counts], targets[counts]", ".flatten(0, 1), targets.flatten()", "different results (they"),
        (STEP, "(model.parameters(), most)", "(model.parameters(), 1.0)", "different results (they"),
        (STEP, 'group["lr"] = rate', "pass", "different results (they"),
        (STEP, "return loss.item()", "pass", "stops with RuntimeError"),
        (COLLATE, "", "", ""),
        (COLLATE, "batch_first=True", "batch_first=True, padding_value=-1", "different results (they"),
        (
            COLLATE,
            "return ids, torch",
            "return ids, ids != 0\n    torch",
            "different results in the mask (they",
        ),
        (COLLATE, "return ids, ", "return ids\n    ", "stops with ValueError"),
    ],
)
def test_a_step_of_training_and_a_batch_are_the_student_s_own_if_they_are_right(
    capsys, source, old, new, said
):
    name = "training_step" if source is STEP else "collate"
    growing.keep(defined(source.replace(old, new), name))
    assert (growing.mine(name) is getattr(modules, name)) == bool(said)
    assert (said or f"{name}: yours") in capsys.readouterr().out


def test_what_is_graded_depends_on_no_earlier_notebook(capsys, monkeypatch):
    growing.keep(defined(RIGHT, "FeedForward"))
    capsys.readouterr()
    monkeypatch.setattr(growing.recording, "active", lambda: object())
    assert growing.mine("FeedForward") is modules.FeedForward and capsys.readouterr().out == ""


def test_a_name_that_no_notebook_asks_for_gets_a_sentence():
    with pytest.raises(ValueError, match="'Blok'.*MultiHeadAttention"):
        growing.mine("Blok")


def test_a_broken_part_harms_no_other(home):
    text = f"{growing.HEAD}\n\n# --- Block ---\nclass Block(:\n\n\n# --- FeedForward ---\n{RIGHT}\n"
    (home / growing.FILE).write_text(text)
    block, feed_forward = growing.mine("Block", "FeedForward")
    assert block is modules.Block and feed_forward is not modules.FeedForward


def test_the_student_s_own_lines_at_the_head_stay(home):
    (home / growing.FILE).write_text(growing.HEAD + "SIZE = 7  # mine\n")
    growing.keep(defined(RIGHT, "FeedForward"))
    growing.keep(defined(RIGHT, "FeedForward", "<cell 4>"))
    text = (home / growing.FILE).read_text()
    assert text.count("SIZE = 7  # mine") == 1 and text.count("class FeedForward") == 1


def test_a_file_that_is_no_text_is_left_as_it_is(home, capsys):
    (home / growing.FILE).write_bytes(b"\xff\xfe")
    growing.keep(defined(RIGHT, "FeedForward"))
    assert (
        home / growing.FILE
    ).read_bytes() == b"\xff\xfe" and "could not be kept" in capsys.readouterr().out


def test_where_nothing_can_be_written_it_says_so_and_goes_on(monkeypatch, capsys, tmp_path):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("AUTOGRADER_HOME", str(tmp_path / "a file"))
    growing.keep(defined(RIGHT, "FeedForward"))
    assert "could not be kept" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------- checks


def case(cls=modules.FeedForward, **config):
    torch.manual_seed(1)
    config = config or {"dim": 4, "inner": 6}
    weights = cls(**config).state_dict()
    return {"config": config, "x": torch.randn(2, 3, 4)} | {
        f"weights.{name}": w for name, w in weights.items()
    }


def test_a_class_is_built_loaded_and_run():
    asked = case()
    answers = growing.run_module(modules.FeedForward, asked, "x", modes=("eval", "train"), gradient=True)
    own = modules.FeedForward(**asked["config"])
    own.load_state_dict({name: asked[f"weights.{name}"] for name in own.state_dict()})
    assert answers["registered"].tolist() == [2, 2, 2, 2, 0]
    assert torch.equal(answers["eval"], own(asked["x"])) and torch.equal(answers["train"], answers["eval"])
    assert answers["gradient of widen.weight"].shape == (6, 4) and answers["gradient of narrow.bias"].any()


class Listed(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.parts = [nn.Linear(dim, inner), nn.Linear(inner, dim)]

    def forward(self, x):
        return self.parts[1](torch.relu(self.parts[0](x)))


def test_unregistered_weights_are_counted_and_give_the_same_answer_each_time():
    answers = growing.run_module(Listed, case(), "x", gradient=True)
    assert answers["registered"].tolist() == [0, 0, 0, 0, 0] and not answers["eval"].any()
    assert all(value.isfinite().all() for value in answers.values())


def test_a_table_that_should_be_a_buffer_is_told_apart():
    class Learned(modules.Embeddings):
        def __init__(self, **config):
            super().__init__(**config)
            table = self._buffers.pop("position")
            self.position = nn.Parameter(table)

    asked = case(modules.Embeddings, vocabulary=5, tokens=4, dim=6) | {"ids": torch.tensor([[1, 2, 0]])}
    right, learned = (growing.run_module(cls, asked, "ids") for cls in (modules.Embeddings, Learned))
    turned = growing.run_module(modules.Embeddings, dict(reversed(asked.items())), "ids")
    assert torch.equal(turned["registered"], right["registered"]), "whatever the order of the case"
    assert right["registered"].tolist() == [1, 2, 0] and learned["registered"].tolist() == [2, 2, 0]
    assert torch.equal(right["eval"], learned["eval"])


class Cut(modules.Block):
    """Right numbers, and somewhere no way back."""

    def __init__(self, where, **config):
        super().__init__(**config)
        self.where = where

    def forward(self, x, keep):
        residual = x.detach() if self.where == "residual" else x
        part = self.attention(self.norm_attention(x), keep)
        x = residual + (part.detach() if self.where == "attention" else part)
        if self.where == "in place":
            x += self.feed_forward(self.norm_feed_forward(x))
            return x
        return x + self.feed_forward(self.norm_feed_forward(x))


def test_a_way_that_is_cut_off_shows_in_the_gradient_of_what_goes_in():
    sizes = {"dim": 8, "heads": 2, "inner": 12, "norm_first": True}
    x, keep = torch.randn(2, 5, 8), torch.ones(2, 1, 5, dtype=torch.bool)
    asked = case(modules.Block, **sizes) | {"x": x, "keep": keep}
    right = growing.run_module(modules.Block, asked, "x", "keep", modes=("eval", "train"), back_to=["x"])
    followed = x.clone().requires_grad_()
    own = modules.Block(**sizes)
    own.load_state_dict({name: asked[f"weights.{name}"] for name in own.state_dict()})
    own(followed, keep).square().sum().backward()
    assert torch.allclose(right[growing.BACK.format("x")], followed.grad, atol=1e-5)
    for where in ("residual", "attention"):
        cut = growing.run_module(
            Cut, asked | {"config": sizes | {"where": where}}, "x", "keep", back_to=["x"]
        )
        assert torch.allclose(cut["eval"], right["eval"], atol=1e-6)
        assert not torch.allclose(cut[growing.BACK.format("x")], right[growing.BACK.format("x")], atol=1e-2)
    with pytest.raises(RuntimeError, match="cannot be trained.*`x = x . …`"):
        growing.run_module(Cut, asked | {"config": sizes | {"where": "in place"}}, "x", "keep", back_to=["x"])


def test_what_is_no_module_is_said():
    with pytest.raises(TypeError, match="not an nn.Module"):
        growing.run_module(lambda dim, inner: object(), case(), "x")


class Renamed(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.widen, self.out = nn.Linear(dim, inner), nn.Linear(inner, dim)

    def forward(self, x):
        return self.out(torch.relu(self.widen(x)))


def test_weights_under_other_names_are_said_with_both_names():
    with pytest.raises(
        AttributeError,
        match="Missing: `narrow.bias`, `narrow.weight`. The module has `out.weight`, `out.bias` instead",
    ):
        growing.run_module(Renamed, case(), "x")


def test_a_forgotten_return_and_a_forgotten_super_are_said():
    class Silent(modules.FeedForward):
        def forward(self, x):
            super().forward(x)

    class Early(nn.Module):
        def __init__(self, dim, inner):
            self.widen = nn.Linear(dim, inner)

    with pytest.raises(TypeError, match="`forward` returns nothing: is a `return` missing?"):
        growing.run_module(Silent, case(), "x")
    with pytest.raises(AttributeError, match=r"Early creates layers before .* `super\(\).__init__\(\)`"):
        growing.run_module(Early, case(), "x")


def test_a_second_name_of_a_tied_weight_is_no_further_number_and_is_saved_all_the_same():
    class Tied(nn.Module):
        def __init__(self, vocabulary, dim, shared):
            super().__init__()
            self.token, self.head = nn.Embedding(vocabulary, dim), nn.Linear(dim, vocabulary, bias=False)
            if shared:
                self.head.weight = self.token.weight

    for shared, beside in ((True, -2), (False, 12)):
        asked = {
            "config": {"vocabulary": 4, "dim": 3, "shared": shared},
            "weights.token.weight": torch.ones(4, 3),
        }
        assert growing.build(Tied, asked)[1].tolist() == [2, beside]


class RunningSum(nn.Module):
    """The sum of all that was read, times a weight."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.reset()

    def reset(self, cached=False):
        self.cached, self.total = cached, 0

    def forward(self, x):
        sums = x.cumsum(dim=1) + self.total
        self.total = sums[:, -1:] if self.cached else 0
        return self.scale * sums


def test_a_class_that_remembers_is_read_at_once_and_in_pieces():
    x, other = torch.randn(2, 5, 3), torch.randn(2, 4, 3)
    asked = {"config": {}, "x": x, "other": other, "pieces": 2, "weights.scale": torch.tensor([2.0])}
    answers = growing.run_cached(RunningSum, asked, "x", "other", gradient=("scale",))
    for name in ("at once", "once more", "in pieces"):
        assert torch.allclose(answers[name], 2 * x.cumsum(dim=1), atol=1e-5)
    for name in ("a second text in pieces", "after reset()"):
        assert torch.allclose(answers[name], 2 * other.cumsum(dim=1), atol=1e-5)
    assert torch.allclose(answers["gradient of scale"], 4 * x.cumsum(dim=1).square().sum())


class SharedSum(RunningSum):
    """What was read is kept by the class."""

    def reset(self, cached=False):
        SharedSum.cached, SharedSum.total = cached, 0

    def forward(self, x):
        sums = x.cumsum(dim=1) + self.total
        SharedSum.total = sums[:, -1:] if self.cached else 0
        return self.scale * sums


def test_what_two_models_share_shows_where_another_reads_between_two_pieces():
    x, name = torch.randn(2, 5, 3), "in pieces, beside another model"
    asked = {"config": {}, "x": x, "other": x, "pieces": 2, "weights.scale": torch.ones(1)}
    assert name not in growing.run_cached(RunningSum, asked, "x", "other")
    asked |= {"beside": torch.randn(2, 3, 3), "readings": [name, "in pieces"]}
    for cls, right in ((RunningSum, True), (SharedSum, False)):
        answers = growing.run_cached(cls, asked, "x", "other")
        chosen = {"registered", "at once", growing.BACK.format("x"), *asked["readings"]}
        assert set(answers) == chosen, "those that the case chooses"
        assert torch.allclose(answers["in pieces"], x.cumsum(dim=1), atol=1e-5)
        assert torch.allclose(answers[name], x.cumsum(dim=1), atol=1e-5) == right


def test_nothing_is_given_of_what_would_be_random():
    asked = {"config": {}, "x": torch.ones(1, 2, 3), "other": torch.ones(1, 2, 3), "pieces": 1}
    answers = growing.run_cached(RunningSum, asked, "x", "other")
    assert answers["registered"].tolist() == [1] and answers["at once"].shape == (0,)


@pytest.mark.parametrize("given", [["bna", 3], 7, None, [[1, 2]]])
def test_what_is_no_list_of_whole_numbers_is_said_in_a_sentence(given):
    with pytest.raises(
        TypeError, match="wordpiece should return whole numbers, in a list or tuple; yours returns"
    ):
        growing.whole_numbers(given, "wordpiece")
    assert (
        growing.whole_numbers(torch.tensor([3, 4]), "wordpiece")
        == growing.whole_numbers((3, 4), "wordpiece")
        == [3, 4]
    )


# ------------------------------------------------------------------------------------------------- modules


def test_a_block_is_pytorch_s_own_layer():
    for norm_first in (False, True):
        torch.manual_seed(0)
        theirs = nn.TransformerEncoderLayer(
            8, 2, 12, 0.5, "gelu", norm_first=norm_first, batch_first=True
        ).eval()
        ours, state = modules.Block(8, 2, 12, norm_first, dropout=0.5).eval(), {}
        for part in ("weight", "bias"):
            packed = getattr(theirs.self_attn, f"in_proj_{part}").chunk(3)
            state |= {
                f"attention.{name}.{part}": w
                for name, w in zip(("query", "key", "value"), packed, strict=True)
            }
            pairs = {"attention.output": theirs.self_attn.out_proj, "feed_forward.widen": theirs.linear1,
                     "feed_forward.narrow": theirs.linear2, "norm_attention": theirs.norm1,
                     "norm_feed_forward": theirs.norm2}  # fmt: skip
            state |= {f"{name}.{part}": getattr(layer, part) for name, layer in pairs.items()}
        ours.load_state_dict(state)
        x, real = torch.randn(2, 5, 8), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
        with torch.no_grad():
            expected, found = theirs(x, src_key_padding_mask=~real), ours(x, real[:, None])
        assert torch.allclose(found[real], expected[real], atol=1e-5)


def test_dropout_scales_what_stays_and_does_nothing_outside_training():
    dropout, x = modules.Dropout(0.25), torch.ones(4)
    draws = torch.tensor([0.0, 0.2, 0.25, 0.9])
    assert dropout(x, draws).tolist() == pytest.approx([0, 0, 4 / 3, 4 / 3])
    assert torch.equal(dropout.eval()(x, draws), x)
    torch.manual_seed(0)
    assert abs(dropout.train()(torch.ones(100_000)).mean() - 1) < 0.02


class Plain(nn.Module):
    """A map, and beside it what a student may leave there."""

    def __init__(self, beside: str = "", cut: bool = False):
        super().__init__()
        self.map, self.cut = nn.Linear(2, 2), cut
        if beside:
            self.register_buffer("mask", torch.ones(3), persistent=beside == "saved")

    def forward(self, x):
        return self.map(x).detach() if self.cut else self.map(x)

    def reset(self, cached=False):
        pass


@pytest.mark.parametrize(
    ("config", "registered"),
    [
        ({}, [2, 2, 0]),
        ({"beside": "not saved"}, [2, 2, 0]),
        ({"beside": "saved"}, [2, 2, -1]),
        ({"cut": True}, [4, 4, 0]),
    ],
)
def test_a_check_says_what_is_saved_beside_the_weights_and_what_no_training_could_change(config, registered):
    weights = {"weights.map.weight": torch.ones(2, 2), "weights.map.bias": torch.ones(2)}
    case = {"config": config, "x": torch.ones(1, 4, 2), "other": torch.ones(1, 3, 2), "pieces": 2, **weights}
    for answers in (growing.run_module(Plain, case, "x"), growing.run_cached(Plain, case, "x", "other")):
        assert sorted(answers["registered"].tolist()[:2]) == registered[:2]
        assert answers["registered"][-1] == registered[-1]
    assert (growing.run_module(Plain, case, "x")["eval"] == 3).all()


def test_a_parameter_without_a_gradient_is_told_from_those_that_have_one():
    case = {"config": {}, "weights.map.weight": torch.ones(2, 2), "weights.map.bias": torch.ones(2)}
    x = torch.ones(1, 2)
    for own, loss_of, expected in (
        (True, lambda module: module(x).sum(), [2, 2, 0]),
        (True, lambda module: (x @ module.map.weight + module.map.bias.detach()).sum(), [4, 2, 0]),
        (True, lambda module: module(x).sum().detach(), [4, 4, 0]),
        (False, lambda module: module(x).sum(), [0, 0, 0]),
    ):
        module, registered = growing.build(Plain, case)
        registered = registered if own else torch.zeros(3)  # what has no place in it is not cut off
        assert growing.after_backward(module, case, registered, loss_of(module)).tolist() == expected


def test_a_cache_that_would_be_saved_is_found_once_it_is_filled():
    class Remembers(Plain):
        def __init__(self):
            super().__init__()
            self.reset()

        def reset(self, cached=False):
            self.register_buffer("past", None)

        def forward(self, x):
            self.past = x
            return super().forward(x)

    weights = {"weights.map.weight": torch.ones(2, 2), "weights.map.bias": torch.ones(2)}
    case = {"config": {}, "x": torch.ones(1, 4, 2), "other": torch.ones(1, 3, 2), "pieces": 2, **weights}
    assert growing.run_cached(Remembers, case, "x", "other")["registered"][-1] == -1


class StaysOn(RunningSum):
    """`reset()` forgets what was read, and goes on remembering."""

    def reset(self, cached=False):
        super().reset(cached=True)


def test_a_cache_that_stays_on_shows_in_the_second_call_after_reset():
    asked = {"config": {}, "x": torch.ones(1, 4, 2), "other": torch.ones(1, 3, 2), "pieces": 2}
    asked |= {"weights.scale": torch.ones(1)}
    right, stays = (growing.run_cached(one, asked, "x", "other") for one in (RunningSum, StaysOn))
    assert torch.equal(right["after reset()"], right["once more after reset()"])
    assert torch.equal(stays["after reset()"], right["after reset()"])
    assert not torch.equal(stays["once more after reset()"], right["once more after reset()"])


def test_the_gradient_that_comes_back_to_vectors_is_part_of_a_cached_answer():
    class Cut(RunningSum):
        def forward(self, x):
            return super().forward(x.detach())

    asked = {"config": {}, "x": torch.randn(1, 4, 2), "other": torch.ones(1, 3, 2), "pieces": 2}
    asked |= {"weights.scale": torch.ones(1)}
    name = growing.BACK.format("x")
    right, cut = (growing.run_cached(one, asked, "x", "other") for one in (RunningSum, Cut))
    assert torch.equal(right["at once"], cut["at once"]) and torch.equal(
        right["registered"], cut["registered"]
    )
    assert right[name].abs().min() > 0 and not cut[name].any()


def test_the_gradient_is_followed_to_each_input():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x, y):
            return self.scale * (x + y.detach())

    asked = {"config": {}, "x": torch.ones(2), "y": torch.ones(2), "weights.scale": torch.ones(1)}
    answers = growing.run_module(Both, asked, "x", "y", back_to=["x", "y"])
    assert [answers[growing.BACK.format(name)].tolist() for name in "xy"] == [[4.0, 4.0], [0.0, 0.0]]


def test_a_module_that_writes_into_its_input_is_seen_to_do_so():
    class Writes(RunningSum):
        def forward(self, x):
            x += 1
            return super().forward(x)

    asked = {"config": {}, "x": torch.ones(1, 4, 2), "other": torch.ones(1, 3, 2), "pieces": 2}
    asked |= {"weights.scale": torch.ones(1)}
    growing.run_module(Writes, asked, "x", back_to=["x"])
    assert (asked["x"] == 2).all()
    growing.run_cached(Writes, asked, "x", "other")
    assert (asked["x"] > 2).all() and (asked["other"] > 1).all()
