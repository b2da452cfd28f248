from dataclasses import replace

import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import multilabel_confusion_matrix

from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes

labels = st.sampled_from(["b", "a", "d"])
rows = st.lists(st.tuples(labels, labels, labels), min_size=1, max_size=50)


def own_counts(events):
    return np.array([events.counts], dtype=float)


def same_as_scikit_learn(events, y, a, b, **options):
    for confusion, assigned in zip(events.confusions(own_counts(events)), (a, b), strict=True):
        expected = multilabel_confusion_matrix(y, assigned, **options)
        got = np.stack([confusion.tn[0], confusion.fp[0], confusion.fn[0], confusion.tp[0]], axis=-1)
        np.testing.assert_array_equal(got.reshape(-1, 2, 2), expected)


@settings(deadline=None, derandomize=True)
@given(rows)
def test_classes_are_counted_as_scikit_learn_counts_them(table):
    y, a, b = map(list, zip(*table, strict=True))
    names = ["d", "c", "b", "a"]
    events = JointEvents.from_predictions(y, a, b, classes=names)
    assert events.categories == tuple(names)
    assert events.n == len(table)
    same_as_scikit_learn(events, y, a, b, labels=names)
    for name in names:
        if name in {*y, *a, *b}:
            assert events.outcomes(name) == JointOutcomes.from_predictions(y, a, b, positive=name)


def of_categories(table):
    """As `pandas.get_dummies` makes it."""
    return pd.DataFrame(table.astype(bool), columns=list("vwxyz"))


@pytest.mark.parametrize(
    "form",
    [np.asarray, csr_array, lambda x: x.astype(bool), lambda x: x.tolist(), lambda x: x.astype(bool).tolist(),
     of_categories, lambda x: of_categories(x).astype("boolean"), lambda x: polars.from_pandas(of_categories(x))],
)  # fmt: skip
@pytest.mark.parametrize("cells", [7, 2**24])
def test_indicators_are_counted_as_scikit_learn_counts_them(form, cells, monkeypatch):
    monkeypatch.setattr("sigstats.joint._indicators._CELLS", cells)  # 7: a block a row
    y, a, b = (np.random.default_rng(3).random((3, 200, 5)) < 0.3).astype(int)
    events = JointEvents.from_indicators(form(y), form(a), form(b))
    assert events.n == 200
    same_as_scikit_learn(events, y, a, b)
    for position in range(5):
        expected = JointOutcomes.from_predictions(y[:, position], a[:, position], b[:, position], positive=1)
        assert events.outcomes(position) == expected


def test_a_sparse_argument_is_left_as_it_was():
    table = csr_array(([1, 1, 1], ([0, 1, 1], [1, 1, 0])), shape=(2, 2))
    before = [each.copy() for each in (table.data, table.indices, table.indptr)]
    JointEvents.from_indicators(table, table, table)
    for old, new in zip(before, (table.data, table.indices, table.indptr), strict=True):
        np.testing.assert_array_equal(old, new)


def test_equal_contents_are_equal_records():
    first = JointEvents((0, 1), events=(((1,), (0,), (1,)), ((0,), (0,), (0,)), ((1,), (0,), (1,))), counts=(2, 3, 1))
    second = JointEvents((0, 1), events=(((0,), (0,), (0,)), ((1,), (0,), (1,)), ((1,), (1,), (1,))), counts=(3, 3, 0))
    assert first == second
    assert first.counts == (3, 3)


def test_parts_add_up_with_a_zero_and_different_things_do_not():
    rng = np.random.default_rng(8)
    y, a, b = rng.integers(0, 4, size=(3, 90))
    parts = [JointEvents.from_predictions(y[i::3], a[i::3], b[i::3], classes=range(4)) for i in range(3)]
    whole = JointEvents.from_predictions(y, a, b)
    assert sum(parts, JointEvents((0, 1, 2, 3))) == whole
    with pytest.raises(ValueError, match=r"categories of the second summand.*\(1, 2\)"):
        whole + JointEvents((1, 2))
    with pytest.raises(TypeError):
        whole + 1


EVENT = (((0,), (0,), (1,)),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"categories": ("a",)}, "categories"),
        ({"categories": ("a", "a")}, "distinct"),
        ({"categories": ("a", 1)}, "categories"),
        ({"kind": "binary"}, "kind"),
        ({"counts": (1, 2)}, "counts: the length"),
        ({"counts": 3}, "counts"),
        ({"counts": (-1,)}, "counts: -1"),
        ({"counts": (2**53 + 2,)}, "counts"),
        ({"events": (((0,), (0,)),)}, "events"),
        ({"events": (((0,), (0, 1), (1,)),)}, "one position each"),
        ({"events": (((0,), (2,), (1,)),)}, "events: 2"),
        ({"events": ((0, 1, 1),)}, "three tuples"),
        ({"events": (((0,), (1, 1), (1,)),), "kind": "categories"}, "distinct positions"),
    ],
)
def test_bad_records_are_named(changes, message):
    good = JointEvents(("a", "b"), "classes", EVENT, (3,))
    with pytest.raises(ValueError) as caught:
        replace(good, **changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: JointEvents.from_predictions([1, 1], [1, 1], [1, 1]), "categories"),
        (lambda: JointEvents.from_predictions([1, 2], [1, 3], [1, 1], classes=[1, 2]), "classes that include 3"),
        (lambda: JointEvents.from_predictions([1, 2], [1, 2], [1, 1], classes=["1", "2"]), "classes"),
        (lambda: JointEvents.from_predictions([1, 2], [1, 2], [1, 1], classes=[1, 2, 2]), "distinct"),
        (lambda: JointEvents.from_predictions([1, 2], [1], [1, 1]), "a: the length"),
        (lambda: JointEvents.from_indicators([[0, 2]], [[0, 1]], [[0, 1]]), "y: 2"),
        (lambda: JointEvents.from_indicators([[0, 1]], [[0, 1]], [[0, 1], [1, 1]]), "b: the shape"),
        (lambda: JointEvents.from_indicators([[0, 1], [1]], [[0, 1]], [[0, 1]]), "y:"),
        (lambda: JointEvents.from_indicators(csr_array([[0.5, 1]]), [[0, 1]], [[0, 1]]), "y:"),
        (lambda: JointEvents.from_indicators([[0, 1]], [[0, 1]], [[0, 1]], categories=["a"]), "categories"),
        (lambda: JointEvents.from_indicators([[0, 1]], [[0, 1]], [[0, 1]], categories=3), "categories"),
        (lambda: JointEvents(("a", "b")).outcomes("c"), "positive: 'c'"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
