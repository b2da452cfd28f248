"""What `growth.py` times: each public test, and what it is called with for a size."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

import sigstats
from sigstats.proportions import dcf_test, proportion_test
from sigstats.ranking.rank_sets import rank_sets

RNG = np.random.default_rng(3)
_DECADES = (10**2, 10**3, 10**4, 10**5, 10**6)
#: Random models differ less than this.
_FAR = sigstats.ComparisonRule(minimum_effect="20pt")
_FEW_CLASSES = tuple(np.array([6, 5, 4, 3, 2, 1]) / 21)


def _table(classes: int, total: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(RNG.multinomial(total // 2, np.full(classes, 1 / classes)) for _ in range(2))


def _joint(n: int) -> sigstats.JointOutcomes:
    return sigstats.JointOutcomes(*RNG.multinomial(n, [0.4, 0.05, 0.03, 0.06, 0.05, 0.04, 0.07, 0.3]).tolist())


def _correct(n: int, models: int) -> np.ndarray:
    return RNG.random((n, models)) < np.linspace(0.6, 0.9, models)


def _said(n: int, classes: int = 2) -> tuple[np.ndarray, ...]:
    y = RNG.integers(0, classes, n)
    return y, *(np.where(RNG.random(n) < 0.9, y, (y + RNG.integers(1, classes, n)) % classes) for _ in range(2))


def _tables(n: int, classes: int) -> tuple[np.ndarray, ...]:
    y, odds = RNG.integers(0, classes, n), np.exp(RNG.normal(size=(2, n, classes)))
    odds[:, np.arange(n), y] *= 3
    return y, *(odds / odds.sum(axis=2, keepdims=True))


def _unpaired(n: int) -> object:
    y = RNG.integers(0, 2, (2, n))
    scores = RNG.normal(size=(2, n)) + y * [[2.0], [1.0]]  # a clear difference, so that all weightings are drawn
    return sigstats.compare(tuple(y), *scores, measures="auc", unpaired=True)


def _ranked(models: int, measure: str) -> object:
    """Rank models of 20,000 rows, from an accuracy of 0.7 to one of 0.9."""
    n, classes = 20_000, 10 if measure == "macro-f1" else 2
    y, shares = RNG.integers(0, classes, n), np.linspace(0.7, 0.9, models)
    wrong = (y + RNG.integers(1, classes, (models, n))) % classes
    predictions = np.where(RNG.random((models, n)) < shares[:, np.newaxis], y, wrong).T
    columns = RNG.normal(y[:, np.newaxis] * shares, 0.5) if measure == "auc" else predictions
    return sigstats.rank_models(columns, label=y, measure=measure)


def _precision(n: int) -> object:
    """Compare two models whose p-value is so small that all weightings are drawn."""
    y = RNG.integers(0, 2, n)
    a, b = RNG.normal(size=(2, n)) * 0.2 + RNG.normal(size=n) + y
    return sigstats.compare(y, a + 6 / np.sqrt(n) * y, b, measures="average-precision")


def _predictions(n: int, slices: int, **options: Any) -> object:
    return sigstats.compare(*_said(n), slices={"part": np.arange(n) % slices} if slices else None, **options)


def _read(n: int) -> object:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "predictions.csv")
        file.write_text("id,label,prediction\n" + "".join(f"{row},cat,dog\n" for row in range(n)))
        return sigstats.read_predictions(file)


def _scores(n: int, groups: int = 0) -> dict[str, Any]:
    a, b = RNG.normal(size=(2, n))
    return {"score_a": a, "score_b": b, "groups": np.arange(n) % groups if groups else None}


def _judged(n: int) -> tuple[np.ndarray, ...]:
    judge_a, judge_b, *people = (RNG.random((4, n)) < 0.8).astype(float)
    return judge_a, judge_b, *(np.where(np.arange(n) % 10 < 3, each, np.nan) for each in people)


def _votes(n: int, models: int) -> object:
    a = RNG.integers(0, models, n)
    b = (a + RNG.integers(1, models, n)) % models
    return sigstats.rank_votes(a.astype(str), b.astype(str), np.where(RNG.random(n) < 0.5, "a", "b"))


def _memberships(n: int, fuzzy: int) -> np.ndarray:
    degrees = np.eye(2)[np.arange(n) % 2]
    degrees[:fuzzy] = np.clip(degrees[:fuzzy] + RNG.uniform(0.1, 0.9, (fuzzy, 2)), 0, 1)
    return degrees


def _retrained(classifier: str) -> Callable[[int], object]:
    def run(n: int) -> object:
        y = np.arange(n) % 2
        return sigstats.permutation_test(classifier, RNG.normal(size=(n, 5)), y, n_resamples=99, rng=1)

    return run


CASES: dict[str, tuple[Callable[[int], object], tuple[int, ...]]] = {
    "sign_flip_test, values to 10^6": (
        lambda n: sigstats.sign_flip_test(RNG.integers(-(10**6), 10**6 + 1, size=n)),
        (10, 20, 30, 35, 40, 44, 48, 100, 1000, 10_000, 100_000, 10**6),
    ),
    "sign_flip_test, values to 25": (
        lambda n: sigstats.sign_flip_test(RNG.integers(-25, 26, size=n)),
        (30, 100, 300, 1000, 3000, 7000, 20_000, 100_000, 10**6),
    ),
    "sign_flip_test, two decimals": (
        lambda n: sigstats.sign_flip_test(RNG.uniform(-1, 1, size=n).round(2)),
        (30, 100, 300, 1000, 3000, 10_000, 100_000, 10**6),
    ),
    "sign_flip_test, reals": (
        lambda n: sigstats.sign_flip_test(RNG.normal(size=n)),
        (10, 20, 30, 40, 50, 100, 1000, 10_000, 100_000, 10**6),
    ),
    "signed_rank_test": (
        lambda n: sigstats.signed_rank_test(RNG.normal(size=n)),
        (10, 30, 100, 300, 1000, 3000, 10_000, 100_000),
    ),
    "signed_rank_test, ties": (
        lambda n: sigstats.signed_rank_test(RNG.normal(size=n).round(1)),
        (10, 30, 100, 300, 1000, 3000, 10_000, 100_000),
    ),
    "friedman_test": (lambda n: sigstats.friedman_test(RNG.normal(size=(n, 5))), _DECADES[:4]),
    "friedman_test exact, 3 models": (
        lambda n: sigstats.friedman_test(RNG.normal(size=(n, 3)), method="exact"),
        (10, 30, 100, 200, 400, 800, 10_000, 100_000),
    ),
    "friedman_test exact, 5 models": (
        lambda n: sigstats.friedman_test(RNG.normal(size=(n, 5)), method="exact"),
        (2, 4, 6, 8, 10, 20, 100, 1000, 10_000),
    ),
    "compare_over_datasets, 4 models": (
        lambda n: sigstats.compare_over_datasets(RNG.normal(size=(n, 4)), rng=1),
        (10, 30, 100, 300),
    ),
    "compare_over_datasets, 10 models": (
        lambda n: sigstats.compare_over_datasets(RNG.normal(size=(n, 10)), rng=1),
        (10, 30, 100),
    ),
    "stratified_paired_test, n strata": (
        lambda n: sigstats.stratified_paired_test(RNG.integers(0, 9, n), RNG.integers(0, 9, n), np.full(n, 100)),
        (3, 10, 30, 100, 300, 1000),
    ),
    "stratified_paired_test, 5 strata": (
        lambda n: sigstats.stratified_paired_test(*RNG.integers(0, n // 10, (2, 5)), RNG.integers(n, 2 * n, 5)),
        _DECADES,
    ),
    "joint_tasks_test, n tasks": (
        lambda n: sigstats.joint_tasks_test(*RNG.integers(0, 9, (2, n)), np.full(n, 100), rng=1),
        (3, 10, 30, 100),
    ),
    "joint_tasks_test, 5 tasks": (
        lambda n: sigstats.joint_tasks_test(*RNG.integers(0, n // 10, (2, 5)), RNG.integers(n, 2 * n, 5), rng=1),
        _DECADES,
    ),
    "anytime_test": (lambda n: sigstats.anytime_test(RNG.integers(-1, 2, n)), _DECADES),
    "anytime_test, marks, 100 looks": (
        lambda n: sigstats.anytime_test(RNG.uniform(-1, 1, n), looks=np.arange(n) * 100 // n),
        _DECADES[:4],
    ),
    "anytime_test, n looks": (
        lambda n: sigstats.anytime_test(RNG.integers(-1, 2, 100 * n), looks=np.arange(100 * n) // 100),
        (1, 10, 100, 1000),
    ),
    "judged_test": (lambda n: sigstats.judged_test(*_judged(n)), _DECADES[:4]),
    "judged_test, groups of 5": (lambda n: sigstats.judged_test(*_judged(n), groups=np.arange(n) // 5), _DECADES[:4]),
    "accuracy_difference": (lambda n: sigstats.accuracy_difference(n // 20, n // 15, n), _DECADES),
    "clopper_pearson": (lambda n: sigstats.clopper_pearson(n // 3, n), _DECADES),
    "discordant_counts": (lambda n: sigstats.discordant_counts(*_said(n)), _DECADES),
    "mcnemar_test": (lambda n: sigstats.mcnemar_test(n // 2 + n // 20, n // 2), _DECADES),
    "mcnemar_test mid-p": (lambda n: sigstats.mcnemar_test(n // 2 + n // 20, n // 2, method="mid-p"), _DECADES),
    "pair_probability": (lambda n: sigstats.pair_probability(n // 2 + n // 20, n // 2), _DECADES),
    "discordant_odds_ratio": (lambda n: sigstats.discordant_odds_ratio(n // 2 + n // 20, n // 2), _DECADES),
    "type_one_error": (lambda n: sigstats.type_one_error(n, 0.3), _DECADES[:4]),
    "power": (lambda n: sigstats.paired_power(n, only_a=0.10, only_b=0.12), _DECADES),
    "sample_size, at a difference of 1/sqrt(n)": (
        lambda n: sigstats.paired_sample_size(only_a=0.1, only_b=0.1 + n**-0.5),
        _DECADES,
    ),
    "detectable_difference": (lambda n: sigstats.detectable_difference(n, 0.15), _DECADES[:4]),
    "power, 3 answers": (
        lambda n: sigstats.paired_power(n, only_a=0.1, only_b=0.15, answers=3, correlation=0.5),
        (30, 100, 300, 1000, 3000),
    ),
    "efficiency_test, 4 classes": (
        lambda n: sigstats.efficiency_test(np.full((4, 4), n // 20) + np.eye(4, dtype=int) * (n // 20)),
        _DECADES,
    ),
    "efficiency_test, n classes": (
        lambda n: sigstats.efficiency_test(np.full((n, n), 1) + np.eye(n, dtype=int)),
        (2, 4, 8, 16, 32, 64, 128),
    ),
    "number_correct, 4 classes": (lambda n: sigstats.number_correct([n // 4] * 4, [n // 4] * 4).pmf, _DECADES[:4]),
    "goodness_of_fit_test exact, 3 classes": (
        lambda n: sigstats.goodness_of_fit_test(RNG.multinomial(n, [0.5, 0.3, 0.2]), [0.5, 0.3, 0.2]),
        _DECADES[:4],
    ),
    "goodness_of_fit_test exact, 6 classes": (
        lambda n: sigstats.goodness_of_fit_test(RNG.multinomial(n, _FEW_CLASSES), _FEW_CLASSES),
        (30, 100, 300, 1000, 3000, 10_000),
    ),
    "homogeneity_test exact, 2 x 3": (lambda n: sigstats.homogeneity_test(*_table(3, n)), _DECADES),
    "homogeneity_test exact, 2 x 5": (
        lambda n: sigstats.homogeneity_test(*_table(5, n)),
        (100, 1000, 10_000, 30_000, 100_000, 300_000),
    ),
    "homogeneity_test exact, 2 x 8": (
        lambda n: sigstats.homogeneity_test(*_table(8, n)),
        (100, 300, 1000, 2000, 5000, 10_000),
    ),
    "homogeneity_test exact, 2 x 12": (
        lambda n: sigstats.homogeneity_test(*_table(12, n)),
        (30, 100, 200, 400, 1000),
    ),
    "homogeneity_test Monte Carlo, 2 x 12": (
        lambda n: sigstats.homogeneity_test(*_table(12, n), method="monte-carlo", rng=1),
        _DECADES,
    ),
    "homogeneity_test bounds, 2 x 12": (
        lambda n: sigstats.homogeneity_test(*_table(12, n), method="bounds"),
        (100, 300, 1000, 10_000, 100_000),
    ),
    "fuzzy.efficiency_test, 3 fuzzy": (
        lambda n: sigstats.fuzzy.efficiency_test(_memberships(n, 0), _memberships(n, 3)),
        (20, 100, 1000, 10_000),
    ),
    "fuzzy.homogeneity_test, 3 fuzzy": (
        lambda n: sigstats.fuzzy.homogeneity_test(_memberships(n, 3), _memberships(n, 0)),
        (20, 100, 1000, 10_000),
    ),
    "fuzzy.goodness_of_fit_test, n fuzzy": (
        lambda n: sigstats.fuzzy.goodness_of_fit_test(_memberships(100, n), [0.5, 0.5]),
        (1, 3, 10, 30, 100),
    ),
    "proportion_test": (lambda n: proportion_test(_joint(n)), _DECADES),
    "dcf_test": (lambda n: dcf_test(_joint(n), cost_fn=1, cost_fp=1, prior=0.5), _DECADES),
    "f1_interval": (lambda n: sigstats.f1_interval(n, n // 9, n // 8), _DECADES),
    "f1_difference_interval": (lambda n: sigstats.f1_difference_interval(_joint(n)), _DECADES),
    "bootstrap_test f1": (lambda n: sigstats.bootstrap_test(_joint(n), rng=1), _DECADES),
    "bootstrap_test f1, n replicates": (
        lambda n: sigstats.bootstrap_test(_joint(1000), n_resamples=n, rng=1),
        _DECADES,
    ),
    "bootstrap_test f1 bca": (lambda n: sigstats.bootstrap_test(_joint(n), rng=1, method="bca"), _DECADES),
    "auc_test": (lambda n: sigstats.auc_test(RNG.integers(0, 2, n), **_scores(n)), _DECADES),
    "auc_test, groups of 10": (lambda n: sigstats.auc_test(RNG.integers(0, 2, n), **_scores(n, n // 10)), _DECADES[:4]),
    "mean_score_test": (lambda n: sigstats.mean_score_test(**_scores(n)), _DECADES),
    "mean_score_test, groups of 10": (lambda n: sigstats.mean_score_test(**_scores(n, n // 10)), _DECADES),
    "corrected_resampled_test": (
        lambda n: sigstats.corrected_resampled_test(RNG.normal(size=n), n_train=9, n_test=1),
        _DECADES,
    ),
    "five_by_two_test": (lambda n: sigstats.five_by_two_test(RNG.normal(size=(5, 2))), (1, 2)),
    "adjust": (lambda n: sigstats.adjust_pvalues(RNG.random(n)), _DECADES),
    "monte_carlo_size, level 1/n": (lambda n: sigstats.monte_carlo_size(1 / n), _DECADES[:4]),
    "relax_probabilities": (lambda n: sigstats.possibilistic.relax_probabilities([1 / n] * n, 0.01), _DECADES[:4]),
    "possibility": (
        lambda n: (sigstats.possibilistic.membership(1 / n), sigstats.possibilistic.possibility(1 / n)),
        _DECADES,
    ),
    "dominance, n classes": (lambda n: sigstats.possibilistic.dominance(np.ones(n), RNG.random(n)), _DECADES[:4]),
    "weigh_hypotheses": (
        lambda n: sigstats.possibilistic.weigh_hypotheses({str(at): float(p) for at, p in enumerate(RNG.random(n))}),
        (10, 100, 1000),
    ),
    "rank_sets, n items": (lambda n: rank_sets(_correct(n, 5)), _DECADES[:4]),
    "rank_sets, n models": (lambda n: rank_sets(_correct(500, n)), (2, 4, 8, 16, 32, 64)),
    "rank_sets, groups of 10": (
        lambda n: rank_sets(_correct(n, 3), groups=np.arange(n) // 10),
        (100, 300, 1000, 3000, 10_000, 100_000),
    ),
    "rank_votes, n votes": (lambda n: _votes(n, 5), _DECADES[:4]),
    "rank_votes, n models": (lambda n: _votes(100 * n, n), (2, 4, 8, 16, 32)),
    "rank, n items": (lambda n: sigstats.rank_models(_correct(n, 5)), _DECADES[:4]),
    "rank, n models, macro-f1 of 10 classes": (lambda n: _ranked(n, "macro-f1"), (2, 5, 10, 20)),
    "rank, n models, auc": (lambda n: _ranked(n, "auc"), (2, 5, 10, 20)),
    "rank, n models, accuracy": (lambda n: _ranked(n, "accuracy"), (2, 5, 10, 20)),
    "permutation_test 1-nn, 99 replicates": (_retrained("1-nn"), (30, 100, 300, 1000, 3000)),
    "permutation_test naive-bayes, 99 replicates": (_retrained("naive-bayes"), (30, 100, 300, 1000, 3000, 10_000)),
    "permutation_test lda, 99 replicates": (_retrained("lda"), (30, 100, 300, 1000, 3000, 10_000)),
    "permutation_test decision-tree, 99 replicates": (_retrained("decision-tree"), (30, 100, 300, 1000)),
    "permutation_test logistic-regression, 99 replicates": (_retrained("logistic-regression"), (30, 100, 300, 1000)),
    "read_predictions": (_read, _DECADES),
    "assert_at_least": (lambda n: sigstats.assert_at_least(*_said(n)[:2], at_least=0.2), _DECADES),
    "assert_no_regression": (lambda n: sigstats.assert_no_regression(*_said(n), rule=_FAR), _DECADES),
    "compare, n rows": (lambda n: _predictions(n, 0), _DECADES),
    "compare, n rows in groups of 10": (
        lambda n: _predictions(n, 0, groups=np.arange(n) // 10),
        _DECADES[:4],
    ),
    "compare, weights": (lambda n: _predictions(n, 0, weights=RNG.uniform(0.5, 2, n)), _DECADES),
    "compare, f1 with weights": (
        lambda n: _predictions(n, 0, weights=RNG.uniform(0.5, 2, n), measures=["f1"], positive=1),
        _DECADES,
    ),
    "compare, macro-f1 of 100 classes": (lambda n: sigstats.compare(*_said(n, 100), measures=["macro-f1"]), _DECADES),
    "compare, macro-f1 of n classes of 5 rows": (
        lambda n: sigstats.compare(*_said(5 * n, n), measures=["macro-f1"]),
        (10, 100, 300, 1000),
    ),
    "compare, average-precision": (_precision, (100, 300, 1000, 3000)),
    "compare, macro-auc of 30 classes": (
        lambda n: sigstats.compare(*_tables(n, 30), measures="macro-auc"),
        (300, 1000, 3000, 10_000, 30_000),
    ),
    "compare, macro-auc of 10 classes in groups of 10": (
        lambda n: sigstats.compare(*_tables(n, 10), measures="macro-auc", groups=np.arange(n) // 10),
        (300, 1000, 3000, 10_000, 30_000),
    ),
    "compare, auc of n rows of each model": (_unpaired, (100, 300, 1000, 3000, 10_000)),
    "compare, n slices of 10 in groups of 5": (
        lambda n: _predictions(10 * n, n, groups=np.arange(10 * n) // 5),
        (1, 10, 100, 300, 1000),
    ),
    "compare, slices of 100": (lambda n: _predictions(100 * n, n), (1, 10, 30, 100, 300, 1000)),
    "compare, macro-f1, slices of 100": (
        lambda n: _predictions(100 * n, n, measures=["macro-f1"]),
        (1, 10, 30, 100, 500, 1000),
    ),
}


def _draws(n: int) -> np.ndarray:
    return RNG.normal(size=n)


#: A size, this package's test, and that of another package which answers the same question.
PEERS: dict[str, tuple[int, Callable[[int], object], Callable[[int], object]]] = {
    "signed_rank_test, scipy.stats.wilcoxon (both exact)": (
        50,
        lambda n: sigstats.signed_rank_test(_draws(n)),
        lambda n: scipy.stats.wilcoxon(_draws(n)),
    ),
    "friedman_test, scipy.stats.friedmanchisquare": (
        10_000,
        lambda n: sigstats.friedman_test(RNG.normal(size=(n, 5))),
        lambda n: scipy.stats.friedmanchisquare(*RNG.normal(size=(5, n))),
    ),
    "mcnemar_test, statsmodels mcnemar(exact=True)": (
        1_000_000,
        lambda n: sigstats.mcnemar_test(n // 2 + n // 20, n // 2),
        lambda n: mcnemar([[0, n // 2], [n // 2 + n // 20, 0]], exact=True),
    ),
    "homogeneity_test of two classes, scipy.stats.fisher_exact": (
        100_000,
        lambda n: sigstats.homogeneity_test([n // 3, n - n // 3], [n // 2, n - n // 2]),
        lambda n: scipy.stats.fisher_exact([[n // 3, n - n // 3], [n // 2, n - n // 2]]),
    ),
    "sign_flip_test (all 2^n flips), scipy.stats.permutation_test (9,999 of them)": (
        60,
        lambda n: sigstats.sign_flip_test(_draws(n)),
        lambda n: scipy.stats.permutation_test((_draws(n),), np.mean, permutation_type="samples", vectorized=True),
    ),
    "clopper_pearson, scipy.stats.binomtest": (
        1_000_000,
        lambda n: sigstats.clopper_pearson(n // 3, n),
        lambda n: scipy.stats.binomtest(n // 3, n).proportion_ci(),
    ),
    "adjust, statsmodels multipletests": (
        1_000_000,
        lambda n: sigstats.adjust_pvalues(RNG.random(n)),
        lambda n: multipletests(RNG.random(n), method="holm"),
    ),
}
