"""Bounds of means beside Clopper and Pearson's, McNemar's test, sign flips by enumeration, and how often they hold.

Simulations draw from fixed seeds; each names the chance that a right method fails it.
"""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammainc
from scipy.stats import beta, binom, gamma

import sigstats
from sigstats.unseen_row.means import Units, mean_interval, mean_intervals, mean_pvalues, row_of_groups, units_of

from ...examples import simulated


def mean_pvalue(units, limit, way):
    return mean_pvalues([units], [limit])[0][way == "greater"]


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 2), (7, 10), (0, 527), (3, 340), (2996, 3000), (50, 100)])
def test_of_right_and_wrong_it_is_clopper_and_pearsons(k, n):
    found = mean_interval(units_of(np.repeat([1.0, 0.0], [k, n - k])), (0, 1))
    assert found == pytest.approx(sigstats.clopper_pearson(k, n), abs=1e-9)


@pytest.mark.parametrize(("only_a", "only_b"), [(7, 1), (0, 5), (30, 12), (400, 350)])
def test_of_differences_by_one_p_is_mcnemars(only_a, only_b):
    units = units_of(np.repeat([1.0, -1.0, 0.0], [only_a, only_b, 100]))
    for way in ("greater", "less"):
        wanted = sigstats.mcnemar_test(only_a, only_b, alternative=way).pvalue
        assert mean_pvalue(units, 1.0, way) == pytest.approx(wanted, rel=1e-9)


def test_p_is_never_below_that_of_all_changes_of_sign():
    """So that one p answers both: exchange within rows, and a mean of 0."""
    rng = np.random.default_rng(4)
    for kind in itertools.islice(itertools.cycle(range(4)), 200):
        n = int(rng.integers(1, 9))
        values = (
            rng.normal(-0.5, 1, n),
            -(rng.exponential(size=n) ** 3) * rng.choice([1, -1], n, p=[0.8, 0.2]),
            rng.integers(-3, 3, n).astype(float),
            rng.uniform(-1, 0.3, n),
        )[kind]
        if not values.any():
            continue
        signs = np.array(list(itertools.product([1, -1], repeat=n)))
        flips = np.mean(signs @ np.abs(values) <= values.sum() + 1e-12)
        limit = float(np.abs(values).max())
        assert mean_pvalue(units_of(values), limit, "less") >= flips * (1 - 1e-9)


def test_equal_small_differences_do_not_exclude_that_one_more_is_large():
    found = sigstats.sign_flip_test([0.01] * 20, limit=1)
    low, high = found.confidence_interval
    # by hand: the weight of the unseen row has the law Beta(1, 20)
    weight = beta.ppf(0.975, 1, 20)
    assert (low, high) == (pytest.approx(0.01 - 1.01 * weight), pytest.approx(0.01 + 0.99 * weight))


def test_many_values_that_are_split_widen_the_interval_by_a_hundred_thousandth_at_most():
    rng = np.random.default_rng(11)
    for values in (rng.uniform(-1, 1, 3000), rng.normal(size=2000) / 1000, np.append(-0.9, rng.random(4000) / 100)):
        whole = mean_interval(Units(values, np.ones(len(values)), np.ones(len(values))), (-1, 1))
        split = mean_interval(units_of(values), (-1, 1))
        room = 1e-7 * (whole.high - whole.low)
        assert split.low <= whole.low + room
        assert split.high >= whole.high - room
        assert split.high - split.low <= (1 + 1e-5) * (whole.high - whole.low)


@pytest.mark.long
def test_many_at_once_are_what_each_is_alone():
    rng = np.random.default_rng(6)
    kinds = (
        lambda n: rng.uniform(-1, 1, n),
        lambda n: rng.integers(-4, 5, n) / 4,
        lambda n: np.where(rng.random(n) < 0.05, -1.0, 0.01),
        np.zeros,
    )
    units = [units_of(kinds[n % 4](n)) for n in [*range(1, 60), 300, 5000]]
    units += [units_of(rng.normal(size=n), rng.integers(1, 9, n)) for n in (2, 7, 40)]
    limits = [float(np.abs(each.sums / each.sizes).max()) + 0.1 for each in units]
    intervals = mean_intervals(units, [(-limit, limit) for limit in limits])
    for found, p, of, limit in zip(intervals, mean_pvalues(units, limits), units, limits, strict=True):
        assert tuple(found) == pytest.approx(tuple(mean_interval(of, (-limit, limit))), abs=1e-12, rel=1e-12)
        assert p == pytest.approx((mean_pvalue(of, limit, "less"), mean_pvalue(of, limit, "greater")), rel=1e-12)


