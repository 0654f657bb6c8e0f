import threading
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from threadpoolctl import threadpool_info

from nvgf.experiments import Outcome, Store, enumerate_cells, make_study
from nvgf.experiments import driver as driver_module
from nvgf.experiments import session as session_module
from nvgf.experiments.console import PlainLog, duration
from nvgf.experiments.driver import missing, sweep
from nvgf.experiments.pools import DaskPool, Pool, ProcessPool, worker_was_lost
from nvgf.experiments.session import Place, parse_part, run_session
from nvgf.experiments.work import run_work


def cells_of(study):
    models = ["lsigf", "gcnn", "design-nvgf", "logistic-regression"]
    return enumerate_cells(study, subjects=["ann", "bob"], models=models, settings=["paper"], splits=2)


@pytest.fixture
def cells(study):
    return cells_of(study)


def results(store):
    return {row.key: (row.valid_error, row.test_error, row.curve) for row in store.rows()}


@pytest.fixture(scope="module")
def expected(corpus_file, tmp_path_factory):
    """The results of all cells, from this process."""
    study = make_study("authorship", str(corpus_file))
    with Store(tmp_path_factory.mktemp("expected"), write=True) as store:
        sweep(study, cells_of(study), store)
        return results(store)


def test_a_sweep_stores_every_cell_once_and_then_has_nothing_to_do(tmp_path, study, cells):
    told = []
    with Store(tmp_path, write=True) as store:
        outcome = sweep(study, cells, store, tell=lambda progress: told.append((progress.done, len(progress.news))))
        assert (outcome.trained, outcome.stored, outcome.complete) == (16, 0, True)
        assert len(store) == len({row.key for row in store.rows()}) == 16
        assert told[-1][0] == sum(count for _, count in told) == 16
        assert sweep(study, cells, store).stored == 16
        row = store.rows(model="gcnn", subject="ann", split=1)[0]
    assert (row.learning_rate, row.features, row.order) == study.paper_hypers("ann", "gcnn")[0]
    assert row.fingerprint == study.fingerprint(row.data)
    assert len(row.curve) == len(row.losses) > 10
    assert min(row.curve) == pytest.approx(row.valid_error, abs=1e-3)
    assert 0 < row.kept_step <= row.interval * len(row.curve)


def test_only_what_is_missing_is_trained(tmp_path, study, cells, monkeypatch):
    with Store(tmp_path, write=True) as store:
        sweep(study, cells[:5], store)
        before = results(store)
        worked = []
        monkeypatch.setattr(driver_module, "run_work", lambda work, on_done: worked.extend(work.cells))
        sweep(study, cells, store)
        assert set(worked) == set(cells) - set(cells[:5])
        assert results(store) == before


def test_models_by_another_protocol_are_not_mixed_with_these(tmp_path, study, cells, monkeypatch):
    with Store(tmp_path, write=True) as store:
        sweep(study, cells[:1], store)
        before = results(store)
        monkeypatch.setattr(type(study), "schedule", replace(study.schedule, epochs=1))
        with pytest.raises(ValueError, match=f"{cells[0].data.subject} that were trained by another protocol; use"):
            sweep(study, cells, store)
        assert results(store) == before
        others = [cell for cell in cells if cell.data != cells[0].data]
        assert sweep(study, others, store).complete


def test_models_of_another_corpus_are_not_mixed_with_these(tmp_path, study, cells, monkeypatch):
    with Store(tmp_path, write=True) as store:
        sweep(study, cells[:1], store)
        before = results(store)
        monkeypatch.setattr(type(study), "digest", "other")
        others = [cell for cell in cells if cell.data.subject != cells[0].data.subject]
        with pytest.raises(
            ValueError, match=f"holds models of other data .{cells[0].data.subject}, paper.; use another"
        ):
            sweep(study, others, store)
        assert results(store) == before


def test_any_executor_gives_the_numbers_of_this_process(tmp_path, study, cells, expected):
    with Store(tmp_path, write=True) as store, ThreadPoolExecutor(2) as executor:
        assert sweep(study, cells, store, pool=Pool(executor, window=3)).complete
        assert results(store) == expected


