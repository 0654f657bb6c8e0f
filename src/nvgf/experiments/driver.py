"""``sweep``: train what a store does not hold yet, and store it. Only this writes."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field

from nvgf.experiments.cells import Cell, batches, cell_key, protocol
from nvgf.experiments.pools import Pool, worker_was_lost
from nvgf.experiments.rows import Origin, Row
from nvgf.experiments.store import Store
from nvgf.experiments.study import Study
from nvgf.experiments.work import Done, Work, run_work

ATTEMPTS = 4
"""How often a batch may lose its worker before it is given up."""
LOSSES_IN_A_ROW = 3
"""Times the batches in flight: so many losses without a result in between end the sweep."""
FLUSH_SECONDS = 2.0
"""In one process, results are stored this often at least."""


@dataclass
class Progress:
    """How far a sweep is.

    ``stored`` cells were there before; ``news`` are those since the last call; ``best`` has the least validation error.
    """

    total: int
    stored: int
    done: int = 0
    started: float = field(default_factory=time.monotonic)
    best: Row | None = None
    news: tuple[Row, ...] = ()
    lost_workers: int = 0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Cells a second in this session."""
        return self.done / max(self.seconds, 1e-9)

    @property
    def left(self) -> float | None:
        """Seconds left at this rate; ``None`` before the first cell is done."""
        return (self.total - self.stored - self.done) / self.rate if self.done else None


@dataclass(frozen=True)
class Outcome:
    """What a sweep did: how many cells it trained, how many were there, and the batches that failed, with reasons."""

    trained: int
    stored: int
    failures: tuple[tuple[tuple[Cell, ...], str], ...] = ()
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """Whether every cell is in the store."""
        return not self.failures and not self.stopped


class _Recorder:
    """Puts what is done into the store, and tells of it."""

    def __init__(self, store: Store, progress: Progress, tell: Callable[[Progress], None] | None) -> None:
        self.store, self.progress, self.tell = store, progress, tell
        self.known = store.keys()
        self.waiting: list[Done] = []
        self.flushed = time.monotonic()

    def add(self, done: Iterable[Done]) -> None:
        self.waiting += done

    def flush(self) -> None:
        rows = []
        for one in self.waiting:
            if one.row.key not in self.known:
                rows.append(one.row)
                self.known.add(one.row.key)
        analyses = {key: value for one in self.waiting for key, value in one.analyses}
        if self.waiting:
            self.store.add(rows, analyses.items())
        progress = self.progress
        progress.news = tuple(one.row for one in self.waiting)
        progress.done += len(self.waiting)
        for row in progress.news:
            if progress.best is None or row.valid_error < progress.best.valid_error:
                progress.best = row
        self.waiting = []
        self.flushed = time.monotonic()
        if self.tell is not None:
            self.tell(progress)

    def add_soon(self, done: Done) -> None:
        self.waiting.append(done)
        if time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()


def missing(cells: Sequence[Cell], study: Study, store: Store) -> list[Cell]:
    """Return the cells that the store does not hold, or holds without the analysis that is asked for."""
    keys, analysed = store.keys(), store.analyses().keys()
    wanted = []
    for cell in dict.fromkeys(cells):
        data = cell.data
        lacks = cell.analyse and (data.subject, data.setting, data.split_by, cell.model) not in analysed
        if lacks or cell_key(cell, study) not in keys:
            wanted.append(cell)
    return wanted


def check_store(cells: Sequence[Cell], study: Study, store: Store) -> None:
    """Raise if the store holds models made from other data, or of the same data sets by another protocol."""
    wanted = {cell.data for cell in cells}
    for data, origin in store.origins():
        try:
            mine = Origin(study.fingerprint(data), protocol(study))
        except ValueError:  # these data have no such subject, or the study no such setting
            mine = Origin("", "")
        if mine.fingerprint != origin.fingerprint:
            raise ValueError(
                f"{store.path} holds models of other data ({data.subject}, {data.setting}); use another --out"
            )
        if data in wanted:
            mine.check(origin, data.subject, store.path)


def sweep(
    study: Study,
    cells: Sequence[Cell],
    store: Store,
    *,
    pool: Pool | None = None,
    device: str = "cpu",
    batch_size: int | None = None,
    limit: float | None = None,
    tell: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Train the cells that the store does not hold.

    What is done is stored at once, so that whatever ends the program, the same call continues. Batches whose worker
    died are handed out again.

    Args:
        study: the application.
        cells: what the store shall hold in the end.
        store: open for writing.
        pool: where to work; without one, in this process.
        device: of the training.
        batch_size: the most cells of a batch, see :func:`nvgf.experiments.cells.batches`.
        limit: seconds after which no new batch is begun.
        tell: called whenever results were stored, and about every second while there are none.

    Raises:
        ValueError: see :func:`check_store`.
    """
    check_store(cells, study, store)
    pending = missing(cells, study, store)
    progress = Progress(total=len(dict.fromkeys(cells)), stored=len(dict.fromkeys(cells)) - len(pending))
    recorder = _Recorder(store, progress, tell)
    works = deque(
        Work(study.name, study.source, tuple(batch), device) for batch in batches(pending, device, batch_size)
    )
    failures: list[tuple[tuple[Cell, ...], str]] = []

    def late() -> bool:
        return limit is not None and progress.seconds > limit

    if pool is None:
        while works and not late():
            _run_here(works.popleft(), recorder, failures)
    else:
        _run_in_pool(works, pool, recorder, failures, late)
    return Outcome(progress.done, progress.stored, tuple(failures), stopped=bool(works))


def _run_here(work: Work, recorder: _Recorder, failures: list[tuple[tuple[Cell, ...], str]]) -> None:
    try:
        run_work(work, on_done=recorder.add_soon)
    except (ValueError, RuntimeError, ArithmeticError) as error:
        failures.append((work.cells, _reason(error)))
    finally:
        recorder.flush()


def _run_in_pool(
    works: deque[Work],
    pool: Pool,
    recorder: _Recorder,
    failures: list[tuple[tuple[Cell, ...], str]],
    late: Callable[[], bool],
) -> None:
    flying: dict[Future[list[Done]], Work] = {}
    losses: Counter[Work] = Counter()
    losses_in_a_row = 0
    try:
        while flying or (works and not late()):
            while works and len(flying) < pool.window and not late():
                work = works.popleft()
                flying[pool.submit(work)] = work
            finished, _ = wait(flying, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in finished:
                work = flying.pop(future)
                error = _error_of(future)
                if error is None:
                    losses_in_a_row = 0
                    recorder.add(future.result())
                    continue
                if not worker_was_lost(error):
                    failures.append((work.cells, _reason(error)))
                    continue
                losses_in_a_row += 1
                losses[work] += 1
                recorder.progress.lost_workers += 1
                if losses_in_a_row > LOSSES_IN_A_ROW * pool.window:
                    raise ChildProcessError(f"workers die before they finish anything ({_reason(error)})")
                if losses[work] >= ATTEMPTS:
                    failures.append((work.cells, f"its worker died {ATTEMPTS} times ({_reason(error)})"))
                else:
                    works.appendleft(work)
            recorder.flush()
    except BaseException:
        pool.close(now=True)
        raise


def _error_of(future: Future[list[Done]]) -> BaseException | None:
    if future.cancelled():
        return CancelledError()
    return future.exception()


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