def test_p_of_a_skewed_law_is_that_of_an_integral():
    """Four values of -1, 91 of .01 and the unseen row: the weight of the four against the others', by quadrature."""
    at, weights = np.polynomial.laguerre.laggauss(120)

    def below(rest):
        return gamma.pdf(rest, 91) * float(weights @ gammainc(4, at + rest / 100))

    units = units_of(np.repeat([-1.0, 0.01], [4, 91]))
    assert mean_pvalue(units, 1.0, "less") == pytest.approx(quad(below, 40, 170, epsrel=1e-12, limit=200)[0], rel=1e-10)


def seldom_missed(draw, truth, limits):
    """Each end of 95% misses the mean with at most 2.5%: a chance below 1e-5 of a false alarm of each."""
    missed, samples = np.zeros(2, dtype=int), simulated(150)
    for _ in range(samples):
        low, high = mean_interval(units_of(*draw()), limits)
        missed += [low > truth, high < truth]
    return (missed <= binom.isf(1e-5, samples, 0.025)).all()


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 50, 200])
def test_it_holds_with_rare_disasters(n):
    rng, share = np.random.default_rng(n), 1 / n
    assert seldom_missed(lambda: (np.where(rng.random(n) < share, -1.0, 0.02),), 0.02 - 1.02 * share, (-1, 1))


@pytest.mark.long
@pytest.mark.parametrize("groups", [2, 3, 5, 12])
def test_it_holds_for_few_groups(groups):
    """Accuracies of groups from Beta(1/2, 1/2), 1 to 11 rows each."""
    rng = np.random.default_rng(groups)

    def draw():
        sizes = rng.integers(1, 12, groups)
        return rng.binomial(sizes, rng.beta(0.5, 0.5, groups)).astype(float), sizes

    assert seldom_missed(draw, 0.5, (0, 1))


def test_many_values_cost_no_more_than_a_row_of_width():
    rng = np.random.default_rng(9)
    values = rng.normal(0, 0.1, 20_000).clip(-1, 1)
    low, high = mean_interval(units_of(values), (-1, 1))
    half = 1.96 * values.std() / np.sqrt(20_000)
    assert values.mean() - half - 1.3 / 20_000 < low < values.mean() - half * 0.98
    assert values.mean() + half * 0.98 < high < values.mean() + half + 1.3 / 20_000


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("power", [-1070, -1000, -400, -250, 150, 240])
def test_the_interval_goes_with_the_unit(power):
    values = np.array([3.0, -1.0, 2.0, 5.0, 1.0])
    low, high = mean_interval(units_of(values), (-8, 8))
    far = mean_interval(units_of(np.ldexp(values, power)), (-np.ldexp(8.0, power), np.ldexp(8.0, power)))
    assert [float(np.ldexp(end, -power)) for end in far] == pytest.approx(
        [low, high], rel=0.1 if power < -1050 else 1e-12
    )


def test_groups_without_a_difference_are_worth_their_rows():
    units = units_of(np.zeros(120), np.full(120, 25.0), row_of_groups(120))
    # the law of the weight of one more group is Beta(1, 120); 0.96**120: no group of a kind of 1 in 25 is seen
    weight = 1 - (0.025 - 0.96**120) ** (1 / 120)
    # one row lost: its distance from t is -(1 + t), and that of the others -25 t
    assert mean_interval(units, (-1, 1)).low == pytest.approx(
        brentq(lambda t: weight * (1 + t) + 25 * t * (1 - weight), -1, 0), abs=1e-7
    )


def test_the_chance_of_an_unseen_kind_is_added_where_it_is_the_smaller_part():
    """By the Beta law of the weight of one more group, where all groups lose a part of their rows."""
    for lost in (1, 5, 20):
        units = units_of(np.full(120, -float(lost)), np.full(120, 50.0), row_of_groups(120))
        strict = (1 - lost / 50 / (1 + lost / 50)) ** 120
        like_seen, chance = 0.5**120, 0.96**120
        wanted = 2 * strict if strict < chance else max(like_seen, chance) + chance
        assert mean_pvalue(units, 1.0, "less") == pytest.approx(wanted, rel=1e-9)
        assert mean_pvalue(units._replace(row=np.inf), 1.0, "less") == pytest.approx(strict, rel=1e-9)
        high = mean_interval(units, (-1, 1), 0.99).high  # 0.5% is less than twice that chance
        assert high == pytest.approx(mean_interval(units._replace(row=np.inf), (-1, 1), 0.995).high, abs=1e-9)


