"""How many rows a comparison needs: the level, what a pilot says, and the rule itself simulated."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom
from sklearn.metrics import f1_score, roc_auc_score

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.family import evidence_for
from sigstats.comparison.paired_predictions import ItemTotals, pair_arrays
from sigstats.comparison.rule import ComparisonRule
from sigstats.sizing.comparison import Pilot, PilotPart, pilot_of, plan_size
from sigstats.sizing.measures import plan_measure
from sigstats.sizing.samples import Sizes
from sigstats.sizing.spread import planners_of
from sigstats.unseen_row.means import mean_pvalues, units_of

from ...examples import simulated

RULE = ComparisonRule()


def by_hand(n=2000, discordance=0.1, tests=1):
    return Pilot((PilotPart("all rows", n, discordance),), tests)


def pilot(n=600, seed=0, **options):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a, b = (np.where(rng.random(n) < right, y, 1 - y) for right in (0.9, 0.85))
    return pair_arrays(y, a, b, **options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("adjust", "level"), [("holm", 0.005), ("none", 0.05), ("benjamini-yekutieli", 0.05 / 29.28968)]
)
def test_the_level_is_that_of_one_test_of_the_family(adjust, level):
    found = plan_size(by_hand(tests=10), rule=ComparisonRule(adjust=adjust), drops=[0.02])
    assert found.level == pytest.approx(level, rel=1e-6)
    found = plan_size(by_hand(tests=10), rule=ComparisonRule(adjust=adjust, alpha=0.01), drops=[0.02])
    assert found.level == pytest.approx(level / 5, rel=1e-6)


@pytest.mark.long
def test_the_rule_fails_as_often_as_was_planned():
    """Of all comparisons 80% expected; more than 5.1 standard errors off happens once in 10**6 (binomial)."""
    n = plan_size(by_hand(0, 0.3), rule=RULE, drops=[0.1]).drops[0].needed
    rng = np.random.default_rng(1)
    trials, failed = simulated(600), 0
    for _ in range(trials):
        kind = rng.choice(3, n, p=[0.2, 0.1, 0.7])  # A alone right, B alone, both
        y = np.zeros(n, dtype=int)
        found = compare_pair(pair_arrays(np.where(y, 1, 0), np.where(kind == 1, 1, 0), np.where(kind == 0, 1, 0)), RULE)
        failed += found.verdict == "fail"
    assert abs(failed - 0.8 * trials) <= 5.1 * np.sqrt(0.16 * trials)


def test_a_pilot_says_how_often_rows_differ_and_in_each_slice():
    region = np.repeat(["north", "south", "tiny"], [400, 196, 4])
    paired = pilot(slices={"region": region})
    found = pilot_of(paired, RULE, tests=6)
    differs = np.not_equal(*paired.predicted.right)
    assert [part.name for part in found.parts] == ["all rows", "region = north", "region = south"]
    assert [part.n for part in found.parts] == [600, 400, 196]
    assert [part.discordance for part in found.parts] == pytest.approx(
        [differs.mean(), differs[:400].mean(), differs[400:596].mean()]
    )
    planned = plan_size(found, rule=RULE, drops=[0.05, 0.1])
    assert planned.parts[0].detectable < planned.parts[1].detectable < planned.parts[2].detectable


@pytest.mark.long
def test_rows_of_groups_count_as_fewer():
    """The correlation, against the mean over all pairs of rows of a group."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 5)
    y = np.zeros(300, dtype=int)
    a, b = (np.where(rng.random(60) < 0.3, 1, 0)[groups] ^ (rng.random(300) < 0.1) for _ in range(2))
    found = pilot_of(pair_arrays(y, a, b, groups=groups), RULE, tests=1)
    ahead = (a == 0).astype(int) - (b == 0)
    centred = ahead - ahead.mean()
    pairs = [centred[5 * g + i] * centred[5 * g + j] for g in range(60) for i, j in permutations(range(5), 2)]
    assert found.correlation == pytest.approx(np.mean(pairs) / centred.var())
    assert (found.unit, found.answers, found.parts[0].n) == ("groups", 5, 60)
    alone = pilot_of(pair_arrays(y, a, b), RULE, tests=1)
    grouped, single = (plan_size(each, rule=RULE, drops=[0.1]).drops[0].needed for each in (found, alone))
    assert single < 5 * grouped < 5 * single


