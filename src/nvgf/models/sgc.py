"""SGC (Wu et al., 2019), as the paper's appendix defines it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nvgf.graph.checks import whole_number
from nvgf.models.gcn import GCN


class SGC(GCN):
    r"""Layers :math:`x_\ell = \rho(S_{GCN}^K\, x_{\ell-1} W_\ell)`: a GCN layer that reaches K hops.

    Args:
        order: K.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``

    Example:
        >>> import torch
        >>> from nvgf import GraphShift
        >>> SGC(3, features=4, order=2)(torch.randn(5, 3, 1), GraphShift.from_edges([(0, 1), (1, 2)])).shape
        torch.Size([5, 2])
    """

    name = "sgc"

    def __init__(
        self,
        num_nodes: int,
        in_features: int = 1,
        features: int | Sequence[int] = 32,
        order: int = 2,
        **options: Any,
    ) -> None:
        super().__init__(num_nodes, in_features, features, **options)
        self.order = self.config["order"] = whole_number("order", order, 0)

    @property
    def hops(self) -> int:
        """How often a layer applies the support."""
        return self.order
