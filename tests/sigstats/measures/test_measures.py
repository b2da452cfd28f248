import itertools
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sigstats.measures import formulas
from sigstats.measures.formulas import Confusion, one_vs_rest
from sigstats.measures.measure import Measure, as_measure
from sigstats.measures.table import BASE_COUNT_MEASURES, COUNT_MEASURES

count = st.integers(0, 30)
tables = st.tuples(count, count, count, count).filter(lambda each: sum(each) > 0)
square_tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k)
)


def by_name(name):
    return lambda *table, undefined=0.0, **parameters: as_measure(name, **parameters)(*table, undefined=undefined)


measures = SimpleNamespace(**{name.replace("-", "_"): by_name(name) for name in BASE_COUNT_MEASURES})

#: name, our function, scikit-learn's function of labels
PEERS = [
    ("accuracy", measures.accuracy, sk.accuracy_score),
    ("error", measures.error, sk.zero_one_loss),
    ("precision", measures.precision, partial(sk.precision_score, zero_division=0.0)),
    ("recall", measures.recall, partial(sk.recall_score, zero_division=0.0)),
    ("specificity", measures.specificity, partial(sk.recall_score, pos_label=0, zero_division=0.0)),
    ("f1", measures.f1, partial(sk.f1_score, zero_division=0.0)),
    ("jaccard", measures.jaccard, partial(sk.jaccard_score, zero_division=0.0)),
    ("mcc", measures.mcc, sk.matthews_corrcoef),
]
NAMES = """accuracy error precision recall specificity balanced_accuracy f_beta f1 jaccard mcc kappa dcf"""
FUNCTIONS = [getattr(measures, name) for name in NAMES.split()]

pytestmark = pytest.mark.filterwarnings("ignore:A single label was found:UserWarning")  # scikit-learn's


def as_rows(tp, fn, fp, tn):
    return np.repeat([1, 1, 0, 0], [tp, fn, fp, tn]), np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])


@pytest.mark.long
@pytest.mark.parametrize(("name", "function", "peer"), PEERS, ids=[name for name, _, _ in PEERS])
@settings(deadline=None, derandomize=True)
@given(table=tables)
def test_values_are_scikit_learns(name, function, peer, table):
    y, assigned = as_rows(*table)
    assert function(*table) == pytest.approx(peer(y, assigned), abs=1e-14)
    assert as_measure(name)(*table) == function(*table)


@settings(deadline=None, derandomize=True)
@given(tables, st.floats(0, 5))
def test_f_beta_is_scikit_learns(table, beta):
    assume(beta == 0 or beta > 1e-3)
    peer = sk.fbeta_score(*as_rows(*table), beta=beta, zero_division=0.0)
    assert measures.f_beta(*table, beta=beta) == pytest.approx(peer, abs=1e-12)
    assert measures.f_beta(*table) == measures.f1(*table)
    assert measures.f_beta(*table, beta=0) == measures.precision(*table)


@settings(deadline=None, derandomize=True)
@given(tables)
def test_balanced_accuracy_averages_over_the_classes_that_occur(table):
    y, assigned = as_rows(*table)
    recalls = [Fraction(int((assigned[y == each] == each).sum()), int((y == each).sum())) for each in np.unique(y)]
    assert measures.balanced_accuracy(*table) == pytest.approx(float(sum(recalls) / len(recalls)), abs=1e-15)


@settings(deadline=None, derandomize=True)
@given(tables)
def test_kappa_is_agreement_beyond_chance_by_definition(table):
    tp, fn, fp, tn = table
    n = sum(table)
    observed = Fraction(tp + tn, n)
    chance = Fraction((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn), n * n)
    expected = (observed - chance) / (1 - chance) if chance != 1 else 0
    assert measures.kappa(*table) == pytest.approx(float(expected), abs=1e-14)
    if chance != 1:
        assert measures.kappa(*table) == pytest.approx(sk.cohen_kappa_score(*as_rows(*table)), abs=1e-12)


