"""``GraphShift``: the matrix S of a graph, dense or sparse, with the names of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from scipy import sparse

from nvgf.graph import build, checks, norm, perturb
from nvgf.graph.kinds import KINDS
from nvgf.graph.product import CSR, composed_product, csr_product, csr_product_into, transformed

if TYPE_CHECKING:
    import networkx as nx

Layout = Literal["auto", "dense", "csr"]

DENSE_NODES = 256
"""Up to this many nodes a shift is kept dense: one matrix product beats any sparse one."""
DENSE_DENSITY = 0.05
"""From this share of non-zero entries on, a larger shift is kept dense too."""


class GraphShift:
    r"""The shift operator S of a graph: :math:`y_i = [Sx]_i = \sum_j s_{ij} x_j`.

    ``S[i, j]`` weighs what node ``i`` hears from node ``j``: an edge from ``source`` to ``target`` is the entry
    ``S[target, source]``, as in PyTorch Geometric. The matrix is a dense tensor or a CSR tensor, chosen by density
    unless ``layout`` says otherwise; both give the same numbers. A shift does not change: operations return new ones.

    Args:
        matrix: square, real and finite; numpy, ``scipy.sparse``, or torch (dense, COO, CSR). Duplicate entries of
            sparse input are summed, as scipy does. A dense floating tensor of kind ``as-is`` is kept as it is, so
            that gradients reach it; one that asks for gradients stays dense at any size.
        kind: what to make of the matrix as weights of a graph, one of :data:`nvgf.graph.KINDS`.
        names: the names of the nodes, all different.
        layout: ``"dense"``, ``"csr"`` or ``"auto"``.
        dtype: of the entries; by default that of a floating tensor, else torch's default.
        device: where the matrix lives.

    Example:
        >>> S = GraphShift([[0, 1, 0], [1, 0, 2], [0, 2, 0]], names=["the", "and", "of"])
        >>> S
        GraphShift(num_nodes=3, num_edges=4, layout='dense', kind='as-is', dtype=torch.float32, device='cpu')
        >>> S @ torch.ones(3, 1)
        tensor([[1.],
                [3.],
                [2.]])
        >>> round(S.normalized().spectral_norm(), 6)
        1.0
    """

    def __init__(
        self,
        matrix: Any,
        *,
        kind: str = "as-is",
        names: Sequence[str] | None = None,
        layout: Layout = "auto",
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        if layout not in ("auto", "dense", "csr"):
            raise ValueError(f"layout must be 'auto', 'dense' or 'csr', got {layout!r}")
        if isinstance(matrix, torch.Tensor):
            device = device if device is not None else matrix.device
            dtype = dtype or (matrix.dtype if matrix.dtype.is_floating_point else None)
        dtype = dtype or torch.get_default_dtype()
        if not dtype.is_floating_point:
            raise TypeError(f"dtype must be a floating dtype, got {dtype}")
        wants_gradients = isinstance(matrix, torch.Tensor) and matrix.requires_grad
        if wants_gradients and (kind != "as-is" or layout == "csr" or matrix.layout != torch.strided):
            raise ValueError("matrix asks for gradients, which reach dense shifts of kind 'as-is' alone: detach() it")
        if hasattr(matrix, "shape"):
            checks.check_square(matrix.shape)
            names = checks.check_names(names, matrix.shape[0])
        weights = build.weights_from_matrix(matrix, names)
        self.names = checks.check_names(names, weights.shape[0])
        self.kind = kind
        scipy_matrix = sparse.csr_array(KINDS[kind](weights, self.names))
        scipy_matrix.eliminate_zeros()
        scipy_matrix.sort_indices()
        self.num_nodes = int(scipy_matrix.shape[0])
        self.num_edges = int(scipy_matrix.nnz)
        largest = abs(scipy_matrix.data).max(initial=0.0)
        if largest > torch.finfo(dtype).max:
            raise ValueError(f"matrix has entries that are too large for {dtype}, up to {largest:g}")
        if layout == "auto":
            layout = (
                "dense" if wants_gradients or self.num_nodes <= DENSE_NODES or self.density >= DENSE_DENSITY else "csr"
            )
        self._dense: torch.Tensor | None = None
        self._csr: CSR | None = None
        self._csr_t: CSR | None = None
        if layout == "csr":
            self._csr = CSR.of(scipy_matrix, dtype, device)
            symmetric = (abs(scipy_matrix - scipy_matrix.T)).nnz == 0
            self._csr_t = self._csr if symmetric else CSR.of(scipy_matrix.T, dtype, device)
        elif isinstance(matrix, torch.Tensor) and matrix.layout == torch.strided and kind == "as-is":
            self._dense = matrix.to(device=device, dtype=dtype)
        else:
            self._dense = torch.from_numpy(scipy_matrix.toarray()).to(device=device, dtype=dtype)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]] | np.ndarray | torch.Tensor,
        weights: Sequence[float] | np.ndarray | torch.Tensor | None = None,
        *,
        num_nodes: int | None = None,
        names: Sequence[str] | None = None,
        directed: bool = False,
        **options: Any,
    ) -> GraphShift:
        """Make a shift from pairs ``(source, target)`` of node numbers or names.

        An edge that is listed more than once has the sum of the weights. ``options`` go to :class:`GraphShift`.

        Example:
            >>> GraphShift.from_edges([("the", "house"), ("house", "of")]).names
            ('the', 'house', 'of')
        """
        sources, targets, names = build.number_edges(edges, names)
        if num_nodes is None:
            num_nodes = len(names) if names else int(max(sources.max(), targets.max())) + 1 if len(sources) else 0
        if isinstance(weights, torch.Tensor):
            weights = weights.detach().cpu()
        values = None if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(build.weights_from_edges(sources, targets, values, num_nodes, directed), names=names, **options)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: torch.Tensor,
        edge_weight: torch.Tensor | None = None,
        *,
        num_nodes: int | None = None,
        **options: Any,
    ) -> GraphShift:
        """Make a shift from PyTorch Geometric's ``edge_index`` of shape ``(2, edges)``, taken as directed."""
        if edge_index.ndim != 2 or edge_index.shape[0] != 2:
            raise ValueError(f"edge_index must have shape (2, edges), got {tuple(edge_index.shape)}")
        options.setdefault("device", edge_index.device)
        if edge_weight is not None and edge_weight.dtype.is_floating_point:
            options.setdefault("dtype", edge_weight.dtype)
        sources, targets = edge_index.cpu().numpy()
        if num_nodes is None:
            num_nodes = int(edge_index.max()) + 1 if edge_index.numel() else 0
        values = None if edge_weight is None else edge_weight.detach().double().cpu().numpy()
        return cls(build.weights_from_edges(sources, targets, values, num_nodes, directed=True), **options)

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> GraphShift:
        """Make a shift from a ``torch_geometric.data.Data``; one-dimensional ``edge_attr`` counts as weights."""
        weight = data.edge_weight if getattr(data, "edge_weight", None) is not None else data.edge_attr
        if weight is not None:
            weight = weight.squeeze(-1) if weight.ndim == 2 and weight.shape[1] == 1 else weight
            if weight.ndim != 1:
                raise ValueError(f"data.edge_attr must hold one weight an edge, got shape {tuple(weight.shape)}")
        return cls.from_edge_index(data.edge_index, weight, num_nodes=data.num_nodes, **options)

    @classmethod
    def from_networkx(cls, graph: nx.Graph, weight: str = "weight", **options: Any) -> GraphShift:
        """Make a shift from a networkx graph; edges without the attribute ``weight`` count 1, multi-edges add up."""
        nodes = {node: number for number, node in enumerate(graph.nodes)}
        edges = [(nodes[u], nodes[v]) for u, v in graph.edges()]
        weights = [float(value) for _, _, value in graph.edges(data=weight, default=1.0)]
        options.setdefault("names", [str(node) for node in nodes])
        return cls.from_edges(edges, weights, num_nodes=len(nodes), directed=graph.is_directed(), **options)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], *, directed: bool = False, **options: Any) -> GraphShift:
        """Make a shift from an edge-list file with the header ``source,target[,weight]``."""
        edges, weights, names = build.read_edge_list(path)
        return cls.from_edges(edges, weights, names=names, directed=directed, **options)

    @property
    def matrix(self) -> torch.Tensor:
        """S as a tensor of this shift's layout, dense or CSR."""
        if self._csr is not None:
            return torch.sparse_csr_tensor(*self._csr, size=(self.num_nodes, self.num_nodes))
        return self._dense  # type: ignore[return-value]

    @property
    def layout(self) -> str:
        """``"dense"`` or ``"csr"``."""
        return "dense" if self._csr is None else "csr"

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the entries."""
        return self._entries.dtype

    @property
    def device(self) -> torch.device:
        """Where the matrix lives."""
        return self._entries.device

    @property
    def _entries(self) -> torch.Tensor:
        return self._csr.values if self._csr is not None else self._dense  # type: ignore[return-value]

    @property
    def density(self) -> float:
        """The share of non-zero entries."""
        return self.num_edges / self.num_nodes**2

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether S equals its transpose, up to rounding."""
        return checks.worst_asymmetry(self.to_scipy())[0] <= checks.SYMMETRY_TOLERANCE

    def require_symmetric(self, purpose: str) -> None:
        """Raise a ``ValueError`` that shows the worst pair unless S is symmetric; ``purpose`` begins the message."""
        if not self.is_symmetric:
            checks.check_symmetric(self.to_scipy(), self.names, purpose)

    def to_dense(self) -> torch.Tensor:
        """Return S as a dense tensor ``(nodes, nodes)``."""
        return self.matrix if self._csr is None else self.matrix.to_dense()

    def to_scipy(self) -> sparse.csr_array:
        """Return S as a float64 CSR matrix."""
        return build.weights_from_matrix(self.matrix)

    def index(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of the nodes with these names."""
        if self.names is None:
            raise ValueError("names: the nodes of this shift have none")
        numbers = {name: number for number, name in enumerate(self.names)}
        names = list(names)
        unknown = [name for name in names if name not in numbers]
        if unknown:
            raise ValueError(f"names has unknown nodes: {', '.join(map(repr, unknown[:5]))}")
        return [numbers[name] for name in names]

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        """Return S x for signals ``(..., nodes, features)``."""
        self.check_signals(x)
        if self._csr is None:
            return self.matrix @ x
        columns = x.reshape(-1, *x.shape[-2:]).transpose(0, 1)
        return self.multiply_columns(columns.flatten(1)).view(columns.shape).transpose(0, 1).reshape(x.shape)

    def multiply_columns(self, columns: torch.Tensor) -> torch.Tensor:
        """Return S X for one matrix X of shape ``(nodes, columns)``, unchecked and differentiable."""
        if self._csr is None or self._csr_t is None:
            return self.matrix @ columns
        if transformed(columns):
            return composed_product(self._csr, columns)
        return csr_product(*self._csr, *self._csr_t, columns)

    def multiply_into(self, columns: torch.Tensor, out: torch.Tensor, transposed: bool = False) -> None:
        """Write S X, or its transpose times X, into ``out``: unchecked, without gradients."""
        if self._csr is None or self._csr_t is None:
            torch.mm(self.matrix.mT if transposed else self.matrix, columns, out=out)
        else:
            csr_product_into(self._csr_t if transposed else self._csr, columns, out)

    def check_signals(self, x: torch.Tensor) -> None:
        """Raise unless ``x`` has shape ``(..., nodes, features)`` and the shift's dtype and device."""
        if x.ndim < 2 or x.shape[-2] != self.num_nodes:
            raise ValueError(
                f"x must have shape (..., {self.num_nodes}, features): the shift has {self.num_nodes} nodes, "
                f"got {tuple(x.shape)}"
            )
        if x.dtype != self.dtype or x.device != self.device:
            raise ValueError(
                f"x is {x.dtype} on {x.device}, the shift {self.dtype} on {self.device}: use shift.to(...)"
            )

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> GraphShift:
        """Return the shift on another device or in another dtype."""
        if (device is None or torch.device(device) == self.device) and dtype in (None, self.dtype):
            return self
        result = GraphShift.__new__(GraphShift)
        result.__dict__.update(self.__dict__)
        if self._csr is None or self._csr_t is None:
            result._dense = self.matrix.to(device=device, dtype=dtype)
            return result
        forth = self._csr.to(device, dtype)
        back = forth if self._csr_t is self._csr else self._csr_t.to(device, dtype)
        result._csr, result._csr_t = forth, back
        return result

    def _with(self, matrix: sparse.csr_array, names: Sequence[str] | None, kind: str = "as-is") -> GraphShift:
        layout: Layout = "dense" if self._csr is None else "csr"
        result = GraphShift(matrix, names=names, layout=layout, dtype=self.dtype, device=self.device)
        result.kind = kind
        return result

    def spectral_norm(self) -> float:
        """Return the largest singular value of S, by Lanczos."""
        return norm.spectral_norm(self.to_scipy())

    def normalized(self) -> GraphShift:
        """Return S divided by its spectral norm."""
        size = self.spectral_norm()
        if size == 0:
            raise ValueError("the shift is zero: a graph without edges cannot have unit norm")
        return self._with(self.to_scipy() / size, self.names, self.kind)

    def subgraph(self, nodes: Sequence[int] | np.ndarray | torch.Tensor) -> GraphShift:
        """Return the shift among the given nodes, in their order, or among those that a boolean mask marks."""
        chosen = np.asarray(nodes)
        if chosen.dtype.kind == "b" and chosen.shape == (self.num_nodes,):
            chosen = np.flatnonzero(chosen)
        if chosen.size and chosen.dtype.kind not in "iu":
            raise TypeError(f"nodes must be node numbers or a mask of all nodes, got {chosen.dtype} {chosen.shape}")
        chosen = chosen.astype(np.int64)
        if chosen.size == 0:
            raise ValueError("nodes is empty: a graph needs at least one node")
        if chosen.min() < 0 or chosen.max() >= self.num_nodes or len(np.unique(chosen)) != len(chosen):
            raise ValueError(f"nodes must be different numbers from 0 to {self.num_nodes - 1}")
        names = None if self.names is None else [self.names[node] for node in chosen]
        return self._with(self.to_scipy()[chosen][:, chosen], names)

    def permuted(self, order: Sequence[int] | np.ndarray | torch.Tensor) -> GraphShift:
        """Return the same graph with its nodes in another order: node ``i`` of the result is ``order[i]`` of this."""
        if len(order) != self.num_nodes:
            raise ValueError(f"order has {len(order)} entries, the shift has {self.num_nodes} nodes")
        result = self.subgraph(order)
        result.kind = self.kind
        return result

    def connected_components(self) -> list[np.ndarray]:
        """Return the node numbers of each component (edges taken both ways), the largest first."""
        _, labels = sparse.csgraph.connected_components(self.to_scipy(), directed=True, connection="weak")
        by_label = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
        return sorted(by_label, key=lambda nodes: -len(nodes))

    def largest_component(self) -> GraphShift:
        """Return the shift on the largest component; of equally large ones, that with the first node."""
        return self.subgraph(np.sort(self.connected_components()[0]))

    def without_isolated(self) -> GraphShift:
        """Return the shift without the nodes that have no edge to or from another node."""
        matrix = self.to_scipy()
        others = abs(matrix - sparse.diags_array(matrix.diagonal()))
        linked = np.flatnonzero(np.asarray(others.sum(axis=0) + others.sum(axis=1)).ravel() > 0)
        if linked.size == 0:
            raise ValueError("the graph has no edge between two nodes: nothing is left without isolated nodes")
        return self.subgraph(linked)

    def perturbed(
        self,
        epsilon: float,
        kind: perturb.Perturbation = "absolute",
        *,
        generator: np.random.Generator | int | None = None,
    ) -> GraphShift:
        r"""Return a nearby shift with :math:`\|S' - S\|_2 = \epsilon`, symmetric if S is.

        Kinds (see :mod:`nvgf.graph.perturb`): ``absolute`` noise on the entries, ``relative`` changes of the weights,
        ``drop-edges`` and ``add-edges`` in random order, the last one in part.
        """
        change = perturb.perturbation(self.to_scipy(), epsilon, kind, np.random.default_rng(generator))
        return self._with(self.to_scipy() + change, self.names)

    def __repr__(self) -> str:
        return (
            f"GraphShift(num_nodes={self.num_nodes}, num_edges={self.num_edges}, layout={self.layout!r}, "
            f"kind={self.kind!r}, dtype={self.dtype}, device='{self.device}')"
        )
