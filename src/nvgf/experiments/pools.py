"""Where batches are worked on: processes of this machine, a Dask cluster, or any executor."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import Any

from nvgf.experiments.work import Done, Work, run_work

ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 34),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
    "MALLOC_TOP_PAD_": str(1 << 28),
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""Of processes with one thread each. glibc keeps large temporaries, which it would give back to the system at every
training step and so cost a factor; the linear algebra of numpy and scipy, which torch's number of threads does not
bind, takes one thread."""


class Pool:
    """Works on batches by any :class:`concurrent.futures.Executor`.

    Args:
        executor: where; it is not shut down.
        window: how many batches are with the executor at once.
    """

    def __init__(self, executor: Executor, window: int = 8) -> None:
        self.executor = executor
        self.window = window

    def submit(self, work: Work) -> Future[list[Done]]:
        """Hand a batch over."""
        return self.executor.submit(run_remote, work)

    def close(self, now: bool = False) -> None:
        """Let the pool go; ``now`` does not wait for what is being worked on."""


class ProcessPool(Pool):
    """One process a core, each with one thread, as small models train fastest.

    A process that is killed breaks an executor; the next batch starts a new one. Workers end when the driver does,
    however that ends.
    """

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, got {workers}")
        self.workers = workers
        super().__init__(self._start(), window=2 * workers)

    def _start(self) -> ProcessPoolExecutor:
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        # Spawned, since torch does not survive a fork once its threads run.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=start_worker)

    def submit(self, work: Work) -> Future[list[Done]]:
        """Hand a batch over, to new processes if those there were broken."""
        try:
            return super().submit(work)
        except BrokenExecutor:
            self.executor.shutdown(wait=False, cancel_futures=True)
            self.executor = self._start()
            return super().submit(work)

    def close(self, now: bool = False) -> None:
        """End the processes."""
        processes = list((getattr(self.executor, "_processes", None) or {}).values())
        self.executor.shutdown(wait=not now, cancel_futures=True)
        if now:
            for process in processes:
                process.terminate()


class DaskPool(Pool):
    """The workers of a Dask cluster, on which nvgf is installed too.

    Args:
        address: of the scheduler, ``tcp://host:port``.
        timeout: seconds to wait for an answer.
    """

    def __init__(self, address: str, timeout: float = 10.0) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ModuleNotFoundError("a Dask cluster needs the extra dask: pip install nvgf[dask]") from None
        # A client that cannot even read its address leaves threads that it cannot end.
        if not re.fullmatch(r"((tcp|tls|wss?|ucx)://)?[^/]+:[0-9]+/?", address):
            raise ValueError(f"the address of a Dask scheduler must be like tcp://host:port, got {address!r}")
        try:
            self.client = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(f"no Dask scheduler answers at {address} within {timeout:g} s ({error})") from None
        self.address = address
        executor: Any = self.client.get_executor(pure=False)
        super().__init__(executor, window=64)

    def submit(self, work: Work) -> Future[list[Done]]:
        """Hand a batch over; while there are workers, two for each of their threads are with them at once."""
        try:
            self.window = max(2 * sum(self.client.nthreads().values()), 4)
            return super().submit(work)
        except (OSError, TimeoutError, RuntimeError) as error:
            raise ConnectionError(f"the Dask scheduler at {self.address} no longer answers ({error})") from error

    def close(self, now: bool = False) -> None:
        """Leave the cluster; it keeps running."""
        self.executor.shutdown(wait=not now)
        # The scheduler drops what was asked for by a client that leaves.
        self.client.close(timeout=5)


def worker_was_lost(error: BaseException) -> bool:
    """Whether an error says that a worker died, rather than that the work is wrong."""
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in (
        "KilledWorker",
        "FutureCancelledError",
        "CommClosedError",
    )


def run_remote(work: Work) -> list[Done]:
    """Work on a batch, away from the driver."""
    if work.device == "cpu":
        _one_thread()
    return run_work(work)


def start_worker() -> None:
    """Prepare a process of the pool: Ctrl-C is for the driver alone, and no worker outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _one_thread()
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel, os._exit), daemon=True).start()


def _end_with(sentinel: int, end: Callable[[int], None]) -> None:
    wait([sentinel])
    end(1)


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)
