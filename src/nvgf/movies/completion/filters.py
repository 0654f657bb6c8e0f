"""Graph filters of matrix completion: Chebyshev polynomials (RMGCNN), Cayley polynomials (RMCayley).

Both act on a stack of independent problems: signals are ``(problems, nodes, features)``, and each problem has
a graph and weights of its own, so that many small trainings cost one kernel launch instead of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.sparse.csgraph import laplacian
from torch import nn

Layout = Literal["auto", "dense", "csr"]
Inverse = Literal["exact", "jacobi"]


def normalised_laplacian(adjacency: NDArray[np.float64] | sp.sparray) -> sp.csr_array:
    """``I - D^-1/2 W D^-1/2`` of an undirected graph; the row of an isolated node is zero.

    Shapes:
        - ``adjacency``: ``(nodes, nodes)``, symmetric, non-negative

    >>> import numpy as np
    >>> normalised_laplacian(np.array([[0.0, 2.0], [2.0, 0.0]])).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if len(adjacency.shape) != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"adjacency must be a square matrix, got shape {adjacency.shape}")
    weights: Any = sp.csr_array(adjacency).astype(np.float64)
    if weights.nnz and (not np.isfinite(weights.data).all() or weights.data.min() < 0):
        raise ValueError("adjacency must have finite, non-negative weights")
    if abs(weights - weights.T).max() > 1e-10 * max(1.0, abs(weights).max()):
        raise ValueError("adjacency must be symmetric: the graphs of matrix completion are undirected")
    result: Any = laplacian(weights, normed=True)
    return sp.csr_array(result)


class _SymmetricProduct(torch.autograd.Function):
    """``S x`` for a constant symmetric S: its own adjoint, hence no transposed copy for the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
        ctx.matrix = matrix
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.matrix @ grads[0].contiguous(), None


class StackedOperator(nn.Module):
    """Symmetric graph operators of a stack of problems, applied to ``(problems, nodes, features)``.

    ``dense`` keeps ``(problems, nodes, nodes)`` and multiplies in one batched product (graphics processors);
    ``csr`` keeps one block-diagonal sparse matrix (processors). The two give the same numbers.
    """

    matrix: torch.Tensor

    def __init__(self, operators: Sequence[sp.csr_array], *, layout: Layout = "csr", dtype: torch.dtype) -> None:
        super().__init__()
        shapes = {operator.shape for operator in operators}
        if len(shapes) != 1:
            raise ValueError(f"the graphs of stacked problems must have one size, got {sorted(shapes)}")
        self.problems = len(operators)
        self.nodes = int(operators[0].shape[0])
        self.layout = layout
        if layout == "dense":
            matrix = torch.as_tensor(np.stack([operator.toarray() for operator in operators]), dtype=dtype)
        else:
            blocks = sp.csr_array(sp.block_diag(operators, format="csr"))
            matrix = torch.sparse_csr_tensor(
                torch.as_tensor(blocks.indptr, dtype=torch.int64),
                torch.as_tensor(blocks.indices, dtype=torch.int64),
                torch.as_tensor(blocks.data, dtype=dtype),
                size=blocks.shape,
                check_invariants=False,
            )
        self.register_buffer("matrix", matrix, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """S x for each problem."""
        if self.layout == "dense":
            return torch.matmul(self.matrix, x)
        flat = x.reshape(self.problems * self.nodes, -1)
        return _SymmetricProduct.apply(flat, self.matrix).view(x.shape)


def glorot(shape: tuple[int, ...], generators: Sequence[torch.Generator], dtype: torch.dtype) -> nn.Parameter:
    """Glorot-uniform weights ``(problems, *shape)``; each problem draws from its own generator.

    So a problem gets the same start alone or in a stack.
    """
    bound = float(np.sqrt(6.0 / (shape[-2] + shape[-1])))
    draws = [torch.rand(shape, generator=g, dtype=torch.float64) for g in generators]
    return nn.Parameter(((2 * torch.stack(draws) - 1) * bound).to(dtype))


class ChebyshevFilter(nn.Module):
    r"""``y = sum_{k < terms} T_k(L - I) x W_k + b`` on each graph (Monti, Bronstein, Bresson 2017).

    Shapes:
        - input ``(problems, nodes, in)``, output ``(problems, nodes, out)``
        - ``weight`` ``(problems, terms * in, out)``
    """

    stacked: torch.Tensor

    def __init__(
        self,
        laplacians: Sequence[sp.csr_array],
        in_features: int,
        out_features: int,
        *,
        terms: int = 5,
        layout: Layout = "csr",
        generators: Sequence[torch.Generator],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if terms < 1:
            raise ValueError(f"terms must be at least 1, got {terms}")
        shifted = [sp.csr_array(lap - sp.eye_array(lap.shape[0], format="csr")) for lap in laplacians]
        self.terms = terms
        self.layout = layout
        if layout == "dense":
            # All T_k as one tall matrix: one product a step instead of a chain of `terms` dependent ones.
            tall = np.stack(
                [
                    np.concatenate(_chebyshev_matrices(s.toarray(), terms)[1:] or [np.zeros((0, s.shape[0]))])
                    for s in shifted
                ]
            )
            self.register_buffer("stacked", torch.as_tensor(tall, dtype=dtype), persistent=False)
        else:
            self.operator = StackedOperator(shifted, layout=layout, dtype=dtype)
        self.weight = glorot((terms * in_features, out_features), generators, dtype)
        self.bias = nn.Parameter(torch.zeros(len(generators), 1, out_features, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Filter ``x``, ``(problems, nodes, in)``."""
        problems, nodes, features = x.shape
        if self.layout == "dense":
            higher = torch.matmul(self.stacked, x).view(problems, self.terms - 1, nodes, features)
            basis = torch.cat([x.unsqueeze(1), higher], dim=1).transpose(1, 2)
        else:
            parts = [x]
            if self.terms > 1:
                parts.append(self.operator(x))
            while len(parts) < self.terms:
                parts.append(2 * self.operator(parts[-1]) - parts[-2])
            basis = torch.stack(parts, dim=2)
        return torch.baddbmm(self.bias, basis.reshape(problems, nodes, -1), self.weight)


