from __future__ import annotations

import pytest
import torch

from nvgf.design import ACTIVATIONS
from nvgf.design.activations import apply_pointwise, pointwise


def test_names_and_functions():
    x = torch.linspace(-2, 2, 9)
    for name, function in ACTIVATIONS.items():
        assert pointwise(name) is function
        assert function(x).shape == x.shape
    assert pointwise(torch.sin) is torch.sin


def test_gradients_stay_behind():
    layer = torch.nn.PReLU().double()
    assert not apply_pointwise(layer, torch.ones(3).double()).requires_grad


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x[:1], r"activation must be pointwise: it made \(1,\) of signals \(3,\)"),
        (lambda x: 3.0, "activation must be pointwise: it made float"),
        (lambda x: x / 0, "activation must give finite values"),
    ],
)
def test_what_is_not_pointwise(function, message):
    with pytest.raises(ValueError, match=message):
        apply_pointwise(function, torch.ones(3))
