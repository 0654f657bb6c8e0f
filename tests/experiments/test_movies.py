import json

import numpy as np
import pytest
import torch

from nvgf.experiments import Data, Hyper, make_study
from nvgf.experiments.cells import Cell, batches, cell_key, enumerate_cells
from nvgf.experiments.follow import sweep_cells
from nvgf.experiments.movies import PAPER_TARGETS, MovieStudy
from nvgf.experiments.work import Work, run_work
from nvgf.movies import MovieDataset, planted_ratings, score_simple
from nvgf.training import Job, Schedule, fit

RATINGS = planted_ratings(users=120, items=24, seed=5).ratings
SHORT = Schedule(epochs=2, batch_size=5, dropout=0.0)
RIVALS = ("nearest-neighbour", "mean-of-means", "item-knn", "biased-mf")


def write(path, values=RATINGS.values, order=None, titles=True):
    """Write ratings in the format of MovieLens 100k."""
    path.mkdir()
    lines = [
        f"{RATINGS.user_ids[u]}\t{RATINGS.item_ids[i]}\t{value:g}\t0"
        for u, i, value in zip(RATINGS.users, RATINGS.items, values, strict=True)
    ]
    order = range(len(lines)) if order is None else order
    (path / "u.data").write_text("\n".join(lines[place] for place in order))
    if titles:
        items = zip(RATINGS.item_ids, RATINGS.titles, strict=True)
        (path / "u.item").write_text("\n".join(f"{item}|{title} (1977)|" for item, title in items))
    return str(path)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data") / "ratings")


@pytest.fixture
def study(source, monkeypatch):
    monkeypatch.setattr(MovieStudy, "schedule", SHORT)
    monkeypatch.setattr(MovieStudy, "constants", {"completion_iterations": 3})
    return MovieStudy(source)


@pytest.fixture
def target(study):
    return study.subjects[0]


def test_the_papers_targets_need_no_data():
    study = make_study("movies")
    assert study.subjects == ("star-wars", "contact", "fargo", "return-of-the-jedi", "liar-liar")
    assert study.check_subject("Liar, Liar") == "liar-liar"
    assert study.title("return-of-the-jedi") == "Return of the Jedi"


@pytest.mark.parametrize(
    ("subject", "features", "order"),
    [
        ("star-wars", 64, 3),
        ("contact", 64, 3),
        ("fargo", 16, 4),
        ("return-of-the-jedi", 32, 4),
        ("liar-liar", 16, 3),
        ("movie-7", 64, 3),
    ],
)
def test_the_papers_hyper_parameters(subject, features, order):
    study = make_study("movies")
    for model in study.creation:
        found = study.paper_hypers(subject, model)
        assert found == tuple(Hyper(rate, features, order) for rate in (0.001, 0.005, 0.01))
    assert study.paper_hypers(subject, "rmgcnn") == (Hyper(),)


def test_other_ratings_have_their_most_rated_movies_as_subjects(study):
    counts = dict(zip(RATINGS.titles, RATINGS.counts(), strict=True))
    most = sorted(counts.values(), reverse=True)[:5]
    assert [counts[study.title(subject)] for subject in study.subjects] == most


@pytest.mark.parametrize(
    ("name", "key"),
    [("movie-7", "movie-7"), ("Movie 7", "movie-7"), ("MOVIE 7 (1977)", "movie-7"), ("7", "movie-7")],
)
def test_a_movie_is_found_by_key_title_or_id(study, name, key):
    assert study.check_subject(name) == key


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Mvie 7", "unknown movie 'Mvie 7'; did you mean movie-7"),
        ("Solaris", "unknown movie 'Solaris'; known are movie-"),
        ("²", "unknown movie '²'; known are movie-"),
        ("movie", "24 titles fit 'movie'"),
        ("999", "there is no item with id 999 among the 24 items"),
        (" ", "the title of an item must have letters or digits"),
    ],
)
def test_names_of_no_movie(study, name, message):
    with pytest.raises(ValueError, match=message):
        study.check_subject(name)


