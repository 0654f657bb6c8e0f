"""Learn NVGF: node-variant filters that are learned take the place of the activation, eq. (learnNVGF)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import nn

from nvgf.filters import NodeVariantFilter, node_variant
from nvgf.graph import GraphShift
from nvgf.models.base import Prepared
from nvgf.models.basis import basis_shifts, product_coefficients
from nvgf.models.polynomial import PolynomialModel


class LearnNVGF(PolynomialModel):
    r"""Per layer an LSI bank F to G and a node-variant bank G to G in place of the activation.

    .. math:: x_\ell = H_\ell^{nv}\big(H_\ell^{lsi}(x_{\ell-1}; S, h_\ell); S, H_\ell\big)

    All of it is linear in the input, and yet it creates frequencies. With one input feature the two filters of the
    first layer are one node-variant filter of order 2K, which :meth:`composed_taps` returns; training on prepared
    input uses it, and needs no shift of any signal.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``

    Example:
        >>> import torch
        >>> from nvgf import GraphShift
        >>> path = GraphShift.from_edges([(0, 1), (1, 2)])
        >>> model = LearnNVGF(3, features=4, order=2).eval()
        >>> x = torch.randn(5, 3, 1)
        >>> model.prepare(x, path).features.shape  # S^0 x, ..., S^4 x
        torch.Size([5, 3, 5])
        >>> torch.allclose(model(x, path), model.forward_prepared(model.prepare(x, path)), atol=1e-5)
        True
    """

    name = "learn-nvgf"
    linear = True

    def __init__(
        self,
        num_nodes: int,
        in_features: int = 1,
        features: int | Sequence[int] = 32,
        order: int = 3,
        *,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **options: Any,
    ) -> None:
        super().__init__(num_nodes, in_features, features, order, bias=bias, device=device, dtype=dtype, **options)
        self.node_filters = nn.ModuleList(
            NodeVariantFilter(f, f, order, num_nodes, bias=bias, device=device, dtype=dtype) for f in self.widths
        )

    @property
    def prepared_order(self) -> int:
        """2K where the first two filters compose (one input feature, no bias in between), else K."""
        return 2 * self.order if self._composes else self.order

    @property
    def _composes(self) -> bool:
        return self.in_features == 1 and self.filters[0].bias is None

    def node_bank(self, layer: int) -> NodeVariantFilter:
        """Return the node-variant bank of a layer."""
        return cast(NodeVariantFilter, self.node_filters[layer])

    def node_filtered(self, layer: int, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Apply the node-variant bank of a layer, eq. (NVGF)."""
        bank = self.node_bank(layer)
        if self.basis == "power":
            y = node_variant(x, shift, bank.node_taps())
        else:
            heard = basis_shifts(x, shift, self.order, self.basis)
            y = torch.einsum("k...ni,knio->...no", heard, bank.node_taps())
        return y if bank.bias is None else y + bank.bias

    def hidden(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the last node-variant bank's output."""
        for layer in range(len(self.filters)):
            x = self.node_filtered(layer, self.filtered(layer, x, shift), shift)
        return x

    def composed_taps(self) -> torch.Tensor:
        r"""Return the taps of the first layer as one filter in the model's basis: ``(2 K + 1, nodes, features)``.

        :math:`C_m[n, g] = \sum_{k, k'} P_{m k k'} \sum_f h_{k'}[f] H_k[n, f, g]`, with P the product of the basis
        polynomials (for powers: k + k' = m).
        """
        mixed = torch.einsum("lf,knfg->klng", self.bank(0).taps[:, 0], self.node_bank(0).node_taps())
        product = product_coefficients(self.basis, self.order).to(mixed)
        return torch.tensordot(product, mixed, dims=2)

    def hidden_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Return the same as :meth:`hidden`, from what :meth:`prepare` computed."""
        if self._composes:
            x = torch.einsum("snm,mng->sng", prepared.features, self.composed_taps())
        else:
            x = self.node_filtered(0, self.filtered_prepared(prepared), prepared.shift)
        for layer in range(1, len(self.filters)):
            x = self.node_filtered(layer, self.filtered(layer, x, prepared.shift), prepared.shift)
        return x
