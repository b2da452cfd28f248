from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score

from sigstats.joint.outcomes import JointOutcomes
from sigstats.mcnemar.counts import discordant_counts

rows = st.lists(st.tuples(*[st.sampled_from(["spam", "ham", "eggs"])] * 3), min_size=1, max_size=60)
counts = st.lists(st.integers(0, 9), min_size=8, max_size=8)


def columns(table):
    return tuple(map(list, zip(*table, strict=True)))


@pytest.mark.parametrize(
    ("event", "y", "a", "b"),
    [  # Keller et al., Table 1: class 1 has TP_A, FN_A in columns and TP_B, FN_B in rows, class -1 likewise
        ("e1", 1, 1, 1),
        ("e2", 1, -1, 1),
        ("e3", 1, 1, -1),
        ("e4", 1, -1, -1),
        ("e5", -1, 1, 1),
        ("e6", -1, -1, 1),
        ("e7", -1, 1, -1),
        ("e8", -1, -1, -1),
    ],
)
def test_each_event_is_the_one_of_the_papers_table(event, y, a, b):
    assert JointOutcomes.from_predictions([1, y], [1, a], [1, b], positive=1) == JointOutcomes(e1=1) + JointOutcomes(
        **{event: 1}
    )


@settings(deadline=None, derandomize=True)
@given(rows)
def test_projections_are_what_scikit_learn_counts(table):
    y, a, b = columns(table)
    if "spam" not in {*y, *a, *b}:
        return
    outcomes = JointOutcomes.from_predictions(y, a, b, positive="spam")
    true, by_a, by_b = (np.array(each) == "spam" for each in (y, a, b))
    for confusion, assigned in ((outcomes.confusion_a, by_a), (outcomes.confusion_b, by_b)):
        tn, fp, fn, tp = confusion_matrix(true, assigned, labels=[False, True]).ravel()
        assert confusion == (tp, fn, fp, tn)
    assert outcomes.n == len(table)
    assert outcomes.positives == true.sum()
    assert outcomes.negatives == (~true).sum()
    assert outcomes.discordant == discordant_counts(true, by_a, by_b)
    assert outcomes.swapped() == JointOutcomes.from_predictions(y, b, a, positive="spam")


@settings(deadline=None, derandomize=True)
@given(rows)
def test_difference_of_f1_from_the_events_is_the_one_from_predictions(table):
    # The paper prints F1_A - F1_B in eq. (12), with e4 + e6 for e5 + e7 and e4 + e5 for e5 + e6.
    y, a, b = columns(table)
    if "spam" not in {*y, *a, *b}:
        return
    o = JointOutcomes.from_predictions(y, a, b, positive="spam")
    true, by_a, by_b = (np.array(each) == "spam" for each in (y, a, b))
    values = []
    for hits, false_alarms in ((o.e1 + o.e3, o.e5 + o.e7), (o.e1 + o.e2, o.e5 + o.e6)):
        whole = o.positives + hits + false_alarms
        values.append(Fraction(2 * hits, whole) if whole else Fraction(0))
    direct = [f1_score(true, assigned, zero_division=0.0) for assigned in (by_a, by_b)]
    assert float(values[1] - values[0]) == pytest.approx(direct[1] - direct[0], abs=1e-15)


@settings(deadline=None, derandomize=True)
@given(counts, counts, counts)
def test_records_add_up_with_a_zero(first, second, third):
    x, y, z = (JointOutcomes(*each) for each in (first, second, third))
    assert x + JointOutcomes() == x == JointOutcomes() + x
    assert x + y == y + x
    assert (x + y) + z == x + (y + z) == sum([x, y, z], JointOutcomes())
    assert (x + y).confusion_a == tuple(map(sum, zip(x.confusion_a, y.confusion_a, strict=True)))
    assert x.swapped().swapped() == x


def test_parts_of_a_test_set_add_up_to_the_whole():
    rng = np.random.default_rng(5)
    y, a, b = rng.integers(0, 3, size=(3, 100))
    parts = [JointOutcomes.from_predictions(y[i:j], a[i:j], b[i:j], positive=1) for i, j in ((0, 30), (30, 100))]
    assert parts[0] + parts[1] == JointOutcomes.from_predictions(y, a, b, positive=1)


def test_weights_take_the_place_of_the_counts():
    first, second = JointOutcomes(1, 2, 3, 4, 5, 6, 7, 8), JointOutcomes(8, 0, 6, 5, 4, 3, 2, 1)
    of_a, of_b = first.confusions(np.array([first.counts, second.counts], dtype=float))
    for position, outcomes in enumerate((first, second)):
        assert tuple(each[position] for each in of_a) == outcomes.confusion_a
        assert tuple(each[position] for each in of_b) == outcomes.confusion_b


def test_counts_are_plain_integers_whatever_comes_in():
    outcomes = JointOutcomes(np.int64(3), 2.0)
    assert [type(each) for each in outcomes.counts] == [int] * 8
    with pytest.raises(TypeError):
        outcomes + 1


def test_more_rows_than_floats_count_are_refused():
    with pytest.raises(ValueError, match=r"^e1 \+ \.\.\. \+ e8:"):
        JointOutcomes(2**53, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 0]], [1, 0], [1, 0], 1), "y: the shape is "),
        ((["spam", "ham"], ["spam", "ham"], ["spam", "ham"], "Spam"), "did you mean 'spam'?"),
        ((["x", "y"], ["x", "y"], ["x", "y"], None), "positive: is missing; expected one of 'x', 'y'"),
        (([1, 0], [1, 0], [1, 0], [1]), "positive:"),
    ],
)
def test_bad_predictions_are_named(arguments, message):
    y, a, b, positive = arguments
    with pytest.raises(ValueError) as caught:
        JointOutcomes.from_predictions(y, a, b, positive=positive)
    assert message in str(caught.value)