def test_what_is_no_pilot_is_refused():
    same = pair_arrays([0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0])
    with pytest.raises(ValueError, match="right on the same rows"):
        pilot_of(same, RULE, tests=1)
    for wrong in ({"drops": [0]}, {"drops": [1.5]}, {"drops": [0.1], "target": 1}):
        with pytest.raises(ValueError, match=r"drop|power"):
            plan_size(by_hand(), rule=RULE, **wrong)
    with pytest.raises(ValueError, match="alpha"):
        plan_size(by_hand(tests=1), rule=ComparisonRule(alpha=0.7), drops=[0.1])


def fails(rng, sizes, drop, discordance, correlation):
    """Whether `compare` fails a candidate on groups whose rows have a Dirichlet law."""
    only_a, only_b = (discordance + drop) / 2, (discordance - drop) / 2
    k = 1 / correlation - 1
    shares = rng.dirichlet([only_a * k, (1 - discordance) * k, only_b * k], len(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    kinds = (rng.random(len(group))[:, None] > shares[:, :2].cumsum(axis=1)[group]).sum(axis=1)
    answers = pair_arrays(np.ones(len(kinds), int), (kinds != 2).astype(int), (kinds != 0).astype(int), groups=group)
    return compare_pair(answers, RULE, alone=True).verdict == "fail"


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "rows", "drop", "discordance", "correlation"),
    [
        (20, [10], 0.1, 0.2, 0.4),
        (40, [10], 0.12, 0.2, 0.2),
        (80, [5], 0.06, 0.12, 0.3),
        (70, [10, 50], 0.02, 0.05, 0.1),
    ],
)
def test_groups_fail_as_often_as_was_planned(n, rows, drop, discordance, correlation):
    """More than 3.3 standard errors off happens once in 10**3, with 2.6% of the stated power's own."""
    shares = (1 / len(rows),) * len(rows)
    pilot = Pilot(
        (PilotPart("all rows", n, discordance),), 1, answers=30, correlation=correlation, unit="groups",
        sizes=Sizes(tuple(rows), shares),
    )  # fmt: skip
    stated = plan_size(pilot, rule=RULE, drops=[drop]).drops[0].power
    rng, trials = np.random.default_rng(5), simulated(400)
    failed = sum(fails(rng, rng.choice(rows, n), drop, discordance, correlation) for _ in range(trials))
    assert abs(failed / trials - stated) <= 3.3 * np.sqrt(0.2 / trials + 0.026**2)


@pytest.mark.long
def test_more_answers_need_fewer_items_and_the_numbers_suffice():
    items = Pilot((PilotPart("all rows", 500, 0.12),), 1, answers=5, correlation=0.3, unit="items")
    found = plan_size(items, rule=RULE, drops=[0.03])
    assert [each.answers for each in found.answers] == [1, 2, 5, 10]
    needed = [each.needed[0] for each in found.answers]
    assert needed == sorted(needed, reverse=True)
    assert needed[2] == found.drops[0].needed
    assert needed[0] == sigstats.paired_sample_size(only_a=0.075, only_b=0.045, alternative="greater")
    again = replace(items, parts=(PilotPart("all rows", needed[2], 0.12),))
    assert plan_size(again, rule=RULE, drops=[0.03]).drops[0].power == pytest.approx(0.8, abs=0.03)


@pytest.mark.long
def test_few_groups_show_no_drop_that_one_more_might_undo():
    """Of 4 groups the least one-sided p is 1/16 if another is like them; if it may lose all its rows, 10 show none."""
    for unseen, n, shown in (("like-seen", 4, False), ("like-seen", 10, True), ("any", 10, False)):
        pilot = Pilot((PilotPart("all rows", n, 0.1),), 1, answers=100, unit="groups")
        plan = plan_size(pilot, rule=replace(RULE, unseen_group=unseen), drops=[0.05])
        assert (plan.drops[0].power > 0.5) == shown
        assert plan.parts[0].detectable is None or plan.parts[0].detectable > 0.04


def items_answered(rng, items, numbers, drop, spread=0.15):
    """Right answers of both models to items, whose chances vary, and how many answers each gave."""
    chance = np.clip(0.8 + spread * rng.standard_normal(items), 0.02, 0.98)
    counts = [rng.integers(1, 12, items) if n is None else np.full(items, n) for n in numbers]
    chances = chance, np.clip(chance - drop, 0.005, 0.995)
    return [rng.random((items, 12)) < each[:, None] for each in chances], counts


