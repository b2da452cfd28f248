"""Repeated cross-validation and leave-one-out in a benchmark study, beside scikit-learn and the formulas."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, PredefinedSplit, cross_val_predict

from sigstats.flows.api.run import run_study
from sigstats.learners import build

CLASSIFIERS = ["1-nn", "naive-bayes", "lda"]
X, Y = load_iris(return_X_y=True)


def study(tmp_path, **settings):
    values = {
        "kind": "benchmark",
        "name": "s",
        "seed": 4,
        "datasets": ["iris"],
        "classifiers": CLASSIFIERS,
        "tests": ["corrected-resampled"],
        **settings,
    }
    return run_study(values, output=tmp_path / "output", cluster="serial")


def differences(found, a, b):
    """Of the accuracies on each fold of each repetition, a less b, from the stored predictions."""
    scores = []
    for name in (a, b):
        rows = [found.replicates(fanout=fanout, classifier=name) for fanout in ("crossval", "repetition")]
        right = [(each.label == each.prediction).groupby([each.replicate, each.fold]).mean() for each in rows]
        scores.append(np.concatenate(right))
    return scores[0] - scores[1]


def test_repetitions_are_those_of_scikit_learn_on_their_folds(tmp_path):
    found = study(tmp_path, cross_validation={"folds": 5, "repeats": 3})
    folds = {}
    for name in CLASSIFIERS:
        repeated = found.replicates(fanout="repetition", classifier=name)
        for number, rows in repeated.groupby("replicate"):
            split = PredefinedSplit(rows.fold)
            assert (cross_val_predict(clone(build(name)), X, Y, cv=split) == rows.prediction).all()
            assert (rows.label.to_numpy() == Y).all()
            folds.setdefault(number, []).append(rows.fold.to_numpy())
            # 50 rows of a class in 5 folds
            assert (np.bincount(5 * rows.label + rows.fold) == 10).all()
    assert list(folds) == [0, 1]
    assert all((one == each[0]).all() for each in folds.values() for one in each)
    observed = found.replicates(fanout="crossval", classifier="1-nn").fold.to_numpy()
    assert len({tuple(each) for each in (observed, folds[0][0], folds[1][0])}) == 3


def test_the_corrected_t_is_that_of_nadeau_and_bengio(tmp_path):
    found = study(tmp_path, cross_validation={"folds": 5, "repeats": 3})
    for row in found.summary.to_dict("records"):
        d = differences(found, row["a"], row["b"])
        assert len(d) == 15
        t = d.mean() / np.sqrt((1 / 15 + 1 / 4) * d.var(ddof=1))
        assert row["method"] == "corrected t"
        assert row["estimate"] == pytest.approx(d.mean(), abs=1e-15)
        assert row["p_value"] == pytest.approx(2 * t_distribution.sf(abs(t), 14), rel=1e-9)


def test_five_repetitions_of_two_folds_are_tested_by_f(tmp_path):
    found = study(tmp_path, cross_validation={"folds": 2, "repeats": 5})
    for row in found.summary.to_dict("records"):
        d = differences(found, row["a"], row["b"]).reshape(5, 2)
        f = (d**2).sum() / (2 * d.var(axis=1, ddof=1).sum())
        assert (row["method"], row["statistic"]) == ("5x2cv F", pytest.approx(f))
        assert row["p_value"] == pytest.approx(f_distribution.sf(f, 10, 5), rel=1e-9)
    page = (tmp_path / "output" / "report.html").read_text()
    assert "Would the algorithm do better on other training sets of this size?" in page
    assert "5 repetitions of 2 folds" in page


@pytest.mark.long
def test_leaving_out_one_row_at_a_time(tmp_path):
    settings = {"tests": ["mcnemar"], "datasets": ["iris"], "classifiers": ["1-nn", "naive-bayes"]}
    found = study(tmp_path, cross_validation={"folds": "leave-one-out"}, **settings)
    for name in settings["classifiers"]:
        rows = found.predictions(classifier=name)
        assert rows.fold.tolist() == list(range(150))
        wrong = (cross_val_predict(build(name), X, Y, cv=LeaveOneOut()) != Y).sum()
        assert (rows.label != rows.prediction).sum() == wrong


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"cross_validation": {"folds": "leave-one-out", "repeats": 2}}, "repeats: 2 is not valid; expected 1"),
        ({"cross_validation": {"folds": "leave one out"}}, "folds: 'leave one out' is not valid; expected a whole"),
        ({"cross_validation": {"folds": 2.5}}, "folds: 2.5 is not valid; expected a whole number from 2 to 1000"),
        ({"cross_validation": {"folds": "leave-one-out"}}, "'corrected-resampled' is not valid with leave-one-out"),
        ({"cross_validation": {"repeats": 0}}, "cross_validation.repeats: 0 is not valid"),
    ],
)
def test_designs_that_say_nothing_are_refused(tmp_path, settings, complaint):
    with pytest.raises(ValueError, match="is not valid") as raised:
        study(tmp_path, **settings)
    assert complaint in str(raised.value)
    assert not (tmp_path / "output").exists()


def test_a_study_that_repeats_and_names_no_test_has_that_of_the_repetitions(tmp_path):
    values = {"kind": "benchmark", "name": "s", "datasets": ["iris"], "classifiers": ["1-nn", "lda"]}
    values |= {"cross_validation": {"repeats": 2}, "permutation": {"nulls": []}}
    found = run_study(values, output=tmp_path, cluster="serial")
    assert set(found.summary.test) == {"mcnemar", "corrected-resampled"}


def test_files_that_are_elsewhere_are_all_named_at_once(tmp_path):
    tables = [
        {"name": f"t{number}", "source": "csv", "path": f"t{number}.csv", "target": "class"} for number in range(7)
    ]
    (tmp_path / "t3.csv").write_text("a,class\n1,x\n2,y\n")
    with pytest.raises(ValueError, match="are missing") as raised:
        study(tmp_path, datasets=["iris", *tables], folder=str(tmp_path))
    assert str(raised.value) == (
        "study: datasets: 6 of 7 files are missing: t0.csv, t1.csv, t2.csv, t4.csv, t5.csv and 1 more; expected them "
        f"in {tmp_path} (folder=DIR if they are elsewhere)"
    )
