"""The summary of a study against the definitions, from the stored replicates themselves."""

import numpy as np
import pytest
from scipy.stats import MonteCarloMethod, binomtest, fisher_exact
from sklearn.metrics import confusion_matrix, f1_score

from sigstats import efficiency_test
from sigstats.tasks.results import Results

from ...flows.synthetic_study import make_study


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return Results(make_study(str(tmp_path_factory.mktemp("study"))))


def rows(results, test):
    return [row for row in results.summary.to_pylist() if row["test"] == test and row["decision"] != "missing"]


def runs(results):
    tables = {}
    for cell in results.cells("crossval"):
        table = results.table(cell)
        if table is not None:
            key = (cell.subject["dataset"], cell.subject["classifier"])
            tables[key] = (table.column("label").to_numpy(), table.column("prediction").to_numpy())
    return tables


def test_permutation_p_counts_replicates_at_most_as_wrong(results):
    found = runs(results)
    for null in ("labels", "features"):
        for row in rows(results, f"permutation-{null}"):
            label, prediction = found[row["dataset"], row["classifier"]]
            (cell,) = results.cells("retrain", dataset=row["dataset"], classifier=row["classifier"], null=null)
            wrong = results.table(cell).column("wrong").to_numpy()
            as_good = sum(int(value) <= int((label != prediction).sum()) for value in wrong)
            assert row["exceedances"] == as_good
            assert row["p_value"] == (as_good + 1) / (len(wrong) + 1)
            assert row["p_low"] <= row["exceedances"] / row["replicates"] <= row["p_high"]
            assert row["estimate"] == np.mean(label != prediction)


def test_efficiency_is_that_of_the_confusion_matrix(results):
    found = runs(results)
    for row in rows(results, "efficiency"):
        expected = efficiency_test(confusion_matrix(*found[row["dataset"], row["classifier"]]), method="exact")
        assert row["p_value"] == expected.pvalue
        assert row["log10_p"] == expected.log10_pvalue


def test_mcnemar_is_the_binomial_test_of_the_discordant_rows(results):
    found = runs(results)
    checked = 0
    for row in rows(results, "mcnemar"):
        label, a = found[row["dataset"], row["a"]]
        _, b = found[row["dataset"], row["b"]]
        only_a, only_b = int(((a == label) & (b != label)).sum()), int(((b == label) & (a != label)).sum())
        if only_a + only_b:
            assert row["p_value"] == pytest.approx(binomtest(only_a, only_a + only_b).pvalue, rel=1e-12)
            checked += 1
        assert row["estimate"] == pytest.approx(np.mean(a == label) - np.mean(b == label))
    assert checked


@pytest.mark.long
def test_adjustment_is_over_the_rows_of_one_test(results):
    from statsmodels.stats.multitest import multipletests

    for test in {row["test"] for row in results.summary.to_pylist()}:
        family = rows(results, test)
        raw = [row["p_value"] for row in family]
        for column, method in (("p_holm", "holm"), ("p_by", "fdr_by")):
            np.testing.assert_allclose(
                [row[column] for row in family], multipletests(raw, method=method)[1], rtol=1e-12
            )
        for row in family:
            assert row["decision"] == ("reject" if row["p_adjusted"] <= results.plan.alpha else "keep")
            assert row["pd"] >= row["psd"] >= row["nsd"]
            assert row["pd"] == pytest.approx(min(1, 2 * row["p_value"]))  # Hryniewicz, eq. (29)


def test_what_is_missing_is_named(results):
    missing = [row for row in results.summary.to_pylist() if row["decision"] == "missing"]
    assert missing
    assert all(row["p_value"] is None and row["p_adjusted"] is None for row in missing)


@pytest.fixture(scope="module")
def paired(tmp_path_factory):
    return Results(make_study(str(tmp_path_factory.mktemp("paired")), analyses=("mcnemar", "homogeneity", "bootstrap")))


@pytest.mark.long
def test_pairs_are_compared_by_their_right_predictions_of_each_class(paired):
    found = runs(paired)
    compared = rows(paired, "homogeneity")
    assert len(compared) == 4 * 6
    for row in compared:
        k = 1 + max(label.max() for label, _ in found.values())
        counts = []
        for name in (row["a"], row["b"]):
            label, prediction = found[row["dataset"], name]
            counts.append([int(((label == c) & (prediction == c)).sum()) for c in range(k)])
            counts[-1].append(len(label) - sum(counts[-1]))
        table = np.array([row for row in np.array(counts).T if row.any()]).T
        assert row["n"] == table.sum()
        assert 0 <= row["p_low"] <= row["p_value"] == row["p_high"] <= 1
        if row["method"] == "bounds":
            # The upper bound is a p-value of Fisher, Freeman and Halton; SciPy estimates it from random tables.
            drawn = fisher_exact(table, method=MonteCarloMethod(n_resamples=4999, rng=np.random.default_rng(1)))
            assert abs(row["p_value"] - drawn.pvalue) < 5 * 0.5 / 4999**0.5
    assert {row["method"] for row in compared} == {"bounds", "chi2"}


@pytest.mark.long
def test_bootstrap_differences_are_those_of_macro_f1(paired):
    found = runs(paired)
    compared = rows(paired, "bootstrap")
    assert len(compared) == 4 * 6
    for row in compared:
        (label, a), (_, b) = (found[row["dataset"], row[name]] for name in ("a", "b"))
        difference = f1_score(label, a, average="macro") - f1_score(label, b, average="macro")
        assert row["estimate"] == pytest.approx(difference, abs=1e-12)
        assert row["estimate_low"] <= row["estimate"] <= row["estimate_high"]
        # the test and the interval at its level agree
        assert (row["p_value"] < 0.05) == (not row["estimate_low"] <= 0 <= row["estimate_high"])
