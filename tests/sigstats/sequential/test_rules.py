"""Sequential stopping against walks over all paths in rational numbers, whatever the library's own recursion says."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.intervals import Interval
from sigstats.multiplicity import adjust_pvalues
from sigstats.sequential.gandy_rule import GandyRule, boundaries
from sigstats.sequential.precision_rules import PrecisePRule, PrecisionRule
from sigstats.sequential.rules import BesagCliffordRule, FixedRule, SequentialResult, deciding_exceedances

from ...examples import examples, thorough

ALPHA = 0.05
RULES = {
    "fixed": FixedRule(maximum=60),
    "besag-clifford": BesagCliffordRule(maximum=60, exceedances=4),
    "besag-clifford, at the end": BesagCliffordRule(maximum=9, exceedances=9),
    "besag-clifford, never": BesagCliffordRule(maximum=9, exceedances=10),
    "besag-clifford, deciding": BesagCliffordRule(maximum=199, exceedances=deciding_exceedances(ALPHA, 199)),
    "precise p": PrecisePRule(maximum=90, error=0.06),
    "precise p, at the end": PrecisePRule(maximum=50, error=0.05),
    "precise p, at once": PrecisePRule(maximum=20, error=0.3),
    "gandy, one end": GandyRule(maximum=1, alpha=0.5),
    "gandy, eager": GandyRule(maximum=60, alpha=0.3, risk=0.25, half_spent=1),
    "gandy, high level": GandyRule(maximum=80, alpha=0.8, risk=0.1, half_spent=5),
    "gandy, two levels": GandyRule(maximum=120, alpha=0.3, reject_at=0.1, risk=0.1, half_spent=10),
    "gandy, as published": GandyRule(maximum=400, alpha=ALPHA),
    "gandy, adjusted": GandyRule(maximum=400, alpha=ALPHA, reject_at=ALPHA / 2, risk=0.01),
}


class Walk:
    """All ends of a rule, found by asking it about one path to every place: how many paths end there, with what."""

    def __init__(self, rule):
        self.rule = rule
        self.ends = []
        places = {0: (1, [])}
        for n in range(1, rule.maximum + 1):
            reached = {}
            for s, (paths, path) in places.items():
                for step in (0, 1):
                    more, _ = reached.get(s + step, (0, None))
                    reached[s + step] = (more + paths, [*path, step])
            places = {}
            for s, (paths, path) in reached.items():
                result = rule.test(path)
                if result is None:
                    places[s] = (paths, path)
                else:
                    assert (result.n_resamples, result.exceedances) == (n, s)
                    self.ends.append((paths, result))
        assert not places

    def null(self, end):
        """The exact probability of an end if p is uniform: the integral of p^s (1 - p)^(n - s)."""
        paths, result = end
        return Fraction(paths, (result.n_resamples + 1) * math.comb(result.n_resamples, result.exceedances))

    def law(self, p):
        """The probability of every end if each replicate exceeds with probability p."""
        found = []
        for paths, result in self.ends:
            s, n = result.exceedances, result.n_resamples
            found.append(math.exp(math.log(paths) + s * math.log(p) + (n - s) * math.log1p(-p)))
        return np.array(found)


@pytest.fixture(scope="module", params=RULES, ids=lambda name: name)
def walk(request):
    return Walk(RULES[request.param])


GRID = np.concatenate([np.geomspace(1e-5, 0.05, 25), np.linspace(0.05001, 0.99, 60), 1 - np.geomspace(1e-5, 1e-3, 4)])


@pytest.mark.long
def test_the_p_value_is_valid_exactly(walk):
    ends = sorted(walk.ends, key=lambda end: end[1].pvalue)
    assert sum(walk.null(end) for end in ends) == 1
    total = Fraction(0)
    for index, end in enumerate(ends):
        total += walk.null(end)
        if index + 1 == len(ends) or ends[index + 1][1].pvalue > end[1].pvalue * (1 + 1e-11):
            # Nothing is given away either: the p-value is the probability itself.
            assert float(total) == pytest.approx(end[1].pvalue, rel=1e-11)


@pytest.mark.long
def test_the_p_value_is_valid_with_ties(walk):
    # With ties the exceedance probability is one of k / m, each with probability 1 / m: larger than uniform.
    values = np.array([result.pvalue for _, result in walk.ends])
    order = np.argsort(values)
    for m in (2, 3, 7, 20):
        law = sum(walk.law(min(k / m, 1 - 1e-12)) for k in range(1, m + 1)) / m
        assert (np.cumsum(law[order]) <= values[order] * (1 + 1e-9) + 1e-11).all()


@pytest.mark.long
def test_the_interval_covers_every_p(walk):
    low, high = np.array([result.pvalue_interval for _, result in walk.ends]).T
    for p in GRID:
        law = walk.law(p)
        assert law.sum() == pytest.approx(1, abs=1e-9)
        assert law[(low <= p) & (p <= high)].sum() >= 0.99 - 1e-9
        # Each tail is as rare as promised, too.
        assert law[low > p].sum() <= 0.005 + 1e-9
        assert law[high < p].sum() <= 0.005 + 1e-9


def test_the_interval_of_a_rate_that_stops_at_exceedances_covers_every_rate():
    walk = Walk(PrecisionRule(maximum=60, exceedances=4))
    low, high = np.array([result.pvalue_interval for _, result in walk.ends]).T
    assert {result.exceedances for _, result in walk.ends if result.n_resamples < 60} == {4}
    for p in GRID:
        law = walk.law(p)
        assert max(law[low > p].sum(), law[high < p].sum()) <= 0.005 + 1e-9


@pytest.mark.parametrize("rate", [0.0, 0.004, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("ends", [{"error": 0.02}, {"exceedances": 7}, {"error": 0.02, "exceedances": 7}])
def test_a_rate_that_is_looked_at_in_blocks_stops_at_the_first_block_that_suffices(rate, ends):
    flags = np.random.default_rng(3).random(2990) < rate
    one_by_one, in_blocks = (PrecisionRule(maximum=2990, every=every, **ends) for every in (1, 100))
    counts = np.add.reduceat(flags, np.arange(0, 2990, 100), dtype=np.int64)
    for look in range(1, 31):
        n, s = min(100 * look, 2990), int(counts[:look].sum())
        share = (s + 2) / (n + 4)
        enough = share * (1 - share) / n <= ends.get("error", 0) ** 2 or s >= ends.get("exceedances", math.inf)
        result = in_blocks.test(counts[:look])
        if enough or n == 2990:
            break
        assert result is None
    assert (result.n_resamples, result.exceedances) == (n, s)
    assert one_by_one.test(flags).n_resamples <= n
    assert in_blocks.stops_at(rate) == min(-(-one_by_one.stops_at(rate) // 100) * 100, 2990)


@pytest.mark.long
def test_the_verdict_is_wrong_no_more_often_than_the_risk(walk):
    rule = walk.rule
    if not isinstance(rule, GandyRule):
        assert all(result.verdict == "undecided" for _, result in walk.ends)
        return
    reject_at = rule.reject_at or rule.alpha
    verdicts = np.array([result.verdict for _, result in walk.ends])
    spent = rule.risk * rule.maximum / (rule.maximum + rule.half_spent)
    for p in [*GRID, rule.alpha, reject_at]:
        law = walk.law(p)
        if p <= rule.alpha:
            assert law[verdicts == "keep"].sum() <= spent
        if p >= reject_at:
            assert law[verdicts == "reject"].sum() <= spent
    for _, result in walk.ends:
        if result.verdict == "reject":
            assert result.pvalue <= reject_at
        if result.verdict == "keep":
            assert result.pvalue > rule.alpha


@pytest.mark.long
def test_the_published_design_as_a_study_runs_it():
    """alpha = 0.05, risk = 1e-3, 999 replicates at most: every end, exactly."""
    rule = GandyRule(maximum=999, alpha=ALPHA)
    walk = Walk(rule)
    verdicts = np.array([result.verdict for _, result in walk.ends])
    # The chance of a wrong verdict is largest at alpha itself.
    for p in (1e-4, 0.01, 0.04, ALPHA) if thorough() else (ALPHA,):
        assert walk.law(p)[verdicts == "keep"].sum() <= 1e-3
    for p in (ALPHA, 0.06, 0.1, 0.5) if thorough() else (ALPHA,):
        assert walk.law(p)[verdicts == "reject"].sum() <= 1e-3
    assert walk.law(0.001)[verdicts == "reject"].sum() > 0.999
    assert walk.law(0.2)[verdicts == "keep"].sum() > 0.999
    for _, result in walk.ends:
        assert (result.pvalue <= ALPHA) == (result.verdict == "reject") or result.verdict == "undecided"


def literal_boundaries(reject_at, keep_at, risk, half_spent, size):
    """L_n and U_n as Gandy (2009) defines them: a minimum and a maximum over all j, in rational numbers."""
    keep, reject = ({0: Fraction(1)}, keep_at), ({0: Fraction(1)}, reject_at)
    spent_high = spent_low = Fraction(0)
    lower, upper = [], []
    for n in range(1, size + 1):
        steps = []
        for inside, p in (keep, reject):
            after = {}
            for s, mass in inside.items():
                after[s] = after.get(s, 0) + mass * (1 - p)
                after[s + 1] = after.get(s + 1, 0) + mass * p
            steps.append(after)
        allowed = risk * n / (n + half_spent)
        u = min(j for j in range(n + 2) if spent_high + sum(m for s, m in steps[0].items() if s >= j) <= allowed)
        low = max(j for j in range(-1, n + 1) if spent_low + sum(m for s, m in steps[1].items() if s <= j) <= allowed)
        spent_high += sum(m for s, m in steps[0].items() if s >= u)
        spent_low += sum(m for s, m in steps[1].items() if s <= low)
        keep, reject = (
            ({s: mass for s, mass in after.items() if low < s < u}, p)
            for after, (_, p) in zip(steps, (keep, reject), strict=True)
        )
        lower.append(low)
        upper.append(u)
    return lower, upper


@pytest.mark.long
@pytest.mark.parametrize(
    ("reject_at", "keep_at", "risk", "half_spent", "size"),
    [
        ("1/20", "1/20", "1/1000", 1000, 250 if thorough() else 150),
        ("1/20", "1/20", "1/20", 10, 150),
        ("1/2", "1/2", "1/100", 100, 120),
        ("1/4", "1/4", "1/8", 2, 120),
        ("9/10", "9/10", "1/100", 50, 120),
        ("1/100", "1/20", "1/10", 5, 150),
        ("1/8", "1/2", "1/10", 20, 120),
    ],
)
def test_the_boundaries_are_those_of_the_definition(reject_at, keep_at, risk, half_spent, size):
    reject_at, keep_at, risk = map(Fraction, (reject_at, keep_at, risk))
    lower, upper = literal_boundaries(reject_at, keep_at, risk, half_spent, size)
    found = boundaries(
        reject_at=float(reject_at), keep_at=float(keep_at), risk=float(risk), half_spent=half_spent, size=size
    )
    assert found.lower.tolist() == lower
    assert found.upper.tolist() == upper
    assert found.high.total > 0


@pytest.mark.long
@pytest.mark.parametrize("size", [999, 20_000])
def test_no_probability_is_lost_however_many_replicates(size):
    found = boundaries(reject_at=ALPHA / 40, keep_at=ALPHA, risk=1e-3, half_spent=1000, size=size)
    assert found.low.total + found.high.total + found.inside.total == pytest.approx(1, rel=1e-12)
    for p in (1e-4, 0.02, 0.05, 0.5):
        total = found.low.probability(p) + found.high.probability(p) + found.inside.probability(p)
        assert total == pytest.approx(1, rel=1e-8)


def test_an_undecided_p_value_is_the_usual_one_while_no_path_has_ended():
    """To the last bit, since 0.001 adjusted for 50 tests is rejected at 0.05 and the next number is not."""
    for maximum in (99, 999, 1999):
        rule = GandyRule(maximum=maximum, alpha=ALPHA, reject_at=ALPHA / 50)
        for exceedances in range(5):
            result = rule.test([0] * (maximum - exceedances) + [1] * exceedances)
            assert (result.verdict, result.pvalue) == ("undecided", (exceedances + 1) / (maximum + 1))


bits = st.lists(st.integers(0, 1), min_size=60, max_size=60)
#: Mostly zeros: what small p-values give.
rare = st.lists(st.sampled_from([0] * 15 + [1]), min_size=199, max_size=199)


@settings(derandomize=True, deadline=None, max_examples=examples(150))
@given(st.sampled_from(["besag-clifford", "gandy, eager", "precise p, at the end", "fixed"]), bits, st.integers(0, 59))
def test_more_exceedances_never_make_p_smaller(name, path, place):
    rule = RULES[name]
    raised = [*path[:place], 1, *path[place + 1 :]]
    assert rule.test(raised).pvalue >= rule.test(path).pvalue * (1 - 1e-12)


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=examples(150))
@given(st.sampled_from(sorted(RULES)), rare, st.lists(st.integers(0, 1), max_size=30))
def test_where_it_stops_depends_on_what_came_before_alone(name, path, rest):
    rule = RULES[name]
    whole = rule.test((path * 3)[: rule.maximum])
    stop = whole.n_resamples
    assert rule.test((path * 3)[: stop - 1]) is None
    assert rule.test(np.array((path * 3)[:stop], dtype=bool)) == whole
    assert rule.test([*(path * 3)[:stop], *rest]) == whole


@settings(derandomize=True, deadline=None, max_examples=examples(100))
@given(rare)
def test_a_larger_maximum_moves_no_stop(path):
    for few, many in [
        (GandyRule(maximum=199, alpha=ALPHA), GandyRule(maximum=5000, alpha=ALPHA)),
        (BesagCliffordRule(maximum=199, exceedances=9), BesagCliffordRule(maximum=5000, exceedances=9)),
    ]:
        first, second = few.test(path), many.test(path)
        if first.verdict == "undecided" and first.exceedances < 9:
            continue
        if second is not None:
            assert (first.n_resamples, first.verdict) == (second.n_resamples, second.verdict)
            assert first.pvalue == pytest.approx(second.pvalue, rel=1e-12)
            assert first.pvalue_interval == pytest.approx(second.pvalue_interval, rel=1e-9)


@settings(derandomize=True, deadline=None, max_examples=examples(60))
@given(
    st.floats(0.001, 0.6),
    st.integers(1, 300),
    st.lists(st.floats(0, 0.5), min_size=1, max_size=8),
    st.sampled_from(["holm", "benjamini-hochberg", "benjamini-yekutieli"]),
    st.integers(0, 2**32),
)
def test_deciding_exceedances_change_no_decision(alpha, maximum, ps, method, seed):
    rng = np.random.default_rng(seed)
    stopping = BesagCliffordRule(maximum=maximum, exceedances=deciding_exceedances(alpha, maximum))
    draws = [rng.random(maximum) < p for p in ps]
    early = np.array([stopping.test(draw).pvalue for draw in draws])
    full = np.array([FixedRule(maximum=maximum).test(draw).pvalue for draw in draws])
    np.testing.assert_array_equal(early <= alpha, full <= alpha)
    np.testing.assert_array_equal(early[full <= alpha], full[full <= alpha])
    np.testing.assert_array_equal(
        adjust_pvalues(early, method=method) <= alpha, adjust_pvalues(full, method=method) <= alpha
    )


@pytest.mark.parametrize(
    ("alpha", "maximum"), [(0.05, 999), (0.05, 1000), (0.29, 100), (0.07, 100), (0.5, 1), (1e-9, 9)]
)
def test_one_exceedance_less_may_still_reject(alpha, maximum):
    number = deciding_exceedances(alpha, maximum)
    assert number / maximum > alpha
    assert number == 1 or (number - 1) / maximum <= alpha


@settings(derandomize=True, deadline=None, max_examples=examples(100))
@given(st.integers(1, 1500), st.floats(0.005, 0.9), st.floats(0.01, 1), st.floats(1e-4, 0.25), st.integers(1, 1000))
def test_whether_it_can_reject_is_whether_it_does_without_any_exceedance(maximum, alpha, part, risk, half_spent):
    rule = GandyRule(maximum=maximum, alpha=alpha, reject_at=alpha * part, risk=risk, half_spent=half_spent)
    assert rule.can_reject == (rule.test([0] * maximum).verdict == "reject")


@given(rule=st.sampled_from(list(RULES.values())), ones=st.integers(0, 20), every=st.integers(20, 40))
def test_where_it_stops_with_even_exceedances(rule, ones, every):
    flags = [(i + 1) * ones // every > i * ones // every for i in range(rule.maximum)]
    assert abs(rule.stops_at(ones / every) - rule.test(flags).n_resamples) <= 1  # 1 where a product is rounded


@pytest.mark.parametrize("p", [0.0, 0.01, 0.2, 0.5, 1.0])
def test_it_stops_about_where_it_can_be_expected_to(p):
    for rule in (GandyRule(maximum=9999, alpha=ALPHA), BesagCliffordRule(maximum=9999, exceedances=50)):
        draws = np.random.default_rng(3).random((40, rule.maximum)) < p
        stops = [rule.test(draw).n_resamples for draw in draws]
        assert 0.5 * np.mean(stops) <= rule.stops_at(p) <= 2 * np.mean(stops)


def test_whole_numbers_of_any_type_are_one_rule():
    plain = GandyRule(maximum=99, alpha=0.5, half_spent=10)
    other = GandyRule(maximum=np.int64(99), alpha=np.float64(0.5), half_spent=10.0)
    assert repr(other) == repr(plain)
    assert other.test([0] * 99) == plain.test([0] * 99)
    assert BesagCliffordRule(maximum=9.0, exceedances=np.uint8(2)).test([1, 1]).pvalue == 1


def test_the_result_can_be_written_down_and_read():
    scope = {"SequentialResult": SequentialResult, "Interval": Interval}
    for rule in RULES.values():
        result = rule.test([0, 0, 1] * 200)
        assert eval(repr(result), scope) == result
        assert eval(repr(rule), {type(rule).__name__: type(rule)}) == rule
        assert {type(result.n_resamples), type(result.exceedances)} == {int}
        assert {type(result.pvalue), type(result.statistic), *map(type, result.pvalue_interval)} == {float}


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: FixedRule(maximum=0), "maximum"),
        (lambda: BesagCliffordRule(maximum=9, exceedances=0), "exceedances"),
        (lambda: PrecisePRule(maximum=9, error=0), "error"),
        (lambda: GandyRule(maximum=9, alpha=1), "alpha"),
        (lambda: GandyRule(maximum=9, alpha=ALPHA).stops_at(1.5), "p"),
        (lambda: GandyRule(maximum=9, alpha=0.05, reject_at=0.06), "reject_at"),
        (lambda: GandyRule(maximum=9, alpha=0.05, reject_at=0), "reject_at"),
        (lambda: GandyRule(maximum=9, alpha=0.05, risk=0), "risk"),
        (lambda: GandyRule(maximum=9, alpha=0.05, risk=0.3), "risk"),
        (lambda: GandyRule(maximum=9, alpha=0.05, half_spent=0), "half_spent"),
        (lambda: FixedRule(maximum=9).test([0, 2]), "exceeds: 2 is not valid; expected a sequence of 0 and 1"),
        (lambda: FixedRule(maximum=9).test([[0, 1]]), "exceeds"),
        (lambda: FixedRule(maximum=9).test([0.5]), "exceeds"),
        (lambda: FixedRule(maximum=1).test([0], confidence_level=1), "confidence_level"),
        (lambda: deciding_exceedances(0, 9), "alpha"),
        (lambda: deciding_exceedances(0.05, 0), "maximum"),
    ],
)
def test_bad_input_is_named(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()
