"""Dropout masks of a stack: bits of a hash of (seed, step, signal in the batch, node, feature)."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from nvgf.training.job import Job
from nvgf.training.order import batch_size
from nvgf.training.randomness import DROPOUT, GOLDEN, mix_, signed, stream_key

_LANES = 4


class Dropout:
    """Masks ``(jobs, nodes, batch, features)`` with entries 0 and 1 / (1 - p), the same on every device.

    With p = 1/2 a feature takes one bit of a 64-bit hash; otherwise it takes 16 bits, so that p is rounded to a
    multiple of 2^-16.

    Args:
        jobs: the jobs of the stack, all with the same p and batch size.
        nodes: for each job the numbers of its nodes.
        width: the number of features.
        device: where the masks are needed.
        by_table: whether a table turns each byte of bits into eight entries, the faster way on a CPU; on a GPU it would
            be one block of threads a byte, and every bit is tested on its own. By default what suits the device.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        nodes: Sequence[torch.Tensor],
        width: int,
        device: torch.device,
        by_table: bool | None = None,
    ) -> None:
        schedule = jobs[0].schedule
        self.probability = schedule.dropout
        self.width = width
        per_word = 64 if self.probability == 0.5 else _LANES
        words = -(-width // per_word)
        most = max(len(numbers) for numbers in nodes)
        batch = batch_size(jobs)
        count = len(jobs), most, batch
        self.mask = torch.ones(*count, width, dtype=torch.float32, device=device)
        if self.probability == 0:
            return
        self._keys = torch.tensor([signed(stream_key(job.seed, DROPOUT)) for job in jobs], device=device)
        self._keys = self._keys.reshape(-1, 1, 1, 1)
        numbers = torch.zeros(len(jobs), most, dtype=torch.int64)
        for row, own in zip(numbers, nodes, strict=True):
            row[: len(own)] = own
        place = torch.arange(batch).reshape(1, 1, -1, 1) * (1 << 40)
        place = place + numbers.reshape(len(jobs), most, 1, 1) * (1 << 16) + torch.arange(words)
        if len(nodes) > 1 and all(torch.equal(own, nodes[0]) for own in nodes):
            place = place[:1]
        self._places = (place * signed(GOLDEN)).to(device)
        self._words = torch.empty(*count, words, dtype=torch.int64, device=device)
        self._scratch = torch.empty_like(self._words)
        self._step_key = torch.empty_like(self._keys)
        scale = 1 / (1 - self.probability)
        if per_word == 64:
            self._by_table = device.type == "cpu" if by_table is None else by_table
            used = -(-width // 8)
            self._padded = self.mask if width % 8 == 0 else self.mask.new_empty(*count, used * 8)
            place = torch.arange(8)
            if self._by_table:
                bits = torch.arange(256).unsqueeze(1) >> place & 1
                self._table = (bits * scale).to(device=device, dtype=torch.float32)
                self._bytes = torch.empty(*count, used, dtype=torch.int32, device=device)
            else:
                self._bit = (1 << place).to(device=device, dtype=torch.uint8)
                self._worth = (scale / (1 << place)).to(device=device, dtype=torch.float32)
                self._bits = torch.empty(*count, used, 8, dtype=torch.uint8, device=device)
        else:
            self._scale = scale
            self._threshold = round(self.probability * 65536) - 32768

    def draw(self, step: int | torch.Tensor) -> torch.Tensor:
        """Return the masks of a step (an int64 tensor where the number lives on the device)."""
        if self.probability == 0:
            return self.mask
        torch.add(
            self._keys,
            step * signed(GOLDEN) if isinstance(step, torch.Tensor) else signed(step * GOLDEN),
            out=self._step_key,
        )
        mix_(self._step_key)
        torch.add(self._places, self._step_key, out=self._words)
        mix_(self._words, self._scratch)
        if self.probability != 0.5:
            lanes = self._words.view(torch.int16)[..., : self.width]
            torch.ge(lanes, self._threshold, out=self.mask)
            return self.mask.mul_(self._scale)
        hashed = self._words.view(torch.uint8)[..., : self._padded.shape[-1] // 8]
        if self._by_table:
            self._bytes.copy_(hashed)
            torch.index_select(self._table, 0, self._bytes.view(-1), out=self._padded.view(-1, 8))
        else:
            torch.bitwise_and(hashed.unsqueeze(-1), self._bit, out=self._bits)
            torch.mul(self._bits, self._worth, out=self._padded.view_as(self._bits))
        if self._padded is not self.mask:
            self.mask.copy_(self._padded[..., : self.width])
        return self.mask