def _chebyshev_matrices(matrix: NDArray[np.float64], terms: int) -> list[NDArray[np.float64]]:
    polynomials = [np.eye(len(matrix)), matrix]
    while len(polynomials) < terms:
        polynomials.append(2 * matrix @ polynomials[-1] - polynomials[-2])
    return polynomials[:terms]


class CayleyFilter(nn.Module):
    r"""``y = x c_0 + 2 Re sum_{j=1}^{order} [(hL - iI)(hL + iI)^-1]^j x c_j + b`` (Levie et al. 2018).

    The zoom h is learnable.

    ``inverse="exact"`` solves with ``hL + iI`` exactly: L is diagonalised once when the filter is made, after
    which the solve is a division by ``h lambda + i`` for every h that training visits. ``inverse="jacobi"``
    iterates as the released code does; with the normalised Laplacian its error shrinks by ``h / sqrt(1 +
    h^2)`` an iteration.

    Shapes:
        - input ``(problems, nodes, in)``, output ``(problems, nodes, out)``
        - ``weight`` ``(problems, (1 + 2 * order) * in, out)``: c_0, then real and imaginary part of each c_j
    """

    eigenvectors: torch.Tensor
    eigenvalues: torch.Tensor
    diagonal: torch.Tensor

    def __init__(
        self,
        laplacians: Sequence[sp.csr_array],
        in_features: int,
        out_features: int,
        *,
        order: int = 4,
        inverse: Inverse = "exact",
        jacobi_iterations: int = 10,
        layout: Layout = "csr",
        generators: Sequence[torch.Generator],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if order < 1:
            raise ValueError(f"order must be at least 1, got {order}")
        if inverse not in ("exact", "jacobi"):
            raise ValueError(f"inverse must be 'exact' or 'jacobi', got {inverse!r}")
        if jacobi_iterations < 0:
            raise ValueError(f"jacobi_iterations must not be negative, got {jacobi_iterations}")
        self.order = order
        self.inverse = inverse
        self.jacobi_iterations = jacobi_iterations
        if inverse == "exact":
            pairs = [np.linalg.eigh(lap.toarray()) for lap in laplacians]
            values = torch.as_tensor(np.stack([p[0] for p in pairs])[..., None], dtype=dtype)
            vectors = torch.as_tensor(np.stack([p[1] for p in pairs]), dtype=dtype)
            self.register_buffer("eigenvalues", values, persistent=False)
            self.register_buffer("eigenvectors", vectors, persistent=False)
        else:
            self.operator = StackedOperator(laplacians, layout=layout, dtype=dtype)
            diagonal = torch.as_tensor(np.stack([lap.diagonal() for lap in laplacians])[..., None], dtype=dtype)
            self.register_buffer("diagonal", diagonal, persistent=False)
        self.weight = glorot(((1 + 2 * order) * in_features, out_features), generators, dtype)
        self.bias = nn.Parameter(torch.zeros(len(generators), 1, out_features, dtype=dtype))
        zooms = [torch.rand((1, 1), generator=g, dtype=torch.float64) for g in generators]
        self.zoom = nn.Parameter(torch.stack(zooms).to(dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Filter ``x``, ``(problems, nodes, in)``."""
        if self.inverse == "jacobi":
            return torch.baddbmm(self.bias, self._basis(x), self.weight)
        # Mixing the features commutes with the change of basis, so one product back with V suffices.
        spectrum = torch.matmul(self.eigenvectors.transpose(1, 2), x)
        mixed = torch.matmul(self._spectral_basis(spectrum), self.weight)
        return torch.matmul(self.eigenvectors, mixed) + self.bias

    def _spectral_basis(self, spectrum: torch.Tensor) -> torch.Tensor:
        real, imag = self._phase(self.eigenvalues)
        parts, power_real, power_imag = [spectrum], real, imag
        for j in range(self.order):
            if j:
                power_real, power_imag = (
                    power_real * real - power_imag * imag,
                    power_real * imag + power_imag * real,
                )
            # 2 Re((a + ib)(u + iv)) = 2 (a u - b v)
            parts += [2 * power_real * spectrum, -2 * power_imag * spectrum]
        return torch.cat(parts, dim=-1)

    def _phase(self, eigenvalues: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Real and imaginary part of (h lambda - i) / (h lambda + i), a point of the unit circle."""
        scaled = self.zoom * eigenvalues
        norm = scaled.square() + 1
        return (scaled.square() - 1) / norm, -2 * scaled / norm

    def _basis(self, x: torch.Tensor) -> torch.Tensor:
        parts, real, imag = [x], x, torch.zeros_like(x)
        for _ in range(self.order):
            real, imag = self._jacobi_step(real, imag)
            parts += [2 * real, -2 * imag]
        return torch.cat(parts, dim=-1)

    def _jacobi_step(self, real: torch.Tensor, imag: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Solve (hL + iI) z = (hL - iI)(real + i imag) by Jacobi iterations."""
        features = real.shape[-1]
        scaled = self.zoom * self.diagonal
        norm = scaled.square() + 1
        inverse_real, inverse_imag = scaled / norm, -1 / norm

        def divide(re: torch.Tensor, im: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return re * inverse_real - im * inverse_imag, re * inverse_imag + im * inverse_real

        def multiply(re: torch.Tensor, im: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            product = self.zoom * self.operator(torch.cat([re, im], dim=-1))
            return product[..., :features], product[..., features:]

        product_real, product_imag = multiply(real, imag)
        start_real, start_imag = divide(product_real + imag, product_imag - real)
        real, imag = start_real, start_imag
        for _ in range(self.jacobi_iterations):
            product_real, product_imag = multiply(real, imag)
            off_real, off_imag = divide(product_real - scaled * real, product_imag - scaled * imag)
            real, imag = start_real - off_real, start_imag - off_imag
        return real, imag
