"""Which jobs train together: stacks of one shape that fit in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from nvgf.training.job import Job
from nvgf.training.order import batch_size
from nvgf.training.stack.data import trained_nodes
from nvgf.training.stack.gcnn import GCNNNet
from nvgf.training.stack.general import GeneralNet
from nvgf.training.stack.net import StackedNet
from nvgf.training.stack.rank_one import GATNet, GCNNet
from nvgf.training.stack.taps import JoinedLearnNVGFNet, LearnNVGFNet, LSIGFNet

NETS: tuple[type[StackedNet], ...] = (LSIGFNet, GCNNNet, JoinedLearnNVGFNet, LearnNVGFNet, GCNNet, GATNet, GeneralNet)
"""The stacked formulas; the first that is for the device and takes a model is used."""

CPU_WORKING_SET = 8 << 20
"""On a CPU a stack larger than this leaves the cache, and is slower than its jobs one after another."""
GPU_SHARE = 0.6
"""The share of the free device memory that a stack may fill."""
STEP_RATIO = 1.25
"""A stack runs until its longest job ends; jobs this much shorter than the longest go to another stack."""


@dataclass(frozen=True)
class Piece:
    """Jobs that are trained as one stack; ``numbers`` are their places in the list that was planned."""

    net: type[StackedNet]
    numbers: tuple[int, ...]


def plan(
    jobs: Sequence[Job], device: torch.device, memory: int | None = None, stack_size: int | None = None
) -> list[Piece]:
    """Cut jobs into pieces, the same cut for the same jobs, memory and device.

    Args:
        jobs: what to train.
        device: where.
        memory: bytes that a stack may fill; by default what suits the device.
        stack_size: the most jobs of a stack; by default as many as fit.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    nets: dict[tuple[object, ...], type[StackedNet]] = {}
    for number, job in enumerate(jobs):
        key = shape_key(job)
        if key not in groups:
            model = job.build(device="meta")
            nets[key] = next(net for net in NETS if net.device_type in (None, device.type) and net.takes(model))
        groups.setdefault(key, []).append(number)
    if memory is None:
        memory = CPU_WORKING_SET
        if device.type == "cuda":
            memory = int(torch.cuda.mem_get_info(device)[0] * GPU_SHARE)
    pieces = []
    for key, numbers in groups.items():
        net = nets[key]
        steps = {n: jobs[n].schedule.steps(len(jobs[n].task.train)) for n in numbers}
        left = sorted(numbers, key=lambda n: (-steps[n], n))
        size = max(1, memory // max(job_bytes(jobs[n], device) for n in numbers))
        size = min(size, net.most_jobs or size, stack_size or size)
        while left:
            fits = [n for n in left[:size] if steps[n] * STEP_RATIO >= steps[left[0]]]
            left = left[len(fits) :]
            pieces.append(Piece(net, tuple(sorted(fits, key=lambda n: (jobs[n].learning_rate, n)))))
    return pieces


def shape_key(job: Job) -> tuple[object, ...]:
    """Return what jobs must have in common to be stacked."""
    task = job.task
    options = {k: v for k, v in job.model_options().items() if k != "num_nodes"}
    interval = job.schedule.interval(len(task.train))
    return job.architecture, json.dumps(options, sort_keys=True), job.schedule, task.loss, interval


def job_bytes(job: Job, device: torch.device) -> int:
    """Return about how much memory a job takes in a stack; on a CPU what every step touches."""
    model = job.build(device="meta")
    nodes = len(trained_nodes(job))
    share = nodes / job.task.shift.num_nodes
    weights = 5 * model.num_parameters * (share if job.task.node is not None else 1)
    batch = batch_size([job])
    hidden = 4 * batch * nodes * model.readout.in_features
    hidden = hidden if job.task.node is not None else hidden // nodes
    attention = nodes * job.task.shift.num_nodes if job.architecture == "gat" else 0
    terms = 2 * job.options.get("order", 3) + 2
    stored = 0
    if device.type != "cpu":
        samples = len(job.task.train) + len(job.task.valid) + len(job.task.test)
        stored = samples * nodes * terms + 4 * len(job.task.valid) * attention
    return int(4 * (weights + hidden + batch * attention + stored))
