"""One test case that every filter inherits: what must hold for any linear, local filter on any graph."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import forward_ad

from nvgf import GraphShift, testing

D = torch.float64


def random_shift(nodes: int = 9, seed: int = 0, *, symmetric: bool = True, layout: str = "dense") -> GraphShift:
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((nodes, nodes)) * (rng.random((nodes, nodes)) < 0.35)
    weights = weights + weights.T if symmetric else weights
    return GraphShift(weights / max(1.0, np.linalg.norm(weights, 2)), layout=layout, dtype=D)


class FilterCase:
    """Inherit, and say how to ``make`` the module; ``orders`` and ``features`` are tried in all tests."""

    nodes = 9

    def make(self, in_features: int, out_features: int, order: int, **options: object) -> nn.Module:
        raise NotImplementedError

    def permuted(self, module: nn.Module) -> Callable[[torch.Tensor], nn.Module] | None:
        """How the filter's own weights move with the nodes; None if they do not belong to nodes."""
        return None

    @pytest.fixture(params=[(1, 3, 2), (3, 1, 2), (9, 8, 3), (2, 2, 0)], ids=str)
    def sizes(self, request) -> tuple[int, int, int]:
        return request.param

    @pytest.fixture(params=[True, False], ids=["symmetric", "directed"])
    def shift(self, request) -> GraphShift:
        return random_shift(self.nodes, symmetric=request.param)

    def test_linear(self, sizes, shift):
        testing.assert_linear(self.make(*sizes, dtype=D), shift, sizes[0])

    def test_local(self, sizes, shift):
        testing.assert_local(self.make(*sizes, dtype=D), shift, sizes[2], sizes[0])

    def test_permutation_equivariant(self, sizes, shift):
        module = self.make(*sizes, dtype=D)
        testing.assert_permutation_equivariant(module, shift, sizes[0], permuted=self.permuted(module))

    def test_dense_equals_sparse(self, sizes, shift):
        testing.assert_dense_equals_sparse(self.make(*sizes, dtype=D), shift, sizes[0])

    def test_batch_equals_loop(self, sizes, shift):
        module = self.make(*sizes, dtype=D)
        x = torch.randn(2, 3, self.nodes, sizes[0], dtype=D)
        y = module(x, shift)
        assert y.shape == (2, 3, self.nodes, sizes[1])
        loop = torch.stack([torch.stack([module(one, shift) for one in row]) for row in x])
        assert torch.allclose(y, loop, atol=1e-13)

    @pytest.mark.parametrize("layout", ["dense", "csr"])
    @pytest.mark.parametrize("batch", [1, 2])
    def test_gradients(self, sizes, layout, batch):
        shift = random_shift(self.nodes, symmetric=False, layout=layout)
        module = self.make(*sizes, bias=True, dtype=D)
        x = torch.randn(batch, self.nodes, sizes[0], dtype=D, requires_grad=True)
        names, parameters = zip(*module.named_parameters(), strict=True)

        def apply(x, *values):
            return torch.func.functional_call(module, dict(zip(names, values, strict=True)), (x, shift))

        assert torch.autograd.gradcheck(apply, (x, *parameters), fast_mode=True)
        assert torch.autograd.gradgradcheck(apply, (x, *parameters), fast_mode=True)

    def test_gradient_in_the_shift(self, sizes):
        module = self.make(*sizes, dtype=D)
        matrix = random_shift(self.nodes, symmetric=False).to_dense().clone().requires_grad_()
        x = torch.randn(2, self.nodes, sizes[0], dtype=D, requires_grad=True)
        assert torch.autograd.gradcheck(lambda m: module(x, m), (matrix,), fast_mode=True)
        assert torch.autograd.gradgradcheck(lambda m, x: module(x, m), (matrix, x), fast_mode=True)

    def test_float32(self, sizes, shift):
        module = self.make(*sizes)
        x = torch.randn(4, self.nodes, sizes[0])
        exact = copy.deepcopy(module).double()(x.double(), shift)
        y = module(x, shift.to(dtype=torch.float32))
        assert y.dtype == torch.float32
        assert torch.allclose(y.double(), exact, atol=1e-5)

    def test_state_dict_and_deepcopy(self, sizes, shift):
        module, other = (self.make(*sizes, bias=True, dtype=D) for _ in range(2))
        x = torch.randn(self.nodes, sizes[0], dtype=D)
        assert not torch.equal(module(x, shift), other(x, shift))
        file = io.BytesIO()
        torch.save(module.state_dict(), file)
        file.seek(0)
        other.load_state_dict(torch.load(file, weights_only=True))
        assert torch.equal(module(x, shift), other(x, shift))
        assert torch.equal(module(x, shift), copy.deepcopy(module)(x, shift))

    def test_reset_parameters_is_seeded_and_bounded(self, sizes):
        module = self.make(*sizes, bias=True)
        draws = []
        for _ in range(2):
            module.reset_parameters(torch.Generator().manual_seed(7))
            draws.append([p.detach().clone() for p in module.parameters()])
        assert all(torch.equal(a, b) for a, b in zip(*draws, strict=True))
        bound = (sizes[0] * (sizes[2] + 1)) ** -0.5
        assert max(float(p.abs().max()) for p in draws[0]) <= bound

    def test_bias_is_added(self, sizes, shift):
        module = self.make(*sizes, bias=True, dtype=D)
        zero = torch.zeros(self.nodes, sizes[0], dtype=D)
        assert torch.equal(module(zero, shift), module.bias.expand(self.nodes, -1))

    def test_repr_makes_the_module_again(self, sizes):
        import nvgf

        for module in (self.make(*sizes), self.make(*sizes, bias=True)):
            again = eval(repr(module), vars(nvgf))
            assert repr(again) == repr(module)
            assert [p.shape for p in again.parameters()] == [p.shape for p in module.parameters()]

    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_compiled(self, layout):
        shift = random_shift(self.nodes, layout=layout)
        module = self.make(9, 8, 2, bias=True, dtype=D)
        compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
        x = torch.randn(2, self.nodes, 9, dtype=D, requires_grad=True)
        y, expected = compiled(x, shift), module(x, shift)
        assert torch.allclose(y, expected)
        found, wanted = (torch.autograd.grad(z.square().sum(), [x, *module.parameters()]) for z in (y, expected))
        assert all(torch.allclose(a, b) for a, b in zip(found, wanted, strict=True))

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_cuda_equals_cpu(self, sizes, layout):
        shift, module = random_shift(self.nodes, layout=layout), self.make(*sizes, bias=True, dtype=D)
        found = []
        for device in ("cpu", "cuda"):
            x = torch.linspace(-1, 1, 2 * self.nodes * sizes[0], dtype=D).reshape(2, self.nodes, -1).to(device)
            x.requires_grad_()
            y = copy.deepcopy(module).to(device)(x, shift.to(device))
            found.append([t.cpu() for t in (y, *torch.autograd.grad(y.square().sum(), x))])
        assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(*found, strict=True))

    @pytest.mark.parametrize("features", [2, 9])
    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_transformations_of_torch(self, layout, features):
        shift = random_shift(self.nodes, layout=layout)
        module = self.make(features, 8, 2, dtype=D)
        x = torch.randn(3, self.nodes, features, dtype=D)
        expected = module(x, shift)

        def call(one: torch.Tensor) -> torch.Tensor:
            return module(one, shift)

        assert torch.allclose(torch.func.vmap(call)(x), expected)
        _, tangent = torch.func.jvp(call, (x,), (x.flip(0),))
        assert torch.allclose(tangent, expected.flip(0))
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(call(forward_ad.make_dual(x, x.flip(0)))).tangent
            assert torch.allclose(tangent, expected.flip(0))
        for jacobian in (
            torch.func.jacrev(call)(x[0]),
            torch.func.jacfwd(call)(x[0]),
            torch.autograd.functional.jacobian(call, x[0], vectorize=True),
        ):
            assert torch.allclose(torch.tensordot(jacobian, x[1], 2), expected[1])
        gradient = torch.func.grad(lambda one: call(one).square().sum())(x[0])
        assert torch.allclose(gradient, 2 * torch.tensordot(expected[0], jacobian, 2))

    @pytest.mark.parametrize("features", [2, 9])
    @pytest.mark.parametrize("batch", [1, 4])
    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_autocast_leaves_the_precision_of_the_graph(self, layout, batch, features):
        shift = random_shift(self.nodes, layout=layout).to(dtype=torch.float32)
        module = self.make(features, 8, 2)
        x = torch.randn(batch, self.nodes, features, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y, rounded = module(x, shift), module(x.bfloat16(), shift)
        assert torch.equal(y, module(x, shift))
        assert rounded.dtype == torch.float32
        y.sum().backward()
        assert x.grad is not None

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("in_features", 0, "in_features must be a whole number of at least 1, got 0"),
            ("out_features", -1, "out_features must be a whole number of at least 1, got -1"),
            ("order", -1, "order must be a whole number of at least 0, got -1"),
            ("order", 1.5, "order must be a whole number of at least 0, got 1.5"),
        ],
    )
    def test_bad_sizes(self, name, value, message):
        sizes = {"in_features": 1, "out_features": 1, "order": 1, name: value}
        with pytest.raises(ValueError, match=message):
            self.make(**sizes)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda x: x[:, :-1], r"x must have shape \(\.\.\., 9, features\): the shift has 9 nodes, got \(2, 8, 3\)"),
            (lambda x: x[0, 0], "x must have shape"),
            (lambda x: x[..., :2], "taps take 3 features, x has 2"),
            (lambda x: x.float(), "x is torch.float32 on cpu, the shift torch.float64 on cpu"),
        ],
    )
    def test_bad_signals(self, shift, change, message):
        with pytest.raises(ValueError, match=message):
            self.make(3, 2, 1, dtype=D)(change(torch.randn(2, self.nodes, 3, dtype=D)), shift)

    def test_bad_dtype_of_taps(self, shift):
        with pytest.raises(ValueError, match=r"taps are torch.float32 on cpu, x is torch.float64"):
            self.make(1, 1, 1)(torch.randn(self.nodes, 1, dtype=D), shift)

    @pytest.mark.parametrize(
        ("shift", "error", "message"),
        [
            (torch.ones(9, 8, dtype=D), ValueError, r"shift must be square, got shape \(9, 8\)"),
            (torch.eye(9, dtype=D).to_sparse_csr(), TypeError, "got a torch.sparse_csr tensor"),
            (np.eye(9), TypeError, "shift must be a GraphShift or a dense .* got ndarray"),
            (torch.eye(8, dtype=D), ValueError, "the shift has 8 nodes"),
        ],
    )
    def test_bad_shift(self, shift, error, message):
        with pytest.raises(error, match=message):
            self.make(1, 1, 1, dtype=D)(torch.randn(self.nodes, 1, dtype=D), shift)
