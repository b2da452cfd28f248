"""Faults as episodes: since when, until when, and what the promises are worth."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.comparison.fresh import RowValues, _since_change, change_of, repaired_since
from sigstats.comparison.rows import Change, ComparisonRow
from sigstats.flows.regression.ledger import episodes_of
from sigstats.flows.regression.page import report_again
from sigstats.tasks.storage.store import Store

from ..conftest import study_file
from ..predictions import evaluate as look
from ..predictions import history
from .test_fresh import STUDY, differences, night


def values_of(change, looks):
    """Rows whose candidate gains `change`."""
    row = ComparisonRow(slice="", measure="accuracy", n=0)
    return RowValues(row, np.zeros(len(change)), np.asarray(change, dtype=float), 1.0, np.asarray(looks))


@pytest.fixture
def folder(tmp_path):
    study_file(tmp_path, STUDY.replace('slices = ["region"]\n', ""), "nightly.toml")
    return tmp_path


@pytest.mark.long
def test_a_fault_begins_is_repaired_and_begins_again_in_one_history(folder, printed):
    """The drop of nights 4 to 6 ends, and the evidence for the next begins anew."""
    codes = []
    for number in range(1, 15):
        night(folder, number, n=300, drop=0.25 if number in (4, 5, 6, 12, 13, 14) else 0.0)
        codes.append(look(folder))
    found = history(folder)
    failed = [number for number, code in enumerate(codes, start=1) if code]
    assert list(found["verdict"] == "fail") == [bool(code) for code in codes]
    first = failed[0]
    assert first in (4, 5)
    repaired = next(number for number in range(first, 15) if number not in failed)
    assert 7 <= repaired <= 10
    assert failed[: repaired - first] == list(range(first, repaired))  # it fails until the repair is shown
    again = next(number for number in failed if number > repaired)
    assert again in (12, 13)
    assert list(found["segment"]) == [1] * repaired + [repaired + 1] * (14 - repaired)
    rows = differences(folder, range(4, first + 1))
    alarm = found.iloc[first - 1]
    assert (alarm["change"], alarm["n"]) == (4, len(rows))
    assert alarm["difference"] == pytest.approx(rows["difference"].mean())
    assert found.iloc[repaired - 1]["n"] == 300 * (repaired - 6)
    assert found.iloc[repaired]["n"] == 300
    assert " since look 12 (12 to 1" in printed("run", folder / "nightly.toml", "--output", folder / "out", code=1)


def records_of(verdicts, segments=None, fresh=False):
    return [
        SimpleNamespace(
            evaluation=SimpleNamespace(
                verdict=verdict,
                segment=segment,
                evaluation=f"{number}",
                held_out=f"{number}" if fresh else "rows",
                evaluated_at=number,
            )
        )
        for number, (verdict, segment) in enumerate(zip(verdicts, segments or [1] * len(verdicts), strict=True))
    ]


@pytest.mark.parametrize(
    ("verdicts", "segments", "fresh", "wanted"),
    [
        (["pass", "fail", "fail", "pass"], None, False, [(1, 3, True)]),
        (["fail", "inconclusive", "fail", "pass", "fail"], None, False, [(0, 3, True), (4, None, True)]),
        (["fail", "inconclusive", "pass"], None, True, [(0, 1, True)]),
        (["fail", "fail", "pass"], [1, 2, 2], False, [(0, 1, False), (1, 2, True)]),
        (["fail", "pass"], [1, 2], True, [(0, 1, False)]),
        (["pass", "inconclusive"], None, False, []),
    ],
)
def test_episodes_end_with_a_repair_or_with_what_was_changed(verdicts, segments, fresh, wanted):
    records = records_of(verdicts, segments, fresh)
    episodes = episodes_of(records)
    ends = [None if episode.end is None else records.index(episode.end) for episode in episodes]
    alarms = [records.index(episode.alarm) for episode in episodes]
    assert list(zip(alarms, ends, [episode.repaired for episode in episodes], strict=True)) == wanted


def law_of_rows(rng, mean, n):
    """Rows of -1, 0 and 1 that seldom rise: of all laws of a mean, they make an average look good most often."""
    return np.where(rng.random(n) < 0.02, 1.0, np.where(rng.random(n) < (0.02 - mean) / 0.98, -1.0, 0.0))


@pytest.mark.long
def test_a_fault_that_stays_half_as_bad_is_said_to_be_repaired_at_most_as_often_as_stated():
    """At each of 20 looks, with rows whose mean is half the gain, or lower as long as that was unlucky."""
    rng, alpha, trials, said = np.random.default_rng(5), 0.1, 150, 0
    for _ in range(trials):
        rows = np.empty(0)
        for number in range(1, 21):
            lucky = rows.size and rows.mean() > -0.02
            rows = np.r_[rows, law_of_rows(rng, -0.02 if lucky or number % 2 else -0.03, 40)]
            if repaired_since(values_of(rows, np.arange(len(rows)) // 40), -0.04, alpha) is not None:
                said += 1
                break
    assert said <= 24  # P(more | 0.1) = 0.01


def test_a_repair_is_found_soon():
    rng = np.random.default_rng(6)
    found = []
    for _ in range(20):
        rows = rng.choice([-1.0, 0.0, 1.0], size=60 * 200, p=[0.05, 0.9, 0.05])
        looks = np.arange(len(rows)) // 200
        parts = ((number, looks < number) for number in range(1, 60))
        found.append(
            next(n for n, part in parts if repaired_since(values_of(rows[part], looks[part]), -0.05, 0.05) is not None)
        )
    assert np.median(found) <= 8


@pytest.mark.long
@pytest.mark.parametrize(("onset", "drop", "n"), [(1, 0.05, 100), (12, 0.05, 150), (30, 0.03, 300)])
def test_the_interval_of_the_change_covers_after_an_alarm(onset, drop, n):
    """A CUSUM ends the series, as alarms do; the interval covers the first worse look."""
    rng, covered, trials, width = np.random.default_rng(onset), 0, 200, []
    for _ in range(trials):
        sums, statistic, rows = [], 0.0, []
        while statistic < 0.25 * n:
            mean = -drop if len(sums) + 1 >= onset else 0.0
            rows.append(rng.choice([-1.0, 0.0, 1.0], size=n, p=[0.06 - mean / 2, 0.88, 0.06 + mean / 2]))
            sums.append(rows[-1].sum())
            statistic = max(0.0, statistic - sums[-1] - n * drop / 2)
        if len(sums) < onset:
            continue
        change = change_of(np.concatenate(rows), 1 + np.arange(len(rows) * n) // n)
        covered += change.low <= onset <= change.high
        assert change.low <= change.look <= change.high
        width.append(change.high - change.low)
    assert covered >= 0.93 * len(width)
    assert len(width) > 150


@pytest.mark.long
def test_what_happens_to_nights_is_defined(folder, capsys):
    """Missing, duplicated, late and backfilled nights, rows that are gone, and labels that are corrected."""

    study_file(folder, f'{STUDY}\n[newest]\nby = "name"\n', "nightly.toml")

    def all_rows():
        return history(folder).query("slice == 'all rows'").sort_values("look")

    for number in (1, 2, 5):  # nights 3 and 4 are missing: the looks are those that exist
        night(folder, number)
        assert look(folder) == 0
    assert list(all_rows()["look"]) == [1, 2, 3]
    before = all_rows()["p_worse"].tolist()
    assert look(folder) == 0  # the same files again: nothing new
    assert len(all_rows()) == 3
    night(folder, 3)  # comes late: named, and not evaluated by itself
    capsys.readouterr()
    assert look(folder) == 0
    assert "candidate-03.csv" in capsys.readouterr().err
    assert len(all_rows()) == 3
    backfilled = ("--set", "candidate=candidate-03.csv", "--set", "baseline=production-03.csv")
    assert look(folder, *backfilled) == 0  # the next look, whose evidence counts from when it came
    assert list(all_rows()["n"]) == [150, 300, 450, 600]
    assert all_rows()["p_worse"].tolist()[:3] == before
    for name in ("production", "candidate"):  # a copy of night 1 under the name of a later night
        (folder / f"{name}-06.csv").write_bytes((folder / f"{name}-01.csv").read_bytes())
    assert look(folder) == 0
    assert len(all_rows()) == 4
    for name in ("production", "candidate"):
        (folder / f"{name}-06.csv").unlink()
    for name in ("production", "candidate"):  # night 7 has the rows of night 1, 20 with other labels, and new ones
        old, new = pd.read_csv(folder / f"{name}-01.csv"), pd.read_csv(folder / f"{name}-05.csv")
        new["id"] = new["id"].str.replace("5-", "7-")
        corrected = old["label"].where(old.index >= 20, (old["label"] + 1) % 3)
        pd.concat([old.assign(label=corrected), new]).to_csv(folder / f"{name}-07.csv", index=False)
    assert look(folder) == 0
    assert all_rows()["n"].iloc[-1] == 750  # what a row counted at its first look stays, whatever its label is now
    first, last = all_rows().iloc[2], all_rows().iloc[-1]
    assert last["night_difference"] == pytest.approx(first["night_difference"])
    assert "20 rows of earlier looks have other labels now" in newest_comparison(folder)
    assert look(folder, "--set", 'looks.reset="labels of November corrected"') == 2  # new evidence needs new rows
    night(folder, 8)
    assert look(folder, "--set", 'looks.reset="labels of November corrected"') == 0
    assert (all_rows()["n"].iloc[-1], all_rows()["segment"].iloc[-1]) == (150, 6)


def newest_comparison(folder):
    return max((folder / "out/comparisons").glob("*.html"), key=lambda path: path.stat().st_mtime_ns).read_text()


@pytest.mark.long
def test_faults_on_the_same_rows_are_drawn_with_what_was_changed_and_what_was_deepest(folder):
    """Night 2 fails, 3 fails by more, 4 passes; then twelve labels are corrected, and the rule changes."""
    study_file(folder, STUDY.split("[looks]")[0].replace('slices = ["region"]\n', ""), "nightly.toml")

    def candidate(number, drop):
        night(folder, 1, n=2000)
        (folder / "candidate-01.csv").rename(folder / "kept.csv")
        frame = pd.read_csv(folder / "production-01.csv")
        worse = np.arange(2000) < 2000 * drop
        frame["prediction"] = np.where(worse, (frame["label"] + 1) % 3, frame["prediction"])
        frame.to_csv(folder / f"candidate-{number:02}.csv", index=False)

    for number, drop in enumerate((0.0, 0.1, 0.3, 0.001), start=1):
        candidate(number, drop)
        assert look(folder) == (drop > 0.01)
    page = (folder / "out/report.html").read_text()
    (fault,) = [line for line in page.splitlines() if "accuracy on all rows failed" in line]
    values = history(folder)["difference"]
    assert f"deepest −{-100 * values.iloc[2]:.2f} points (evaluation 3, " in fault
    assert "; repaired (evaluation 4, " in fault
    drawn = page[page.index('id="trend-0') :]
    assert drawn.count('class="interval fail"') == 2 * 2  # of each failing night its interval and its bar
    dotted = drawn.count('class="margin"')
    for name in ("production-01", "candidate-04"):
        frame = pd.read_csv(folder / f"{name}.csv")
        frame.loc[:11, "label"] = (frame.loc[:11, "label"] + 1) % 3
        frame.to_csv(folder / f"{name.replace('04', '05')}.csv", index=False)
    assert look(folder) == 0
    told = "12 rows had another label at the previous look"
    assert told in newest_comparison(folder)
    assert f"Note: {told}" in (folder / "out/report.html").read_text()
    store = Store(str(folder / "out"))
    for path in (folder / "out/comparisons").glob("*.json"):
        store.write_json(f"comparisons/{path.name}", {"notes": ["text of an older version"]})
    report_again(store)
    assert "Note: text of an older version" in (folder / "out/report.html").read_text()
    for path in (folder / "out/comparisons").glob("*.json"):
        store.write_json(f"comparisons/{path.name}", {})
    report_again(store)
    for path in (folder / "out/comparisons").glob("*.json"):
        path.unlink()
    report_again(Store(str(folder / "out")))  # the verdict is in the history
    assert told not in (folder / "out/report.html").read_text()
    drawn = (folder / "out/report.html").read_text()
    drawn = drawn[drawn.index('id="trend-0') :]
    assert drawn.count('class="margin"') == dotted + 1


@pytest.mark.long
def test_a_model_that_is_renamed_begins_anew_and_a_file_that_is_renamed_does_not(folder):
    for number in (1, 2):
        night(folder, number)
        for name in ("production", "candidate"):
            path = folder / f"{name}-{number:02}.csv"
            pd.read_csv(path).assign(model=name).to_csv(path, index=False)
    more = ["--set", 'columns.model="production"', "--set", 'columns.candidate_model="candidate"']
    assert look(folder, *more, "--set", "candidate=candidate-01.csv", "--set", "baseline=production-01.csv") == 0
    (folder / "candidate-01.csv").rename(folder / "candidate-001.csv")
    assert look(folder, *more, "--set", "candidate=candidate-001.csv", "--set", "baseline=production-01.csv") == 0
    assert len(history(folder)) == 1
    path = folder / "candidate-02.csv"
    pd.read_csv(path).assign(model="candidate-v2").to_csv(path, index=False)
    more[-1] = 'columns.candidate_model="candidate-v2"'
    assert look(folder, *more) == 0
    assert list(history(folder).sort_values("look")["segment"]) == [1, 2]


@pytest.mark.long
def test_intervals_from_whichever_look_cover_together():
    """The mean changes from look to look; an adversary chooses the look and the start of the interval that fails."""
    rng, missed, trials, rule = np.random.default_rng(8), 0, 100, sigstats.ComparisonRule(confidence_level=0.8)
    for _ in range(trials):
        means = rng.choice([-0.3, 0.0, 0.1], 7)
        rows = np.concatenate(
            [law_of_rows(rng, mean, 25) if mean <= 0 else -law_of_rows(rng, -mean, 25) for mean in means]
        )
        looks = 1 + np.arange(len(rows)) // 25
        parts = [(start, end) for end in range(1, 8) for start in range(1, end + 1)]
        outside = False
        for start, end in parts:
            row = ComparisonRow(slice="", measure="accuracy", n=0, change=Change(start, start, start))
            found = _since_change(row, values_of(rows[looks <= end], looks[looks <= end]), row, rule)
            outside |= not found.low <= means[start - 1 : end].mean() <= found.high
            assert found.low <= found.difference <= found.high
        missed += outside
    assert missed <= 30  # P(more | 0.2) = 0.006