def test_titles_that_are_alike_get_keys_of_their_own(tmp_path):
    folder = tmp_path / "twins"
    write(folder)
    titles = ["Kolya (1996)", "Kolya (1996)", "Kolya (1950)", *(f"Movie {i}" for i in range(3, 24))]
    items = zip(RATINGS.item_ids, titles, strict=True)
    (folder / "u.item").write_text("\n".join(f"{item}|{title}|" for item, title in items))
    study = MovieStudy(str(folder))
    keys = ["kolya-1996-1", "kolya-1996-2", "kolya-1950"]
    assert [study.check_subject(key) for key in keys] == keys
    assert [study.dataset(Data(key)).node for key in keys] == [0, 1, 2]


def test_keys_name_one_movie_each_and_numbers_are_ids_first(tmp_path):
    folder = tmp_path / "alike"
    write(folder)
    titles = [
        "Foo 1996 (1990)",
        "Foo (1996)",
        "Foo (1950)",
        "7 (1995)",
        "8",
        "?!",
        *(f"Movie {i}" for i in range(6, 24)),
    ]
    items = zip(RATINGS.item_ids, titles, strict=True)
    (folder / "u.item").write_text("\n".join(f"{item}|{title}|" for item, title in items))
    study = MovieStudy(str(folder))
    assert study._keys[:7] == ("foo-1996-1", "foo-1996-2", "foo-1950", "7-1995", "8-5", "6", "movie-6")
    assert all(study.check_subject(key) == key for key in study._keys)
    assert study.check_subject("7") == "movie-6"
    assert study.check_subject("7 (1995)") == "7-1995"
    assert study.title("foo-1996-1") == "Foo 1996"


def test_movies_that_are_rated_too_seldom_are_told_so(study, monkeypatch):
    monkeypatch.setattr("nvgf.experiments.movies.MOVIES", 10)
    counts = RATINGS.counts()
    place = int(counts.argmin())
    message = rf"Movie {place + 1} \(1977\) has {counts[place]} ratings and is not among the 10 most rated movies"
    for name in (f"Movie {place + 1} (1977)", str(place + 1), f" movie-{place + 1}-1977"):
        with pytest.raises(ValueError, match=message):
            study.check_subject(name)


@pytest.mark.parametrize("setting", ["paper", "centred"])
def test_the_task_is_that_of_the_dataset(study, setting):
    task = study.task(Data("movie-7", 3, setting, "user"))
    wanted = MovieDataset(study.ratings, 7, split=3, scaling=setting).task
    assert task.node == wanted.node
    for part in ("train", "valid", "test"):
        assert torch.equal(getattr(task, part).x, getattr(wanted, part).x)
        assert torch.equal(getattr(task, part).y, getattr(wanted, part).y)
    assert torch.equal(task.shift.to_dense(), wanted.shift.to_dense())


def test_the_fingerprint_is_of_ratings_and_options_alone(study, tmp_path):
    shuffled = MovieStudy(write(tmp_path / "shuffled", order=np.random.default_rng(0).permutation(len(RATINGS))))
    values = RATINGS.values.copy()
    values[0] = 6 - values[0] if values[0] != 3 else 1
    other = MovieStudy(write(tmp_path / "other", values))
    data = Data("movie-7", 1, "paper", "user")
    base = study.fingerprint(data)
    assert shuffled.fingerprint(data) == base
    changed = [
        other.fingerprint(data),
        study.fingerprint(Data("movie-8", 1, "paper", "user")),
        study.fingerprint(Data("movie-7", 2, "paper", "user")),
        study.fingerprint(Data("movie-7", 1, "centred", "user")),
    ]
    assert len({base, *changed}) == 5


def test_the_iterations_of_completions_are_part_of_every_key(study, monkeypatch):
    cell = Cell("movies", Data("movie-7", 0, "paper", "user"), "rmgcnn", Hyper(), 0)
    before = cell_key(cell, study)
    monkeypatch.setattr(MovieStudy, "constants", {"completion_iterations": 4})
    assert cell_key(cell, study) != before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data("movie-7", 0, "scaled"), "setting must be one of paper, centred, got 'scaled'"),
        (Data("solaris", 0, "paper"), "there is no movie 'solaris' among the 24 most rated"),
    ],
)
def test_wrong_data(study, data, message):
    with pytest.raises(ValueError, match=message):
        study.task(data)


