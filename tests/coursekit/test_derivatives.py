"""The influence of one word on another is the size of a derivative."""

import pytest
import torch

from coursekit.derivatives import influence


def test_of_a_linear_map_it_is_known():
    mix = torch.tensor(
        [[2.0, 0.0, 0.0], [0.0, -3.0, 0.0], [1.0, 0.0, 0.5], [0.0, 0.0, 0.0]]
    )  # 4 rows out of 3
    turned = torch.linalg.qr(torch.randn(5, 5, generator=torch.Generator().manual_seed(0)))[0]
    seen = influence(lambda x: mix @ x @ turned, torch.randn(3, 5))
    assert torch.allclose(seen, mix.abs() * 5**0.5, atol=1e-5)  # a rotation of size 5 has length √5


@pytest.mark.parametrize("outputs", [1, 4, 7])
def test_it_is_the_size_of_torch_s_jacobian(outputs):
    torch.manual_seed(1)
    layer = torch.nn.LSTM(4, outputs, bidirectional=True, batch_first=True)
    x = torch.randn(6, 4)
    jacobian = torch.autograd.functional.jacobian(lambda x: layer(x[None])[0][0], x)  # T 2H T D
    assert torch.allclose(
        influence(lambda x: layer(x)[0], x), torch.linalg.vector_norm(jacobian, dim=(1, 3)), atol=1e-6
    )


def test_a_word_that_cannot_be_seen_has_exactly_none():
    layer = torch.nn.LSTM(4, 3, batch_first=True)
    seen = influence(lambda x: layer(x)[0], torch.randn(6, 4))
    assert torch.equal(seen > 0, torch.ones(6, 6).tril().bool())
