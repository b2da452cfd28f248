"""Bounds of measures of counts beside exact laws, and how often they hold.

Each simulation has a chance below 1e-5 of a false alarm of a method that misses 2.5% at each end.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

import sigstats
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.measure import as_measure
from sigstats.unseen_row.counts import law_of_difference
from sigstats.unseen_row.drawn_law import quantiles
from sigstats.unseen_row.orders import mirrored_law

SHARES = [
    (20, [0.11, 0, 0.08, 0.11, 0, 0, 0, 0.70]),
    (100, [0.034, 0, 0.016, 0, 0.068, 0.004, 0, 0.878]),
    (500, [0.0024, 0.0026, 0.004, 0.001, 0, 0, 0, 0.99]),
    (500, [0.2, 0.02, 0.02, 0.03, 0.03, 0.02, 0.02, 0.66]),
]


def law(joint, measure, **options):
    return mirrored_law(joint, as_measure(measure), **{"size": 10_000, **options})


@pytest.mark.parametrize(("only_a", "only_b"), [(9, 2), (4, 0), (6, 6)])
def test_p_of_accuracy_is_mcnemars(only_a, only_b):
    found = law(JointOutcomes(e1=40, e2=only_b, e3=only_a, e8=50), "accuracy", size=40_000)
    for p, way in ((found.p_worse, "greater"), (found.p_better, "less")):
        wanted = sigstats.mcnemar_test(only_a, only_b, alternative=way).pvalue
        assert abs(p - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 40_000) + 1 / 40_000  # below 1e-6


@pytest.mark.parametrize("measure", ["recall", "macro-recall", "balanced-accuracy"])
def test_the_rarest_class_decides_where_nothing_differs(measure):
    y = np.arange(300) >= 12
    joint = JointOutcomes(e1=12, e8=288) if measure == "recall" else JointEvents.from_predictions(y * 1, y * 1, y * 1)
    low, high = law(joint, measure).interval(0.95)
    half = beta.ppf(0.975, 1, 12) / (1 if measure == "recall" else 2)
    assert (-low, high) == (pytest.approx(half, rel=0.04), pytest.approx(half, rel=0.04))


def test_many_rare_classes_share_what_was_not_seen():
    """Of K classes of six rows each none was missed: all may be lost in 1 - .025^(1 / 6K) of their rows."""
    for classes in (5, 40):
        y = np.repeat(np.arange(classes), 6)
        low, _ = law(JointEvents.from_predictions(y, y, y), "macro-recall").interval(0.95)
        one_class = (1 - 0.025 ** (1 / 6)) / classes
        assert low < -one_class
        assert 0.95 < -low / (1 - 0.025 ** (1 / (6 * classes))) < 1.25  # with a Monte-Carlo error of 0.02


@pytest.mark.long
@pytest.mark.parametrize(("n", "shares"), SHARES)
def test_f1_is_held(n, shares):
    rng, samples = np.random.default_rng(n), 120
    p = np.array(shares) / sum(shares)
    a, b = JointOutcomes().confusions(p[None])
    truth = float(as_measure("f1").of(b, "binary")[0] - as_measure("f1").of(a, "binary")[0])
    drawn = [JointOutcomes(*counts) for counts in rng.multinomial(n, p, samples).tolist()]
    ends = np.array([law(joint, "f1", size=1000).interval(0.95) for joint in drawn])
    most = binom.isf(1e-5, samples, 0.03)  # the points of 1,000 weightings are known to half a per cent
    assert (ends[:, 0] > truth).sum() <= most
    assert (ends[:, 1] < truth).sum() <= most


def macro_f1(tp, fn, fp, tn):
    total, occur = 0.0, 0
    for t, n, p in zip(*(np.moveaxis(each, -1, 0) for each in (tp, fn, fp)), strict=True):
        occurs = t + n > 0
        total = total + np.where(occurs, 2 * t / np.where(occurs, 2 * t + n + p, 1.0), 0.0)
        occur = occur + occurs
    return total / occur


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_mean_over_few_classes_is_the_users_own_to_the_bit(classes):
    """Class by class, each kept for rows that add the same to it, beside a function of all counts at once."""
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes - 1, 60)
    a, b = (np.where(rng.random(60) < 0.8, y, rng.integers(0, classes - 1, 60)) for _ in range(2))
    a[:2] = classes - 1  # of this class no row is, and B calls none so
    joint = JointEvents.from_predictions(y, a, b)
    laws = [
        law_of_difference(joint, as_measure(measure), size=999, rng=np.random.default_rng(0))
        for measure in ("macro-f1", macro_f1)
    ]
    for one, other in zip(*laws, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_mean_over_many_classes_is_the_users_own():
    """Of 300 classes only those are computed again that an unseen row changes."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 300, 6000)
    a, b = (np.where(rng.random(6000) < 0.8, y, rng.integers(0, 302, 6000)) for _ in range(2))
    joint = JointEvents.from_predictions(y, a, b)
    laws = [law_of_difference(joint, as_measure(measure), size=99, rng=0) for measure in ("macro-f1", macro_f1)]
    for one, other in zip(*(law[:5] for law in laws), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("measure", ["macro-f1", "macro-precision", "macro-recall"])
def test_an_answer_that_no_class_has_does_not_undo_a_bound(measure):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 3000)
    a = np.where(rng.random(3000) < 0.9, y, 0)
    b = np.where((a != y) & (rng.random(3000) < 0.3), y, a)
    before = law(JointEvents.from_predictions(y, a, b), measure).interval(0.95)
    more = [np.append(each, one) for each, one in ((y, 0), (a, 0), (b, 4))]
    joint = JointEvents.from_predictions(*more)
    assert before.low < np.diff(law(joint, measure).observed)[0]
    assert law(joint, measure).interval(0.95).low > 0.01


