import math
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from sigstats.mcnemar.counts import DiscordantCounts, discordant_counts
from sigstats.mcnemar.mcnemar_test import mcnemar_test

ALTERNATIVES = ("two-sided", "greater", "less")
METHODS = ("exact", "mid-p", "chi2")

counts = st.integers(0, 60)


def enumerated(a, b, alternative, weight):
    """The definition: outcomes no likelier than, or beyond, the observed one; equal ones by `weight`."""
    n = a + b
    law = [Fraction(comb(n, k), 2**n) for k in range(n + 1)]
    if alternative == "two-sided":
        beyond, equal = (sum(p for p in law if p < law[a]), sum(p for p in law if p == law[a]))
    else:
        seen = a if alternative == "greater" else b
        beyond, equal = sum(law[seen + 1 :]), law[seen]
    return beyond + weight * equal


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("method", "weight"), [("exact", Fraction(1)), ("mid-p", Fraction(1, 2))])
def test_every_small_case_equals_enumeration_in_rationals(alternative, method, weight):
    for a in range(26):
        for b in range(26):
            if a + b:
                result = mcnemar_test(a, b, alternative=alternative, method=method)
                assert result.pvalue == float(enumerated(a, b, alternative, weight))
                assert result.log10_pvalue == pytest.approx(math.log10(result.pvalue), abs=1e-12)


def test_reference_numbers_of_bentur():
    # Bentur et al. 2009, airway reactivity: discordant 1 against 7. Figures of Fagerland, Lydersen and Laake (2013).
    assert mcnemar_test(1, 7).pvalue == 0.0703125
    assert mcnemar_test(1, 7, method="mid-p").pvalue == 0.0390625
    assert mcnemar_test(1, 7, method="chi2").pvalue == pytest.approx(0.0338948535, abs=1e-10)
    assert mcnemar_test(1, 7, method="chi2", correction=True).pvalue == pytest.approx(0.0770998717, abs=1e-10)


def test_reference_numbers_of_cavo():
    # Cavo et al. 2012: 6 against 16. Figures printed by R's contingencytables 3.0.0.
    assert mcnemar_test(6, 16).pvalue == pytest.approx(0.052479, abs=5e-7)
    assert mcnemar_test(6, 16, method="mid-p").pvalue == pytest.approx(0.034690, abs=5e-7)
    assert mcnemar_test(6, 16, method="chi2").pvalue == pytest.approx(0.033006, abs=5e-7)
    assert mcnemar_test(6, 16, method="chi2", correction=True).pvalue == pytest.approx(0.055009, abs=5e-7)


