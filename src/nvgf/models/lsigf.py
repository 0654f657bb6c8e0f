"""LSIGF: linear shift-invariant graph filters and a linear readout; it cannot create frequencies."""

from __future__ import annotations

import torch

from nvgf.graph import GraphShift
from nvgf.models.base import Prepared
from nvgf.models.polynomial import PolynomialModel


class LSIGF(PolynomialModel):
    r"""Banks of LSI filters, :math:`x_\ell = H_\ell^{lsi}(x_{\ell-1}; S, h_\ell)`, and a linear readout.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``

    Example:
        >>> import torch
        >>> from nvgf import GraphShift
        >>> model = LSIGF(3, features=4, order=2)
        >>> model(torch.randn(5, 3, 1), GraphShift.from_edges([(0, 1), (1, 2)])).shape
        torch.Size([5, 2])
        >>> model.num_parameters  # 3 taps x 4 features, 3 x 4 x 2 weights and 2 biases of the readout
        38
    """

    name = "lsigf"
    linear = True

    def hidden(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the last bank's output."""
        for layer in range(len(self.filters)):
            x = self.filtered(layer, x, shift)
        return x

    def hidden_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Return the same as :meth:`hidden`, from what :meth:`prepare` computed."""
        x = self.filtered_prepared(prepared)
        for layer in range(1, len(self.filters)):
            x = self.filtered(layer, x, prepared.shift)
        return x
