"""Calibration of looks at rows that arrive: the p-values of each look, the order of the rows, the study."""

import numpy as np
import pytest

import sigstats
from sigstats.tasks import statistical_tests
from sigstats.tasks.statistical_tests.mcnemar import _METHODS_OF_LOOKS

from .conftest import completed

TEST = statistical_tests.of_sets("looks")
SIDES = ["two-sided", "greater", "less"]
NEW_A, NEW_B = np.array([3, 0, 9, 4]), np.array([0, 5, 1, 0])
STUDY = """\
kind = "calibration"
seed = 2
sizes = [40, 400]
trials = 150
tests = [{ test = "looks", new_rows = 20 }, { test = "looks", method = "chi2", new_rows = 20 }]

[[populations]]
name = "streams"
source = "simulated"
prevalence = [0.5]
recall = [0.8]
precision = [0.8]
dependence = [0.0]
"""


def eight(only_a, only_b, both):
    """Test sets, a row each."""
    zeros = np.zeros(6, dtype=np.int64)
    return np.r_[both, only_b, only_a, zeros[:5]][np.newaxis].astype(np.int64)


def in_order(sets, seed=0, **options):
    known = {name: option.default for name, option in TEST.options.items()}
    return TEST.pvalues(sets, np.random.default_rng(seed), **{**known, **options})


@pytest.mark.parametrize("side", SIDES)
def test_the_least_of_all_looks_is_the_pvalue_of_the_anytime_test(side):
    a, b = NEW_A.cumsum(), NEW_B.cumsum()
    labels, look = np.tile([1, -1], 4), np.repeat(np.arange(4), 2)
    found = sigstats.anytime_test(labels, counts=np.c_[NEW_A, NEW_B].ravel(), looks=look, alternative=side)
    assert _METHODS_OF_LOOKS["anytime"](a, b, side).min() == pytest.approx(found.pvalue, rel=1e-9)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("method", ["exact", "chi2"])
def test_each_look_is_mcnemars_test_of_all_rows_so_far(method, side):
    a, b = NEW_A.cumsum(), NEW_B.cumsum()
    wanted = [sigstats.mcnemar_test(x, y, alternative=side, method=method).pvalue for x, y in zip(a, b, strict=True)]
    assert _METHODS_OF_LOOKS[method](a, b, side) == pytest.approx(wanted, rel=1e-9)


def test_a_test_set_at_one_look_has_no_order():
    for method in ("exact", "chi2"):
        p = sigstats.mcnemar_test(7, 2, method=method).pvalue
        assert in_order(eight(7, 2, 30), method=method, new_rows=39)[0] == pytest.approx(p)


def test_every_order_of_the_rows_is_as_likely():
    """Of one row for each model, that for A comes first in half: its first look has p = 1/2, else the last has 3/4."""
    found = in_order(np.repeat(eight(1, 1, 0), 4000, axis=0), method="exact", new_rows=1, alternative="greater")
    assert set(found.tolist()) == {0.5, 0.75}
    assert abs(np.mean(found == 0.5) - 0.5) < 4 * 0.5 / 4000**0.5


def test_more_test_sets_begin_with_the_fewer():
    sets = np.repeat(eight(9, 5, 60), 7, axis=0)
    assert in_order(sets, new_rows=10)[:3].tolist() == in_order(sets[:3], new_rows=10).tolist()


def test_a_study_says_what_looks_cost(tmp_path, printed):
    stored = completed(tmp_path, STUDY)
    rates = {row["method"]: row["estimate"] for row in stored.summary.to_pylist() if row["n"] == 400}
    assert rates["looks (anytime, new_rows = 20)"] <= 0.05 < 0.1 < rates["looks (chi2, new_rows = 20)"]
    assert printed("replay", stored.store.root, "--trial", "120", "--only", "n=400").count("as stored") == 2
