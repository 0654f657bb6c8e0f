"""LSI banks in a basis, and the base of the architectures that begin with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import nn

from nvgf.filters import LSIFilter, NodeVariantFilter, lsi
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.models.base import GraphModel, Prepared, ReadoutKind
from nvgf.models.basis import Basis, basis_shifts, check_basis


class PolynomialModel(GraphModel):
    """Base of LSIGF, GCNN, LearnNVGF and DesignNVGF: each layer begins with a bank of LSI filters of one order.

    Args:
        order: K of all filters.
        basis: ``"power"`` or ``"chebyshev"`` (ChebNet's filters).
        bias: whether filters have a bias; the paper's formulas have none.
    """

    def __init__(
        self,
        num_nodes: int,
        in_features: int = 1,
        features: int | Sequence[int] = 32,
        order: int = 3,
        *,
        readout: ReadoutKind = "all",
        outputs: int = 2,
        dropout: float = 0.5,
        basis: Basis = "power",
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        options: dict[str, Any] = {"order": whole_number("order", order, 0), "basis": basis, "bias": bias}
        super().__init__(
            num_nodes,
            in_features,
            features,
            readout=readout,
            outputs=outputs,
            dropout=dropout,
            options=options,
            device=device,
            dtype=dtype,
        )
        check_basis(basis)
        self.order = options["order"]
        self.basis: Basis = basis
        inputs = (in_features, *self.widths[:-1])
        self.filters = nn.ModuleList(
            LSIFilter(i, o, order, bias=bias, device=device, dtype=dtype)
            for i, o in zip(inputs, self.widths, strict=True)
        )

    @property
    def prepared_order(self) -> int:
        """The largest order of the basis that the prepared input holds."""
        return self.order

    def bank(self, layer: int) -> LSIFilter:
        """Return the LSI bank of a layer."""
        return cast(LSIFilter, self.filters[layer])

    def filtered(self, layer: int, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Apply the LSI bank of a layer, eq. (LSIfilter)."""
        bank = self.bank(layer)
        if self.basis == "power":
            y = lsi(x, shift, bank.taps)
        else:
            y = torch.einsum("k...i,kio->...o", basis_shifts(x, shift, self.order, self.basis), bank.taps)
        return y if bank.bias is None else y + bank.bias

    def prepare(self, x: torch.Tensor, shift: GraphShift) -> Prepared:
        """Compute b_k(S) x for signals ``(samples, nodes, in_features)``; terms are ordered as (k, feature)."""
        self._check_samples(x, shift)
        heard = basis_shifts(x, shift, self.prepared_order, self.basis)
        return Prepared(heard.permute(1, 2, 0, 3).flatten(-2), shift)

    def filtered_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Apply the first LSI bank to what :meth:`prepare` computed."""
        bank = self.bank(0)
        taps = bank.taps.flatten(0, 1)
        y = prepared.features[..., : len(taps)] @ taps
        return y if bank.bias is None else y + bank.bias

    def bounds(self) -> dict[str, float]:
        """Return the bounds of the filters, 1 / sqrt(inputs (K + 1)), and of the readout."""
        bounds = self.readout_bounds()
        for name, module in self.named_modules():
            if isinstance(module, LSIFilter | NodeVariantFilter):
                bound = (module.in_features * (module.order + 1)) ** -0.5
                bounds[f"{name}.taps"] = bounds[f"{name}.bias"] = bound
        return bounds
