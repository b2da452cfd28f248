"""The exchange test beside an enumeration with scikit-learn's measures, McNemar's test, and its level."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, f1_score, matthews_corrcoef

import sigstats
from sigstats.comparison import exchange
from sigstats.comparison.exchange import exchange_test
from sigstats.measures.measure import as_measure

BY_SKLEARN = {
    "macro-f1": lambda y, p: f1_score(y, p, average="macro", zero_division=0.0),
    "balanced-accuracy": balanced_accuracy_score,
    "mcc": matthews_corrcoef,
    "kappa": cohen_kappa_score,
}


def drawn(seed, n=40, differing=6):
    """Labels of three classes, and two models that differ on so many rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a = np.where(rng.random(n) < 0.8, y, rng.integers(0, 3, n))
    b = a.copy()
    where = rng.choice(n, differing, replace=False)
    b[where] = (a[where] + rng.integers(1, 3, differing)) % 3
    return y, a, b


def enumerated(y, a, b, units, measure):
    """The shares of all exchanges that are as bad for B, and as far from 0, as observed."""
    of = BY_SKLEARN[measure]
    observed = of(y, b) - of(y, a)
    differing = np.unique(units[a != b])
    found = []
    for chosen in itertools.product((False, True), repeat=len(differing)):
        swapped = np.isin(units, differing[list(chosen)])
        found.append(of(y, np.where(swapped, a, b)) - of(y, np.where(swapped, b, a)))
    return np.mean(np.array(found) <= observed + 1e-12), np.mean(np.abs(found) >= abs(observed) - 1e-12)


@pytest.mark.parametrize("measure", BY_SKLEARN)
@pytest.mark.parametrize("grouped", [False, True])
def test_it_is_the_share_of_all_exchanges(measure, grouped):
    y, a, b = drawn(7)
    group = np.arange(len(y)) // 4 if grouped else None
    units = np.arange(len(y)) if group is None else group
    found = exchange_test(y, a, b, measure=as_measure(measure), group=group)
    assert (found.p_worse, found.p_differs) == pytest.approx(enumerated(y, a, b, units, measure))
    assert (found.units, found.drawn) == (len(np.unique(units[a != b])), None)


@pytest.mark.parametrize(("only_a", "only_b"), [(4, 0), (6, 1), (2, 5), (3, 3)])
def test_of_accuracy_it_is_mcnemars_test(only_a, only_b):
    y = np.arange(90) % 3
    a, b = y.copy(), y.copy()
    b[:only_a] = (y[:only_a] + 1) % 3
    a[20 : 20 + only_b] = (y[20 : 20 + only_b] + 1) % 3
    found = exchange_test(y, a, b, measure=as_measure("micro-f1"))
    assert found.p_worse == pytest.approx(sigstats.mcnemar_test(only_a, only_b, alternative="greater").pvalue)
    assert found.p_differs == pytest.approx(sigstats.mcnemar_test(only_a, only_b).pvalue)


def test_random_exchanges_are_those_of_all_within_their_error(monkeypatch):
    y, a, b = drawn(3, n=60, differing=12)
    whole = exchange_test(y, a, b, measure=as_measure("macro-f1"))
    monkeypatch.setattr(exchange, "_CHUNK", 5_000)  # several chunks
    found = exchange_test(y, a, b, measure=as_measure("macro-f1"), most=4_000, rng=1)
    assert (whole.drawn, found.drawn) == (None, 4_000)
    for one, other in ((whole.p_worse, found.p_worse), (whole.p_differs, found.p_differs)):
        assert abs(one - other) < 5 * np.sqrt(one * (1 - one) / 4_000) + 1 / 4_000


def test_its_level_holds():
    """Of 1,000 sets on which neither is better, each level is exceeded with a chance below 1e-5 of a false alarm."""
    rng, ps = np.random.default_rng(11), []
    for _ in range(1_000):
        y, a, b = drawn(rng.integers(2**31), n=24, differing=5)
        swapped = rng.random(len(y)) < 0.5
        found = exchange_test(y, np.where(swapped, a, b), np.where(swapped, b, a), measure=as_measure("macro-f1"))
        ps.append(found.p_worse)
    for level in (0.05, 0.1, 0.25):
        assert np.count_nonzero(np.array(ps) <= level) <= binom.isf(1e-5, 1_000, level)


def test_four_rows_fail_nothing_and_five_do():
    """One-sided, four rows that A alone got right have p = 1/16 and five 1/32; of a bootstrap it was 0.017 and less."""
    y = np.arange(300) % 3
    for lost, verdict in ((4, "inconclusive"), (5, "fail")):
        b = np.where(np.arange(300) < lost, (y + 1) % 3, y)
        (row,) = sigstats.compare(y, y, b, measures=["macro-f1"]).rows
        assert (row.p_worse, row.p_differs) == (2.0**-lost, 2.0 ** (1 - lost))
        assert row.test == f"bootstrap; p of exchanges of {lost} rows, exact"
        assert row.verdict == verdict
    group = np.arange(300) // 3
    (row,) = sigstats.compare(y, y, np.where(group < 4, (y + 1) % 3, y), measures=["macro-f1"], groups=group).rows
    assert (row.p_worse, row.test) == (1 / 16, "bootstrap of 100 groups; p of exchanges of 4 groups, exact")


def test_a_measure_of_one_class_counts_that_class():
    y = np.array([0, 1] * 60)
    b = np.where(np.arange(120) < 7, 1 - y, y)
    found = exchange_test(y, y, b, measure=as_measure("f1"), positive=1)
    assert (found.p_worse, found.p_differs) == (2.0**-7, 2.0**-6)
