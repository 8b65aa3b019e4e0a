"""Training all models: a run that was killed goes on where it was saved, and ends with the very same weights."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from coursekit.pretrain import Progress, alone, checkpoint, left_of_all, load_trained, train
from coursekit.small.recipes import BLOCK, RECIPES, Recipe, set_rates, weight_groups

ROOT = Path(__file__).parents[2]


def recipe(name: str):
    return replace(RECIPES[name], steps=2 * BLOCK + 3, batch=2)


def weights(name, language, folder):
    return load_trained(name, 1, recipe(name), language, folder).state_dict()


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_run_that_stopped_ends_as_one_that_did_not(name, part, tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    *_, last = train(name, 1, recipe(name), part, whole, minutes=0)
    run = train(name, 1, recipe(name), part, stopped, minutes=0)
    first = next(run)
    run.close()  # saved after its first block
    assert first.done == BLOCK and last.done == 2 * BLOCK + 3
    assert [progress.done for progress in train(name, 1, recipe(name), part, stopped)] == [
        2 * BLOCK,
        last.done,
    ]
    there, here = weights(name, part, whole), weights(name, part, stopped)
    assert all(torch.equal(there[key], here[key]) for key in there)
    untrained = recipe(name).build(part).state_dict()
    assert any(not torch.equal(there[key], untrained[key]) for key in there)


class Dropped(nn.Module):
    """A network that draws from PyTorch's own generator."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, numbers):
        return nn.functional.dropout(self.layer(numbers), training=self.training)


def losses_with_dropout(model, language, batch, seed):
    while True:
        yield model(torch.ones(batch, 4)).square().sum()


def test_dropout_is_the_same_in_a_run_that_stopped(tmp_path):
    recipe = Recipe(lambda language: Dropped(), losses_with_dropout, 2 * BLOCK, 2, 1e-2)
    state = torch.get_rng_state()
    for _ in train("dropped", 0, recipe, None, tmp_path / "whole"):
        pass
    assert torch.equal(torch.get_rng_state(), state)  # who calls it draws what it would have drawn
    run = train("dropped", 0, recipe, None, tmp_path / "stopped", minutes=0)
    next(run)
    run.close()
    torch.rand(7)  # a new process begins elsewhere
    for _ in train("dropped", 0, recipe, None, tmp_path / "stopped"):
        pass
    there, here = (
        load_trained("dropped", 0, recipe, None, tmp_path / folder) for folder in ("whole", "stopped")
    )
    assert torch.equal(there.layer.weight, here.layer.weight)


def test_elmo_s_characters_learn_at_a_tenth_of_the_rate_and_matrices_alone_decay(part):
    elmo = RECIPES["elmo"]
    model = elmo.build(part)
    groups = torch.optim.AdamW(weight_groups(model, elmo)).param_groups
    set_rates(groups, elmo, step=elmo.steps // 2)
    found = {id(weight): group for group in groups for weight in group["params"]}
    assert len(found) == sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    for name, weight in model.named_parameters():
        rate = elmo.learning_rate * 0.5 * (0.1 if name.startswith("token.") else 1.0)
        assert found[id(weight)]["lr"] == pytest.approx(rate), name
        assert found[id(weight)]["weight_decay"] == (elmo.weight_decay if weight.ndim > 1 else 0.0), name


def test_berts_weights_decay_until_half_of_the_steps():
    bert = RECIPES["bert"]
    assert [bert.decay(step) for step in (0, bert.steps // 2 - 1, bert.steps // 2)] == [0.1, 0.1, 0.0]


@pytest.mark.audit
def test_a_killed_process_goes_on_from_its_last_save(tmp_path):
    command = [
        sys.executable, "-m", "coursekit.pretrain", "--models", "gpt", "--seeds", "0",
        "--steps", str(3 * BLOCK), "--minutes", "0", "--topics", "river", "money", "--to", str(tmp_path / "killed"),
    ]  # fmt: skip
    path = checkpoint(tmp_path / "killed", "gpt", 0)
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"{3 * BLOCK} of {3 * BLOCK} steps" in again and f": {BLOCK} of" not in again
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert done == ""  # nothing is left to do


def test_a_run_that_another_process_has_is_left_alone(tmp_path):
    path = tmp_path / "gpt_0.safetensors"
    with alone(path) as mine, alone(path) as second:
        assert mine and not second
    with alone(path) as mine:
        assert mine


def test_time_left_counts_runs_that_have_not_begun():
    begun, done = Progress("gpt", 0, 100, 400, 60.0), Progress("gpt", 1, 400, 400, 240.0)
    waiting, unknown = Progress("gpt", 2, 0, 400, 0.0), Progress("bert", 0, 0, 400, 0.0)
    assert "left: 0 h 03 min" in str(begun)
    assert left_of_all([begun, done]) == "0 h 03 min"
    assert left_of_all([begun, waiting]) == "0 h 07 min"
    assert left_of_all([begun, unknown]) == "0 h 03 min, and bert, not measured yet"