@settings(deadline=None, derandomize=True)
@given(tables, st.integers(0, 20), st.integers(0, 20), st.integers(0, 100))
def test_dcf_is_equation_7(table, cost_fn, cost_fp, percent):
    tp, fn, fp, tn = table
    prior = Fraction(percent, 100)
    missed = Fraction(fn, tp + fn) if tp + fn else 0
    accepted = Fraction(fp, fp + tn) if fp + tn else 0
    expected = float(cost_fn * prior * missed + cost_fp * (1 - prior) * accepted)
    got = measures.dcf(*table, cost_fn=cost_fn, cost_fp=cost_fp, prior=float(prior))
    assert got == pytest.approx(expected, rel=1e-13, abs=1e-15)
    if tp + fn and fp + tn:
        assert measures.dcf(*table) == pytest.approx(1 - measures.balanced_accuracy(*table), abs=1e-15)


@settings(deadline=None, derandomize=True)
@given(tables)
def test_laws(table):
    tp, fn, fp, tn = table
    turned = (tn, fp, fn, tp)  # the negative class called positive
    transposed = (tp, fp, fn, tn)  # truth and assignment exchanged
    for symmetric in (measures.accuracy, measures.error, measures.mcc, measures.kappa, measures.balanced_accuracy):
        assert symmetric(*turned) == pytest.approx(symmetric(*table), abs=1e-15)
    for symmetric in (measures.accuracy, measures.f1, measures.jaccard, measures.mcc, measures.kappa):
        assert symmetric(*transposed) == pytest.approx(symmetric(*table), abs=1e-15)
    assert measures.precision(*transposed) == measures.recall(*table)
    assert measures.specificity(*turned) == measures.recall(*table)
    jaccard = measures.jaccard(*table)
    assert measures.f1(*table) == pytest.approx(2 * jaccard / (1 + jaccard), abs=1e-15)
    assert -1 <= measures.mcc(*table) <= 1
    assert measures.f1(*table) <= measures.f1(tp + 1, fn, fp, tn)
    if tp + fn:
        assert measures.mcc(tp, 0, 0, tp) == (1 if tp else 0)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_table_of_up_to_four_has_a_finite_value_and_undefined_ones_are_found(function):
    table = np.array(list(itertools.product(range(5), repeat=4))).T
    values, marked = function(*table), function(*table, undefined=float("nan"))
    assert np.isfinite(values).all()
    undefined = np.isnan(marked)
    np.testing.assert_array_equal(values[~undefined], marked[~undefined])
    if function is not measures.dcf:
        assert (values[undefined] == 0).all()
        assert (function(*table, undefined=0.5)[undefined] == 0.5).all()
    for position in range(0, table.shape[1], 7):  # one by one as together
        assert function(*table[:, position]) == values[position]


@pytest.mark.parametrize(
    ("name", "undefined"),
    [  # which of: no observation, nothing positive, nothing called positive, neither, nothing negative
        *((name, "10000") for name in ("accuracy", "error", "balanced-accuracy")),
        *((name, "10010") for name in ("f1", "f-beta", "jaccard", "kappa")),
        *(("precision", "10110"), ("recall", "11010"), ("specificity", "10001"), ("mcc", "11111"), ("dcf", "11011")),
    ],
)
def test_degenerate_tables_are_undefined_where_the_formula_says_0_over_0(name, undefined):
    table = np.array([(0, 0, 0, 0), (0, 0, 3, 5), (0, 4, 0, 5), (0, 0, 0, 7), (2, 3, 0, 0)]).T
    got = np.isnan(as_measure(name)(*table, undefined=float("nan")))
    assert "".join(str(int(each)) for each in got) == undefined


