import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nvgf.experiments import Data
from nvgf.experiments.analysis import analyse_data, analyse_model, binned, gather, rounded, spread_of
from nvgf.experiments.baselines import STRENGTHS, linear_classifier
from nvgf.models import GCNN, LSIGF, DesignNVGF, LearnNVGF
from nvgf.spectral import Spectrum, transfer_matrix


@pytest.fixture
def task(study):
    return study.task(Data("ann"))


def seeded(cls, task):
    model = cls(task.shift.num_nodes, features=6, order=2)
    model.reset_parameters(torch.Generator().manual_seed(0))
    return model.eval()


def test_the_input_spectrum_is_the_gft_of_the_test_signals(study, task):
    found = analyse_data(study, Data("ann"), task)
    values, vectors = np.linalg.eigh(task.shift.to_dense().double().numpy())
    hats = np.abs(task.test.x[..., 0].double().numpy() @ vectors)
    np.testing.assert_allclose(found["eigenvalues"], values, atol=2e-4)
    np.testing.assert_allclose(found["input_mean"], hats.mean(0), atol=2e-4)
    np.testing.assert_allclose(found["input_std"], hats.std(0, ddof=1), atol=2e-4)
    energy = (hats**2).mean(0)
    upper = values > (values[0] + values[-1]) / 2
    assert found["input_high_share"] == pytest.approx(energy[upper].sum() / energy.sum())
    assert found["last_is_positive"]
    assert found["nodes"] == len(found["names"]) == len(values)
    linked = task.shift.to_dense().numpy() != 0
    assert found["edges"] == sum(
        linked[i, j] or linked[j, i] for i in range(len(linked)) for j in range(i, len(linked))
    )


def test_lsigf_answers_with_its_input_and_gcnn_cannot_create_from_a_positive_vector(task):
    lsigf, gcnn = (analyse_model(seeded(cls, task), task.shift, {}) for cls in (LSIGF, GCNN))
    for found in (lsigf["last"], lsigf["first"], gcnn["last"]):
        assert found["own_share"] == pytest.approx(1.0)
        assert found["entropy"] == pytest.approx(0.0, abs=1e-9)
        assert "peak_other" not in found
    assert gcnn["first"]["own_share"] < 0.999
    assert gcnn["first"]["peak_other"] == 1.0


def test_learn_nvgf_has_the_transfer_map_of_its_composed_filter(task):
    model = seeded(LearnNVGF, task)
    taps = model.composed_taps().detach().double().unsqueeze(2)
    expected = transfer_matrix(taps, task.shift.to(dtype=torch.float64)).square().sum((0, 1))
    spectrum = Spectrum.of(task.shift.to(dtype=torch.float64))
    found = analyse_model(model, task.shift, {"features": 6})
    np.testing.assert_allclose(np.square(found["transfer"]), expected.numpy(), atol=2e-3 * float(expected.max()))
    outputs = transfer_matrix(taps, spectrum)[0, :, :, -1]
    np.testing.assert_allclose(found["outputs"], outputs.numpy(), atol=2e-3 * float(outputs.abs().max()))
    assert found["creation"] > 0.1


def test_the_offset_of_design_nvgf_is_no_answer_to_the_input(task):
    designed = DesignNVGF.from_gcnn(seeded(GCNN, task), task.train.x - task.train.x.mean(), task.shift)
    offset = designed.activation(0).offset
    assert float(offset.abs().max()) > 0
    found = analyse_model(designed, task.shift, {})
    offset.zero_()
    without = analyse_model(designed, task.shift, {})
    assert found["creation"] == pytest.approx(without["creation"])
    assert found["last"] == pytest.approx(without["last"])
    np.testing.assert_allclose(found["outputs"], without["outputs"], atol=1e-3 * np.max(without["outputs"]))


def test_an_analysis_of_the_papers_size_is_small():
    outputs = rounded(torch.randn(64, 200, generator=torch.Generator().manual_seed(0)))
    transfer = rounded(binned(torch.rand(200, 200)))
    assert len(json.dumps([outputs, transfer], separators=(",", ":"))) < 130_000


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 60))
def test_bins_keep_the_mean(size, bins):
    matrix = torch.ones(size, size, dtype=torch.float64)
    found = binned(matrix, bins)
    assert found.shape == (min(size, bins),) * 2
    torch.testing.assert_close(found, torch.ones_like(found))


def test_nothing_in_gives_no_measures():
    assert spread_of(torch.zeros(5, 2), -1) == {}
    assert rounded(torch.zeros(2)) == [0.0, 0.0]


def test_the_papers_setting_comes_first_and_others_beside_it(study):
    analyses = {
        ("ann", setting, "excerpt", part): {"value": f"{setting} {part}"}
        for setting in ("scaled", "paper")
        for part in ("data", "gcnn")
    }
    ann = gather(study, analyses)["subjects"]["ann"]
    assert (ann["setting"], ann["value"], ann["models"]["gcnn"]["value"]) == ("paper", "paper data", "paper gcnn")
    assert ann["others"]["scaled/excerpt"]["models"]["gcnn"]["value"] == "scaled gcnn"


@pytest.mark.parametrize("name", ["logistic-regression", "linear-svm"])
def test_a_linear_classifier_takes_the_strength_that_validates_best(task, name):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    scaler = StandardScaler().fit(task.train.x[..., 0].double().numpy())
    parts = {
        part: (scaler.transform(getattr(task, part).x[..., 0].double().numpy()), getattr(task, part).y.numpy())
        for part in ("train", "valid", "test")
    }
    errors = []
    for strength in STRENGTHS:
        make = {"logistic-regression": LogisticRegression, "linear-svm": LinearSVC}[name]
        model = make(C=strength, max_iter=20000, random_state=0, **({"dual": False} if name == "linear-svm" else {}))
        model.fit(*parts["train"])
        errors.append([1 - model.score(*parts[part]) for part in ("valid", "test")])
    best = min(range(len(errors)), key=lambda i: errors[i][0])
    found = linear_classifier(name, task)
    assert (found.valid_error, found.test_error) == pytest.approx(tuple(errors[best]))
    assert found.extras == {"C": STRENGTHS[best]}


def test_an_unknown_classifier_is_named(task):
    with pytest.raises(ValueError, match="name must be one of logistic-regression, linear-svm, got 'tree'"):
        linear_classifier("tree", task)
