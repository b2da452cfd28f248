import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from sigstats.multiplicity import ADJUST_METHODS, adjust_pvalues, closed_e_bh, fewest_resamples

from ..examples import examples

STATSMODELS = {"holm": "holm", "benjamini-hochberg": "fdr_bh", "benjamini-yekutieli": "fdr_by"}
families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(50))
@given(families, st.sampled_from(ADJUST_METHODS))
def test_agrees_with_statsmodels_and_scipy(pvalues, method):
    adjusted = adjust_pvalues(pvalues, method=method)
    assert adjusted == pytest.approx(multipletests(pvalues, method=STATSMODELS[method])[1], rel=1e-12, abs=1e-300)
    if method != "holm":
        short = STATSMODELS[method][-2:]
        truth = scipy.stats.false_discovery_control(pvalues, method=short)
        assert adjusted == pytest.approx(truth, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_holm_is_the_closure_of_bonferroni(size):
    # Holm rejects a hypothesis exactly if Bonferroni rejects every intersection that it takes part in.
    rng = np.random.default_rng(20240501)
    for _ in range(60):
        p = rng.random(size) ** 3
        closure = np.zeros(size)
        for chosen in itertools.product([False, True], repeat=size):
            members = np.flatnonzero(chosen)
            if members.size:
                closure[members] = np.maximum(closure[members], min(1.0, members.size * p[members].min()))
        assert adjust_pvalues(p) == pytest.approx(closure, rel=1e-14)


@settings(deadline=None, derandomize=True)
@given(families, st.randoms(use_true_random=False))
def test_laws(pvalues, random):
    order = list(range(len(pvalues)))
    random.shuffle(order)
    p = np.array(pvalues)
    results = {method: adjust_pvalues(p, method=method) for method in ADJUST_METHODS}
    for method, adjusted in results.items():
        assert (p <= adjusted).all()
        assert (adjusted <= 1).all()
        assert (adjust_pvalues(p[order], method=method) == adjusted[order]).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()
    assert (results["benjamini-hochberg"] <= results["holm"] * (1 + 1e-12)).all()
    assert (results["benjamini-hochberg"] <= results["benjamini-yekutieli"]).all()


def step_up(pvalues, alpha, factor):
    """Benjamini and Hochberg's procedure as they state it: the rejected set, not adjusted p-values."""
    n = len(pvalues)
    ascending = sorted(pvalues)
    passed = [i for i in range(1, n + 1) if ascending[i - 1] <= i * alpha / (n * factor)]
    return [bool(passed) and p <= ascending[passed[-1] - 1] for p in pvalues]


@settings(deadline=None, derandomize=True)
@given(families, st.floats(0.001, 0.5))
def test_rejections_are_those_of_the_step_up_procedure(pvalues, alpha):
    for method in ("benjamini-hochberg", "benjamini-yekutieli"):
        factor = sum(1 / i for i in range(1, len(pvalues) + 1)) if method.endswith("yekutieli") else 1
        adjusted = adjust_pvalues(pvalues, method=method)
        clear = np.abs(adjusted - alpha) > 1e-12
        assert ((adjusted <= alpha) == np.array(step_up(pvalues, alpha, factor)))[clear].all()


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(30))
@given(st.lists(st.integers(-30, 60), min_size=1, max_size=6, unique=True))
def test_closed_e_bh_is_the_closure_over_all_sets(logs):
    """The least level of any set of a size or more, by all intersections of hypotheses; e-BH rejects no more."""
    logs, places = [log / 10 for log in logs], range(len(logs))
    evalues = np.exp(logs)
    sets = [set(mine) for size in range(1, len(logs) + 1) for mine in itertools.combinations(places, size)]
    of_size = [1.0] * (len(logs) + 1)
    for rejected in sets:
        level = max(len(mine & rejected) / len(rejected) / np.mean([evalues[at] for at in mine]) for mine in sets)
        of_size[len(rejected)] = min(of_size[len(rejected)], level)
    ranks = (-evalues).argsort(kind="stable").argsort()  # the best of a size are the largest e-values
    assert closed_e_bh(logs) == pytest.approx([min(of_size[rank + 1 :]) for rank in ranks], rel=1e-9)
    e_bh = adjust_pvalues(np.minimum(1, 1 / evalues), method="benjamini-hochberg")
    assert (np.array(closed_e_bh(logs)) <= e_bh * (1 + 1e-9)).all()


@settings(deadline=None, derandomize=True, max_examples=examples(30))
@given(
    st.integers(1, 8),
    st.lists(st.floats(0, 1), max_size=8),
    st.sampled_from(["none", *ADJUST_METHODS]),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_the_fewest_resamples_are_those_that_trying_one_after_the_other_finds(tests, others, method, alpha):
    def largest(size):
        p = [1 / (size + 1)] * tests + others
        return max((p if method == "none" else multipletests(p, method=STATSMODELS[method])[1])[:tests])

    found = fewest_resamples(tests, others, method=method, alpha=alpha)
    wanted = next(size for size in itertools.count(1) if largest(size) <= alpha * (1 + 1e-12))
    assert found - wanted in (0, 1)  # rounding decides where the adjusted p is the level
    assert (found == wanted) or largest(wanted) == pytest.approx(alpha, rel=1e-12)


@pytest.mark.parametrize(("tests", "wanted"), [(24, 479), (80, 1599), (16, 319), (1, 19)])
def test_by_holm_as_many_times_more_resamples_as_tests(tests, wanted):
    assert fewest_resamples(tests, [], method="holm", alpha=0.05) == wanted  # tests / (B + 1) <= 0.05