def test_no_ratings_at_all(monkeypatch, tmp_path):
    monkeypatch.delenv("NVGF_DATA", raising=False)
    monkeypatch.setattr("nvgf.movies.fetch.cache_folder", lambda: tmp_path)
    with pytest.raises(FileNotFoundError, match=r"run `nvgf movies fetch` .* or name a local copy with --data"):
        _ = MovieStudy().ratings
    with pytest.raises(FileNotFoundError, match="there is no ratings file or folder /nowhere"):
        _ = MovieStudy("/nowhere").subjects


@pytest.mark.parametrize("model", RIVALS)
def test_simple_rivals_are_scored_on_both_parts(study, target, model):
    outcome = study.run_baseline(model, Data(target, 2, "centred", "user"), seed=2)
    score = score_simple(MovieDataset(study.ratings, study.title(target), split=2), model, seed=2)
    assert (outcome.valid_error, outcome.test_error) == (score.valid_rmse, score.rmse)


@pytest.mark.parametrize("model", ["rmgcnn", "rmcayley"])
def test_completions_are_the_same_together_and_one_by_one(study, target, model):
    datas = [Data(target, split, "paper", "user") for split in (0, 1)]
    together = MovieStudy(study.source).run_baselines(model, datas, [0, 1])
    for data, outcome in zip(datas, together, strict=True):
        alone = study.run_baseline(model, data, data.split)
        assert alone.test_error == pytest.approx(outcome.test_error, abs=1e-4)
        assert alone.extras == outcome.extras
        assert 0 <= outcome.extras["best_iteration"] < 3


def test_a_rival_is_not_run_again_for_another_setting(study, target, monkeypatch):
    first = study.run_baseline("rmgcnn", Data(target, 0, "paper", "user"), 0)
    monkeypatch.setattr("nvgf.movies.score_completion", None)
    assert study.run_baseline("rmgcnn", Data(target, 0, "centred", "user"), 0) == first
    with pytest.raises(TypeError):
        study.run_baseline("rmgcnn", Data(target, 1, "paper", "user"), 1)


def test_unknown_rivals_are_named(study, target):
    with pytest.raises(ValueError, match="unknown rival 'magic'"):
        study.run_baseline("magic", Data(target, 0, "paper", "user"), 0)


def test_costly_rivals_are_left_to_a_gpu(study):
    assert set(study.models) - set(study.default_models("cpu")) == {"rmgcnn", "rmcayley"}
    assert study.default_models("cuda") == study.models
    on_cpu, on_gpu = (
        {c.model for c in sweep_cells(study, grid="table", splits=1, device=place)} for place in ("cpu", "cuda")
    )
    assert on_gpu - on_cpu == {"rmgcnn", "rmcayley"}


def test_a_gpu_completes_all_targets_and_splits_at_once(study):
    cells = enumerate_cells(study, models=["rmgcnn"], settings=["paper"], splits=3)
    assert [len(batch) for batch in batches(cells, "cuda")] == [15]
    assert [len(batch) for batch in batches(cells, "cpu")] == [1] * 15


@pytest.mark.parametrize(("device", "sizes"), [("cpu", [2] * 10), ("cuda", [20])])
def test_a_rival_of_both_settings_is_one_piece_of_work(study, device, sizes):
    cells = enumerate_cells(study, models=["rmgcnn"], splits=2)
    assert {cell.data.setting for cell in cells} == {"paper", "centred"}
    assert [len(batch) for batch in batches(cells, device)] == sizes


