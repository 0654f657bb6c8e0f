"""Design NVGF: a trained GCNN in which optimal node-variant filters stand for the activations, eq. (designNVGF)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import nn

from nvgf.design import DesignedActivation
from nvgf.graph import GraphShift
from nvgf.models.base import Prepared, named_activation
from nvgf.models.gcnn import GCNN
from nvgf.models.polynomial import PolynomialModel


class DesignNVGF(PolynomialModel):
    r"""A GCNN with each activation replaced by the optimal unbiased NVGF, one a feature.

    .. math:: x_\ell = H_\ell^{nv}\big(H_\ell^{lsi}(x_{\ell-1}; S, h_\ell); S, H_\ell^{opt}\big) + c_\ell

    The designed taps and offsets are buffers of :class:`nvgf.design.DesignedActivation`: they come from
    :meth:`from_gcnn`, not from training.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``

    Example:
        >>> import torch
        >>> from nvgf import GraphShift
        >>> from nvgf.models import GCNN
        >>> path = GraphShift.from_edges([(0, 1), (1, 2)])
        >>> gcnn, x = GCNN(3, features=4, order=1).eval(), torch.rand(50, 3, 1)
        >>> DesignNVGF.from_gcnn(gcnn, x, path)(x, path).shape
        torch.Size([50, 2])
    """

    name = "design-nvgf"
    linear = True

    def __init__(
        self,
        num_nodes: int,
        in_features: int = 1,
        features: int | Sequence[int] = 32,
        order: int = 3,
        *,
        activation: str = "relu",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **options: Any,
    ) -> None:
        super().__init__(num_nodes, in_features, features, order, device=device, dtype=dtype, **options)
        self.config["activation"] = named_activation(activation)
        self.activations = nn.ModuleList(
            DesignedActivation(order, num_nodes, width, activation, device=device, dtype=dtype) for width in self.widths
        )

    @classmethod
    def from_gcnn(cls, gcnn: GCNN, x: torch.Tensor, shift: GraphShift, **options: Any) -> DesignNVGF:
        """Design the filters of a trained GCNN from the training signals ``x`` that reach each of its activations.

        The GCNN's filters and readout are copied. The signals that reach a layer are those of the designed
        architecture, whose earlier activations are replaced already. ``options`` go to
        :func:`nvgf.design.optimal_taps`.
        """
        if not isinstance(gcnn, GCNN):
            raise TypeError(f"gcnn must be a GCNN, got {type(gcnn).__name__}")
        weight = gcnn.readout.weight
        model = cls(**gcnn.config, device=weight.device, dtype=weight.dtype)
        model.load_state_dict(gcnn.state_dict(), strict=False)
        with torch.no_grad():
            for layer in range(len(model.activations)):
                reached = model.filtered(layer, x, shift)
                activation = model.activation(layer)
                activation.options = options
                activation.design_(reached, shift)
                if layer + 1 < len(model.activations):
                    x = activation(reached, shift)
        return model.train(gcnn.training)

    def activation(self, layer: int) -> DesignedActivation:
        """Return what stands for the activation of a layer."""
        return cast(DesignedActivation, self.activations[layer])

    def hidden(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the last designed filters' output."""
        for layer in range(len(self.activations)):
            x = self.activation(layer)(self.filtered(layer, x, shift), shift)
        return x

    def hidden_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Return the same as :meth:`hidden`, from what :meth:`prepare` computed."""
        x = self.activation(0)(self.filtered_prepared(prepared), prepared.shift)
        for layer in range(1, len(self.filters)):
            x = self.activation(layer)(self.filtered(layer, x, prepared.shift), prepared.shift)
        return x
