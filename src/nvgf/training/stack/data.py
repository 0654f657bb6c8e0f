"""The signals of a stack's jobs: prepared once per task, padded to one shape, on one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import nn

from nvgf.graph import GraphShift
from nvgf.training.data import Signals, Task
from nvgf.training.job import Job

Prepare = Callable[[torch.Tensor, GraphShift], torch.Tensor]
"""From signals ``(samples, nodes, 1)`` and their graph to features ``(samples, nodes, terms)``."""


class TaskCache:
    """What has been computed from tasks on a device, so that jobs which share a task share the work."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._stored: dict[tuple[int, str, str], tuple[Task, torch.Tensor]] = {}
        self._shifts: dict[int, tuple[Task, GraphShift]] = {}

    def shift(self, task: Task) -> GraphShift:
        """Return the task's graph, on the device."""
        if id(task) not in self._shifts:
            self._shifts[id(task)] = task, task.shift.to(self.device)
        return self._shifts[id(task)][1]

    def features(self, task: Task, part: str, kind: str, terms: int, prepare: Prepare) -> torch.Tensor:
        """Return the first ``terms`` features of a part of a task; ``kind`` names what ``prepare`` computes."""
        key = id(task), part, kind
        if key not in self._stored or self._stored[key][1].shape[-1] < terms:
            signals: Signals = getattr(task, part)
            shift = self.shift(task)
            features = prepare(signals.x.to(device=self.device, dtype=shift.dtype), shift).float()
            self._stored[key] = task, features
        return self._stored[key][1][..., :terms]


@dataclass
class Part:
    """One part (train, valid, test) of all tasks of a stack, padded with zeros.

    Shapes:
        - ``features``: ``(tasks, samples, nodes, terms)``
        - ``targets``: ``(tasks, samples, outputs)``; one-hot for cross-entropy
        - ``weights``: ``(tasks, samples)``; 1 / samples, and 0 for padding
    """

    features: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor
    by_job: dict[str, torch.Tensor] = field(default_factory=dict)


class StackData:
    """The prepared signals of a stack.

    Args:
        jobs: the jobs.
        cache: what is computed already.
        kind, terms, prepare: see :meth:`TaskCache.features`.
        at_node: whether features are needed only at the node where a job is read.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        cache: TaskCache,
        kind: str,
        terms: int,
        prepare: Prepare,
        at_node: bool = True,
    ) -> None:
        self.jobs = tuple(jobs)
        self.device = cache.device
        self.cache = cache
        tasks = {id(job.task): job.task for job in jobs}
        numbers = {key: number for number, key in enumerate(tasks)}
        self.tasks = tuple(tasks.values())
        self.task_of = torch.tensor([numbers[id(job.task)] for job in jobs], device=cache.device)
        self.loss = jobs[0].task.loss
        self.outputs = jobs[0].task.outputs
        self.nodes = [trained_nodes(job) for job in jobs]
        self._recipe = kind, terms, prepare, at_node
        self.train = self.part("train")
        self.valid = self.part("valid")

    @property
    def most_nodes(self) -> int:
        """The number of nodes that the stack is padded to."""
        return max(len(nodes) for nodes in self.nodes)

    def part(self, part: str) -> Part:
        """Prepare a part of all tasks."""
        kind, terms, prepare, at_node = self._recipe
        features, targets = [], []
        for task in self.tasks:
            own = self.cache.features(task, part, kind, terms, prepare)
            features.append(own[:, [task.node]] if at_node and task.node is not None else own)
            y = getattr(task, part).y
            one_hot = task.loss == "cross-entropy"
            target = nn.functional.one_hot(y, self.outputs) if one_hot else y.unsqueeze(-1)
            targets.append(target.to(device=self.device, dtype=torch.float32))
        samples = max(len(own) for own in features)
        nodes = max(own.shape[1] for own in features)
        count = len(self.tasks), samples
        empty = torch.zeros(count, dtype=torch.float32, device=self.device)
        result = Part(
            empty.new_zeros(*count, nodes, features[0].shape[-1]), empty.new_zeros(*count, self.outputs), empty
        )
        for number, (own, target) in enumerate(zip(features, targets, strict=True)):
            result.features[number, : len(own), : own.shape[1]] = own
            result.targets[number, : len(own)] = target
            result.weights[number, : len(own)] = 1 / len(own)
        return result

    def per_job(self, part: Part, name: str) -> torch.Tensor:
        """Turn what a part stores per task under this name into what is stored per job, ``(jobs, ...)``."""
        if name not in part.by_job:
            part.by_job[name] = self.spread(getattr(part, name))
        return part.by_job[name]

    def spread(self, tensor: torch.Tensor) -> torch.Tensor:
        """Repeat ``(tasks, ...)`` for the jobs, ``(jobs, ...)``."""
        if len(self.tasks) == len(self.jobs):
            return tensor
        if len(self.tasks) == 1:
            return tensor.expand(len(self.jobs), *tensor.shape[1:])
        return tensor.index_select(0, self.task_of)


def trained_nodes(job: Job) -> torch.Tensor:
    """Return the nodes that the loss of a job depends on: all, or the one where it is read."""
    node = job.task.node
    return torch.arange(job.task.shift.num_nodes) if node is None else torch.tensor([node])
