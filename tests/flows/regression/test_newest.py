"""Which candidate is the newest, whatever the times of change say, and where evaluations stand in the trend."""

import datetime as dt
import os
import re
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats._common.numerals import natural
from sigstats.comparison.units import ALL_ROWS
from sigstats.flows.commands import main
from sigstats.flows.regression.order import time_in
from sigstats.flows.regression.trends import trends_of

from ..conftest import study_file
from ..predictions import STUDY, evaluate, history, write


@pytest.fixture
def folder(tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    return tmp_path


def evaluated(folder):
    found = history(folder).drop_duplicates("evaluation")
    return [Path(name).name for name in found["candidate"]], list(found["dated"])


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=9, unique=True), st.integers(0, 99))
def test_numbers_in_names_are_in_order_of_their_value(numbers, seed):
    names = [f"model-{number}.csv" for number in numbers]
    Random(seed).shuffle(names)
    assert sorted(names, key=natural) == [f"model-{number}.csv" for number in sorted(numbers)]


@settings(derandomize=True, deadline=None)
@given(st.datetimes().filter(lambda at: 1900 <= at.year < 3000), st.integers(0, 999))
def test_a_time_is_found_in_a_name_however_it_is_written(at, number):
    at = at.replace(microsecond=0, tzinfo=dt.UTC)
    for form in ("%Y%m%dT%H%M%S", "%Y-%m-%d_%H-%M-%S", "%Y-%m-%dT%H:%M:%SZ", "%Y%m%d-%H%M%S"):
        assert time_in(f"v{number}-{at:{form}}.csv") == at
    assert time_in(f"v{number}-{at:%Y-%m-%d}.csv") == at.replace(hour=0, minute=0, second=0)


@pytest.mark.parametrize("name", ["candidate-7.csv", "2026-13-45.csv", "v20261121123.csv", "12345678901234567890"])
def test_what_is_no_time_is_none(name):
    assert time_in(name) is None


def test_a_touched_or_copied_candidate_is_no_newer(folder):
    for number in (9, 10, 2):
        write(folder / f"predictions/candidate-{number}.csv", wrong=0.1, seed=number, at=2000 - number)
    os.utime(folder / "predictions/candidate-9.csv")
    assert evaluate(folder) == 0
    assert evaluated(folder) == (["candidate-10.csv"], [pd.NaT])


@pytest.mark.long
def test_by_time_the_latest_in_a_name_is_taken_and_backfills_stand_at_their_own_date(folder):
    names = ["candidate-b-2026-11-02.csv", "candidate-a-20261105T0615.csv", "candidate-c-2026-10-30.csv"]
    for seed, name in enumerate(names):
        write(folder / "predictions" / name, wrong=0.1, seed=seed, at=3000 - seed)
    by_time = ("--set", 'newest.by="time"')
    assert evaluate(folder, *by_time) == 0
    for name in (names[0], names[2]):
        assert evaluate(folder, *by_time, "--set", f"candidate=predictions/{name}") == 0
    candidates, dates = evaluated(folder)
    assert candidates == [names[1], names[0], names[2]]
    assert [f"{date:%Y-%m-%d %H:%M}" for date in dates] == ["2026-11-05 06:15", "2026-11-02 00:00", "2026-10-30 00:00"]
    report = (folder / "out/report.html").read_text()
    points = re.findall(r"<title>(candidate-[^:]*:\d\d): ", report)
    days = [point.split(", ")[1] for point in points[:3]]
    assert days == sorted(days) == ["2026-10-30 00:00", "2026-11-02 00:00", "2026-11-05 06:15"]
    write(folder / "predictions/candidate-z.csv", wrong=0.1, at=1)
    assert evaluate(folder, *by_time) == 2