def test_groups_of_one_row_are_rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 200)
    a, b = (np.where(rng.random(200) < 0.8, y, rng.integers(0, 3, 200)) for _ in range(2))
    joint = JointEvents.from_predictions(y, a, b)
    triples = np.unique(np.column_stack([y, a, b]), axis=0, return_inverse=True)[1].ravel()
    grouped = law(joint, "macro-f1", groups=(np.arange(200), triples), rng=1).interval(0.95)
    assert grouped == pytest.approx(law(joint, "macro-f1").interval(0.95), abs=0.006)


def test_copied_rows_in_groups_are_one_row():
    y = np.arange(60) % 2
    b = np.where(np.arange(60) < 5, 1 - y, y)
    rows = np.repeat(np.arange(60), 10)
    triples = np.unique(np.column_stack([y, y, b])[rows], axis=0, return_inverse=True)[1].ravel()
    joint = JointEvents.from_predictions(y[rows], y[rows], b[rows])
    found = law(joint, "macro-f1", groups=(rows, triples))
    single = law(JointEvents.from_predictions(y, y, b), "macro-f1")
    assert found.p_worse == pytest.approx(single.p_worse, abs=0.01)  # 1 in 32
    assert found.interval(0.95) == pytest.approx(single.interval(0.95), abs=0.01)


def test_one_class_alone_has_a_correlation_of_0_also_by_weights():
    """Rounding made the root of a negative number, or one of rounding over another."""
    joint = JointEvents.from_predictions([0] * 30, [0] * 30, [0] * 27 + [1] * 3)
    weights = np.random.default_rng(2).standard_gamma(joint.counts, (2000, 2))
    for measure in ("mcc", "kappa"):
        of = [as_measure(measure).of(counts, joint.kind) for counts in joint.confusions(weights)]
        assert not np.any(of)
        assert np.isfinite(law(joint, measure, size=2000).low).all()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.floats(0, 1))
def test_the_ends_of_an_interval_are_the_bits_of_numpys_quantile(values, share):
    both = [np.array(values), -np.array(values)]
    assert np.array_equal(quantiles(both, share), np.quantile(both, share, axis=1))


def test_many_weighted_rows_have_the_law_of_as_many_exponential_weights():
    rng = np.random.default_rng(3)
    rows, draws, shares = 9000, 1000, [0.3, 0.02, 0.05, 0.06, 0.04, 0.02, 0.01, 0.5]
    event, weights = rng.choice(8, rows, p=shares), rng.lognormal(0, 0.7, rows)
    joint = JointOutcomes(*np.bincount(event, minlength=8).tolist())
    found = law(joint, "f1", groups=(np.arange(rows), event), weights=weights, size=draws)
    of_events = np.zeros((rows, 8))
    of_events[np.arange(rows), event] = weights
    e = (rng.standard_exponential((draws, rows)) @ of_events).T
    (right_a, wrong_a), (right_b, wrong_b) = (
        (e[0] + e[2], e[1] + e[3] + e[4] + e[6]),
        (e[0] + e[1], e[2] + e[3] + e[4] + e[5]),
    )
    truth = 2 * right_b / (2 * right_b + wrong_b) - 2 * right_a / (2 * right_a + wrong_a)
    assert found.standard_error == pytest.approx(truth.std(), rel=0.15)
    middle = (np.median(found.low) + np.median(found.high)) / 2
    assert middle == pytest.approx(np.median(truth), abs=6 * truth.std() / np.sqrt(draws))