@settings(deadline=None, derandomize=True)
@given(counts, counts)
def test_agrees_with_scipy_and_statsmodels(a, b):
    if a + b == 0:
        return
    for alternative in ALTERNATIVES:
        truth = scipy.stats.binomtest(a, a + b, 0.5, alternative=alternative).pvalue
        assert mcnemar_test(a, b, alternative=alternative).pvalue == pytest.approx(truth, rel=1e-12)
    table = [[3, a], [b, 4]]
    assert mcnemar_test(a, b).pvalue == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-12)
    plain = mcnemar(table, exact=False, correction=False)
    ours = mcnemar_test(a, b, method="chi2")
    assert (ours.statistic, ours.pvalue) == pytest.approx((plain.statistic, plain.pvalue), rel=1e-12)
    if a != b:  # with equal counts statsmodels corrects past zero, to 1/n; R and this package do not
        edwards = mcnemar(table, exact=False, correction=True)
        assert mcnemar_test(a, b, method="chi2", correction=True).pvalue == pytest.approx(edwards.pvalue, rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(("a", "b"), [(10_000, 30_000), (40_000, 41_500), (20_000, 20_000)])
def test_logarithms_equal_big_integers(a, b):
    low = min(a, b)
    term = tail = 1
    for k in range(low):
        term = term * (a + b - k) // (k + 1)
        tail += term
    truth = min(0.0, math.log2(2 * tail) - (a + b)) * math.log10(2)
    assert mcnemar_test(a, b).log10_pvalue == pytest.approx(truth, rel=1e-12, abs=1e-12)


def test_counts_of_1e15():
    half, step = 5 * 10**14, 10**8  # 2 step / sqrt(10**15) = 6.32 standard deviations
    exact = mcnemar_test(half + step, half - step)
    approximate = mcnemar_test(half + step, half - step, method="chi2")
    assert exact.log10_pvalue == pytest.approx(approximate.log10_pvalue, rel=1e-6)
    certain = mcnemar_test(10**15, 0)
    assert certain.pvalue == 0
    assert certain.log10_pvalue == pytest.approx((1 - 10**15) * math.log10(2), rel=1e-14)
    assert mcnemar_test(10**15, 10**15).pvalue == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_no_discordant_pair_says_nothing(method, alternative):
    result = mcnemar_test(0, 0, method=method, alternative=alternative)
    assert (result.pvalue, result.log10_pvalue) == (1, 0)
    assert "no discordant pair" in result.reason


@settings(deadline=None, derandomize=True)
@given(counts, counts, st.sampled_from(METHODS))
def test_laws(a, b, method):
    def p(x, y, alternative):
        return mcnemar_test(x, y, alternative=alternative, method=method).pvalue

    assert p(a, b, "two-sided") == p(b, a, "two-sided")
    assert p(a, b, "greater") == p(b, a, "less")
    assert p(a + 1, b, "greater") <= p(a, b, "greater") + 1e-15
    assert 0 < p(a, b, "two-sided") <= 1
    if method == "mid-p":
        assert p(a, b, "two-sided") <= mcnemar_test(a, b).pvalue
        if a + b:
            assert p(a, b, "greater") + p(a, b, "less") == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_exact_test_is_valid(alternative):
    # P(p <= alpha) <= alpha for every level at once: it is enough to look at the attained p-values.
    for n in range(1, 60):
        pvalues = np.array([mcnemar_test(k, n - k, alternative=alternative).pvalue for k in range(n + 1)])
        law = scipy.stats.binom.pmf(np.arange(n + 1), n, 0.5)
        for alpha in np.unique(pvalues):
            assert law[pvalues <= alpha].sum() <= alpha * (1 + 1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_mean_mid_p_value_is_one_half(alternative):
    for n in range(1, 40):
        pvalues = [mcnemar_test(k, n - k, alternative=alternative, method="mid-p").pvalue for k in range(n + 1)]
        assert np.dot(pvalues, scipy.stats.binom.pmf(np.arange(n + 1), n, 0.5)) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(3, 7), (7, 3), (5, 5), (0, 9), (9, 0), (1, 0), (40, 41)])
def test_the_corrected_one_sided_test_is_the_normal_tail_at_half_a_count(a, b):
    n = a + b
    for alternative, k in (("greater", a), ("less", b)):
        # P(X >= k) of a binomial with p = 1/2, at k - 1/2 of the normal distribution of mean n/2 and variance n/4
        wanted = scipy.stats.norm.sf((k - 0.5 - n / 2) / math.sqrt(n / 4))
        found = mcnemar_test(a, b, alternative=alternative, method="chi2", correction=True)
        assert found.pvalue == pytest.approx(wanted, rel=1e-12)
        assert found.log10_pvalue == pytest.approx(math.log10(wanted), rel=1e-12)
    assert mcnemar_test(3, 7, alternative="greater", method="chi2", correction=True).pvalue == pytest.approx(
        0.943, abs=1e-3
    )


def test_chi2_warns_of_few_pairs():
    assert "only 24 discordant pairs" in mcnemar_test(12, 12, method="chi2").reason
    assert mcnemar_test(12, 13, method="chi2").reason == ""
    assert mcnemar_test(12, 12).reason == ""


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=40))
def test_counts_equal_a_plain_loop(rows):
    rows = [*rows, *((code,) * 3 for code in range(4))]  # all classes occur, so that none is another coding
    y, a, b = zip(*rows, strict=True)
    only_a = sum(x == t != z for t, x, z in rows)
    only_b = sum(z == t != x for t, x, z in rows)
    assert discordant_counts(y, a, b) == DiscordantCounts(only_a, only_b)
    names = np.array(["ant", "bee", "cow", "a dog"])
    assert discordant_counts(names[list(y)], names[list(a)].astype(object), list(names[list(b)])) == (only_a, only_b)
    assert discordant_counts(np.array(y, float), np.array(a, np.uint8), b) == (only_a, only_b)


@pytest.mark.parametrize(
    ("y", "a", "b", "field"),
    [
        ([], [], [], "y"),
        ([0, 1], [0], [0, 1], "a"),
        ([0, 1], [0, 1], ["0", "1"], "b"),
        (["x", None], ["x", "y"], ["x", "y"], "y"),
        (["x", 1], ["x", "y"], ["x", "y"], "y"),
        ([0, math.nan], [0, 1], [0, 1], "y"),
        ([[0], [1]], [0, 1], [0, 1], "y"),
        ([0, 1], [[0], [1, 2]], [0, 1], "a"),
        (7, [0], [0], "y"),
        ([0, 1j], [0, 1], [0, 1], "y"),
        ([0, 1], [0, 1], np.array([0, None]), "b"),
        ([0.1, 0.2], np.array([0.1, 0.2], np.float32), [0.1, 0.2], "a"),
    ],
)
def test_bad_labels_are_named(y, a, b, field):
    with pytest.raises(ValueError, match=rf"^{field}\b[^\n]*$"):
        discordant_counts(y, a, b)


