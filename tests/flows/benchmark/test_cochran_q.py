"""Cochran's Q of a benchmark, beside statsmodels and McNemar's chi-square for two."""

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

from sigstats.flows.api.run import run_study
from sigstats.tasks.statistical_tests import ObservedRun
from sigstats.tasks.statistical_tests.cochran_q import TEST


def runs_of(right):
    label = np.zeros(len(right), dtype=np.int64)
    return [ObservedRun(label, np.where(column, 0, 1)) for column in np.asarray(right, dtype=bool).T]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_q_and_p_are_those_of_statsmodels(k):
    rng = np.random.default_rng(k)
    for chance in (0.5, 0.8):
        right = rng.random((60, k)) < chance + 0.03 * np.arange(k)
        found, expected = TEST.runs.compute(runs_of(right), ""), cochrans_q(right.astype(int))
        assert found["statistic"] == pytest.approx(expected.statistic, rel=1e-12)
        assert found["p_value"] == pytest.approx(expected.pvalue, rel=1e-9)


def test_of_two_it_is_mcnemar_s_chi_square():
    right = np.array([[1, 0]] * 9 + [[0, 1]] * 4 + [[1, 1]] * 7)
    expected = mcnemar([[7, 9], [4, 0]], exact=False, correction=False).pvalue
    assert TEST.runs.compute(runs_of(right), "")["p_value"] == pytest.approx(expected, rel=1e-12)


def test_classifiers_that_answer_alike_are_no_evidence():
    found = TEST.runs.compute(runs_of([[1, 1, 1], [0, 0, 0]]), "")
    assert (found["statistic"], found["p_value"]) == (0, 1)


def test_a_study_has_a_row_for_each_data_set_and_says_so(tmp_path):
    study = {"kind": "benchmark", "name": "q", "seed": 1, "datasets": ["iris", "wine"], "tests": ["cochran-q"]}
    classifiers = ["naive-bayes", "decision-tree", "dummy"]
    classifiers[2] = {"name": "guess", "learner": "sklearn.dummy.DummyClassifier"}
    found = run_study({**study, "classifiers": classifiers}, output=tmp_path / "out", cluster="serial")
    for row in found.summary.to_dict("records"):
        runs = [
            found.predictions(dataset=row["dataset"], classifier=name)
            for name in ("naive-bayes", "decision-tree", "guess")
        ]
        right = np.column_stack([each.label == each.prediction for each in runs]).astype(int)
        assert row["p_value"] == pytest.approx(cochrans_q(right).pvalue, rel=1e-9)
    assert list(found.summary.dataset) == ["iris", "wine"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "In all 2 data sets some of the classifiers differ (Cochran's Q" in page.replace("&#39;", "'")