def test_a_killed_worker_costs_nothing_but_time(tmp_path, study, cells, expected):
    pool = ProcessPool(2)
    killed = []

    def tell(progress):
        if progress.news and not killed:
            victim = next(iter(pool.executor._processes.values()))
            victim.kill()
            killed.append(victim.pid)

    with Store(tmp_path, write=True) as store:
        outcome = sweep(study, cells, store, pool=pool, tell=tell)
        pool.close()
        assert killed
        assert outcome.complete
        assert results(store) == expected


class Losing(Pool):
    """Loses the worker of some batches, always."""

    def __init__(self, is_lost):
        self.window, self.is_lost, self.closed = 4, is_lost, False

    def submit(self, work):
        future = Future()
        if self.is_lost(work):
            future.set_exception(BrokenExecutor("a process was killed"))
        else:
            future.set_result(run_work(work))
        return future

    def close(self, now=False):
        self.closed = now


def test_a_batch_that_kills_its_workers_is_given_up_and_the_others_are_done(tmp_path, study, cells):
    pool = Losing(lambda work: work.cells[0].data.subject == "bob" and work.cells[0].model == "lsigf")
    with Store(tmp_path, write=True) as store:
        outcome = sweep(study, cells, store, pool=pool)
        assert not outcome.complete
        assert len(store) == 14
    assert {cell.data.subject for failed, _ in outcome.failures for cell in failed} == {"bob"}
    assert "its worker died 4 times" in outcome.failures[0][1]


def test_workers_that_all_die_end_the_sweep(tmp_path, study, cells):
    pool = Losing(lambda work: True)
    with Store(tmp_path, write=True) as store, pytest.raises(ChildProcessError, match="workers die before they finish"):
        sweep(study, cells * 2, store, pool=pool, batch_size=1)
    assert pool.closed


@pytest.mark.parametrize("pooled", [False, True])
def test_a_batch_that_fails_is_told_and_the_others_are_done(tmp_path, study, cells, monkeypatch, pooled):
    def fail(self, model, data, seed):
        if data.subject == "bob":
            raise ValueError("this author has no style")
        return Outcome(0.1, 0.2)

    monkeypatch.setattr(type(study), "run_baseline", fail)
    with Store(tmp_path, write=True) as store, ThreadPoolExecutor(1) as executor:
        outcome = sweep(study, cells, store, pool=Pool(executor) if pooled else None)
        assert len(store) == 14
    assert {reason for _, reason in outcome.failures} == {"ValueError: this author has no style"}


def test_a_limit_stops_between_batches(tmp_path, study, cells):
    with Store(tmp_path, write=True) as store:
        outcome = sweep(study, cells, store, limit=-1)
        assert outcome.stopped
        assert not outcome.complete
        assert len(store) == 0
        with ThreadPoolExecutor(1) as executor:
            assert sweep(study, cells, store, pool=Pool(executor), limit=-1).stopped


def test_an_analysis_that_is_missing_is_made_without_a_second_row(tmp_path, study, cells):
    marked = [replace(cell, analyse=cell.data.split == 0) for cell in cells if cell.model in study.creation]
    with Store(tmp_path, write=True) as store:
        sweep(study, cells, store)
        before = results(store)
        assert missing(marked, study, store) == [cell for cell in marked if cell.analyse]
        sweep(study, marked, store)
        assert results(store) == before
        analyses = store.analyses()
        assert missing(marked, study, store) == []
    assert set(analyses) == {
        (author, "paper", "excerpt", part)
        for author in ("ann", "bob")
        for part in ("data", "lsigf", "gcnn", "design-nvgf")
    }
    lsigf, gcnn = (analyses["ann", "paper", "excerpt", model] for model in ("lsigf", "gcnn"))
    nodes = analyses["ann", "paper", "excerpt", "data"]["nodes"]
    assert len(lsigf["outputs"]) == lsigf["hyper"]["features"]
    assert {len(output) for output in lsigf["outputs"]} == {nodes}
    assert lsigf["last"]["own_share"] == pytest.approx(1.0)
    assert lsigf["creation"] == pytest.approx(0.0, abs=1e-9)
    assert gcnn["creation"] > 0.01
    assert len(gcnn["transfer"]) == min(nodes, 48)


def test_a_cluster_where_nobody_answers_is_an_error():
    pytest.importorskip("distributed")
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at tcp://127.* within 1 s"):
        DaskPool("tcp://127.0.0.1:1", timeout=1)


