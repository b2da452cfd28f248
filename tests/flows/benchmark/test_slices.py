"""Slices of a benchmark study, beside pandas, SciPy and statsmodels."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import f1_score
from statsmodels.stats.multitest import multipletests

from sigstats.flows.api.run import run_study

N = 240


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    sex, age = rng.choice(["f", "m", None], N, p=[0.5, 0.4, 0.1]), rng.integers(20, 80, N)
    label = np.where(sex == "m", rng.random(N) < 0.5, age > 50)
    return pd.DataFrame({"sex": sex, "age": age, "x": age + rng.normal(0, 9, N), "label": np.where(label, "yes", "no")})


@pytest.fixture(scope="module")
def study(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    rows.to_csv(path, index=False)
    return {
        "kind": "benchmark",
        "name": "s",
        "seed": 2,
        "datasets": [{"name": "rows", "source": "csv", "path": str(path), "target": "label"}, "iris"],
        "classifiers": ["naive-bayes", "decision-tree", "lda"],
        "cross_validation": {"folds": 4},
        "tests": ["mcnemar"],
        "measures": ["macro-f1"],
        "slices": ["sex", "age"],
    }


@pytest.fixture(scope="module")
def found(study, tmp_path_factory):
    return run_study(study, output=tmp_path_factory.mktemp("study"), cluster="serial")


@pytest.fixture(scope="module")
def parts(rows):
    """The rows of each slice."""
    sex = {f"sex = {name}": np.flatnonzero(rows.sex == name) for name in ("f", "m")}
    missing = {"sex is missing": np.flatnonzero(rows.sex.isna())}
    bins = {
        f"age = {low} to {high}": None
        for low, high in rows.age.groupby(pd.qcut(rows.age, 4)).agg(["min", "max"]).to_numpy()
    }
    for name in bins:
        low, high = map(int, name.removeprefix("age = ").split(" to "))
        bins[name] = np.flatnonzero(rows.age.between(low, high))
    return {**sex, **missing, **bins}


def predictions(found, classifier):
    of = found.predictions(dataset="rows", classifier=classifier)
    return of.label.to_numpy(), of.prediction.to_numpy()


@pytest.mark.long
def test_each_value_of_a_feature_is_a_slice(found, parts, study):
    slices = found.summary[found.summary.test == "slices"]
    assert set(slices.slice) == set(parts)
    assert set(slices.dataset) == {"rows"}  # iris has no such features
    assert len(slices) == len(parts) * len(study["classifiers"]) * 2
    for row in slices.itertuples():
        label, said = (each[parts[row.slice]] for each in predictions(found, row.classifier))
        truth = (label == said).mean() if row.measure == "accuracy" else f1_score(label, said, average="macro")
        assert (row.n, row.estimate) == (len(label), pytest.approx(truth))
        assert row.estimate_low <= row.estimate <= row.estimate_high


def test_pairs_are_compared_on_each_slice_and_adjusted_together(found, parts):
    pairs = found.summary[found.summary.test == "sliced-pairs"]
    assert len(pairs) == len(parts) * 3 * 2
    exact = pairs[pairs.method == "McNemar, exact"]
    assert len(exact) == len(parts) * 3
    for row in exact.itertuples():
        label, a = predictions(found, row.a)
        right_a, right_b = (each[parts[row.slice]] for each in (a == label, predictions(found, row.b)[1] == label))
        only_a, only_b = (right_a & ~right_b).sum(), (right_b & ~right_a).sum()
        truth = binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
        assert row.p_value == pytest.approx(truth)
        assert row.estimate == pytest.approx((only_a - only_b) / len(right_a))
    for _, family in pairs.groupby("method"):
        np.testing.assert_allclose(family.p_holm, multipletests(family.p_value, method="holm")[1])
    assert pairs.method.nunique() == 2


def test_the_report_has_a_table_of_slices(found):
    page = Path(found.report).read_text()
    assert "Where is each classifier better or worse?" in page
    assert "By accuracy the worst of 21 is" in page
    assert "42 comparisons of two classifiers on a slice; " in page


@pytest.mark.parametrize(
    ("slices", "complaint"),
    [
        (["sxe"], "slices: 'sxe' is not valid; expected a feature of a data set, such as .*did you mean 'sex'"),
        (["sex", "sex"], "slices: 'sex' is not valid; expected each name once"),
    ],
)
def test_slices_by_what_is_no_feature_are_refused(study, tmp_path, slices, complaint):
    with pytest.raises(ValueError, match=complaint):
        run_study({**study, "slices": slices}, output=tmp_path / "out", cluster="serial")
    assert not (tmp_path / "out").exists()
