"""Where the parameters of a stack lie, and how they map to those of the modules."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from nvgf.training.job import Job
from nvgf.training.randomness import WEIGHTS, stream_key, uniform

ALIGN = 16
"""Blocks begin at multiples of this many numbers, so that vector instructions apply."""


@dataclass(frozen=True)
class Slot:
    """One parameter: its name in the module, and its dimensions by letter there and in the stack.

    The letter ``n`` stands for nodes. A job that is read at one node alone trains only that node's part.
    """

    name: str
    public: str
    stacked: str


class Slots:
    """The parameters of a stack of jobs, as views of one flat buffer for each purpose (weights, gradients, ...).

    Args:
        slots: the parameters, in the order of the module's.
        jobs: the jobs of the stack.
        sizes: the size of each letter in the stack, ``n`` the largest number of nodes.
        nodes: for each job the nodes that are trained.
        device: where the stack lives.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        jobs: Sequence[Job],
        sizes: Mapping[str, int],
        nodes: Sequence[torch.Tensor],
        device: torch.device,
    ) -> None:
        self.slots = tuple(slots)
        self.jobs = tuple(jobs)
        self.sizes = dict(sizes)
        self.nodes = tuple(nodes)
        self.device = device
        self.shapes = {s.name: (len(jobs), *(sizes[letter] for letter in s.stacked)) for s in slots}
        self.offsets: dict[str, int] = {}
        self.length = 0
        for name, shape in self.shapes.items():
            self.offsets[name] = self.length
            self.length += -(-torch.Size(shape).numel() // ALIGN) * ALIGN

    def zeros(self) -> torch.Tensor:
        """Return a flat buffer with room for all parameters of all jobs."""
        return torch.zeros(self.length, dtype=torch.float32, device=self.device)

    def views(self, flat: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the parameters in a flat buffer by name, ``(jobs, ...)`` each."""
        return {
            name: flat[start : start + torch.Size(self.shapes[name]).numel()].view(self.shapes[name])
            for name, start in self.offsets.items()
        }

    def draw(self, views: Mapping[str, torch.Tensor]) -> None:
        """Fill the stack with each job's initial weights, which its seed alone decides."""
        for number, job in enumerate(self.jobs):
            bounds = job.build(device="meta").bounds()
            for slot in self.slots:
                initial = self._initial(slot, number, bounds[slot.name])
                self._part(slot, number, views)[...] = self._to_stack(slot, number, initial)

    def state(self, number: int, views: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return the parameters of one job as its module's ``state_dict``, on the CPU."""
        model = self.jobs[number].build(device="meta")
        shapes = {name: p.shape for name, p in model.named_parameters()}
        bounds = model.bounds()
        state = {}
        for slot in self.slots:
            part = self._part(slot, number, views)
            order = [slot.stacked.index(letter) for letter in slot.public]
            public = part.permute(order)
            if "n" in slot.public and len(self.nodes[number]) != self._count("n", slot, number):
                whole = self._initial(slot, number, bounds[slot.name])
                whole.index_copy_(slot.public.index("n"), self.nodes[number].to(self.device), public)
                public = whole
            state[slot.name] = public.reshape(shapes[slot.name]).cpu().clone()
        return state

    def _count(self, letter: str, slot: Slot, number: int) -> int:
        if letter != "n":
            return self.sizes[letter]
        job = self.jobs[number]
        # A readout shared by all nodes has one row of weights, whatever the graph.
        shared = slot.name.startswith("readout.") and job.task.node is not None
        return 1 if shared else job.task.shift.num_nodes

    def _initial(self, slot: Slot, number: int, bound: float) -> torch.Tensor:
        shape = tuple(self._count(letter, slot, number) for letter in slot.public)
        key = stream_key(self.jobs[number].seed, WEIGHTS, zlib.crc32(slot.name.encode()))
        return uniform(key, shape, bound, self.device)

    def _to_stack(self, slot: Slot, number: int, public: torch.Tensor) -> torch.Tensor:
        if "n" in slot.public:
            axis = slot.public.index("n")
            if public.shape[axis] != len(self.nodes[number]):
                public = public.index_select(axis, self.nodes[number].to(self.device))
        return public.permute([slot.public.index(letter) for letter in slot.stacked])

    def _part(self, slot: Slot, number: int, views: Mapping[str, torch.Tensor]) -> torch.Tensor:
        part = views[slot.name][number]
        if "n" in slot.stacked:
            part = part.narrow(slot.stacked.index("n"), 0, len(self.nodes[number]))
        return part
