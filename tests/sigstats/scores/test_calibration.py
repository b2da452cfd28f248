"""Calibration beside direct sums, all outcomes of few rows, and the level. Chances of a false alarm are below 1e-4."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import sigstats
from sigstats.scores.calibration import calibration_test


def by_rows(y, p, bins):
    """The expected calibration error by bins of equal counts, and the Kuiper statistic, row by row."""
    order = np.argsort(p, kind="stable")
    differences = (np.asarray(y) - p)[order]
    ece = sum(abs(part.sum()) for part in np.array_split(differences, bins)) / len(p)
    sums = np.concatenate([[0], np.cumsum(differences)]) / len(p)
    return ece, sums.max() - sums.min()


def test_statistics_are_sums_over_rows():
    rng = np.random.default_rng(1)
    p = rng.random(150)
    y = (rng.random(150) < p) * 1
    for bins in (1, 5, 15):
        wanted = by_rows(y, p, bins)
        for statistic, value in zip(("ece", "kuiper"), wanted, strict=True):
            found = calibration_test(y, p, statistic=statistic, bins=bins, n_resamples=9, rng=1)
            assert found.statistic == pytest.approx(value, abs=1e-12)
            assert found.bins == (bins if statistic == "ece" else None)


@pytest.mark.parametrize("statistic", ["ece", "kuiper"])
def test_p_is_that_of_all_labels_of_few_rows(statistic):
    p = np.array([0.1, 0.2, 0.35, 0.5, 0.5, 0.8, 0.9])

    def value(y):
        return calibration_test(y, p, statistic=statistic, bins=3, n_resamples=1, rng=0).statistic

    laws = {y: np.prod(np.where(y, p, 1 - p)) for y in product([0, 1], repeat=len(p))}
    values = {y: value(y) for y in laws}
    for y in list(laws)[::17]:
        exact = sum(law for other, law in laws.items() if values[other] >= values[y] - 1e-12)
        found = calibration_test(y, p, statistic=statistic, bins=3, n_resamples=20_000, rng=2)
        low, high = binom.ppf([1e-6, 1 - 1e-6], 20_000, exact)
        assert low <= found.exceedances <= high
        assert found.pvalue == (1 + found.exceedances) / 20_001
    mean = sum(law * values[y] for y, law in laws.items())
    assert found.expected == pytest.approx(mean, abs=0.005)


@pytest.mark.long
@pytest.mark.parametrize("statistic", ["ece", "kuiper"])
def test_calibrated_probabilities_are_rejected_as_often_as_stated(statistic):
    """Also of rare classes, ties and certain rows, of the positive class and of the largest of three."""
    rng, rejected, trials = np.random.default_rng(3), 0, 400
    for trial in range(trials):
        if trial % 2:
            p = np.round(rng.beta(0.3, 3, 40), 2)
            y = (rng.random(40) < p) * 1
        else:
            p = rng.dirichlet([0.5, 0.5, 1], 40)
            y = np.array([rng.choice(3, p=each) for each in p])
            y[:3] = 0, 1, 2
            p[:3] = np.eye(3)
        rejected += calibration_test(y, p, statistic=statistic, n_resamples=99, rng=trial).pvalue <= 0.05
    assert binom.ppf(1e-4, trials, 0.03) <= rejected <= binom.isf(1e-4, trials, 0.05)


def test_a_calibrated_model_has_the_expected_error_of_its_rows():
    """The well-known bias: 0.12 at 100 rows and 0.027 at 2,000, with 15 bins."""
    rng = np.random.default_rng(4)
    for n, bias in ((100, 0.12), (2000, 0.027)):
        p = rng.random(n)
        assert calibration_test((rng.random(n) < p) * 1, p, n_resamples=999, rng=1).expected == pytest.approx(
            bias, rel=0.1
        )


def test_probabilities_of_a_class_or_of_all():
    rng = np.random.default_rng(5)
    p = rng.dirichlet([1, 1, 1], 300)
    y = np.array([rng.choice(list("abc"), p=each) for each in p])
    found = calibration_test(y, p, n_resamples=99, rng=1)
    right = (y == np.array(list("abc"))[p.argmax(axis=1)]) * 1
    assert found == calibration_test(right, p.max(axis=1), n_resamples=99, rng=1)
    assert found == calibration_test(y, p[:, [2, 0, 1]], classes=["c", "a", "b"], n_resamples=99, rng=1)
    two = np.where(y == "a", "spam", "ham")
    assert calibration_test(two, p[:, 0], positive="spam", n_resamples=99, rng=1).pvalue > 0.01
    assert calibration_test(two, p[:, 0], positive="ham", n_resamples=99, rng=1).pvalue == 0.01
    assert sigstats.calibration_test(right, np.full(300, right.mean()), rng=1, n_resamples=99).bins == 1


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        ([0] * 6, {}),
        ([0] * 6, {"positive": 1}),
        ([False] * 6, {"positive": True}),
        (["No"] * 6, {}),
        (["-1"] * 6, {}),
        (["ham"] * 6, {"positive": "spam"}),
    ],
)
def test_a_class_that_does_not_occur_may_be_tested(labels, options):
    """Against all sets of six labels; the statistic of no hits is the mean probability."""
    p = np.array([0.5, 0.4, 0.3, 0.3, 0.2, 0.2])
    found = calibration_test(labels, p, statistic="ece", bins=1, n_resamples=20_000, rng=3, **options)
    hits = np.array(list(product([0, 1], repeat=6)))
    law = np.where(hits, p, 1 - p).prod(axis=1)
    exact = law[np.abs((hits - p).sum(axis=1)) >= p.sum() - 1e-12].sum()
    low, high = binom.ppf([1e-6, 1 - 1e-6], 20_000, exact)
    assert found.statistic == pytest.approx(p.sum() / 6)
    assert low <= found.exceedances <= high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.5, 1.5]), "probabilities: 1.5"),
        (([0, 1], [0.5]), r"probabilities: the length"),
        ((["a", "b"], [0.5, 0.2]), "positive"),
        ((["a", "a"], [0.5, 0.2]), "positive: is missing; expected the class"),
        (([0, 1], [[0.5, 0.2], [0.1, 0.9]]), "sum of a row"),
        (([0, 1, 2], [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]]), "columns"),
    ],
)
def test_bad_probabilities_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        calibration_test(*arguments)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sums_may_differ_from_1_by_the_rounding_of_the_digits_given(kind):
    table = np.random.default_rng(0).dirichlet([1, 1, 1], 60)
    labels = np.arange(60) % 3
    for digits in (2, 3):
        assert 1.5 * 10.0**-digits > np.abs(table.round(digits).sum(axis=1) - 1).max() > 0.9 * 10.0**-digits
        assert calibration_test(labels, table.round(digits).astype(kind), n_resamples=9).n == 60
        with pytest.raises(ValueError, match=r"sum of a row.*expected 1; divide each row by its sum"):
            calibration_test(labels, (table * (1 - 4 * 10.0**-digits)).round(digits).astype(kind), n_resamples=9)


def truth(p, chances, statistic, bins):
    """The statistic with the true probability of each row in place of its hit."""
    return by_rows(chances, p, bins)[statistic == "kuiper"]


def test_the_interval_is_that_of_mcdiarmid():
    rng = np.random.default_rng(8)
    p = rng.random(300)
    y = (rng.random(300) < p) * 1
    for statistic, above in (("ece", 15 * np.sqrt(20) / 600), ("kuiper", np.sqrt(np.pi / 600))):
        found = calibration_test(y, p, statistic=statistic, n_resamples=9, rng=1)
        reach = np.sqrt(np.log(2 / 0.05) / 600)
        ends = max(0, found.statistic - reach - above), found.statistic + reach
        assert tuple(found.confidence_interval) == pytest.approx(ends)
        assert found.confidence_interval.confidence_level == 0.95


@pytest.mark.parametrize("statistic", ["ece", "kuiper"])
def test_the_interval_covers_the_calibration_error_whatever_the_true_probabilities(statistic):
    """Calibrated, too high, overconfident, constant at one half, and worst at the edges, of 20 and 200 rows."""
    rng = np.random.default_rng(9)
    laws = (
        lambda p: p,
        lambda p: np.clip(p - 0.1, 0, 1),
        lambda p: 0.5 + (p - 0.5) / 2,
        lambda p: np.full_like(p, 0.5),
        lambda p: np.where(p < 0.5, 0.5, p),
        lambda p: 1 - p,
    )
    above = below = trials = 0
    for n in (20, 200):
        for law in laws:
            for _ in range(25):
                p = rng.random(n)
                chances = law(p)
                y = (rng.random(n) < chances) * 1
                low, high = calibration_test(
                    y, p, statistic=statistic, bins=5, n_resamples=1, rng=0
                ).confidence_interval
                value = truth(p, chances, statistic, 5)
                above, below, trials = above + (low > value), below + (high < value), trials + 1
    assert max(above, below) <= binom.isf(1e-4, trials, 0.025)


@pytest.mark.parametrize("statistic", ["ece", "kuiper"])
def test_the_mean_of_the_statistic_is_not_farther_above_the_calibration_error_than_is_taken_off(statistic):
    """By all labels of eight rows with probability one half, of which the noise is largest."""
    p = np.linspace(0.1, 0.9, 8)
    labels = list(product([0, 1], repeat=8))
    mean = np.mean([by_rows(y, p, 2)[statistic == "kuiper"] for y in labels])
    noise = 2 * np.sqrt(4) / 16 if statistic == "ece" else np.sqrt(np.pi / 16)
    assert 0 <= mean - truth(p, np.full(8, 0.5), statistic, 2) <= noise