LABELS = [
    *((False, True), (0, 1), ("0", "1"), ("0.0", "1.0"), ("FALSE", "TRUE"), ("no", "yes"), ("A wrong", "B right")),
    *(("wrong", "right"), ("incorrect", "right"), ("Incorrect", "correct"), ("fail", "pass"), ("failure", "success")),
]


@pytest.mark.parametrize("labels", LABELS)
def test_a_table_with_labels_tells_what_is_right(labels):
    """`pandas.crosstab` sorts its labels, so that wrong answers may come first or last."""
    a, b = np.arange(40) >= 6, np.arange(40) < 37
    named = {name: np.where(right, labels[1], labels[0]) for name, right in (("A", a), ("B", b))}
    table = pd.crosstab(*(pd.Series(values, name=name) for name, values in named.items()))
    for each in (table, table.iloc[::-1], table.iloc[:, ::-1], table.iloc[::-1, ::-1]):
        found = mcnemar_test(each, alternative="greater")
        assert (found.only_a, found.only_b) == (3, 6)
    with pytest.raises(ValueError, match="expected A in rows and B in columns"):
        mcnemar_test(table.T)


@pytest.mark.parametrize(
    ("rows", "columns", "turned"),
    [
        *(("model_b", "model_a", True), ("pred_b", "pred_a", True), ("B right", "A right", True), ("b", "a", True)),
        *(("Model B", "Model A", True), ("predB", "predA", True), ("candidate right", "baseline right", True)),
        *(("new", "old", True), ("correct_after", "correct_before", True), ("new model", "old model", True)),
        *(("old", "new", False), ("renewed", "cold", False), ("new", "newer", False)),
        *(("model_a", "model_b", False), ("baseline", "candidate", False), ("bert", "albert", False)),
        *(("pred_a_correct", "pred_b_correct", False), ("label right", "label_2 right", False)),
        *(("beta", "alpha", False), ("model_b2", "model_a1", False), ("bert", "gpt", False), (None, None, False)),
    ],
)
def test_axes_whose_names_differ_in_b_and_a_are_turned(rows, columns, turned):
    table = pd.DataFrame([[2, 3], [6, 29]], pd.Index([False, True], name=rows), pd.Index([False, True], name=columns))
    if turned:
        with pytest.raises(ValueError, match=f"expected {columns} in rows and {rows} in columns"):
            mcnemar_test(table)
    else:
        assert mcnemar_test(table).only_a == 6


@pytest.mark.parametrize(
    ("rows", "columns", "turned"),
    [
        *(("B {}", "A {}", True), ("b_{}", "a_{}", True), ("model_b {}", "model_a {}", True), ("{}", "A {}", True)),
        *(
            ("candidate {}", "baseline {}", True),
            ("B {}", "{}", True),
            ("A {}", "B {}", False),
            ("b {}", "c {}", False),
        ),
        *(("baseline {}", "candidate {}", False), ("{}", "B {}", False), ("gpt {}", "bert {}", False)),
    ],
)
def test_labels_that_put_b_in_rows_are_refused(rows, columns, turned):
    """17 observations only A gets right, 1 only B: P(X >= 17) = 19 / 2^18."""
    labels = [[form.format(word) for word in ("right", "wrong")] for form in (rows, columns)]
    table = pd.DataFrame([[40, 17], [1, 42]], *labels)
    tables = [table, [row for _, row in table.iterrows()]]
    if "{}" not in (rows, columns):
        tables.append(table.rename_axis("outcome").rename_axis("outcome", axis=1))
    for each in tables:
        if turned:
            with pytest.raises(ValueError, match=r"^table \(rows, columns\): .* \(transpose it\)$"):
                mcnemar_test(each)
        else:
            assert mcnemar_test(each, alternative="greater").pvalue == pytest.approx(19 / 2**18)


