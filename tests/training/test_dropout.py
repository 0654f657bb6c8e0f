"""Dropout masks: shares, independence of the stack, and no visible pattern."""

from __future__ import annotations

import pytest
import torch
from tests.training.tasks import toy

from nvgf.training import Job, Schedule
from nvgf.training.stack.dropout import Dropout

CPU = torch.device("cpu")


def make(nodes: list[torch.Tensor], seeds: list[int], dropout: float, width: int, by_table: bool = True) -> Dropout:
    schedule = Schedule(epochs=1, batch_size=20, dropout=dropout)
    task = toy()
    return Dropout([Job("lsigf", task, seed=seed, schedule=schedule) for seed in seeds], nodes, width, CPU, by_table)


@pytest.mark.parametrize("dropout", [0.5, 0.3, 0.9])
@pytest.mark.parametrize("width", [1, 8, 13, 64, 70])
def test_share_and_scale(dropout, width):
    masks = make([torch.arange(40)] * 2, [0, 1], dropout, width).draw(7)
    assert set(masks.unique().tolist()) <= {0.0, torch.tensor(1 / (1 - dropout)).item()}
    kept = (masks > 0).float()
    deviation = (dropout * (1 - dropout) / kept.numel()) ** 0.5
    assert abs(float(kept.mean()) - (1 - dropout)) < 4.5 * deviation


@pytest.mark.parametrize("width", [1, 8, 13, 64, 70])
def test_the_way_of_a_gpu_gives_the_same_masks(width):
    table, bits = (make([torch.arange(9)] * 2, [3, 4], 0.5, width, by_table=way) for way in (True, False))
    for step in (0, 1000):
        assert torch.equal(bits.draw(step), table.draw(step))


def test_bits_do_not_hang_together():
    draw = make([torch.arange(100)], [5], 0.5, 64)
    first, second = ((draw.draw(step).clone() > 0).double().flatten() - 0.5 for step in (3, 4))
    for other in (second, first.roll(1), first.roll(64), first.roll(64 * 20)):
        assert abs(float((first * other).mean()) * 4) < 4.5 / len(first) ** 0.5


@pytest.mark.parametrize("dropout", [0.5, 0.3])
def test_a_job_has_its_masks_in_any_stack(dropout):
    nodes = [torch.arange(9), torch.arange(12), torch.tensor([4])]
    stack = make(nodes, [3, 4, 5], dropout, 10)
    alone = [make([own], [seed], dropout, 10) for own, seed in zip(nodes, (3, 4, 5), strict=True)]
    for step in (0, 1, 1000):
        together = stack.draw(step)
        for number, single in enumerate(alone):
            assert torch.equal(together[number, : len(nodes[number])], single.draw(step)[0])


def test_a_node_read_alone_has_the_mask_it_has_among_all():
    assert torch.equal(
        make([torch.tensor([4])], [1], 0.5, 8).draw(2)[0, 0], make([torch.arange(9)], [1], 0.5, 8).draw(2)[0, 4]
    )


def test_step_on_the_device_is_the_same():
    dropout = make([torch.arange(9)], [1], 0.5, 8)
    assert torch.equal(dropout.draw(11).clone(), dropout.draw(torch.tensor(11)))


def test_no_dropout_is_ones():
    assert make([torch.arange(3)], [0], 0.0, 4).draw(0).eq(1).all()
