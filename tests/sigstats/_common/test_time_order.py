"""Rows in time: levels under autocorrelation, and the test of neighbours. Chances of a false alarm are below 1e-4."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom, ttest_1samp

import sigstats
from sigstats._common.time_order import as_times, neighbours_alike
from sigstats.scores.mean_score import mean_score_test

TRIALS = 400


def series(rng, n, rho):
    """A stationary series of the first order with mean 0 and variance 1."""
    return lfilter([1], [1, -rho], rng.normal(size=n + 200) * np.sqrt(1 - rho**2))[200:]


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "rho", "level"), [(50, 0, 0.055), (50, 0.5, 0.065), (200, 0.8, 0.065), (1000, 0.9, 0.065)]
)
def test_equal_forecasts_differ_as_often_as_stated(n, rho, level):
    rng, rejected, plain = np.random.default_rng(n), 0, 0
    for _ in range(TRIALS):
        base = np.abs(3 + 0.1 * rng.normal(size=n))
        other = base - 0.5 * series(rng, n, rho)
        rejected += mean_score_test(other, base, order=np.arange(n)).pvalue <= 0.05
        plain += ttest_1samp(other - base, 0).pvalue <= 0.05
    assert rejected <= binom.isf(1e-4, TRIALS, level)
    assert plain > 2 * rejected or rho == 0


@pytest.mark.long
def test_a_slow_part_below_noise_is_warned_of_and_needs_longer_blocks():
    """A tenth of the variance is of an autocorrelation of 0.98, that of neighbours 0.1: 16 blocks reject 17%."""
    rng, rejected, warned, n = np.random.default_rng(8), 0, 0, 1000
    for _ in range(TRIALS):
        slow = lfilter([1], [1, -0.98], rng.normal(size=n + 1000) * np.sqrt(1 - 0.98**2))[1000:]
        difference = np.sqrt(0.1) * slow + np.sqrt(0.9) * rng.normal(size=n)
        found = mean_score_test(difference, np.zeros(n), order=np.arange(n))
        rejected, warned = rejected + (found.pvalue <= 0.05), warned + ("outlast" in found.reason)
    assert rejected <= binom.isf(1e-4, TRIALS, 0.085)
    assert warned >= binom.isf(1 - 1e-4, TRIALS, 0.9)


def test_blocks_of_equal_length_are_a_t_test_of_their_means():
    difference = np.random.default_rng(4).normal(0.2, 1, 160)
    found = mean_score_test(difference, np.zeros(160), order=np.arange(160))
    blocks = difference.reshape(16, 10).mean(axis=1)
    assert found.pvalue == pytest.approx(ttest_1samp(blocks, 0).pvalue, rel=1e-9)
    assert found.method == "t of blocks in time"
    shuffled = np.random.default_rng(5).permutation(160)
    again = mean_score_test(difference[shuffled], np.zeros(160), order=[f"{time:03}" for time in shuffled])
    assert again.pvalue == pytest.approx(found.pvalue, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(
    ("form", "refused"),
    [
        ("%Y-%m-%d", False),
        ("%Y%m%d", False),
        ("%G-W%V-%u", False),
        ("%Y-%m-%d %a", True),
        ("%y%m%d", False),
        ("%d%m%y", True),
        ("%d%m%Y", True),
        ("%d.%m.%Y", True),
        ("%m/%d/%Y", True),
        ("%d %b %Y", True),
        ("%y-%m-%d", True),
        ("day %-d of %Y-%m", True),
    ],
)
@pytest.mark.parametrize("dtype", [str, object])
def test_texts_state_an_order_only_if_they_sort_by_time(form, refused, dtype):
    days = [(datetime(2022, 11, 1) + timedelta(days=day)).strftime(form) for day in range(365)]  # noqa: DTZ001 - no zone
    assert refused or sorted(days) == days
    times, rows = np.array(days, dtype), np.random.default_rng(8).choice([-1.0, 0, 1], 365)
    for test in (
        lambda order: mean_score_test(rows, np.zeros(365), order=order),
        lambda looks: sigstats.anytime_test(rows, looks=looks),
    ):
        if refused:
            with pytest.raises(ValueError, match=r"expected .*ISO dates"):
                test(times)
        else:
            assert test(times).pvalue == test(np.arange(365)).pvalue


@pytest.mark.parametrize("form", ["2023-01-31T10:00:{:.9g}", "{:.9g}"])
def test_fractions_of_unlike_lengths_are_in_order(form):
    seconds = np.sort(np.random.default_rng(3).choice(np.arange(10_001, 59_999), 90, replace=False)) / 1000
    times, rows = np.array([form.format(second) for second in seconds]), np.random.default_rng(8).normal(size=90)
    found = mean_score_test(rows, np.zeros(90), order=times)
    assert found.pvalue == mean_score_test(rows, np.zeros(90), order=seconds).pvalue


def test_rows_of_one_time_are_in_one_block():
    difference = np.repeat(np.random.default_rng(6).normal(size=96), 10)
    found = mean_score_test(difference, np.zeros(960), order=np.repeat(np.arange(96), 10))
    alone = mean_score_test(difference[::10], np.zeros(96), order=np.arange(96))
    assert found.pvalue == pytest.approx(alone.pvalue, rel=1e-9)


def test_few_rows_of_strong_autocorrelation_are_warned_of():
    rng = np.random.default_rng(7)
    found = mean_score_test(series(rng, 50, 0.9), np.zeros(50), order=np.arange(50))
    assert "the test wants 24 or more" in found.reason
    difference = series(rng, 200, 0.8)
    assert "use order" in mean_score_test(difference, np.zeros(200)).reason
    assert "use order" not in mean_score_test(difference, np.zeros(200), order=np.arange(200)).reason


def test_independent_rows_are_said_to_be_alike_once_in_a_thousand():
    """Of 2,000 samples 10 or more are with a chance of 5e-5, where each is with one of 0.001."""
    rng, alarms = np.random.default_rng(8), 0
    for trial in range(2000):
        n = 40
        classes = np.sort(rng.integers(0, 2, n))
        few = rng.choice([-1.0, 0, 1], n, p=[0.04, 0.94, 0.02])
        values = [few, rng.standard_cauchy(n), rng.normal(size=n)][trial % 3] * (1 + 9 * classes) + classes
        alarms += neighbours_alike(values, classes, trial) is not None
    assert alarms < 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": [1, 2, 3]}, "order: the length is 3; expected 6"),
        ({"order": [1, 1, 2, 2, 3, 3]}, "4 times or more"),
        ({"order": range(6), "groups": range(6)}, "order"),
    ],
)
def test_bad_orders_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        mean_score_test([1, 2, 3, 4, 5, 7], [0, 0, 0, 1, 0, 1], **options)


@pytest.mark.parametrize(
    ("pattern", "first", "refused"),
    [
        ("%m%d%Y", datetime(2025, 12, 20, tzinfo=UTC), True),
        ("%m%d%Y", datetime(2025, 3, 1, tzinfo=UTC), False),
        ("%Y%m%d", datetime(2025, 12, 20, tzinfo=UTC), False),
        ("%d%m%y", datetime(2025, 12, 20, tzinfo=UTC), True),
        ("%m%d%y", datetime(2025, 12, 20, tzinfo=UTC), True),
        ("%y%m%d", datetime(2025, 12, 20, tzinfo=UTC), False),
        ("%m%d", datetime(2025, 12, 20, tzinfo=UTC), True),
        ("%m%d", datetime(2025, 3, 1, tzinfo=UTC), False),
        ("%d%m", datetime(2025, 3, 15, tzinfo=UTC), True),
        ("%Y%d%m", datetime(2025, 3, 15, tzinfo=UTC), True),
        ("%d.%m", datetime(2025, 3, 15, tzinfo=UTC), True),
        ("%m.%d", datetime(2025, 3, 15, tzinfo=UTC), False),
    ],
)
def test_numbers_whose_dates_are_in_another_order_are_refused(pattern, first, refused):
    names = [(first + timedelta(days=day)).strftime(pattern) for day in range(30)]
    if refused:
        with pytest.raises(ValueError, match="may be dates that do not sort by time"):
            as_times(names)
    else:
        assert as_times(names) == [float(name) for name in names]
    assert as_times([str(number) for number in range(10012001, 10012051)])[0] == 10012001  # a counter, not dates


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (["11.2025", "12.2025", "01.2026"], True),
        (["2026.9", "2026.10"], True),
        (["2017.01", "2017.02", "2017.10"], False),
        (["3.05", "4.11", "5.07"], False),
        (["0.25", "0.5", "1.0", "1.75"], False),
    ],
)
def test_decimals_that_may_be_dates_in_another_order_are_refused(names, refused):
    if refused:
        with pytest.raises(ValueError, match="may be dates that do not sort by time"):
            as_times(names)
    else:
        assert as_times(names) == [float(name) for name in names]


def test_months_are_times():
    assert as_times(["2025-12", "2026-01"]) == as_times(["2025-12-01", "2026-01-01"])


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (["0.1", "0.10"], True),
        (["01", "1"], True),
        (["2026-01", "2026-1"], True),
        (["01.2026", "12.2025"], True),
        (["01/2020", "02/2020", "12/2019"], True),
        (["1Q2005", "1Q2006", "2Q2005"], True),
        (["end", "middle", "start"], True),
        (["01-12-25", "02-01-26", "31-12-25"], True),
        (["2020-01-01 01:00 PM", "2020-01-01 02:00 AM"], True),
        (["2019-12", "2020-01", "2020-02"], False),
        (["2019-W52", "2020-W01"], False),
        (["look 01", "look 02", "look 10"], False),
        (["look 1", "look 10", "look 2"], True),
    ],
)
def test_looks_are_numbers_iso_dates_or_differ_in_one_number(names, refused):
    rows, looks = np.tile([1.0, -1.0, 0.0], 4 * len(names)), np.repeat(names, 12)
    if refused:
        with pytest.raises(ValueError, match=r"looks: .* is not valid"):
            sigstats.anytime_test(rows, looks=looks)
    else:
        assert [look.look for look in sigstats.anytime_test(rows, looks=looks).looks] == names
