"""Checkpoints of :func:`nvgf.training.fit_many`: a killed training continues, and ends with the same bits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nvgf.files import write_atomically
from nvgf.training.files import read_json, read_tensors, tensors_to_bytes
from nvgf.training.job import Job, Result
from nvgf.training.plan import NETS, Piece
from nvgf.training.run import Run

FORMAT = 1


class Checkpoint:
    """A folder with what a training has reached.

    ``manifest.json`` says which jobs, in which stacks; ``running-<stack>.safetensors`` is a stack in training;
    ``done-<stack>.safetensors`` are results. Each file is replaced whole, so that any moment is a good moment to die.

    Args:
        folder: where; made if it is not there.
        jobs: the jobs that are trained.
        pieces: the stacks, for a new training; a resumed one keeps those it began with.
        resume: whether to go on with what the folder holds.
    """

    def __init__(self, folder: Path, jobs: Sequence[Job], pieces: Sequence[Piece], resume: bool) -> None:
        self.folder = Path(folder)
        self.jobs = tuple(jobs)
        if self.folder.exists() and not self.folder.is_dir():
            raise NotADirectoryError(f"checkpoint: {self.folder} is no folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pieces = list(pieces)
        manifest = self.folder / "manifest.json"
        identity = fingerprint(jobs)
        if not manifest.exists():
            stacks = [[piece.net.__name__, piece.numbers] for piece in pieces]
            text = json.dumps({"format": FORMAT, "jobs": identity, "pieces": stacks})
            write_atomically(manifest, text.encode())
            return
        if not resume:
            raise ValueError(f"checkpoint: {self.folder} holds a training already; resume it or use another folder")
        facts = read_json(manifest)
        if facts.get("format") != FORMAT:
            raise ValueError(f"checkpoint: {manifest} has format {facts.get('format')!r}, expected {FORMAT}")
        if facts.get("jobs") != identity:
            raise ValueError(f"checkpoint: {self.folder} belongs to other jobs or other data")
        nets = {net.__name__: net for net in NETS}
        try:
            self.pieces = [Piece(nets[name], tuple(numbers)) for name, numbers in facts["pieces"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"checkpoint: {manifest} is damaged, or of another version: {error!r}") from None
        for left in self.folder.glob(".*.safetensors.*"):
            left.unlink()  # half written when the training was killed

    def save_running(self, number: int, run: Run) -> None:
        """Store a stack in training."""
        tensors, facts = run.snapshot()
        write_atomically(self.folder / f"running-{number}.safetensors", tensors_to_bytes(tensors, facts))

    def load_running(self, number: int, run: Run) -> None:
        """Continue a stack where it was stored, if it was."""
        path = self.folder / f"running-{number}.safetensors"
        if path.exists():
            run.restore(*read_tensors(path))

    def save_done(self, number: int, results: Sequence[Result]) -> None:
        """Store the results of a stack, and forget its training."""
        tensors = {f"{place}/{name}": t for place, r in enumerate(results) for name, t in r.state.items()}
        facts = {"results": [_numbers(result) for result in results]}
        write_atomically(self.folder / f"done-{number}.safetensors", tensors_to_bytes(tensors, facts))
        (self.folder / f"running-{number}.safetensors").unlink(missing_ok=True)

    def load_done(self, number: int) -> list[Result] | None:
        """Return the results of a stack, if it is done."""
        path = self.folder / f"done-{number}.safetensors"
        if not path.exists():
            return None
        tensors, facts = read_tensors(path)
        results = []
        for place, (job_number, numbers) in enumerate(zip(self.pieces[number].numbers, facts["results"], strict=True)):
            prefix = f"{place}/"
            state = {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
            numbers = {**numbers, "curve": tuple(numbers["curve"]), "losses": tuple(numbers["losses"])}
            results.append(Result(job=self.jobs[job_number], state=state, **numbers))
        return results


def fingerprint(jobs: Sequence[Job]) -> str:
    """Return a hash of all that decides the results of jobs: hyper-parameters, seeds and data."""
    digest = hashlib.sha256()
    tasks: dict[int, str] = {}
    for job in jobs:
        if id(job.task) not in tasks:
            tasks[id(job.task)] = _task_digest(job)
        facts = [job.architecture, job.model_options(), job.learning_rate, job.seed, asdict(job.schedule)]
        digest.update(json.dumps([*facts, tasks[id(job.task)]], sort_keys=True).encode())
    return digest.hexdigest()


def _task_digest(job: Job) -> str:
    task = job.task
    digest = hashlib.sha256(f"{task.loss} {task.node}".encode())
    graph = task.shift.to_scipy()
    signals = [t.detach().cpu().numpy() for part in (task.train, task.valid, task.test) for t in (part.x, part.y)]
    for array in (graph.indptr.astype("int64"), graph.indices.astype("int64"), graph.data, *signals):
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _numbers(result: Result) -> dict[str, Any]:
    return {f.name: getattr(result, f.name) for f in fields(result) if f.name not in ("job", "state")}
