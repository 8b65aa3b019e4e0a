"""The routes of notebook 16: every form ends in the correct town, and only the town before the end counts."""

import numpy as np
import torch

from coursekit import routes
from coursekit.routes import END, FORMS, PAD, PROMPT, ROOM, TOWN, TOWNS


def test_every_form_of_an_answer_ends_in_the_town_where_the_route_ends():
    drawn = routes.draw(200, np.random.default_rng(0))
    ends = []
    for bus_to, buses, town in zip(drawn.bus_to.tolist(), drawn.buses, drawn.start.tolist(), strict=True):
        visited = [town]
        for _ in range(buses):
            visited.append(bus_to[visited[-1]])
        assert len(set(visited)) == len(visited)
        ends.append(visited[-1])
    for form in range(len(FORMS)):
        written = drawn.written(np.full(200, form))
        assert routes.read(written[:, PROMPT:]).tolist() == ends == drawn.answers.tolist()
        assert torch.equal(written[:, :PROMPT], drawn.prompts)


def test_the_steps_are_the_towns_on_the_way():
    ring = routes.Routes(np.roll(np.arange(TOWNS), -1)[None], np.array([3]), np.array([1]))
    spelled = [routes.spelled(ring.written(np.array([form]))[0]).split(" | ") for form in range(2)]
    assert {table for table, _ in spelled} == {"B C D E F G H I J K L A"}
    assert [rest for _, rest in spelled] == ["3 B = E $", "3 B = C D E $"]


def test_an_answer_without_an_end_or_a_town_before_it_is_wrong():
    answers = torch.full((4, ROOM), PAD)
    answers[0, :2] = torch.tensor([TOWN + 3, END])
    answers[1, 0] = END
    answers[2] = TOWN + 3
    answers[3, :2] = torch.tensor([TOWN - 1, END])
    assert routes.read(answers).tolist() == [3, -1, -1, -1]


def test_reinforcement_learning_rewards_only_the_last_town():
    base = routes.learn({"at once": 1.0}, seed=0, steps=2, dim=8)
    seen = []

    def advantages(reward):
        seen.append(reward)
        return reward - reward.mean(dim=1, keepdim=True)

    def loss(log_p, log_old, log_ref, advantages, counts, beta, clip):
        assert log_p.shape == log_old.shape == counts.shape and (log_old <= 0).all()
        return -(log_p * advantages[:, None] * counts).sum()

    _, rewards = routes.reinforce(base, advantages, loss, seed=0, steps=2, prompts=4, group=3)
    assert [tuple(one.shape) for one in seen] == [(4, 3)] * 2
    assert rewards == [one.mean().item() for one in seen]