@pytest.mark.long
@settings(deadline=None, derandomize=True)
@given(square_tables)
def test_several_classes_are_scikit_learns(table):
    table = np.array(table)
    assume(table.sum() > 0)
    k = len(table)
    y, assigned = (np.repeat(each.ravel(), table.ravel()) for each in np.indices((k, k)))
    counts = one_vs_rest(table)
    matrices = sk.multilabel_confusion_matrix(y, assigned, labels=range(k))
    expected = Confusion(matrices[:, 1, 1], matrices[:, 1, 0], matrices[:, 0, 1], matrices[:, 0, 0])
    for got, wanted in zip(counts, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)

    def ours(name, **options):
        return as_measure(name)(*counts, kind="classes", **options)

    for average in ("micro", "macro"):
        options = {"average": average, "zero_division": 0.0}
        options |= {"labels": np.unique(y)} if average == "macro" else {}
        for name, peer in (
            ("precision", sk.precision_score),
            ("recall", sk.recall_score),
            ("f1", sk.f1_score),
            ("jaccard", sk.jaccard_score),
        ):
            assert ours(f"{average}-{name}") == pytest.approx(peer(y, assigned, **options), abs=1e-13)
    accuracy = sk.accuracy_score(y, assigned)
    for name in ("accuracy", "micro-f1", "micro-recall", "micro-precision"):
        assert ours(name) == pytest.approx(accuracy, abs=1e-14)
    assert ours("error") == pytest.approx(1 - accuracy, abs=1e-14)
    assert ours("mcc") == pytest.approx(sk.matthews_corrcoef(y, assigned), abs=1e-13)
    occurring = table.sum(axis=1) > 0
    recalls = np.diag(table)[occurring] / table.sum(axis=1)[occurring]
    assert ours("balanced-accuracy") == pytest.approx(recalls.mean(), abs=1e-14)
    n = int(table.sum())
    chance = Fraction(int(table.sum(0) @ table.sum(1)), n * n)
    expected_kappa = (Fraction(int(np.trace(table)), n) - chance) / (1 - chance) if chance != 1 else 0
    assert ours("kappa") == pytest.approx(float(expected_kappa), abs=1e-13)


@settings(deadline=None, derandomize=True)
@given(tables)
def test_two_classes_are_the_same_by_either_way(table):
    tp, fn, fp, tn = table
    counts = one_vs_rest([[tp, fn], [fp, tn]])
    for name in ("accuracy", "error", "balanced-accuracy", "mcc", "kappa"):
        both = as_measure(name)
        assert both(*counts, kind="classes") == pytest.approx(both(*table), abs=1e-14)
    for name in COUNT_MEASURES:
        if name.startswith(("micro-", "macro-", "weighted-")):
            assert as_measure(name)(*table) == as_measure(name)(*counts, kind="classes")


@pytest.mark.parametrize("base", ["precision", "recall", "f1", "jaccard"])
def test_a_class_that_no_row_has_is_in_nobodys_average(base):
    y, a, b = [0, 1, 0, 1, 1], [0, 1, 0, 1, 1], [0, 1, 2, 1, 0]
    tables = np.array([sk.confusion_matrix(y, each, labels=[0, 1, 2, 3]) for each in (a, b)])
    peer = getattr(sk, f"{base}_score")
    expected = [peer(y, each, labels=[0, 1], average="macro", zero_division=0.0) for each in (a, b)]
    measure = as_measure(f"macro-{base}")
    assert measure(*one_vs_rest(tables), kind="classes") == pytest.approx(expected, abs=1e-15)
    assert expected[0] == 1
    # Two classes of which one does not occur; the answer of no observation at all is that of 0/0.
    assert measure(3, 0, 0, 0) == measure(0, 0, 0, 3) == 1
    assert np.isnan(measure(0, 0, 0, 0, undefined=float("nan")))


def test_averages_over_categories_are_scikit_learns():
    y, assigned = (np.random.default_rng(4).random((2, 300, 12)) < 0.15).astype(int)
    y[:, 3] = assigned[:, 3] = 0  # a category without any positive
    matrices = sk.multilabel_confusion_matrix(y, assigned)
    counts = (matrices[:, 1, 1], matrices[:, 1, 0], matrices[:, 0, 1], matrices[:, 0, 0])
    for average in ("micro", "macro"):
        for name, peer in (("f1", sk.f1_score), ("precision", sk.precision_score), ("jaccard", sk.jaccard_score)):
            expected = peer(y, assigned, average=average, zero_division=0.0)
            assert as_measure(f"{average}-{name}")(*counts, kind="categories") == pytest.approx(expected, abs=1e-14)


