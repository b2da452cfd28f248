"""Classifiers over data sets, in the summary and as a table for papers, against SciPy and statsmodels."""

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon
from statsmodels.stats.multitest import multipletests

from sigstats.flows.api.results import open_results
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.report.page import render
from sigstats.tasks.results import Results

from ..synthetic_study import make_study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    analyses = ("mcnemar", "over-data-sets")
    return make_study(tmp_path_factory.mktemp("study"), lost=(), replicates=19, analyses=analyses)


def accuracies(store):
    results, of_run = Results(store), {}
    for cell in results.cells("crossval"):
        table = results.table(cell)
        of_run[cell.subject["dataset"], cell.subject["classifier"]] = np.mean(
            table["label"].to_numpy() == table["prediction"].to_numpy()
        )
    datasets, classifiers = (list(dict.fromkeys(names)) for names in zip(*of_run, strict=True))
    return datasets, classifiers, np.array([[of_run[d, c] for c in classifiers] for d in datasets])


def test_ranks_and_signed_rank_tests_are_rows_of_the_summary(study):
    summary = open_results(study.root).summary
    _, classifiers, scores = accuracies(study)
    ranked = summary.query("test == 'mean-rank'").set_index("classifier")["estimate"]
    assert ranked[classifiers].tolist() == pytest.approx(rankdata(-scores, axis=1).mean(axis=0))
    pairs = summary.query("test == 'signed-rank'").set_index(["a", "b"])
    expected = {}
    for i, j in itertools.combinations(range(len(classifiers)), 2):
        expected[classifiers[i], classifiers[j]] = wilcoxon(scores[:, i] - scores[:, j], method="exact").pvalue
    assert pairs["p_value"].to_dict() == pytest.approx(expected)
    holm = dict(zip(expected, multipletests(list(expected.values()), method="holm")[1], strict=True))
    assert pairs["p_adjusted"].to_dict() == pytest.approx(holm)
    assert (summary.query("test == 'friedman'")["n"] == len(scores)).all()


def test_rows_are_missing_with_too_few_finished_data_sets(tmp_path):
    lost = [(dataset, "1-nn") for dataset in ("digits", "iris")]
    store = make_study(tmp_path, lost=lost, replicates=19, analyses=("over-data-sets",))
    assert set(open_results(store.root).summary["decision"]) == {"missing"}
    one = make_study(tmp_path / "one", lost=lost[:1], replicates=19, analyses=("over-data-sets",))
    summary = open_results(one.root).summary
    assert set(summary["note"]) == {"unfinished data sets left out: 1"}
    assert set(summary["n"]) == {3}


def test_the_table_has_every_accuracy_and_marks_what_the_tests_reject(study):
    results = open_results(study.root)
    datasets, classifiers, scores = accuracies(study)
    frame = results.accuracies.to_pandas().set_index("dataset")
    assert frame.loc[datasets, classifiers].to_numpy() == pytest.approx(100 * scores)
    assert frame.loc["mean", classifiers].tolist() == pytest.approx(100 * scores.mean(axis=0))
    lines = [line.split(" & ") for line in results.accuracies.to_latex().replace(r" \\", "").splitlines()]
    cells = {line[0]: dict(zip(classifiers, line[1:], strict=True)) for line in lines if line[0] in datasets}
    rejected = results.summary.query("test == 'mcnemar' and decision == 'reject'")
    pairs = {(row.dataset, frozenset((row.a, row.b))) for row in rejected.itertuples()}
    assert pairs
    for dataset, row in zip(datasets, scores, strict=True):
        best = classifiers[row.argmax()]
        assert cells[dataset][best] == rf"\textbf{{{100 * row.max():.1f}}}"
        marked = {name for name in classifiers if cells[dataset][name].endswith("†")}
        assert marked == {name for name in classifiers if (dataset, frozenset((best, name))) in pairs}
    bold = [cell.strip() for cell in results.accuracies.to_markdown().split("|") if "**" in cell]
    assert bold[: len(datasets)] == [f"**{100 * row.max():.1f}**" for row in scores]


def test_the_headline_is_which_classifiers_are_best(study):
    page = render(Evidence(Results(study)), config={}, versions={})
    _, classifiers, scores = accuracies(study)
    best = classifiers[scores.mean(axis=0).argmax()]
    assert f"<title>synthetic: {best} is " in page
    assert "Mean ranks on 4 data sets: " in page