def test_work_gives_a_row_for_every_cell_and_analyses_the_best_rate(study, target, monkeypatch):
    monkeypatch.setattr("nvgf.experiments.work.study_of", lambda name, source: study)
    monkeypatch.setattr(MovieStudy, "paper_hypers", lambda *_: (Hyper(0.001, 3, 1), Hyper(0.05, 3, 1)))
    names = ("lsigf", "design-nvgf", "learn-nvgf", "gcnn", "rmgcnn", "nearest-neighbour")
    monkeypatch.setattr(study, "baselines", ("rmgcnn", "nearest-neighbour"))
    cells = []
    for model in names:
        rates = (0.001, 0.05) if model in study.creation else (None,)
        for rate in rates:
            hyper = Hyper(rate, 3, 1) if rate else Hyper()
            data = Data(target, 0, "paper", "user")
            cells.append(Cell("movies", data, model, hyper, 0, analyse=model in study.creation))
    done = run_work(Work("movies", study.source, tuple(cells)))
    assert [one.row.model for one in done] == [cell.model for cell in cells]
    assert all(np.isfinite([one.row.valid_error, one.row.test_error]).all() for one in done)
    for model in study.creation:
        mine = [one for one in done if one.row.model == model]
        best = min(mine, key=lambda one: one.row.valid_error)
        (kept,) = [one for one in mine if one.analyses]
        assert kept is best
        spectra = dict(kept.analyses)[(target, "paper", "user", model)]
        assert spectra["hyper"]["learning_rate"] == best.row.learning_rate
    facts = dict(kept.analyses)[(target, "paper", "user", "data")]
    assert facts["ratings"] == len(RATINGS)
    assert facts["train"] + facts["valid"] + facts["test"] == RATINGS.counts().max()
    json.dumps(facts)


@pytest.mark.parametrize("setting", ["paper", "centred"])
def test_a_test_rating_changes_no_graph_no_signal_no_weight_and_no_prediction(study, target, setting, tmp_path):
    data = Data(target, 0, setting, "user")
    before = study.dataset(data)
    hidden = np.isin(RATINGS.users, before.users["test"]) & (RATINGS.items == before.node)
    values = RATINGS.values.copy()
    values[hidden] = np.where(values[hidden] == 3, 1, 6 - values[hidden])
    spoiled = MovieStudy(write(tmp_path / "spoiled", values))
    after = spoiled.dataset(data)
    assert not np.array_equal(before.labels("test"), after.labels("test"))
    assert torch.equal(before.task.shift.to_dense(), after.task.shift.to_dense())
    for part in ("train", "valid", "test"):
        assert torch.equal(getattr(before.task, part).x, getattr(after.task, part).x)
    for part in ("train", "valid"):
        assert torch.equal(getattr(before.task, part).y, getattr(after.task, part).y)
    for model in study.creation:
        one, two = (
            fit(Job(model, kept.task, {"features": 3, "order": 2}, 0.01, schedule=SHORT)) for kept in (before, after)
        )
        assert (one.curve, one.losses, one.valid_error) == (two.curve, two.losses, two.valid_error)
        assert one.test_error != two.test_error
        assert all(torch.equal(weights, two.state[name]) for name, weights in one.state.items())
    # Rivals do not know of settings.
    for model in study.baselines if setting == "paper" else ():
        one, two = (each.run_baseline(model, data, 0) for each in (study, spoiled))
        assert one.valid_error == two.valid_error
        assert one.test_error != two.test_error
        assert one.extras == two.extras


@pytest.mark.data
def test_counts_on_movielens(nvgf_data):
    study = MovieStudy(str(nvgf_data / "ml-100k"))
    assert study.subjects == tuple(PAPER_TARGETS)
    assert len(study.ratings) == 54746
    sizes = {subject: study.describe(subject) for subject in study.subjects}
    pairs = [facts["train"] + facts["valid"] + facts["test"] for facts in sizes.values()]
    assert pairs == [583, 509, 508, 507, 485]
    assert {facts["nodes"] for facts in sizes.values()} == {250}
    assert len(set(study._keys)) == 250
    with pytest.raises(ValueError, match=r"Hamlet \(1996\) has [0-9]+ ratings and is not among the 250 most rated"):
        study.check_subject("Hamlet")
    assert all(study.check_subject(key) == key for key in study._keys)
