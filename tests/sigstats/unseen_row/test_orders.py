"""Results that depend on random weights: neither names, nor the order of rows or models, change a bit of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import sigstats
from sigstats.joint.events import JointEvents
from sigstats.measures.measure import as_measure
from sigstats.unseen_row.orders import mirrored_law

MEASURES = ["macro-f1", "balanced-accuracy", "mcc", "kappa"]
RULE = sigstats.ComparisonRule(n_resamples=200, smallest_slice=1)


@st.composite
def predictions(draw):
    """Rows of few kinds, so that many counts are equal and classes alike."""
    classes = draw(st.integers(2, 5))
    kinds = draw(st.lists(st.tuples(*[st.integers(0, classes - 1)] * 3), min_size=2, max_size=8))
    rows = np.repeat(kinds, draw(st.lists(st.integers(1, 3), min_size=len(kinds), max_size=len(kinds))), axis=0)
    rows = np.vstack([rows, np.arange(classes)[:, np.newaxis].repeat(3, axis=1)])  # no class that no row has
    return classes, rows, draw(st.randoms(use_true_random=False))


def mirrored(row):
    """The row of A - B."""
    return replace(
        row,
        baseline=row.candidate,
        candidate=row.baseline,
        baseline_interval=row.candidate_interval,
        candidate_interval=row.baseline_interval,
        difference=-row.difference,
        low=-row.high,
        high=-row.low,
    )


def without_side(row):
    """The row without what is of one side only."""
    nothing = dict.fromkeys(("pvalue", "pvalue_error", "adjusted_pvalue", "pd", "psd", "nsd", "deciding", "detectable"))
    return replace(row, **nothing, verdict=None)


@pytest.mark.long
@pytest.mark.parametrize("weighted", [False, True])
@given(case=predictions(), measure=st.sampled_from(MEASURES))
@settings(max_examples=60, deadline=None)
def test_names_rows_and_the_order_of_models_decide_nothing(weighted, case, measure):
    classes, rows, random = case
    order, names = (random.sample(range(k), k) for k in (len(rows), classes))
    weights = np.array([1 + random.randrange(3) for _ in rows]) if weighted else None

    def compared(y, a, b, where=slice(None)):
        more = {} if weights is None else {"weights": weights[where]}
        return sigstats.compare(y[where], a[where], b[where], measures=[measure], rule=RULE, **more).rows[0]

    y, a, b = rows.T
    if len(np.unique(rows)) < 2:
        return
    found = compared(y, a, b)
    if found.difference is None:
        return
    assert compared(y, a, b, order) == found
    assert compared(*np.array(names)[rows.T]) == found
    turned = compared(y, b, a)
    assert without_side(mirrored(turned)) == without_side(found)
    assert min(turned.pvalue, found.pvalue) * 2 == pytest.approx(found.two_sided_pvalue) or found.two_sided_pvalue == 1


@given(st.lists(st.integers(0, 40), min_size=8, max_size=8).filter(lambda counts: sum(counts[:3]) and sum(counts[4:7])))
@settings(max_examples=40, deadline=None)
def test_the_interval_of_f1_is_mirrored_to_the_bit(counts):
    order = [0, 2, 1, 3, 4, 6, 5, 7]
    low, high = sigstats.f1_difference_interval(sigstats.JointOutcomes(*counts))
    turned = sigstats.f1_difference_interval(sigstats.JointOutcomes(*(counts[i] for i in order)))
    assert (turned.low, turned.high) == (-high, -low)


@pytest.mark.long
def test_slices_and_groups_are_mirrored_too():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 1200)
    a, b = (np.where(rng.random(1200) < right, y, rng.integers(0, 3, 1200)) for right in (0.8, 0.75))
    for options in ({"slices": {"part": rng.integers(0, 120, 1200)}}, {"groups": np.arange(1200) // 4}):
        there, back = (sigstats.compare(y, *said, measures=["macro-f1"], **options).rows for said in ((a, b), (b, a)))
        ends = [(row.low, row.high, other.low, other.high) for row, other in zip(there, back, strict=True)]
        assert all((low, high) == (-top, -bottom) for low, high, bottom, top in ends if low is not None)


@pytest.mark.long
def test_monte_carlo_errors_are_those_of_many_seeds():
    """The standard deviations over 200 seeds, of which the estimates lie within a factor: 1e-6 of a false alarm."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 150)
    joint = JointEvents.from_predictions(
        y, *(np.where(rng.random(150) < r, y, rng.integers(0, 3, 150)) for r in (0.8, 0.7))
    )
    laws = [mirrored_law(joint, as_measure("macro-f1"), size=1000, rng=seed) for seed in range(200)]
    lows = [law.interval(0.95).low for law in laws]
    room = norm.isf(5e-7) / np.sqrt(2 * 200)
    assert np.mean([law.end_error(0.95) for law in laws]) / np.std(lows) == pytest.approx(1, abs=room + 0.25)
    p = np.array([law.p_worse for law in laws])
    assert np.sqrt(p.mean() * (1 - p.mean()) / 1000) / p.std() == pytest.approx(1, abs=room + 0.1)


def test_rows_and_json_state_the_monte_carlo_error():
    y = np.arange(100) % 2
    found = sigstats.compare(y, y, np.where(np.arange(100) < 8, 1 - y, y), measures=["accuracy", "macro-f1"])
    accuracy, f1 = found.rows
    assert (accuracy.pvalue_error, accuracy.end_error) == (None, None)
    assert f1.pvalue_error == pytest.approx(np.sqrt(f1.pvalue * (1 - f1.pvalue) / 10_000), rel=0.01)
    assert 0 < f1.end_error < 0.01