@pytest.mark.long
@pytest.mark.parametrize(
    ("numbers", "items", "drop"), [((4, 12), 60, 0.1), ((1, 8), 150, 0.08), ((None, None), 80, 0.08), ((6, 6), 60, 0.1)]
)
def test_items_of_unlike_numbers_of_answers_fail_as_often_as_was_planned(numbers, items, drop):
    """By a pilot of 3,000 items, and 1,000 comparisons; more than 0.09 off has a probability below 1e-3 of both."""
    rng = np.random.default_rng(12)
    right, counts = items_answered(rng, 3000, numbers, drop)
    both = np.minimum(*counts)
    item = np.repeat(np.arange(3000), both)
    place = np.concatenate([np.arange(k) for k in both])
    paired = pair_arrays(np.ones(len(item), int), *(each[item, place] * 1 for each in right), groups=item)
    asked = [np.arange(12) < n[:, None] for n in counts]
    sums = [1.0 * np.sum(each & some, axis=1) for each, some in zip(right, asked, strict=True)]
    totals = ItemTotals(tuple(sums), tuple(counts))
    found = pilot_of(
        replace(
            paired,
            units=replace(paired.units, items=item),
            outcomes=replace(paired.outcomes, totals=None if numbers == (6, 6) else totals),
        ),
        RULE,
        tests=1,
    )
    found = replace(found, parts=(replace(found.parts[0], n=items),))
    stated = plan_size(found, rule=RULE, drops=[drop]).drops[0].power
    many = []
    for _ in range(1000):
        (a, b), (m, n) = items_answered(rng, items, numbers, drop)
        of_a, of_b = (np.sum(each & (np.arange(12) < k[:, None]), axis=1) / k for each, k in ((a, m), (b, n)))
        many.append(units_of(of_b - of_a))
    assert abs(np.mean([less <= 0.05 for less, _ in mean_pvalues(many, [1.0] * 1000)]) - stated) <= 0.09


@pytest.mark.long
@pytest.mark.parametrize("cost", [False, True])
def test_skewed_marks_fail_as_often_as_was_planned(cost):
    """A candidate that loses one mark in ten and gains none is worse at p = 2**-k for k losses, so that k >= 5 fail."""
    n, share = 300, 0.1
    lost = np.arange(n) % 10 == 0
    marks = np.full(n, 0.0 if cost else 1.0), lost * 1.0 if cost else 1.0 - lost
    known = pair_arrays(np.zeros(n, int), np.zeros(n, int), np.zeros(n, int), scores=marks, score_range=(0, 1))
    pair = replace(known, outcomes=None, scored=replace(known.scored, lower=cost))
    plan = plan_measure(pair, "mean-score", ComparisonRule(), [share])
    assert compare_pair(pair, ComparisonRule(), ["mean-score"]).rows[0].pvalue == pytest.approx(2.0**-30)
    assert plan.rise == cost
    # Three standard errors of 400 samples, and a step of two percent of the rows.
    assert abs(binom.sf(4, plan.drops[0].needed, share) - 0.8) <= 0.07


@pytest.mark.long
@pytest.mark.parametrize("drop", [0.05, 0.1, 0.2])
def test_marks_that_vary_little_fail_as_often_as_was_planned(drop):
    """The bound of an unseen row by far exceeds the spread, so that a normal test would plan too few rows."""
    rng = np.random.default_rng(8)
    a = rng.beta(4, 2, 400)
    b = (a + rng.normal(0, 0.12, 400)).clip(0, 1)

    def pair(a, b):
        known = pair_arrays(*[np.zeros(len(a), int)] * 3, scores=(a, b), score_range=(0, 1))
        return replace(known, outcomes=None)

    rule = ComparisonRule()
    plan = plan_measure(pair(a, b), "mean-score", rule, [drop])
    needed, shift, shown = plan.drops[0].needed, drop + np.mean(b - a), []
    for _ in range(simulated(300)):
        rows = rng.integers(0, 400, needed)
        change = b[rows] - a[rows] - shift
        (row,) = compare_pair(pair(np.full(needed, 0.6), (0.6 + change).clip(0, 1)), rule).rows
        shown.append(row.pvalue <= 0.05 and row.difference <= -0.005)
    # Three standard errors of both simulations, and steps of rows.
    assert abs(np.mean(shown) - 0.8) <= 3 * np.sqrt(0.16 / len(shown) + 0.02**2)