def test_large_counts_do_not_overflow():
    big = 2**51
    assert measures.mcc(big, 0, 0, big) == 1
    assert measures.kappa(big, big, big, big) == 0
    assert measures.mcc(3 * 10**12, 10**12, 2 * 10**12, 4 * 10**12) == pytest.approx(measures.mcc(3, 1, 2, 4))


def test_a_users_function_is_a_measure():
    def youden(tp, fn, fp, tn):
        return tp / (tp + fn) - fp / (fp + tn)

    measure = as_measure(youden)
    assert measure.name == "youden"
    assert measure.greater_is_better
    assert measure(30, 10, 20, 40) == pytest.approx(0.75 - 1 / 3)
    assert not as_measure(youden, greater_is_better=False).greater_is_better
    youden.greater_is_better = False
    assert not as_measure(youden).greater_is_better
    assert as_measure(youden, greater_is_better=True).greater_is_better
    assert as_measure(measure) is measure
    assert as_measure(partial(formulas.f_beta, beta=2.0))(30, 10, 20, 40) == measures.f_beta(30, 10, 20, 40, beta=2)


def test_measures_say_which_way_is_better_and_can_be_written_down():
    assert {name for name in COUNT_MEASURES if not as_measure(name).greater_is_better} == {
        prefix + name for prefix in ("", "micro-", "macro-", "weighted-") for name in ("error", "dcf")
    }
    costs = as_measure("dcf", cost_fn=10, cost_fp=1, prior=0.01)
    assert eval(repr(costs)) == costs == as_measure(costs)
    assert isinstance(costs, Measure)
    assert costs(30, 10, 25, 75) == measures.dcf(30, 10, 25, 75, cost_fn=10, cost_fp=1, prior=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.f1([1, 2], [1, 2, 3], 3, 4), "shapes"),
        (lambda: measures.f1(1, 2, 3, 4, undefined="x"), "undefined"),
        (lambda: measures.f_beta(1, 2, 3, 4, beta=-1), "beta: -1"),
        (lambda: measures.f_beta(1, 2, 3, 4, beta=float("inf")), "beta: inf"),
        (lambda: measures.dcf(1, 2, 3, 4, prior=1.5), "prior: 1.5"),
        (lambda: measures.dcf(1, 2, 3, 4, cost_fn=-1), "cost_fn: -1"),
        (lambda: as_measure("f-bete"), "did you mean 'f-beta'?"),
        (lambda: as_measure("f1", beta=2), "parameter"),
        (lambda: as_measure("f-beta", beta="x"), "beta: 'x'"),
        (lambda: as_measure(max, beta=2), "parameters"),
        (lambda: as_measure("f1", greater_is_better=True), "greater_is_better"),
        (lambda: as_measure(max, greater_is_better=3), "greater_is_better: 3"),
        (lambda: as_measure("f1")([1, 1], [1, 1], [1, 1], [1, 1], kind="classes"), "macro-f1"),
        (lambda: as_measure("accuracy")([1, 1], [1, 1], [1, 1], [1, 1], kind="categories"), "macro-accuracy"),
        (lambda: as_measure("macro-f1")(1, 1, 1, 1, kind="classes"), "last axis"),
        (lambda: as_measure("f1")(1, 1, 1, 1, kind="class"), "kind: 'class'"),
        (lambda: as_measure(lambda tp, fn, fp, tn: tp / fn)(1, 0, 1, 1), "inf for (tp, fn, fp, tn) = (1, 0, 1, 1)"),
        (lambda: as_measure(lambda tp, fn, fp, tn: 1 // 0)(1, 0, 1, 1), "failed"),
        (lambda: as_measure(lambda tp, fn, fp, tn: "x")(1, 0, 1, 1), "failed"),
        (lambda: as_measure(lambda tp, fn, fp, tn: 1.0)([1, 2], 0, 1, 1), "shape"),
        (lambda: one_vs_rest([[1, 2, 3], [4, 5, 6]]), "table: the shape"),
        (lambda: one_vs_rest([1, 2]), "table: the shape"),
        (lambda: one_vs_rest([[1, -2], [4, 5]]), "table: -2"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