def test_by_column_the_largest_value_is_taken(folder, capsys):
    for number, made in ((1, "2026-11-09"), (2, "2026-11-03")):
        path = folder / f"predictions/candidate-{number}.csv"
        write(path, wrong=0.1, seed=number, at=2000 + number)
        first, *rows = path.read_text().splitlines()
        path.write_text("\n".join([f"{first},made", *(f"{row},{made}" for row in rows)]) + "\n")
    by_column = ("--set", 'newest.by="column"', "--set", "newest.column=made")
    assert evaluate(folder, *by_column) == 0
    assert evaluated(folder) == (["candidate-1.csv"], [pd.Timestamp("2026-11-09", tz="UTC")])
    main(["plan", str(folder / "nightly.toml"), *by_column, "--output", str(folder / "out")])
    assert "newest     candidate-1.csv, of 2 matches by column made\n" in capsys.readouterr().out
    write(folder / "predictions/candidate-3.csv", wrong=0.1, seed=3, at=1)
    assert evaluate(folder, *by_column) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "candidate-3.csv" in line
    assert "made" in line
    assert evaluate(folder, "--set", "newest.column=made") == 2


#: Values of which the second is later, though not as text; or what is asked if the order is not certain.
LATER = {
    "zones": ("2026-01-10T01:00:00+09:00", "2026-01-09T23:00:00-05:00", ""),
    "clock change": ("2026-10-25 02:30:00+02:00", "2026-10-25 02:10:00+01:00", ""),
    "versions": ("v1.9", "v1.10", ""),
    "dates in names": ("2026-01-05-b9", "2026-01-05-b10", ""),
    "day first": ("31.01.2026", "01.02.2026", "newest.column: '01.02.2026' is not valid; expected numbers, or ISO"),
    "decimals": ("0.25", "0.5", "newest.column: [0.5, 0.25] have another order as versions"),
    "time of day": ("23:00", "01:00", "newest.column: '01:00' is a time of day; expected its date too"),
    "day first in six digits": ("311025", "011125", "newest.column: '011125' and '311025' look like dates"),
    "decimals of one length": ("0.25", "0.50", ""),
}


@pytest.mark.long
@pytest.mark.parametrize("case", LATER)
def test_by_column_times_are_in_order_of_their_instants(folder, capsys, case):
    *values, said = LATER[case]
    for name, made in zip(("b-older", "a-newer"), values, strict=True):
        path = folder / f"predictions/candidate-{name}.csv"
        write(path, wrong=0.1, seed=len(name), at=2000)
        first, *rows = path.read_text().splitlines()
        path.write_text("\n".join([f"{first},made", *(f"{row},{made}" for row in rows)]) + "\n")
    code = evaluate(folder, "--set", 'newest.by="column"', "--set", "newest.column=made")
    assert code == (2 if said else 0)
    assert said in capsys.readouterr().err
    if not said:
        assert evaluated(folder)[0] == ["candidate-a-newer.csv"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cand-20260106-data20251201.csv", "2026-01-06 00:00"),
        ("cand-20251201-data20260106.csv", "2026-01-06 00:00"),
        ("cand-2026-01-05T0630+0200.csv", "2026-01-05 04:30"),
        ("cand-2026-01-05t06:30-05:30.csv", "2026-01-05 12:00"),
        ("cand-2026-01-05T0530z.csv", "2026-01-05 05:30"),
        ("0001-01-01T00:00+02:00", None),
    ],
)
def test_the_time_of_a_name_is_the_latest_in_it_and_has_its_zone(name, expected):
    at = time_in(name)
    assert (at and f"{at:%Y-%m-%d %H:%M}") == expected


def test_a_measure_of_a_package_that_is_gone_stands_in_its_own_unit():
    row = {
        "slice": ALL_ROWS, "measure": "macro-gone", "difference": 0.1, "baseline_value": 0.6, "candidate_value": 0.7,
        "candidate_low": 0.6, "candidate_high": 0.8, "row_verdict": "pass", "change": None,
    }  # fmt: skip
    about = SimpleNamespace(at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC), candidate="c.csv", look=1, segment=1)
    figure, *_ = trends_of([SimpleNamespace(evaluation=about, rows=[row])], "baseline", fresh=False)
    ticks = [float(text) for text in re.findall(r'class="tick">([0-9.]+)<', str(figure.body))]
    assert 0.5 < min(ticks) < max(ticks) < 0.9