@pytest.mark.long
def test_no_fewer_rows_are_planned_than_can_be_significant():
    """If all n rows favour one model, p is 2**-n; fewer than ten are too small a slice."""
    n = 50
    marks = np.ones(n), np.full(n, 0.4) + 0.001 * np.arange(n)
    known = pair_arrays(np.zeros(n, int), np.zeros(n, int), np.zeros(n, int), scores=marks)
    for tests, fewest in ((1, 10), (1000, 15)):
        plan = plan_measure(replace(known, outcomes=None), "mean-score", ComparisonRule(), [0.5], tests=tests)
        assert plan.drops[0].needed == fewest
        assert fewest == 10 or 2.0**-fewest <= 0.05 / tests < 2.0 ** (1 - fewest)


def tilted_rows(kind, rng, units):
    """Draws of rows of a pilot of `units` units of a drop, tilted by influences and weights of scikit-learn."""
    answers = 4 if kind.endswith("groups") else 1
    n = units * answers
    unit, y = np.repeat(np.arange(units), answers), rng.integers(0, 3 if "macro" in kind else 2, n)
    luck = rng.normal(0, 0.1 * (answers > 1), units)[unit]
    if kind.startswith("auc"):
        said = y + rng.normal(0, 1, n), y + rng.normal(0, 1.2, n) + luck
    elif kind.startswith("mean"):
        said = rng.beta(4, 2, n), (rng.beta(4, 2, n) + luck).clip(0, 1)
    else:
        said = tuple(
            np.where(rng.random(n) < right, y, rng.integers(0, y.max() + 1, n)) for right in (0.85, 0.8 + luck)
        )

    def difference(weights):
        if kind.startswith("auc"):
            of = [roc_auc_score(y, side, sample_weight=weights) for side in said]
        elif kind.startswith("mean"):
            of = [np.average(side, weights=weights) for side in said]
        else:
            how = {"average": "macro" if "macro" in kind else "binary", "sample_weight": weights}
            of = [f1_score(y, side, **how) for side in said]
        return of[1] - of[0]

    def pair(rows, group):
        groups = {"groups": group} if answers > 1 else {}
        if kind.startswith("mean"):
            blank = np.zeros(len(rows), int)
            scores = said[0][rows], said[1][rows]
            return replace(pair_arrays(blank, blank, blank, scores=scores, score_range=(0, 1), **groups), outcomes=None)
        if kind.startswith("auc"):
            return pair_arrays(y[rows], y[rows], y[rows], scores=(said[0][rows], said[1][rows]), **groups)
        return pair_arrays(y[rows], said[0][rows], said[1][rows], **groups)

    ones = np.ones(n)
    moved = np.array([difference(ones + 0.1 * (unit == u)) - difference(ones) for u in range(units)])
    moved /= np.abs(moved).max()

    def draws(drop, count):
        tilt = brentq(lambda t: difference(np.exp(t * moved)[unit]) + drop, -30, 30)
        chances = np.exp(tilt * moved)
        while True:
            drawn = rng.choice(units, count, p=chances / chances.sum())
            rows = (drawn[:, np.newaxis] * answers + np.arange(answers)).ravel()
            yield pair(rows, np.repeat(np.arange(count), answers))

    return pair(np.arange(n), unit), draws


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "measure", "count", "drop"),
    [
        ("f1", "f1", 60, 0.15),
        ("macro-f1", "macro-f1", 100, 0.11),
        ("auc", "auc", 80, 0.2),
        ("mean", "mean-score", 60, 0.12),
        ("f1 groups", "f1", 120, 0.06),
        ("mean groups", "mean-score", 120, 0.035),
    ],
)
def test_the_power_of_any_measure_is_that_of_compare_on_the_tilted_pilot(kind, measure, count, drop):
    """Of 300 comparisons and 400 samples: a larger difference has a probability below 1e-3."""
    rng = np.random.default_rng(11)
    pilot, draws = tilted_rows(kind, rng, 300)
    rule, how = ComparisonRule(n_resamples=1000), {"positive": "1" if measure in {"f1", "auc"} else None}
    (whole,) = compare_pair(pilot, replace(rule, adjust="none"), [measure], alone=True, **how).rows
    (spread,) = planners_of(pilot, [whole], evidence_for(pilot, [measure], how["positive"])[measure], rule, 0.05)
    stated = spread.power(count * pilot.n // 300, drop, 0.05, 0.005)
    fails = [
        compare_pair(sample, rule, [measure], alone=True, **how).verdict == "fail"
        for _, sample in zip(range(simulated(300)), draws(drop, count))  # noqa: B905
    ]
    assert 0.2 < stated < 0.99
    assert abs(np.mean(fails) - stated) <= 3.4 * np.sqrt(0.25 / len(fails) + 0.25 / 400)
