"""The two bases of polynomial filters: powers of S, and Chebyshev polynomials of S (ChebNet's filters)."""

from __future__ import annotations

from typing import Literal

import torch

from nvgf.filters import shifts
from nvgf.graph import GraphShift

Basis = Literal["power", "chebyshev"]
BASES = ("power", "chebyshev")


def check_basis(basis: str) -> None:
    """Raise unless there is a basis of this name."""
    if basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, got {basis!r}")


def basis_shifts(x: torch.Tensor, shift: GraphShift, order: int, basis: Basis) -> torch.Tensor:
    r"""Return :math:`b_0(S) x, \ldots, b_K(S) x`, shape ``(order + 1, ..., nodes, in)``.

    The Chebyshev polynomials :math:`T_k` are meant for :math:`\|S\|_2 \le 1`. They come from their recursion,
    :math:`T_k = 2 S T_{k-1} - T_{k-2}`: as sums of powers they would lose a digit every two orders.

    Example:
        >>> path = GraphShift.from_edges([(0, 1)])
        >>> basis_shifts(torch.tensor([[1.0], [0.0]]), path, 2, "chebyshev").squeeze(-1)  # S^2 = I: 2 S^2 x - x = x
        tensor([[1., 0.],
                [0., 1.],
                [1., 0.]])
    """
    if basis == "power":
        return shifts(x, shift, order)
    terms = [x, shift @ x][: order + 1]
    while len(terms) <= order:
        terms.append(2 * (shift @ terms[-1]) - terms[-2])
    return torch.stack(terms)


def product_coefficients(basis: Basis, order: int) -> torch.Tensor:
    r"""Return P with :math:`b_k b_l = \sum_m P_{mkl} b_m`, shape ``(2 order + 1, order + 1, order + 1)``, float64.

    For powers :math:`S^k S^l = S^{k+l}`, for Chebyshev polynomials :math:`T_k T_l = (T_{k+l} + T_{|k-l|}) / 2`.

    Example:
        >>> product_coefficients("power", 1)[1]  # S^1 comes from (0, 1) and from (1, 0)
        tensor([[0., 1.],
                [1., 0.]], dtype=torch.float64)
    """
    product = torch.zeros(2 * order + 1, order + 1, order + 1, dtype=torch.float64)
    for k in range(order + 1):
        for j in range(order + 1):
            if basis == "power":
                product[k + j, k, j] = 1
            else:
                product[k + j, k, j] += 0.5
                product[abs(k - j), k, j] += 0.5
    return product
