"""Rows in time: levels under autocorrelation, the same answer of files, frames and arrays, and the note."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import sigstats

from ...tables import save

N = 200
HOURS = pd.date_range("2024-03-30", periods=N, freq="h")


def series(rng, n, rho):
    """A stationary series of the first order with mean 0 and variance 1."""
    return lfilter([1], [1, -rho], rng.normal(size=n + 200) * np.sqrt(1 - rho**2))[200:]


def losses(rng, rho=0.8):
    base = 3 + 0.1 * rng.normal(size=N)
    return base, base + 0.5 * series(rng, N, rho)


def frames(rng, rho=0.8):
    base, other = losses(rng, rho)
    found = pd.DataFrame({"id": range(N), "loss": base, "when": HOURS})
    return found, found.assign(loss=other).iloc[rng.permutation(N)]


def notes(result):
    return [note for note in result.notes if note.name == "ordered-errors"]


SCORE = {"score": "loss", "lower_is_better": "loss"}
OPTIONS = {"higher_is_better": "loss", "score_range": (0, 6)}


@pytest.mark.parametrize(
    ("form", "seen"),
    [
        ("%Y-%m-%d", True),
        ("%Y%m%d", True),
        ("%G-W%V-%u", True),
        ("%d.%m.%Y", True),
        ("%m/%d/%Y", True),
        ("%d-%m-%Y %H:%M", True),
        ("%d %b %Y", True),
        ("%y-%m-%d", False),  # day or year first
        ("case %j of %Y", False),
    ],
)
def test_dates_of_shuffled_rows_show_their_autocorrelation(form, seen):
    base, cand = frames(np.random.default_rng(4))
    days = pd.date_range("2023-11-20", periods=N).strftime(form)
    base, cand = (frame.assign(when=days[frame["id"]]).sample(frac=1, random_state=1) for frame in (base, cand))
    found = ["in the order of 'when'" in note for note in notes(sigstats.compare(base, cand, **SCORE))]
    assert found == [True] * seen


def test_dates_that_may_be_read_in_two_ways_state_no_order():
    base, cand = frames(np.random.default_rng(4))
    days = np.array([f"{1 + day % 12:02}/{1 + day // 12 % 12:02}/{2024 + day // 144}" for day in range(N)])
    base, cand = (frame.assign(when=days[frame["id"]]).sample(frac=1, random_state=1) for frame in (base, cand))
    assert not notes(sigstats.compare(base, cand, **SCORE))


@pytest.mark.parametrize("measure", ["accuracy", "neg-mae"])
def test_p_is_that_of_the_means_in_time_unless_an_unseen_row_has_a_larger_one(measure):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, N)
    a, b = (np.where(series(rng, N, 0.8) > limit, 1 - y, y) for limit in (1.2, -0.2))
    value = {"accuracy": lambda said: 1.0 * (said == y), "neg-mae": lambda said: -1.0 * abs(said - y)}[measure]
    options = {"measures": measure, "score_range": None if measure == "accuracy" else (0, 1)}
    (row,) = sigstats.compare(y, a, b, order=HOURS, **options).rows
    test = sigstats.mean_score_test(value(b), value(a), order=np.arange(N), alternative="less")
    both = sigstats.mean_score_test(value(b), value(a), order=np.arange(N))
    assert row.pvalue == pytest.approx(test.pvalue, rel=1e-9)
    assert row.two_sided_pvalue == pytest.approx(both.pvalue, rel=1e-9)
    assert (row.low, row.high) == pytest.approx(both.confidence_interval, rel=1e-9)
    assert row.baseline_interval == pytest.approx(both.interval_b, rel=1e-9)
    assert row.test == "t of blocks in time; unseen row beside 200 rows"
    (same,) = sigstats.compare(y, y, np.where(np.arange(N) < 1, 1 - y, y), order=HOURS, **options).rows
    (plain,) = sigstats.compare(
        y,
        y,
        np.where(np.arange(N) < 1, 1 - y, y),
        groups=range(N),
        rule=sigstats.ComparisonRule(unseen_group="any"),
        **options,
    ).rows
    assert same.low == pytest.approx(plain.low, abs=1e-12)  # the t of one row would be narrower


def test_a_file_a_frame_and_arrays_agree_in_any_order_of_rows(tmp_path, answer):
    base, other = frames(np.random.default_rng(5))
    result = sigstats.compare(base, other, order="when", **OPTIONS)
    expected = next((row.pvalue, row.low, row.high) for row in result.rows)
    joined = base.merge(other, on="id", suffixes=("", "_b")).sample(frac=1, random_state=1)
    y = np.zeros(N, int)
    times = {"dates": joined["when"], "text": joined["when"].astype(str).to_numpy(), "numbers": joined["id"].to_numpy()}
    for order in times.values():
        scores = joined["loss"].to_numpy(), joined["loss_b"].to_numpy()
        given = {"measures": "mean-score", "score_range": (0, 6), "order": order}
        if isinstance(order, pd.Series):
            order.index = range(N)
        of_arrays = sigstats.compare(y, y.copy(), y.copy(), scores=scores, **given)
        (row,) = of_arrays.rows
        assert (row.pvalue, row.low, row.high) == pytest.approx(expected, rel=1e-9)
    for kind in ("csv", "parquet"):
        paths = [save(frame, tmp_path / f"{name}.{kind}") for name, frame in (("a", base), ("b", other))]
        options = "--higher-is-better loss --score-range 0 6 --order when"
        (row,) = answer("compare", *paths, *options.split())["rows"]
        assert (row["p_worse"], row["low"], row["high"]) == pytest.approx(expected, rel=1e-9)


def test_a_column_of_dates_in_whose_order_rows_differ_alike_is_named():
    base, other = frames(np.random.default_rng(6))
    mixed = base.sample(frac=1, random_state=2)
    (note,) = notes(sigstats.compare(mixed, other, **OPTIONS))
    assert "in the order of 'when'); --order when (order)" in note
    days = HOURS[0] + pd.to_timedelta(base["id"], "D")
    for column in (days.dt.date, days.dt.strftime("%Y-%m-%d"), base["when"].dt.strftime("%Y-%m-%dT%H:%M")):
        (note,) = notes(sigstats.compare(mixed.assign(when=column), other.assign(when=column), **OPTIONS))
        assert "--order when" in note
    assert not notes(sigstats.compare(mixed, other, order="when", **OPTIONS))
    assert not notes(sigstats.compare(*frames(np.random.default_rng(7), rho=0), **OPTIONS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"order": ["monday", *["2024-03-30"] * (N - 1)]},
            "order: 'monday' is not valid; expected numbers, or ISO dates",
        ),
        (
            {"order": ["2024-03-30T01:00", *["2024-03-30T01:00+01:00"] * (N - 1)]},
            "order: '2024-03-30T01:00' is not valid; expected a time with a zone, as other times have",
        ),
        ({"order": range(N), "groups": range(N)}, "order: is not valid with groups"),
        ({"order": range(N), "weights": np.ones(N)}, "order: is not valid with weights"),
        ({"order": range(N), "measures": "f1"}, "measures: 'f1' is not a mean over rows; omit order, or name accuracy"),
        ({"order": range(N - 1)}, "order: the length is 199; expected 200"),
        ({"order": [1, 2] * (N // 2)}, "nothing can be tested .too few times"),
    ],
)
def test_orders_that_are_none_are_refused(options, message):
    rng = np.random.default_rng(8)
    y, a, b = rng.integers(0, 2, (3, N))
    with pytest.raises(ValueError, match=message):
        sigstats.compare(y, a, b, **{**options, "order": [str(each) for each in options["order"]]})