@pytest.mark.parametrize("address", ["bad", "tcp://127.0.0.1", "foo://localhost:8786"])
def test_what_is_no_address_makes_no_client(address, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "Client", None)  # one that is given up on leaves a traceback at the end
    with pytest.raises(ValueError, match=f"must be like tcp://host:port, got '{address}'"):
        DaskPool(address)


def test_a_wrong_place_makes_no_folder(tmp_path, study, cells):
    if torch.cuda.is_available():
        pytest.skip("a GPU is there")
    with pytest.raises(ValueError, match="no CUDA device is available"):
        run_session(study, cells, tmp_path / "run", Place(device="cuda"), {})
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        run_session(study, cells, tmp_path / "run", Place(workers=0), {})
    assert not (tmp_path / "run").exists()


def test_lost_workers_are_told_from_wrong_work():
    class KilledWorker(Exception):  # noqa: N818
        """As Dask's, by name."""

    assert worker_was_lost(BrokenExecutor())
    assert worker_was_lost(KilledWorker())
    assert not worker_was_lost(ValueError())


def test_parts_are_parsed_and_refused():
    assert parse_part("2/4") == (2, 4)
    for text in ("2", "a/b", "1/", "/", "1/0", "1/²"):
        with pytest.raises(ValueError, match="part must be like 1/4"):
            parse_part(text)


def test_the_plain_log_tells_counts_rate_and_best(tmp_path, study, cells, capsys):
    import sys

    with Store(tmp_path, write=True) as store:
        sweep(study, cells, store, tell=PlainLog(study, sys.stderr, every=0.0))
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("ann, paper, split 0: lsigf (eta=") for line in lines)
    assert lines[-1].startswith("16 of 16 models, ")
    assert "best valid" in lines[-1]
    assert duration(59) == "59 s"


def test_the_end_of_the_driver_ends_its_workers(monkeypatch):
    from nvgf.experiments import pools

    ended = threading.Event()
    monkeypatch.setattr(pools, "wait", lambda sentinels: sentinels)
    pools._end_with(3, lambda code: ended.set())
    assert ended.is_set()


def test_processes_have_one_thread_each():
    pool = ProcessPool(1)
    try:
        libraries = pool.executor.submit(threadpool_info).result(60)
        assert pool.executor.submit(torch.get_num_threads).result(60) == 1
    finally:
        pool.close()
    assert {library["num_threads"] for library in libraries if library["user_api"] == "blas"} == {1}


def test_a_session_follows_the_search_and_does_parts(tmp_path, study, capsys):
    from nvgf.experiments.follow import sweep_cells

    searched = sweep_cells(study, splits=1, models=["learn-nvgf"])
    place = Place(workers=1)
    for part in ("1/2", "2/2"):
        outcome = run_session(study, searched, tmp_path / "run", place, {}, follow=True, part=part)
        assert outcome.complete
    with Store(tmp_path / "run") as store:
        rows = store.rows()
        assert {row.subject for row in rows} == {"ann", "bob", "cyd"}
        learned = [row for row in rows if row.model == "learn-nvgf"]
        others = [row for row in rows if row.model != "learn-nvgf"]
        assert len(learned) == 3 * 27
        assert {row.model for row in others} == {"lsigf", "gcnn", "design-nvgf"}
        chosen = {row.subject: row.hyper for row in others if row.model == "gcnn"}
        assert set(chosen) == {"ann", "bob", "cyd"}
        assert len(store.runs()) == 2
    assert "0 of 54 models are there" in capsys.readouterr().err


def test_a_limit_is_for_the_search_and_what_follows_together(tmp_path, study, monkeypatch):
    clock, limits = [1000.0], []

    def slow_sweep(study, cells, store, *, limit, **options):
        limits.append(limit)
        clock[0] += 45 * 60
        return driver_module.Outcome(len(cells), 0)

    monkeypatch.setattr(session_module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(session_module, "sweep", slow_sweep)
    for minutes, expected in ((60, [3600, 900]), (30, [1800, 0])):
        limits.clear()
        place = Place(workers=1, limit=minutes)
        run_session(study, cells_of(study), tmp_path / str(minutes), place, {}, follow=True)
        assert limits == expected


def test_a_limit_is_no_negative_number():
    for minutes in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="limit must be at least 0 minutes"):
            Place(limit=minutes)
