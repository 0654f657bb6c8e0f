"""The training loop of one stack: blocks of steps, each followed by a validation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from nvgf.training.adam import StackedAdam
from nvgf.training.job import Result
from nvgf.training.loss import error, loss_and_gradient
from nvgf.training.native import available
from nvgf.training.order import batches
from nvgf.training.stack.dropout import Dropout
from nvgf.training.stack.net import StackedNet
from nvgf.training.stack.rank_one import GATNet

if TYPE_CHECKING:
    from nvgf.training.native.steps import NativeSteps

BUFFERS = ("weights", "means", "squares", "best")
RECORDS = ("curve", "losses", "best_error", "kept", "diverged")


class Run:
    """One stack in training.

    A block is as many steps as lie between two validations. On a GPU the first block runs step by step, and from then
    on one CUDA graph holds a whole block with its validation; nothing is copied to the host before the end.

    Args:
        net: the architecture's formulas; its jobs are sorted by learning rate and share their schedule.
        native: whether to take the steps in compiled code, where there is some for the stack.
    """

    def __init__(self, net: StackedNet, native: bool = False) -> None:
        self.net = net
        self.jobs = net.jobs
        self.device = net.device
        self.schedule = net.jobs[0].schedule
        data, device = net.data, net.device
        self.flat = {name: net.slots.zeros() for name in (*BUFFERS, "gradients")}
        self.views = {name: net.slots.views(flat) for name, flat in self.flat.items()}
        net.slots.draw(self.views["weights"])
        self.flat["best"].copy_(self.flat["weights"])
        net.bind(self.views["weights"], self.views["gradients"])
        rates = [job.learning_rate for job in self.jobs]
        parts = (self.views[name] for name in ("weights", "gradients", "means", "squares"))
        self.adam = StackedAdam(rates, self.schedule, *parts)
        self.native = _native_steps(net, self.views, self.adam) if native else None
        self.dropout = Dropout(self.jobs, data.nodes, net.width, device)

        samples = [len(job.task.train) for job in self.jobs]
        self.interval = self.schedule.interval(samples[0])
        self.blocks_of = torch.tensor([self.schedule.steps(count) // self.interval for count in samples])
        self.blocks = int(self.blocks_of.max())
        self._load_order(samples)
        count = len(self.jobs)
        self.block = 0
        single: dict[str, Any] = {"dtype": torch.float32, "device": device}
        self.curve = torch.zeros(self.blocks, count, **single)
        self.losses = torch.zeros(self.blocks, count, **single)
        self.best_error = torch.full((count,), torch.inf, **single)
        self.kept = torch.zeros(count, dtype=torch.int64, device=device)
        self.diverged = torch.full((count,), -1, dtype=torch.int64, device=device)
        self._alive = (torch.arange(self.blocks).unsqueeze(1) < self.blocks_of).to(device)
        # What a block reads and writes, at fixed places so that a CUDA graph can hold it.
        self._rows_now = torch.zeros(self.interval, count, net.batch, dtype=torch.int64, device=device)
        self._weights_now = torch.zeros(self.interval, count, net.batch, **single)
        self._alive_now = torch.zeros(count, dtype=torch.bool, device=device)
        self._step = torch.zeros((), dtype=torch.int64, device=device)
        self._number = torch.zeros((), dtype=torch.int64, device=device)
        self._error_now = torch.zeros(count, **single)
        self._loss_now = torch.zeros(count, **single)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._valid_targets = data.per_job(data.valid, "targets")
        self._valid_weights = data.per_job(data.valid, "weights")
        self.seconds = 0.0

    @property
    def block_rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The training signals of the last block's steps and their weights, ``(steps, jobs, batch)``."""
        return self._rows_now, self._weights_now

    @property
    def done(self) -> bool:
        """Whether all blocks have run."""
        return self.block >= self.blocks

    def run_block(self) -> None:
        """Run the steps up to the next validation, validate, and keep what is better than before."""
        start = time.perf_counter()
        steps = slice(self.block * self.interval, (self.block + 1) * self.interval)
        self._rows_now.copy_(self._rows[steps])
        self._weights_now.copy_(self._batch_weights[steps])
        self._alive_now.copy_(self._alive[self.block])
        if self.device.type != "cuda" or self.net.most_jobs == 1 or self.blocks == 1:
            self._block()
        elif self._graph is None:
            self._warm_up_and_capture()
        else:
            self._graph.replay()
        self.curve[self.block] = self._error_now
        self.losses[self.block] = self._loss_now
        self.block += 1
        self.seconds += time.perf_counter() - start

    def snapshot(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Return all that changes in training: tensors, and facts for JSON."""
        tensors = {name: self.flat[name] for name in BUFFERS} | {name: getattr(self, name) for name in RECORDS}
        return {**tensors, "steps_taken": self.adam.steps_taken}, {"block": self.block, "seconds": self.seconds}

    def restore(self, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> None:
        """Continue from a snapshot of the same jobs."""
        targets, _ = self.snapshot()
        for name, target in targets.items():
            if name not in tensors or tensors[name].shape != target.shape:
                raise ValueError(f"checkpoint: {name} does not fit this training")
            target.copy_(tensors[name])
        self.block, self.seconds = int(facts["block"]), float(facts["seconds"])
        self._number.fill_(self.block)
        self._step.fill_(self.block * self.interval)

    def results(self, keep_weights: bool) -> list[Result]:
        """Test the kept weights and return a result a job."""
        start = time.perf_counter()
        net, data = self.net, self.net.data
        net.bind(self.views["best"], self.views["gradients"])
        test = data.part("test")
        with torch.no_grad():
            outputs = net.evaluate(test)
            tested = error(outputs, data.per_job(test, "targets"), data.per_job(test, "weights"), data.loss).tolist()
        net.bind(self.views["weights"], self.views["gradients"])
        curves, losses = self.curve.T.tolist(), self.losses.T.tolist()
        kept, best, diverged = self.kept.tolist(), self.best_error.tolist(), self.diverged.tolist()
        states = [net.slots.state(j, self.views["best"]) if keep_weights else {} for j in range(len(self.jobs))]
        self.seconds += time.perf_counter() - start
        results = []
        for j, job in enumerate(self.jobs):
            count = int(self.blocks_of[j])
            results.append(
                Result(
                    job=job,
                    interval=self.interval,
                    curve=tuple(curves[j][:count]),
                    losses=tuple(losses[j][:count]),
                    kept_step=kept[j] * self.interval,
                    valid_error=best[j],
                    test_error=tested[j],
                    seconds=self.seconds / len(self.jobs),
                    diverged_at=None if diverged[j] < 0 else diverged[j] * self.interval,
                    state=states[j],
                )
            )
        return results

    def _load_order(self, samples: Sequence[int]) -> None:
        steps = self.blocks * self.interval
        stored = self.net.data.train.features.shape[1]
        rows = torch.zeros(steps, len(self.jobs), self.net.batch, dtype=torch.int64)
        weights = torch.zeros(steps, len(self.jobs), self.net.batch, dtype=torch.float32)
        task_of = self.net.data.task_of.tolist()
        for j, (job, count) in enumerate(zip(self.jobs, samples, strict=True)):
            order = batches(job.seed, count, self.schedule)
            present = order >= 0
            place = slice(len(order)), j, slice(order.shape[1])
            rows[place] = order.clamp(min=0) + task_of[j] * stored
            weights[place] = present / present.sum(1, keepdim=True)
        self._rows, self._batch_weights = rows.to(self.device), weights.to(self.device)

    @torch.no_grad()
    def _block(self) -> None:
        self._loss_now.zero_()
        if self.native is not None:
            self._loss_now += self.native.run(self._rows_now, self._weights_now)
            self._step += self.interval
        else:
            for offset in range(self.interval):
                self.one_step(offset)
        self._loss_now /= self.interval
        self._validate()

    def one_step(self, offset: int) -> None:
        """Take the step at this place of the current block."""
        net = self.net
        rows, weights = self._rows_now[offset], self._weights_now[offset]
        mask = self.dropout.draw(self._step)
        outputs = net.forward(rows, mask)
        stored = net.data.train.targets
        targets = stored.view(-1, stored.shape[-1]).index_select(0, rows.reshape(-1)).view_as(outputs)
        loss, gradient = loss_and_gradient(outputs, targets, weights, net.data.loss)
        net.backward(gradient)
        self.adam.step()
        self._loss_now += loss
        self._step += 1

    def _validate(self) -> None:
        net = self.net
        self._number += 1
        outputs = net.evaluate(net.data.valid)
        found = error(outputs, self._valid_targets, self._valid_weights, net.data.loss)
        self._error_now.copy_(found)
        better = self._alive_now & (found < self.best_error)
        torch.where(better, found, self.best_error, out=self.best_error)
        torch.where(better, self._number, self.kept, out=self.kept)
        finite = torch.isfinite(self._loss_now) & torch.isfinite(found)
        broken = self._alive_now & ~finite & (self.diverged < 0)
        torch.where(broken, self._number, self.diverged, out=self.diverged)
        if self.device.type == "cpu":
            for job in better.nonzero().view(-1).tolist():
                for name, best in self.views["best"].items():
                    best[job].copy_(self.views["weights"][name][job])
            return
        for name, best in self.views["best"].items():
            chosen = better.view(-1, *[1] * (best.ndim - 1))
            torch.where(chosen, self.views["weights"][name], best, out=best)

    def _warm_up_and_capture(self) -> None:
        stream = torch.cuda.Stream(self.device)
        stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(stream):
            self._block()
        torch.cuda.current_stream(self.device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._block()
        self._graph = graph


def _native_steps(
    net: StackedNet, views: Mapping[str, dict[str, torch.Tensor]], adam: StackedAdam
) -> NativeSteps | None:
    if not available():
        return None
    if isinstance(net, GATNet):
        net.native = net.device.type == "cpu"
    from nvgf.training.native.steps import NativeSteps

    if not NativeSteps.takes(net):
        return None
    return NativeSteps(net, [views[name] for name in ("weights", "means", "squares")], adam)
