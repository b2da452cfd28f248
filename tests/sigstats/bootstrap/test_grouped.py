import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, matthews_corrcoef

from sigstats.bootstrap.grouped import grouped_replicates
from sigstats.bootstrap.replicates import bootstrap_replicates
from sigstats.bootstrap.test import bootstrap_summary
from sigstats.joint.events import JointEvents

from ...examples import examples


def made(n=90, classes=3, groups=15, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(classes, size=n)
    a, b = (np.where(rng.random(n) < 0.7, label, rng.integers(classes, size=n)) for _ in range(2))
    return label, a, b, rng.integers(groups, size=n)


@pytest.mark.parametrize(
    ("measure", "function"),
    [
        ("macro-f1", lambda y, p: f1_score(y, p, average="macro", zero_division=0)),
        ("mcc", matthews_corrcoef),
    ],
)
@pytest.mark.parametrize("names", [np.arange(3), np.array([-7, 10**9, 2 * 10**9]), np.array(["x", "y", "z"])])
def test_each_replicate_is_the_measure_of_the_rows_of_the_drawn_groups(measure, function, names):
    label, a, b, groups = made()
    label, a, b = names[label], names[a], names[b]
    events, found = grouped_replicates(label, a, b, groups, measure=measure, n_resamples=40, rng=7)
    assert events == JointEvents.from_predictions(label, a, b)
    names = np.unique(groups)
    drawn = np.random.default_rng(7).multinomial(len(names), np.full(len(names), 1 / len(names)), size=40)
    for times, of_a, of_b in zip(drawn, found.a, found.b, strict=True):
        rows = np.concatenate(
            [np.tile(np.flatnonzero(groups == name), often) for name, often in zip(names, times, strict=True)]
        )
        assert of_a == pytest.approx(function(label[rows], a[rows]))
        assert of_b == pytest.approx(function(label[rows], b[rows]))


def test_classes_and_groups_may_have_any_numbers():
    # A perfect A on a slice of the classes 8 and 9 alone, its groups numbered by times in milliseconds.
    label = 8 + np.arange(60) % 2
    b = np.where(np.arange(60) % 3 == 0, 8, label)
    times = 1_700_000_000_000_000 + np.arange(60) // 4
    events, found = grouped_replicates(label, label, b, times, n_resamples=50, rng=1)
    assert events.categories == (8, 9)
    assert (found.a == 1).all()
    _, other = grouped_replicates(label, label, b, np.arange(60) // 4 - 40, n_resamples=50, rng=1)
    np.testing.assert_array_equal(found.b, other.b)


def test_groups_of_one_row_are_the_bootstrap_of_rows():
    label, a, b, _ = made(n=200, seed=3)
    events, grouped = grouped_replicates(label, a, b, np.arange(200), n_resamples=20_000, rng=1)
    plain = bootstrap_replicates(events, "macro-f1", rng=2, size=20_000)
    for one, other in ((grouped.differences, plain.differences), (grouped.a, plain.a)):
        error = one.std() / np.sqrt(20_000)
        assert abs(one.mean() - other.mean()) < 7 * error * np.sqrt(2)  # rarer than one in 1e11
        assert one.std() == pytest.approx(other.std(), rel=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": [0, 1]}, r"groups \(length\): 2 is not valid"),
        ({"groups": [0, 0, 0]}, "expected two groups or more"),
        ({"groups": ["x", "y", "y"]}, "groups: "),
        ({"groups": [0.5, 1.5, 1.5]}, "groups: "),
        ({"b": [0, 1]}, r"b \(length\): 2 is not valid"),
        ({"b": [0, np.nan, 0]}, "b: nan is not valid"),
        ({"a": ["x", "y", "z"]}, "a: 'x' is not valid; expected labels of the same kind"),
        ({"label": [0, 0, 0], "a": [0, 0, 0]}, r"number of classes\): 1 is not valid"),
        ({"measure": "macro-f9"}, "measure"),
        ({"n_resamples": 0}, "n_resamples"),
    ],
)
def test_bad_input_is_one_line(change, message):
    arguments = {"label": [0, 1, 0], "a": [0, 1, 1], "b": [0, 0, 0], "groups": [0, 1, 1], **change}
    with pytest.raises(ValueError, match=message) as caught:
        grouped_replicates(**arguments)
    assert "\n" not in str(caught.value)


def exchanged(ahead, rows, alternative):
    """The p-value of exchanging A and B in each group, by listing all 2^g ways, in rationals."""

    def size(signs):
        total = Fraction(sum(sign * each for sign, each in zip(signs, ahead, strict=True)), sum(rows))
        return {"two-sided": abs(total), "less": total, "greater": -total}[alternative]

    observed = size([1] * len(ahead))
    ways = list(itertools.product((-1, 1), repeat=len(ahead)))
    return Fraction(sum(size(signs) >= observed for signs in ways), len(ways))


@settings(deadline=None, derandomize=True, max_examples=examples(40))
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=6),
    st.integers(0, 30),
    st.sampled_from(["two-sided", "less", "greater"]),
)
def test_p_is_what_an_exchange_in_few_one_sided_groups_gives(ahead, others, alternative):
    # B is right alone on `ahead` rows of the first groups, and both are right in all others.
    rows = np.array([4] * (len(ahead) + others + 2))
    groups = np.repeat(np.arange(len(rows)), rows)
    a = np.concatenate([np.arange(4) >= each for each in ahead] + [np.ones(4 * (others + 2), bool)])
    least = exchanged(ahead, rows.tolist(), alternative)
    nothing = np.zeros(len(a), int)
    events, drawn = grouped_replicates(nothing, 1 * ~a, nothing, groups, n_resamples=2000)
    options = {"measure": "accuracy", "alternative": alternative, "discordant_groups": len(ahead)}
    assert bootstrap_summary(events, drawn.differences, **options).pvalue >= least - 1e-12


def test_few_groups_that_differ_are_told_and_keep_p_large():
    a, groups = np.ones(300, bool), np.arange(300) // 10
    a[:50] = False
    # 50 rows that disagree, but in five groups.
    label = np.arange(300) % 2
    events, drawn = grouped_replicates(label, np.where(a, label, 1 - label), label, groups, rng=1)
    options = {"measure": "macro-f1", "discordant_groups": 5}
    summary = bootstrap_summary(events, drawn.differences, **options)
    assert summary.pvalue == 2 / 2**5
    assert "only 5 groups with disagreements" in summary.reason
    assert bootstrap_summary(events, drawn.differences, alternative="less", **options).pvalue == 1 / 2**5
    # against a margin the exchange says nothing
    assert bootstrap_summary(events, drawn.differences, null_value=-0.2, **options).pvalue < 1 / 2**5