@pytest.mark.long
def test_p_is_not_below_that_of_changes_of_sign():
    rng = np.random.default_rng(6)
    signs = 1 - 2 * ((np.arange(2**9)[:, np.newaxis] >> np.arange(9)) & 1)
    for _ in range(200):
        sizes = rng.integers(1, 40, 9)
        sums = np.round(sizes * np.clip(rng.normal(-0.2, 0.3, 9), -1, 1))
        flips = np.mean(signs @ sums <= sums.sum())
        assert mean_pvalue(units_of(sums, sizes, 1.0), 1.0, "less") >= flips - 1e-9


def sizes_of(kind, rng, groups):
    return {
        "equal": lambda: np.full(groups, 50),
        "mild": lambda: rng.integers(20, 81, groups),
        "lognormal": lambda: np.maximum(1, rng.lognormal(3, 1.2, groups).astype(int)),
        "pareto": lambda: np.minimum(5000, 10 * (1 + rng.pareto(1.5, groups))).astype(int),
        "few large": lambda: np.where(rng.random(groups) < 0.05, 400, 20),
    }[kind]()


def equal_models(law, rng, sizes):
    """Rows won less rows lost of groups, whose mean is 0: shares with beta laws, or one group in so many wins or loses.

    The rare kind wins (or loses) all or half of its rows, and the others lose (win) as many in all.
    """
    if law.startswith("correlated"):
        k = 1 / float(law.split()[1]) - 1
        won, lost = (rng.binomial(sizes, rng.beta(0.03 * k, 0.97 * k, len(sizes))) for _ in range(2))
        return np.clip(won - lost, -sizes, sizes)
    way, share, part = law.split()
    share, part = 1 / float(share), float(part)
    rare = rng.random(len(sizes)) < share
    won = np.where(rare, rng.binomial(sizes, part), -rng.binomial(sizes, part * share / (1 - share)))
    return won if way == "wins" else -won


def errors(law, kind, groups, samples, seed):
    """How often p of "less" is at most 5%, and the lower end above the truth, of 2.5%."""
    rng, many = np.random.default_rng(seed), []
    for _ in range(samples):
        sizes = sizes_of(kind, rng, groups)
        many.append(units_of(equal_models(law, rng, sizes).astype(float), sizes, row_of_groups(groups)))
    alarms = sum(less <= 0.05 for less, _ in mean_pvalues(many, [1.0] * samples))
    return alarms, sum(each.low > 0 for each in mean_intervals(many, [(-1.0, 1.0)] * samples))


#: Every law of which the rarest kind makes up one group in 25 or more.
LAWS = ("wins 20 1", "wins 25 1", "wins 25 0.5", "loses 25 1", "loses 25 0.5", "correlated 0.05", "correlated 0.5")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["equal", "mild", "lognormal", "pareto", "few large"])
@pytest.mark.parametrize("groups", [20, 110, 250])
def test_equal_models_seldom_fail_or_pass_wrongly_whatever_the_law(groups, kind):
    samples = simulated(300)
    for law in LAWS if groups >= 110 else (*LAWS, "wins 50 1", "loses 50 1", "loses 200 1"):
        alarms, above = errors(law, kind, groups, samples, groups)
        assert alarms <= binom.isf(1e-4, samples, 0.05), law
        assert above <= binom.isf(1e-4, samples, 0.025), law


@pytest.mark.long
def test_a_rarer_kind_than_is_assumed_fails_as_often_as_it_is_not_seen():
    """One group in 50 wins what the others lose: no test that finds a drop of two points could keep its level."""
    alarms, _ = errors("wins 50 1", "equal", 120, 1000, 8)
    assert binom.isf(1 - 1e-4, 1000, 0.98**120 * 0.9) <= alarms <= binom.isf(1e-4, 1000, 0.98**120 + 0.02)


@pytest.mark.parametrize("spread", [0.3, 2.0])
def test_pooled_weights_keep_their_sum_and_hardly_widen(spread):
    rng = np.random.default_rng(7)
    weights, values = rng.lognormal(0, spread, 10_000), rng.choice([-1.0, 0.0, 1.0], 10_000, p=[0.04, 0.93, 0.03])
    pooled, whole = units_of(weights * values, weights), Units(weights * values, weights, np.ones(10_000))
    assert len(pooled.sums) < 5_000
    assert pooled.mean == pytest.approx(whole.mean, abs=1e-15)
    assert pooled.counts @ pooled.sizes == pytest.approx(weights.sum())
    assert 0 <= pooled.counts @ pooled.sizes**2 / (weights**2).sum() - 1 < (1 + spread**2) * 1e-5
    a, b = (mean_interval(units, (-1.0, 1.0)) for units in (pooled, whole))
    assert max(abs(a.low - b.low), abs(a.high - b.high)) < 1e-6 * (b.high - b.low)
