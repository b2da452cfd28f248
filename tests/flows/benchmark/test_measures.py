"""Other measures than accuracy in a benchmark study, beside scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from sigstats.flows.api.run import run_study
from sigstats.flows.benchmark.report.measures import verdict
from sigstats.learners import build
from sigstats.tasks.schema import Hypothesis
from sigstats.unseen_row.areas import area_pvalue, gains_of

from ...random_weights import NEAR, not_worse

STUDY = {
    "kind": "benchmark",
    "name": "s",
    "seed": 2,
    "datasets": ["iris", "breast-cancer"],
    "classifiers": ["naive-bayes", "ridge", "lda"],
    "cross_validation": {"folds": 4},
    "tests": ["mcnemar"],
}
MEASURES = ["balanced-accuracy", "macro-f1", "auc", "neg-log-loss"]


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def found(output):
    run_study(STUDY, output=output, cluster="serial")
    before = {path: path.read_bytes() for path in (output / "replicates").rglob("*.parquet")}
    grown = run_study({**STUDY, "measures": MEASURES}, output=output, cluster="serial")
    assert all(path.read_bytes() == content for path, content in before.items())
    return grown


def estimates(found, measure, dataset):
    chosen = (
        (found.summary.test == "measures") & (found.summary.measure == measure) & (found.summary.dataset == dataset)
    )
    return found.summary[chosen].set_index("classifier")


def scores(found, dataset, classifier):
    rows = found.replicates(fanout="scores", dataset=dataset, classifier=classifier)
    return rows.probabilities, rows.decision


def test_classifiers_with_the_same_value_are_tied_as_the_best():
    def sentence(*values):
        of = {"study": "s", "test": "measures", "method": "m", "alternative": "none", "null_hypothesis": "none"}
        rows = [
            Hypothesis(
                **of, cell="c", measure="macro-f1", dataset=dataset, classifier=name, estimate=value, decision="none"
            )
            for dataset, pair in enumerate(map(list, values))
            for name, value in zip(("a", "b", "c"), pair, strict=False)
        ]
        return verdict([row.with_(dataset=f"set {row.dataset}") for row in rows], None).headline

    assert sentence([0.9, 1.0, 1.0]) == "By macro-f1 b and c (tied) are the best, with 1.0000."
    assert sentence([0.9, 1.0, 0.99]) == "By macro-f1 b is the best, with 1.0000."
    assert sentence([0.1 + 0.2, 0.3]).startswith("By macro-f1 a and b (tied) are the best, with 0.3")
    assert sentence([1, 1], [1, 0], [1, 0]) == "By macro-f1 the best is a on 2 and a and b (tied) on 1 of 3 data sets."


@pytest.mark.long
def test_measures_of_predictions_are_scikit_learns(found):
    for name, score in (
        ("balanced-accuracy", balanced_accuracy_score),
        ("macro-f1", lambda y, said: f1_score(y, said, average="macro")),
    ):
        for dataset in STUDY["datasets"]:
            for classifier, row in estimates(found, name, dataset).iterrows():
                rows = found.predictions(dataset=dataset, classifier=classifier)
                assert row.estimate == pytest.approx(score(rows.label, rows.prediction), rel=1e-12)
                assert row.estimate_low <= row.estimate <= row.estimate_high
                assert row.decision == "none"


@pytest.mark.long
def test_scores_are_those_of_scikit_learn_on_the_folds(found):
    X, y = load_breast_cancer(return_X_y=True)
    folds = found.predictions(dataset="breast-cancer", classifier="lda").fold
    for classifier, method in (("lda", "predict_proba"), ("ridge", "decision_function")):
        expected = cross_val_predict(build(classifier), X, y, cv=PredefinedSplit(folds), method=method)
        probabilities, decision = scores(found, "breast-cancer", classifier)
        values = np.array(probabilities.tolist()) if method == "predict_proba" else decision.to_numpy()
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    assert scores(found, "breast-cancer", "ridge")[0].isna().all()


def test_measures_of_scores_are_scikit_learns(found):
    y = load_breast_cancer().target
    areas = estimates(found, "auc", "breast-cancer")
    of_lda = np.array(scores(found, "breast-cancer", "lda")[0].tolist())[:, 1]
    of_ridge = scores(found, "breast-cancer", "ridge")[1].to_numpy()
    assert areas.estimate["lda"] == pytest.approx(roc_auc_score(y, of_lda))
    assert areas.estimate["ridge"] == pytest.approx(roc_auc_score(y, of_ridge))
    for dataset in STUDY["datasets"]:
        losses = estimates(found, "neg-log-loss", dataset)
        for classifier in ("lda", "naive-bayes"):
            label = found.replicates(fanout="crossval", dataset=dataset, classifier=classifier).label
            said = np.array(scores(found, dataset, classifier)[0].tolist())
            said /= said.sum(axis=1, keepdims=True)
            assert losses.estimate[classifier] == pytest.approx(-log_loss(label, said), rel=1e-6)


@pytest.mark.long
def test_pairs_are_tested_by_the_measures_own_tests(found):
    pairs = found.summary[found.summary.test == "measured-pairs"]
    y = load_breast_cancer().target == 1
    (area,) = pairs[pairs.measure.str.contains("auc") & (pairs.a == "ridge") & (pairs.b == "lda")].to_dict("records")
    of_lda = np.array(scores(found, "breast-cancer", "lda")[0].tolist())[:, 1]
    of_ridge = scores(found, "breast-cancer", "ridge")[1].to_numpy()
    gained = roc_auc_score(y, of_lda) - roc_auc_score(y, of_ridge)
    assert area["estimate"] == pytest.approx(-gained)  # of ridge less lda
    assert area["p_value"] == pytest.approx(area_pvalue(gains_of(y, (of_ridge, of_lda))))
    (loss,) = pairs[pairs.measure.str.contains("log-loss") & (pairs.dataset == "iris")].to_dict("records")
    label = found.replicates(fanout="crossval", dataset="iris", classifier="lda").label.to_numpy()
    rows = [np.array(scores(found, "iris", name)[0].tolist())[np.arange(150), label] for name in ("naive-bayes", "lda")]
    gains = np.log(rows[1]) - np.log(rows[0])
    most = np.abs(gains).max()  # no limit of a loss is known
    smaller = min(not_worse(gains, most), not_worse(-gains, most))
    assert loss["p_value"] == pytest.approx(min(1, 2 * smaller), abs=2 * NEAR)
    assert set(pairs.measure.str.removeprefix("difference of ").str.removesuffix(" (a - b)")) == set(MEASURES)


def test_what_cannot_be_measured_is_said(found, output):
    notes = estimates(found, "auc", "iris").note
    assert (notes == "auc needs two classes, but there are 3").all()
    assert estimates(found, "neg-log-loss", "iris").note["ridge"] == (
        "neg-log-loss needs probabilities, which ridge does not provide"
    )
    page = (output / "report.html").read_text()
    assert "How good is each classifier by other measures?" in page
    assert "By macro-f1 the best is" in page


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"measures": ["macro-recal"]}, "measures: 'macro-recal' is not valid; did you mean 'macro-recall'?"),
        ({"measures": ["dcf"]}, "measures: 'dcf' is not valid"),
        ({"measures": ["auc", "auc"]}, "measures: 'auc' is not valid; expected each measure once"),
        ({"tests": ["measures"]}, "tests: 'measures' is not valid; expected measures = "),
        ({"tests": ["measure"]}, "tests: 'measure' is not valid; expected one of bootstrap, cochran-q"),
    ],
)
def test_measures_that_are_none_are_refused(tmp_path, more, complaint):
    with pytest.raises(ValueError, match="not valid") as raised:
        run_study({**STUDY, **more}, output=tmp_path / "output", cluster="serial")
    assert complaint in str(raised.value)
