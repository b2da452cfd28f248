"""Permutation tests by a measure, the positive class, and measures over repetitions, in a benchmark study."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, roc_auc_score

from sigstats import corrected_resampled_test, permutation_test
from sigstats.flows.api.run import run_study

STUDY = {
    "kind": "benchmark",
    "name": "s",
    "seed": 2,
    "datasets": ["breast-cancer"],
    "classifiers": ["naive-bayes", "lda"],
    "cross_validation": {"folds": 3, "repeats": 3},
    "permutation": {"resamples": 19, "nulls": ["labels"]},
    "tests": ["permutation", "corrected-resampled"],
}
BY_F1 = {
    **STUDY,
    "permutation": {**STUDY["permutation"], "measure": "f1"},
    "measures": ["f1", "macro-f1", "auc"],
    "positive": "malignant",
}


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def found(output):
    plain = run_study(STUDY, output=output, cluster="serial")
    before = {path: path.read_bytes() for path in (output / "replicates").rglob("*.parquet")}
    families = plain.summary.set_index("test").loc["corrected-resampled", "p_adjusted"]
    grown = run_study(BY_F1, output=output, cluster="serial")
    assert all(path.read_bytes() == content for path, content in before.items())
    assert grown.summary.set_index("test").loc["corrected-resampled", "p_adjusted"] == families
    return grown


def rows(found, test, measure):
    chosen = found.summary[(found.summary.test == test) & (found.summary.measure == measure)]
    return chosen.set_index("classifier") if chosen.classifier.notna().all() else chosen


def test_permutations_are_those_of_the_library(found):
    tested = rows(found, "permutation-labels", "f1")
    for classifier, row in tested.iterrows():
        observed = found.predictions(dataset="breast-cancer", classifier=classifier)
        assert row.estimate == pytest.approx(f1_score(observed.label, observed.prediction, pos_label="malignant"))
        values = found.replicates(fanout="measured-retrain", classifier=classifier).value.to_numpy()
        assert row.p_value == ((values >= row.estimate - 1e-12).sum() + 1) / 20
        assert row.null_mean == pytest.approx(values.mean())
        assert row.alternative == "greater"
    # Other permutations have the same law
    X, y = load_breast_cancer(return_X_y=True)
    folds = found.predictions(dataset="breast-cancer", classifier="lda").fold.to_numpy()
    mine = permutation_test("lda", X, y, cv=folds, n_resamples=19, rng=1, measure="f1", positive=0)
    assert mine.statistic == pytest.approx(tested.loc["lda", "estimate"])
    assert abs(np.mean(mine.null_distribution) - tested.loc["lda", "null_mean"]) < 0.05


def test_the_positive_class_is_that_of_all_measures(found):
    for classifier, row in rows(found, "measures", "f1").iterrows():
        observed = found.predictions(dataset="breast-cancer", classifier=classifier)
        assert row.estimate == pytest.approx(f1_score(observed.label, observed.prediction, pos_label="malignant"))
        assert row.estimate_low < row.estimate < row.estimate_high
        scores = found.replicates(fanout="scores", classifier=classifier).probabilities
        area = roc_auc_score(load_breast_cancer().target, np.array(scores.tolist())[:, 1])
        assert rows(found, "measures", "auc").loc[classifier, "estimate"] == pytest.approx(area)


def test_measures_over_repetitions_are_means_over_folds(found):
    of_fold = {}
    for classifier in STUDY["classifiers"]:
        first = found.replicates(fanout="crossval", classifier=classifier)
        others = found.replicates(fanout="repetition", classifier=classifier)
        others = others.assign(replicate=others.replicate + 1)
        of_fold[classifier] = np.array(
            [
                f1_score(each.label, each.prediction, average="macro")
                for table in (first, others)
                for _, each in table.groupby(["replicate", "fold"])
            ]
        )
        assert len(of_fold[classifier]) == 9
        row = rows(found, "resampled-measures", "macro-f1").loc[classifier]
        assert row.estimate == pytest.approx(of_fold[classifier].mean())
        assert row.decision == "none"
    (pair,) = rows(found, "resampled-pairs", "difference of macro-f1 (a - b)").to_dict("records")
    expected = corrected_resampled_test(of_fold["naive-bayes"] - of_fold["lda"], n_train=2, n_test=1)
    assert pair["p_value"] == pytest.approx(expected.pvalue)
    assert pair["estimate_low"] == pytest.approx(expected.confidence_interval.low)
    assert "needs scores" in found.summary.set_index("test").loc["resampled-measures", "note"].iloc[-1]


def test_the_report_speaks_of_the_measure(found, output):
    page = (output / "report.html").read_text()
    assert "f1 under the null hypothesis" in page
    assert "whose f1 is at least the observed one" in page
    assert "Measures, repeated" in page
    assert "Algorithms by measures" in page
    assert found.plot.null(Axes(Figure(), (0, 0, 1, 1)), classifier="lda").get_xlabel() == "f1"
    assert "Measures: p-value" not in page  # a grid of what is not tested would be empty


def test_costs_are_a_measure_of_permutations(found, output):
    measure = "expected-cost(fn=10,fp=1)"
    study = {**BY_F1, "permutation": {**STUDY["permutation"], "measure": measure}, "measures": []}
    by_cost = run_study(study, output=output, cluster="serial")
    for classifier, row in rows(by_cost, "permutation-labels", measure).iterrows():
        observed = found.predictions(dataset="breast-cancer", classifier=classifier)
        sick, called = observed.label == "malignant", observed.prediction == "malignant"
        assert row.estimate == pytest.approx((10 * (sick & ~called) + (~sick & called)).mean())
        costs = -by_cost.replicates(fanout="measured-retrain", classifier=classifier).value.to_numpy()
        assert row.p_value == ((costs <= row.estimate + 1e-12).sum() + 1) / 20
        assert row.null_mean == pytest.approx(costs.mean())
        assert (row.alternative, costs.min() > 0) == ("less", True)
    page = (output / "report.html").read_text()
    assert f"whose {measure} is at most the observed one" in page
    assert f"the {measure} (less is better)" in page
    assert "Permutations to the left are at least as extreme" in page


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"permutation": {"measure": "macro-recal"}},
            "permutation.measure: 'macro-recal' is not valid.*did you mean 'macro-recall'",
        ),
        (
            {"datasets": ["iris"], "permutation": {"measure": "f1"}},
            "permutation.measure: 'f1' is not valid; expected macro-f1.* since there are 3 classes in iris",
        ),
        (
            {"classifiers": ["ridge"], "permutation": {"measure": "neg-log-loss"}},
            "classifiers: ridge: permutation.measure: 'neg-log-loss' is not valid; .*Classifier has no predict_proba",
        ),
        ({"positive": "ill"}, "positive: breast-cancer: 'ill' is not valid; expected one of malignant, benign"),
        ({"positive": {"breast": "benign"}}, "positive: 'breast' is not valid; expected one of the data sets"),
        (
            {"datasets": ["iris"], "positive": {"iris": "setosa"}},
            "positive: iris: 'setosa' is not valid; expected none, since the data set has 3 classes",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said) as caught:
        run_study({**STUDY, **change}, output=tmp_path / "out", cluster="serial")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_rule_stops_by_the_measure(tmp_path):
    study = {
        **STUDY,
        "datasets": ["iris"],
        "cross_validation": {"folds": 3},
        "tests": ["permutation"],
        "permutation": {"resamples": 400, "measure": "balanced-accuracy", "nulls": ["features"], "stopping": "gandy"},
    }
    table = run_study(study, output=tmp_path / "out", cluster="serial").summary.set_index("classifier")
    assert (table.replicates < 400).all()
    assert (table.decision == "keep").all()


@pytest.mark.long
def test_the_f1_of_rows_in_groups_has_a_value_and_an_interval(tmp_path):
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 80)
    lines = [f"p{row // 4},{rng.normal(y):.3f},{'ab'[y]}" for row, y in enumerate(label)]
    (tmp_path / "g.csv").write_text("who,x,y\n" + "\n".join(lines))
    study = {
        **STUDY,
        "folder": str(tmp_path),
        "datasets": [{"name": "g", "source": "csv", "path": "g.csv", "target": "y", "groups": "who"}],
        "classifiers": ["lda"],
        "cross_validation": {"folds": 4},
        "tests": ["permutation"],
        "permutation": {"resamples": 19, "nulls": ["labels"], "measure": "auc"},
        "measures": ["f1"],
        "positive": {"g": "a"},
    }
    found = run_study(study, output=tmp_path / "out", cluster="serial")
    row = rows(found, "measures", "f1").loc["lda"]
    predicted = found.predictions(dataset="g", classifier="lda")
    assert row.estimate == pytest.approx(f1_score(predicted.label, predicted.prediction, pos_label="a"))
    assert row.estimate_low < row.estimate < row.estimate_high
    assert rows(found, "permutation-labels", "auc").loc["lda", "p_value"] == 0.05
