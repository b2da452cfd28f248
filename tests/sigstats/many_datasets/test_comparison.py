"""Many models over many data sets: the parts against SciPy, the whole by its laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import adjust_pvalues, compare_over_datasets, friedman_test
from sigstats.many_datasets.signed_rank import bayesian_signed_rank
from sigstats.multiplicity import cliques
from sigstats.ranking.rank_sets import rank_sets

SCORES = np.random.default_rng(0).uniform(0.5, 0.9, (15, 1)) + np.random.default_rng(1).normal(
    [0.0, 0.05, 0.049, -0.04], 0.015, (15, 4)
)
MODELS = ["tree", "forest", "boosting", "stump"]


def test_pairs_are_scipy_s_with_holm():
    found = compare_over_datasets(SCORES, models=MODELS, rng=1)
    assert found.models == ("forest", "boosting", "tree", "stump") or set(found.models[:2]) == {"forest", "boosting"}
    assert len(found.pairs) == 6
    raw = [
        stats.wilcoxon(SCORES[:, MODELS.index(p.a)] - SCORES[:, MODELS.index(p.b)], method="exact").pvalue
        for p in found.pairs
    ]
    assert [pair.pvalue for pair in found.pairs] == pytest.approx(raw, rel=1e-9)
    assert [pair.adjusted_pvalue for pair in found.pairs] == pytest.approx(adjust_pvalues(raw).tolist(), rel=1e-9)
    assert found.friedman == friedman_test(SCORES)
    for pair in found.pairs:
        assert pair.wins + pair.ties + pair.losses == found.datasets
        assert sum(pair.probabilities) == pytest.approx(1)
    assert ("forest", "boosting") in found.cliques or ("boosting", "forest") in found.cliques


def test_a_control_is_compared_with_all_others():
    found = compare_over_datasets(SCORES, models=MODELS, control="tree", rng=1)
    assert {pair.a for pair in found.pairs} == {"forest", "boosting", "stump"}
    assert {pair.b for pair in found.pairs} == {"tree"}
    assert found.cliques == ()


def test_scores_that_are_equal_but_for_rounding_are_ties_as_in_the_test():
    (pair,) = compare_over_datasets([[0.1 + 0.2, 0.3], [0.7, 0.5], [0.3, 0.1 + 0.2]], rng=1).pairs
    assert (pair.wins, pair.ties, pair.losses) == (1, 2, 0)


@pytest.mark.long
def test_errors_give_the_same_as_accuracies():
    # A control or a best model that is picked by the wrong end of the scores is the classic mistake.
    one = compare_over_datasets(SCORES, models=MODELS, rng=1)
    other = compare_over_datasets(1 - SCORES, models=MODELS, greater_is_better=False, rng=1)
    assert (other.models, other.ranks, other.cliques) == (one.models, one.ranks, one.cliques)
    assert [pair.estimate for pair in other.pairs] == pytest.approx([-pair.estimate for pair in one.pairs], abs=1e-12)
    assert other.pairs[0].confidence_interval.low == pytest.approx(-one.pairs[0].confidence_interval.high)
    one = compare_over_datasets(SCORES, models=MODELS, control="tree", rng=1)
    other = compare_over_datasets(1 - SCORES, models=MODELS, control="tree", greater_is_better=False, rng=1)
    assert other.conclusion == one.conclusion


def test_the_conclusion_says_no_more_than_was_shown():
    rng = np.random.default_rng(2)
    nothing = compare_over_datasets(rng.normal(size=(8, 3)), rng=1)
    assert nothing.conclusion.startswith("No two of the 3 models were shown to differ on data sets like these 8")
    best = compare_over_datasets(rng.normal([1, 0, 0], 0.1, (10, 3)), models=["a", "b", "c"], rng=1)
    assert best.conclusion.startswith("a is better than every other model on data sets like these 10")
    tied = compare_over_datasets(SCORES, models=MODELS, rng=1)
    assert f"it was not shown to differ from {tied.models[1]} on data sets" in tied.conclusion


@settings(deadline=None)
@given(st.sets(st.frozensets(st.sampled_from("abcdef"), min_size=2, max_size=2)))
def test_cliques_by_enumeration(differing):
    sets = [set(s) for r in range(1, 7) for s in itertools.combinations("abcdef", r)]
    tied = [s for s in sets if not any(frozenset(pair) in differing for pair in itertools.combinations(s, 2))]
    largest = {frozenset(s) for s in tied if not any(s < other for other in tied)}
    found = cliques("abcdef", differing)
    assert {frozenset(clique) for clique in found} == largest
    assert len(found) == len(largest)


def test_bayesian_probabilities_by_weights_drawn_one_by_one():
    differences, rope = np.array([0.03, -0.01, 0.02, 0.015, 0.0, 0.04]), 0.01
    rng, won = np.random.default_rng(3), np.zeros(3)
    z = np.concatenate([[0.0], differences])
    pairs = (z[:, None] + z) / 2
    for _ in range(4000):
        w = rng.dirichlet([0.5] + [1] * len(differences))
        mass = np.outer(w, w)
        shares = [mass[pairs > rope].sum(), mass[np.abs(pairs) <= rope].sum(), mass[pairs < -rope].sum()]
        won[int(np.argmax(shares))] += 1
    found = bayesian_signed_rank(differences, rope=rope, n_resamples=40_000, rng=1)
    # Five standard errors of 4000 draws.
    assert list(found) == pytest.approx((won / 4000).tolist(), abs=5 * 0.5 / np.sqrt(4000))
    assert sum(found) == pytest.approx(1)
    mirrored = bayesian_signed_rank(-differences, rope=rope, n_resamples=40_000, rng=1)
    assert (mirrored.better, mirrored.worse) == pytest.approx((found.worse, found.better), abs=0.02)


def test_all_equal_is_equal_in_practice():
    assert bayesian_signed_rank([0.0] * 5, rng=1).equal == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [[1, 2]]}, r"scores: the shape"),
        ({"scores": SCORES, "models": ["a", "b", "c"]}, r"models: the length is 3; expected 4"),
        ({"scores": SCORES, "models": ["a", "b", "c", "a"]}, "models: 'a' is not valid; expected each name once"),
        ({"scores": SCORES, "control": "x"}, "control: 'x' is not valid; expected one of 1, 2, 3, 4"),
        ({"scores": SCORES, "datasets": ["d"] * 15}, "datasets: 'd'"),
        ({"scores": SCORES, "adjust": "bonferroni"}, "adjust: 'bonferroni'"),
        ({"scores": SCORES, "rope": -1}, "rope: -1"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare_over_datasets(**arguments)


def test_with_a_control_the_conclusion_speaks_of_the_control_alone():
    scores = np.arange(10)[:, None] / 100 + [0.5, 0.52, 0.4]
    found = compare_over_datasets(scores, models=["a", "b", "c"], control="a", rng=0)
    assert found.conclusion.startswith("b is better than a; c is worse than a on data sets like these 10")
    scores[:, 2] = scores[:, 1] = scores[:, 0] + np.resize([0.1, -0.1], 10)
    found = compare_over_datasets(scores, models=["a", "b", "c"], control="a", rng=0)
    assert found.conclusion.startswith("No model was shown to differ from a")


def test_scores_that_differ_in_their_last_bit_are_equal():
    x = np.random.default_rng(3).random(12)
    scores = np.column_stack([x, x * (1 - 2.0**-52), x * (1 + 2.0**-51)])
    (pair,) = compare_over_datasets(scores[:, :2], models=["a", "b"]).pairs
    assert (pair.pvalue, pair.ties, pair.wins) == (1, 12, 0)
    assert friedman_test(scores).ranks == (2, 2, 2)
    assert (rank_sets(scores).pvalues == 1).all()
    assert rank_sets(np.column_stack([x, x * (1 - 1e-8)])).pvalues[0, 1] < 1


def test_the_unit_of_scores_does_not_decide_what_is_equal_in_practice():
    """Differences of about 0.003 of scores near 0.75 are equal as shares and in per cent; a stated rope scales too."""
    rng = np.random.default_rng(3)
    shares = rng.uniform(0.6, 0.9, (15, 1)) + np.column_stack([np.zeros(15), rng.normal(0.003, 0.002, 15)])
    for unit, options in ((1, {}), (100, {}), (100, {"rope": 1.0}), (1e-3, {"rope": 1e-5})):
        found = compare_over_datasets(unit * shares, rng=1, **options)
        assert found.pairs[0].probabilities == (0.0, 1.0, 0.0)
        assert found.rope == pytest.approx(options.get("rope", 0.01 if unit == 1 else 5 * shares.mean()))
        words = "1 × 10⁻⁵" if unit < 1 else f"{found.rope:.3g}"
        assert f"Equal in practice (rope): scores at most {words} apart." in str(found).replace("\xa0", " ")
    assert compare_over_datasets(100 * shares, rng=1, rope=0.01).pairs[0].probabilities.equal == 0.0