@pytest.mark.parametrize(
    "names",
    [
        *(
            ("pred_a", "pred_b"),
            ("true", "predicted"),
            ("wrong_a", "wrong_b"),
            ("A err", "B err"),
            ("aFailed", "bFailed"),
        ),
        *((f"a_{word}", f"b_{word}") for word in ("not_ok", "misclassified", "hallucinated", "timeout", "fp", "loss")),
    ],
)
@pytest.mark.parametrize("labels", [(False, True), (0, 1), ("no", "yes")])
def test_axes_of_classes_or_errors_are_refused(names, labels):
    rows, columns = (pd.Index(labels, name=name) for name in names)
    with pytest.raises(ValueError, match=f"'{names[0]}' is not valid; expected a name for right answers"):
        mcnemar_test(pd.DataFrame([[2, 3], [6, 29]], rows, columns))


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        *((name, ("no", "yes")) for name in ("gpt4", "a_correct", "is_ok", "bert-base", "mistral", "missy", None)),
        *(("a_failed", labels) for labels in (("wrong", "right"), ("fail", "pass"))),
    ],
)
def test_names_of_models_and_labels_that_state_their_meaning_are_taken(name, labels):
    axis = pd.Index(labels, name=name)
    assert mcnemar_test(pd.DataFrame([[2, 3], [6, 29]], axis, axis)).only_a == 6


@pytest.mark.parametrize("labels", ["xy", ("negative", "positive"), ("not correct", "correct"), ("falsch", "richtig")])
def test_labels_that_do_not_tell_what_is_right_are_refused(labels):
    cells = [[40, 3], [9, 52]]
    for axes in ({"index": labels, "columns": labels}, {"index": ("right", "wrong"), "columns": labels}):
        with pytest.raises(ValueError, match=r"expected labels such as right and wrong, or an array"):
            mcnemar_test(pd.DataFrame(cells, **{key: [*names] for key, names in axes.items()}))


def test_the_places_of_a_data_frame_without_labels_do_not_turn_the_sign():
    """What pandas numbers 0 and 1 of itself is not wrong and right; Polars has no labels of rows."""
    cells = [[40, 3], [9, 52]]
    named = pl.DataFrame(cells, schema=["b_right", "b_wrong"], orient="row")
    for table in (pd.DataFrame(cells), np.array(cells), pl.DataFrame(cells, orient="row"), named):
        assert mcnemar_test(table, alternative="greater") == mcnemar_test(3, 9, alternative="greater")
    with pytest.raises(ValueError, match=r"^table \(columns\): .* right answers first, since rows have no labels$"):
        mcnemar_test(named.select("b_wrong", "b_right"))


RIGHT_FIRST = pd.DataFrame([[40, 1], [7, 52]], ["right", "wrong"], ["right", "wrong"])


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (pa.table({"wrong": [7, 52], "right": [40, 1]}), "right answers first, since rows have no labels"),
        (pa.table({"right": [40, 7], "wrong": [1, 52]}), None),
        (pl.DataFrame({"a_right": [40, 1], "a_wrong": [7, 52]}), "transpose it"),
        (pl.DataFrame({"x": [40, 7], "y": [1, 52]}), "labels such as right and wrong"),
        ([RIGHT_FIRST.loc["wrong"], RIGHT_FIRST.loc["right"]], None),
        ((RIGHT_FIRST.loc["right"], RIGHT_FIRST.loc["wrong"][::-1]), r"the index of table\[0\], in its order"),
        ([row[::-1] for _, row in RIGHT_FIRST.reset_index(drop=True).iterrows()], "right answers first"),
        ([row for _, row in RIGHT_FIRST.reset_index(drop=True).iterrows()], None),
        ([pd.Series([40, 1]), pd.Series([7, 52])], None),
    ],
)
def test_the_labels_of_arrow_tables_and_of_lists_of_series_count(table, wanted):
    if wanted is None:
        assert mcnemar_test(table).pvalue == 0.0703125
    else:
        with pytest.raises(ValueError, match=wanted):
            mcnemar_test(table)


@pytest.mark.parametrize("counts", [(2**53, 2**53), (2**53, 1), (1, 2**53)])
def test_the_largest_counts_have_an_interval_too(counts):
    """Wald's interval is right to its width: of (2^53, 1) both are narrower than a millionth."""
    low, high = mcnemar_test(*counts).confidence_interval
    a, b = counts
    centre, reach = (a - b) / (a + b), 2 * 1.96 * math.sqrt(a * b / (a + b) ** 3)
    assert low == pytest.approx(centre - reach, abs=max(1e-4 * reach, 1e-14))
    assert high == pytest.approx(centre + reach, abs=max(1e-4 * reach, 1e-14))
    assert str(mcnemar_test(*counts))
