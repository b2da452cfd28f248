"""Columns of probabilities are matched to classes by their names or by a stated order, never by a guess."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import sigstats

RNG = np.random.default_rng(212)
Y = RNG.integers(0, 12, 300)
#: A perfect model whose columns are in the order of the numbers.
P = 0.1 * RNG.dirichlet(np.ones(12), 300) + 0.9 * np.eye(12)[Y]
TEXT, ORDER = Y.astype(str), [str(each) for each in range(12)]


def test_text_that_is_numbers_in_another_order_is_ambiguous():
    for call in (
        lambda: sigstats.compare(TEXT, P, P.copy()),
        lambda: sigstats.compare(TEXT, TEXT, TEXT, scores=(P, P.copy())),
        lambda: sigstats.assert_no_regression(TEXT, P, P.copy()),
        lambda: sigstats.assert_at_least(TEXT, P, at_least=0.9),
        lambda: sigstats.auc_test(TEXT, P, P, positive="3"),
    ):
        with pytest.raises(ValueError, match="the order of the classes is ambiguous"):
            call()


GRADES, PLACES = ["low", "medium", "high"], RNG.integers(0, 3, 300)
#: Calibrated probabilities would be 0.9 and 0.05.
GRADED = 0.05 + 0.85 * np.eye(3)[np.where(RNG.random(300) < 0.9, PLACES, RNG.integers(0, 3, 300))]
TYPED = [
    pd.Categorical.from_codes(PLACES, GRADES),
    pd.Series(pd.Categorical.from_codes(PLACES, GRADES, ordered=True)),
    pl.Series(np.array(GRADES)[PLACES], dtype=pl.Enum(GRADES)),
    DICTIONARY := pa.array(pd.Categorical.from_codes(PLACES, GRADES)),
    CHUNKS := pa.chunked_array([DICTIONARY[:9], DICTIONARY[9:]]),
    pd.Series(pd.arrays.ArrowExtensionArray(CHUNKS)),
]


@pytest.mark.parametrize("y", TYPED)
def test_categories_in_another_order_are_ambiguous_for_every_function_of_columns(y):
    names = np.array(GRADES)[PLACES]
    for call in (
        lambda: sigstats.compare(y, GRADED, GRADED.copy()),
        lambda: sigstats.compare(y, names, names, scores=(GRADED, GRADED.copy())),
        lambda: sigstats.assert_at_least(y, GRADED, at_least=0.5),
        lambda: sigstats.auc_test(y, GRADED, GRADED, positive="high"),
        lambda: sigstats.calibration_test(y, GRADED, rng=1),
    ):
        with pytest.raises(ValueError, match=r"\(high, low, medium as text, low, medium, high as categories\)"):
            call()
    named = pd.DataFrame(GRADED, columns=GRADES, index=y.index if isinstance(y, pd.Series) else None)
    truth = roc_auc_score(PLACES == 2, GRADED[:, 2])
    assert sigstats.auc_test(y, named, named, positive="high").value_a == pytest.approx(truth)
    expected = sigstats.calibration_test(PLACES, GRADED, rng=1)
    assert sigstats.calibration_test(y, GRADED, classes=GRADES, rng=1).pvalue == expected.pvalue
    assert sigstats.calibration_test(y, named, rng=1).pvalue == expected.pvalue


@pytest.mark.parametrize("other", [["x"], ["pos", "neg"]])
def test_categoricals_of_polars_are_sorted_as_text_whatever_series_the_process_has(other):
    other = pl.Series(other, dtype=pl.Categorical)
    labels = pl.Series(["pos", "neg", "neg", "pos"] * 50, dtype=pl.Categorical)
    table = np.where(labels.to_numpy() == "neg", 0.9, 0.1)
    result = sigstats.check(labels, np.column_stack([table, 1 - table]), at_least=0.9)
    assert result.verdict == "pass"
    assert len(other)


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda table, columns: pl.DataFrame(table, schema=columns)])
def test_the_order_of_columns_is_stated_or_named(frame):
    by_name = frame(P[:, ::-1], columns=ORDER[::-1])
    for found in (
        sigstats.compare(Y, P, P.copy()),
        sigstats.compare(TEXT, P, P.copy(), classes=ORDER),
        sigstats.compare(TEXT, by_name, P, classes=ORDER),
        sigstats.compare(Y, by_name, P),
        sigstats.compare(TEXT, TEXT, TEXT, scores=(by_name, frame(P, columns=ORDER))),
    ):
        assert found.rows[0].baseline == found.rows[0].candidate == 1
        assert found.rows[1].baseline == pytest.approx(-log_loss(Y, P))
    assert sigstats.assert_at_least(TEXT, P, at_least=0.9, classes=range(12)).rows[0].value == 1
    assert sigstats.auc_test(TEXT, by_name, P[:, 3], positive="3").estimate == 0


def test_named_classes_may_be_absent_from_the_labels():
    y = np.array(["b", "c"])[RNG.integers(0, 2, 200)]
    table = RNG.dirichlet(np.ones(3), 200)
    frame = pd.DataFrame(table, columns=["c", "a", "b"])
    for found in (
        sigstats.compare(y, frame, frame[["b", "c", "a"]]),
        sigstats.compare(y, table, table.copy(), classes=["c", "a", "b"]),
    ):
        accuracy, loss = found.rows
        assert accuracy.baseline == accuracy.candidate == (frame.idxmax(axis=1) == y).mean()
        assert (
            loss.baseline
            == loss.candidate
            == pytest.approx(np.log(frame.to_numpy()[range(200), np.where(y == "c", 0, 2)]).mean())
        )
    with pytest.raises(ValueError, match=r"baseline: the number of columns is 3; expected 2, one for each class"):
        sigstats.compare(y, table, table.copy())


def test_probabilities_of_both_classes_need_no_positive_class():
    y = np.array(["fraud", "ok"])[RNG.integers(0, 2, 200)]
    p = RNG.random(200)
    table = np.column_stack([p, 1 - p])
    found = sigstats.compare(y, table, table[:, ::-1].copy())
    assert found.rows[0].baseline == ((p > 0.5) == (y == "fraud")).mean()
    assert found.rows[1].baseline == pytest.approx(roc_auc_score(y == "fraud", p))
    with pytest.raises(ValueError, match="positive: is missing"):
        sigstats.compare(y, table, table.copy(), measures=["accuracy", "f1"])


@pytest.mark.parametrize("rounded", [lambda p: p.round(3), lambda p: p.round(2), lambda p: p.astype(np.float16)])
def test_rounded_probabilities_are_taken(rounded):
    found = sigstats.compare(Y, rounded(P), P)
    assert found.rows[0].baseline == 1


@pytest.mark.parametrize(
    ("y", "table", "options", "said"),
    [
        (TEXT, P, {"classes": ORDER[:-1]}, r"baseline: the number of columns is 12; expected 11, one for each"),
        (TEXT, P, {"classes": [*ORDER[:-1], "12"]}, "y: '11' is not one of the classes"),
        (TEXT, P, {"classes": "abc"}, "classes: 'abc' is not valid; expected a sequence of all classes"),
        (TEXT, P, {"classes": ["1", "1"]}, "classes: .* is not valid; expected classes, each once"),
        (TEXT, pd.DataFrame(P).add_prefix("p"), {}, r"baseline \(columns\): .*p0, p1, .* expected classes=\[...\]"),
        (Y, pd.DataFrame(P).assign(other=0.0), {}, "names that are numbers, as y has them"),
        (Y, np.eye(11)[np.minimum(Y, 10)], {}, r"baseline: the number of columns is 11; expected 12"),
        (Y, 0.9 * P, {}, r"baseline \(sum of row \d+\): 0.\d* is not valid; expected probabilities"),
        (Y, np.where(P > 0.5, np.nan, P), {}, "baseline: .* is not valid; expected probabilities"),
    ],
)
def test_tables_that_do_not_fit_are_refused(y, table, options, said):
    with pytest.raises(ValueError, match=said):
        sigstats.compare(y, table, P.copy(), **options)


@pytest.mark.parametrize(("side", "name"), [(0, "baseline"), (1, "candidate")])
def test_tables_of_different_rows_are_named_by_their_model(side, name):
    y = np.arange(60) % 2
    tables = [np.column_stack([y / 2, 1 - y / 2]) for _ in range(2)]
    tables[side][3, 0] += 1
    with pytest.raises(ValueError, match=rf"^{name} \(sum of row 3\)"):
        sigstats.compare((y, y), *tables, unpaired=True)
    with pytest.raises(ValueError, match=rf"^scores\[{side}\] \(sum of row 3\)"):
        sigstats.compare((y, y), y, y, scores=tables, unpaired=True)
