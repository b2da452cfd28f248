"""`sigstats.compare`: verdicts from arrays beside other libraries, the level of its alarms, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.metrics import f1_score, recall_score, roc_auc_score

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays
from sigstats.comparison.rule import ComparisonRule
from sigstats.effects import accuracy_difference

from ...paired import paired_codes


def predictions(n=600, k=3, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    a, b = (np.where(rng.random(n) < 0.8, y, rng.integers(k, size=n)) for _ in range(2))
    return y, a, b, rng.choice(list("NS"), n)


def test_one_answer_of_no_class_does_not_undo_a_pass():
    measures = ["macro-f1", "macro-precision", "macro-recall", "macro-specificity", "balanced-accuracy", "mcc", "kappa"]
    rng = np.random.default_rng(1)
    y = rng.choice(list("abcd"), 3000)
    a = np.where(rng.random(3000) < 0.9, y, "a")
    b = np.where((a != y) & (rng.random(3000) < 0.3), y, a)
    rule = sigstats.ComparisonRule(n_resamples=2000)
    before = sigstats.compare(y, a, b, measures=measures, rule=rule)
    more = [np.append(each, last) for each, last in ((y, "a"), (a, "a"), (b, "I cannot answer"))]
    after = sigstats.compare(*more, measures=measures, rule=rule)
    assert before.verdict == after.verdict == "pass"
    f1_of_b = f1_score(more[0], more[2], average="macro", labels=list("abcd"))
    assert after.rows[0].candidate == pytest.approx(f1_of_b)
    for one, other in zip(before.rows, after.rows, strict=True):
        assert one.low < other.difference < one.high
        assert other.low == pytest.approx(one.low, abs=0.002)


def test_specificity_is_the_mean_of_those_of_each_class_against_the_others():
    y, a, b, _ = predictions()
    (row,) = sigstats.compare(y, a, b, measures=["macro-specificity"]).rows
    expected = np.mean([recall_score(y != each, a != each) for each in range(3)])
    assert row.baseline == pytest.approx(expected)


@pytest.mark.parametrize("kind", [int, float, bool, str])
def test_labels_of_every_kind_are_compared_alike(kind):
    y, a, b, _ = predictions(k=2)
    scores = [np.clip(each + 0.3 * np.arange(600) / 600, 0, 1) for each in (a, b)]
    expected = sigstats.compare(y, a, b, scores=scores, positive=1)
    names = np.array([kind(0), kind(1)])
    found = sigstats.compare(names[y], names[a], names[b], scores=scores, positive=names[1])
    assert found == expected
    assert found.rows[1].baseline == pytest.approx(roc_auc_score(y, scores[0]))
    assert sigstats.compare(names[y], names[a], names[b], scores=scores) == expected


@pytest.mark.parametrize(("kind", "positive"), [(int, True), (bool, 1), (bool, "1"), (int, "true"), (float, True)])
def test_the_positive_class_may_be_a_truth_value_or_its_number(kind, positive):
    y, a, b, _ = predictions(k=2)
    expected = sigstats.compare(y, a, b, scores=(a, b), positive=1)
    assert sigstats.compare(*(each.astype(kind) for each in (y, a, b)), scores=(a, b), positive=positive) == expected
    with pytest.raises(ValueError, match="positive: 'true' is not valid; expected one of 1, 2"):
        sigstats.compare(y + 1, a + 1, b + 1, scores=(a, b), positive=True)


def test_the_order_of_rows_and_the_names_of_groups_change_nothing():
    y, a, b, region = predictions(n=900)
    groups = np.arange(900) // 9
    order = np.random.default_rng(2).permutation(900)
    found = sigstats.compare(y, a, b, slices={"region": region}, groups=groups)
    named = sigstats.compare(y, a, b, slices={"region": region}, groups=[f"{group:03}" for group in groups])
    shuffled = sigstats.compare(y[order], a[order], b[order], slices={"region": region[order]})
    assert named == found
    assert shuffled == sigstats.compare(y, a, b, slices={"region": region})


@pytest.mark.long
def test_without_a_regression_false_alarms_keep_their_level():
    rng = np.random.default_rng(5)
    rule = ComparisonRule(minimum_effect=0.0)

    def verdict():
        label = np.zeros(400, dtype=np.int64)
        a, b = (rng.random(400) < 0.25).astype(np.int64), (rng.random(400) < 0.25).astype(np.int64)
        slices = {"s": (tuple("abcdef"), rng.integers(6, size=400))}
        paired = paired_codes(label, a, b, slices=slices)
        return compare_pair(paired, rule).verdict

    alarms = sum(verdict() == "fail" for _ in range(200))
    # 200 families at 0.05: more than 29 would happen by chance less than once in a million times
    assert alarms <= binom.isf(1e-6, 200, 0.05)


def test_parts_are_all_rows_and_those_of_each_value_in_their_order():
    y = [0, 1] * 5
    paired = pair_arrays(y, y, y, slices={"s": list("babacabbab"), "t": [1] * 10})
    parts = {name: rows.tolist() for name, rows in paired.units.parts}
    assert parts == {
        "all rows": list(range(10)),
        "s = a": [1, 3, 5, 8],
        "s = b": [0, 2, 6, 7, 9],
        "s = c": [4],
        "t = 1": list(range(10)),
    }


@pytest.mark.parametrize(
    ("p", "difference", "low", "verdict"),
    [
        (0.05, -0.005, -0.1, "fail"),
        (0.0500001, -0.2, -0.3, "inconclusive"),
        (0.01, -0.004, -0.006, "inconclusive"),  # shown, but of no matter; a drop that matters is not excluded
        (0.01, -0.004, -0.005, "pass"),
        (1.0, 0.02, 0.01, "pass"),
    ],
)
def test_the_verdict_asks_for_significance_for_an_effect_and_for_a_margin(p, difference, low, verdict):
    assert ComparisonRule().verdict(adjusted_pvalue=p, difference=difference, low=low) == verdict


@pytest.mark.parametrize("adjust", ["holm", "benjamini-hochberg", "benjamini-yekutieli", "none"])
def test_one_test_among_many_is_rejected_up_to_its_level_and_not_beyond(adjust):
    rule = ComparisonRule(adjust=adjust)
    level = rule.level_of_one(12)
    for p, rejected in ((level * (1 - 1e-9), True), (level * (1 + 1e-9), False)):
        family = [p, *[1.0] * 11]
        adjusted = family if adjust == "none" else sigstats.adjust_pvalues(family, method=adjust)
        assert (adjusted[0] <= rule.alpha) == rejected


def test_the_rule_can_be_written_down():
    rule = ComparisonRule(alpha=np.float64(0.01), n_resamples=np.int64(999), adjust="none")
    assert eval(repr(rule)) == rule == replace(rule)
    assert {name: type(value) for name, value in rule.by_keys().items()} == {
        "alpha": float, "adjust": str, "minimum_effect": float, "margin": float, "confidence": float,
        "relative_effect": float, "relative_margin": float,
        "resamples": int, "seed": int, "smallest_slice": int, "margins": dict, "simultaneous": bool,
        "unseen_group": str,
    }  # fmt: skip


Y = [0, 1] * 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ComparisonRule(alpha=1), "alpha: 1 is not valid; expected a number strictly between 0 and 0.5"),
        (lambda: ComparisonRule(margin=float("nan")), "margin: nan"),
        (lambda: ComparisonRule(n_resamples=98), "n_resamples: 98 is not valid; expected a whole number from 99"),
        (lambda: ComparisonRule(rng=2**63), "rng: 9223372036854775808"),
        (lambda: ComparisonRule(smallest_slice=0), "smallest_slice: 0"),
        (lambda: ComparisonRule(adjust="hol"), "adjust: 'hol' is not valid; did you mean 'holm'?"),
        (lambda: sigstats.compare(Y, Y, Y[:-1]), "candidate: the length is 39"),
        (lambda: sigstats.compare(Y, Y, list("ab") * 20), "candidate: 'a'"),
        (lambda: sigstats.compare(Y, Y, Y, groups=[1] * 39), "groups: the length is 39; expected 40"),
        (lambda: sigstats.compare(Y, Y, Y, slices=[1] * 40), "slices: [1, 1"),
        (lambda: sigstats.compare(Y, Y, Y, slices={"s": [1]}), "slices['s']: the length is 1"),
        (lambda: sigstats.compare(Y, Y, Y, scores=[0.5] * 40), "scores: [0.5"),
        (lambda: sigstats.compare(Y, Y, Y, scores=([0.5] * 40, [float("inf")] * 40)), "scores[1]: inf"),
        (lambda: sigstats.compare(Y, Y, Y, measures=["auc"]), "'auc' is not valid without scores"),
        (lambda: sigstats.compare(Y, Y, Y, measures=["acuracy"]), "did you mean 'accuracy'?"),
        (lambda: sigstats.compare(Y, Y, Y, measures=["mcc", "mcc"]), "measures: 'mcc' is named twice"),
        (lambda: sigstats.compare(Y, Y, Y, measures=[]), "measures: [] is not valid; expected one measure or more"),
        (lambda: sigstats.compare(Y, Y, Y, rule={"alpha": 0.1}), "rule: {'alpha': 0.1}"),
        (lambda: sigstats.compare(Y[:8], Y[:8], Y[:8]), "rows: 8 are not enough; nothing can be tested (too small"),
        (lambda: sigstats.compare(Y, Y, Y, scores=(Y, Y), positive=7), "positive: '7' is not valid; expected one of"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_the_first_line_states_the_row_that_decides_and_a_clear_gain_before_it():
    y = np.tile([0, 1], 100)
    a, b = (np.where((np.arange(200) >= start) & (np.arange(200) < start + 20), 1 - y, y) for start in (0, 10))
    found = sigstats.compare(y, a, b)
    (row,) = found.rows
    effect = f"accuracy on all rows did not change (−{-100 * row.low:.2f} to +{100 * row.high:.2f})"
    assert found.answer.headline == f"INCONCLUSIVE: {effect}; a drop of more than 0.5 points is not excluded"
    better = sigstats.compare(y, a, y, slices={"s": [0] * 190 + [1] * 10})
    assert better.answer.headline.startswith("INCONCLUSIVE: accuracy on all rows rose by 10.00 points (")
    assert ", but a drop of more than 0.5 points is not excluded: accuracy on s = 1 " in better.answer.headline
    assert (better.answer.row, better.answer.better) == (better.rows[2], better.rows[:1])


@pytest.mark.long
def test_more_weightings_are_drawn_only_where_they_may_decide():
    """Of 300 slices one is worse; of the others so many weightings are drawn as were asked for."""
    slices = np.repeat(np.arange(300), 40).astype(str)
    right = np.arange(len(slices)) % 2
    changed = np.where(np.arange(len(slices)) % 40 < 2, 1 - right, right)
    worse = np.where((slices == "7") & (right == 1), 0, changed)
    rule = ComparisonRule(n_resamples=999, minimum_effect=0.0)
    found = sigstats.compare(right, changed, worse, slices={"s": slices}, measures=["macro-f1"], rule=rule)
    drawn = {row.slice: row.test.split(", ")[1] for row in found.rows}
    assert drawn.pop("s = 7") == drawn.pop("all rows") == "12,040 weightings"  # twice 301 / 0.05
    assert set(drawn.values()) == {"999 weightings"}
    assert [row.slice for row in found.rows if row.verdict == "fail"] == ["all rows", "s = 7"]


@pytest.mark.long
def test_fewer_weightings_of_many_slices_find_what_all_find():
    """Of 150 slices of three classes: the verdicts of all weightings, p and the ends up to the chance of the few."""
    rng = np.random.default_rng(11)
    slices, y = np.repeat(np.arange(150), 60), rng.integers(0, 3, 9000)
    a, b = (np.where(rng.random(9000) < 0.85, y, rng.integers(0, 3, 9000)) for _ in range(2))
    b = np.where((slices < 20) & (rng.random(9000) < 0.5), 0, b)
    rule = ComparisonRule(adjust="none", margin=0.1)
    parts = sigstats.compare(y, a, b, slices={"s": slices}, measures=["macro-f1"], rule=rule).rows[1:]
    for number, few in enumerate(parts):
        where = slices == number
        every = sigstats.compare(y[where], a[where], b[where], measures=["macro-f1"], rule=rule).rows[0]
        assert few.slice == f"s = {number}"
        assert few.difference == every.difference
        assert few.verdict == every.verdict
        assert few.low == pytest.approx(every.low, abs=0.08 * (every.high - every.low))
        assert few.pvalue == pytest.approx(every.pvalue, abs=0.06)
    drawn = {row.test.split(", ")[1] for row in parts}
    assert drawn == {"2,500 weightings", "10,000 weightings"}
    assert {row.verdict for row in parts} == {"pass", "inconclusive", "fail"}


@pytest.mark.long
@pytest.mark.parametrize(("n", "discordant", "within"), [(15_000, 0.1, 0.03), (15_000, 0.005, 0.03)])
def test_equal_candidates_pass_as_often_as_by_a_normal_interval(n, discordant, within):
    """At the margin of half a point; of 2,000 tables a share of paired passes has a standard error of .005 or so."""
    rng = np.random.default_rng(35)
    differing = rng.binomial(n, discordant, 2000)
    better = rng.binomial(differing, 0.5)
    gained = (2 * better - differing) / n
    normal = gained - norm.ppf(0.975) * np.sqrt(differing - n * gained**2) / n
    lows = [
        accuracy_difference(b, d - b, n).confidence_interval.low
        for b, d in zip(better.tolist(), differing.tolist(), strict=True)
    ]
    assert abs(np.mean(np.array(lows) >= -0.005) - np.mean(normal >= -0.005)) < within
