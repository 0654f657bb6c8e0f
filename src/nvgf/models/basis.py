"""The two bases of polynomial filters: powers of S, and Chebyshev polynomials of S (ChebNet's filters)."""

from __future__ import annotations

from typing import Literal

import torch

Basis = Literal["power", "chebyshev"]
BASES = ("power", "chebyshev")


def basis_coefficients(basis: Basis, order: int) -> torch.Tensor:
    r"""Return B with :math:`b_k(S) = \sum_j B_{kj} S^j`, shape ``(order + 1, order + 1)``, float64.

    Taps in a basis are a linear image of taps on powers, so one code path serves every basis. The Chebyshev
    polynomials are meant for :math:`\|S\|_2 \le 1`.

    Example:
        >>> basis_coefficients("chebyshev", 2)  # 1, s, 2 s^2 - 1
        tensor([[ 1.,  0.,  0.],
                [ 0.,  1.,  0.],
                [-1.,  0.,  2.]], dtype=torch.float64)
    """
    if basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, got {basis!r}")
    coefficients = torch.eye(order + 1, dtype=torch.float64)
    if basis == "chebyshev":
        for k in range(2, order + 1):
            coefficients[k] = -coefficients[k - 2]
            coefficients[k, 1:] += 2 * coefficients[k - 1, :-1]
    return coefficients


def power_taps(taps: torch.Tensor, basis: Basis) -> torch.Tensor:
    """Turn taps ``(order + 1, ...)`` in a basis into taps on the powers of S; differentiable."""
    if basis == "power":
        return taps
    coefficients = basis_coefficients(basis, len(taps) - 1).to(taps)
    return torch.tensordot(coefficients.T, taps, dims=1)


def product_coefficients(basis: Basis, order: int) -> torch.Tensor:
    r"""Return P with :math:`b_k(S) b_l(S) = \sum_m P_{mkl} S^m`, shape ``(2 order + 1, order + 1, order + 1)``.

    Example:
        >>> product_coefficients("power", 1)[1]  # S^1 comes from (0, 1) and from (1, 0)
        tensor([[0., 1.],
                [1., 0.]], dtype=torch.float64)
    """
    coefficients = basis_coefficients(basis, order)
    product = torch.zeros(2 * order + 1, order + 1, order + 1, dtype=torch.float64)
    for i in range(order + 1):
        for j in range(order + 1):
            product[i + j] += torch.outer(coefficients[:, i], coefficients[:, j])
    return product
