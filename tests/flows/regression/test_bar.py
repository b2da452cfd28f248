"""Regression studies of one model and a bar: the tests of `sigstats check` over time, with one history."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, quantile_test

import sigstats
from sigstats.flows.commands import main

from ..conftest import study_file
from ..predictions import history

STUDY = 'kind = "regression"\ncandidate = "model-*.csv"\nslices = ["region"]\nat_least = 0.8\n'


@pytest.fixture
def folder(tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    return tmp_path


def night(folder, number, right, *, n=300, same=True):
    """A night's predictions, of which a share is right, on the same rows or on new ones."""
    rng = np.random.default_rng(number)
    frame = pd.DataFrame({"id": [f"{'' if same else number}-{row}" for row in range(n)], "label": np.arange(n) % 3})
    frame["region"] = np.array(["north", "west"])[np.arange(n) % 2]
    frame["prediction"] = np.where(rng.random(n) < right, frame["label"], (frame["label"] + 1) % 3)
    frame.to_csv(folder / f"model-{number:02}.csv", index=False)
    return frame.assign(right=frame["prediction"] == frame["label"])


def look(folder, *more):
    settings = [word for each in more for word in ("--set", each)]
    return main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out"), *settings])


@pytest.mark.long
def test_each_night_is_the_binomial_test_of_its_rows_at_the_level_of_its_look(folder, capsys, printed):
    """A fault in nights 3 and 4 is one episode, which the next night that reaches the bar ends."""
    codes = []
    for number, share in enumerate((0.9, 0.9, 0.6, 0.55, 0.92), start=1):
        frame = night(folder, number, share)
        codes.append(look(folder))
        kept = history(folder).query("look == @number").set_index("slice")
        parts = {"all rows": frame, **{f"region = {name}": part for name, part in frame.groupby("region")}}
        tests = {name: binomtest(int(part["right"].sum()), len(part), 0.8, "less") for name, part in parts.items()}
        for name, part in parts.items():
            interval = binomtest(int(part["right"].sum()), len(part)).proportion_ci(0.95)
            wanted = [part["right"].mean(), tests[name].pvalue, interval.low, interval.high]
            row = kept.loc[name]
            assert list(row[["candidate_value", "p_worse", "candidate_low", "candidate_high"]]) == pytest.approx(wanted)
            assert list(row[["baseline_value", "low", "high"]]) == pytest.approx([0.8, *(np.array(wanted[2:]) - 0.8)])
        holm = sigstats.adjust_pvalues([tests[name].pvalue for name in kept.index], method="holm")
        assert list(kept["row_verdict"] == "fail") == list(holm <= kept["level"])
    assert codes == [0, 0, 1, 1, 0]
    said = capsys.readouterr().out
    assert "points below the bar (" in said
    assert "Do not accept the model." in said
    flips = pd.read_csv(folder / "out/flips.csv")  # without "broken" and "fixed", for which there is no baseline
    assert list(flips.columns) == ["id", "score", "looks", "correct", "flips"]
    assert "Accept the model." in said.split("look 5 ")[0].split("look 4 ")[1]
    page = (folder / "out/report.html").read_text()
    assert "failed (evaluation 3, " in page
    assert "; repaired (evaluation 5, " in page
    assert "<p>bar <b>80.00%</b>" in page
    pages = [page, *(path.read_text() for path in (folder / "out/comparisons").glob("*.html"))]
    assert not any("baseline" in text.split("</style>")[1] for text in pages)
    assert list(history(folder)["segment"].unique()) == [1]
    newest = max((folder / "out/comparisons").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    assert json.loads(newest.read_text())["baseline"] == "at least 0.8"
    assert main(["report", str(folder / "out")]) == 0
    assert (folder / "out/report.html").read_text() == page
    assert look(folder) == 0
    assert "nothing new" in capsys.readouterr().out
    assert "baseline   at least 0.85" in printed(
        "plan", folder / "nightly.toml", "--output", folder / "out", "--set", "at_least=0.85"
    )


def test_another_bar_begins_a_new_episode(folder):
    night(folder, 1, 0.9)
    assert look(folder) == 0
    night(folder, 2, 0.6)
    assert look(folder, "at_least='80%'") == 1  # the same bar
    night(folder, 3, 0.6, n=301)
    assert look(folder, "at_least=0.4") == 0
    assert "; ended by a change (evaluation 3, " in (folder / "out/report.html").read_text()


def test_fresh_rows_are_the_anytime_test_of_right_and_wrong_less_the_bar(folder, capsys):
    parts, codes = [], []
    for number, share in enumerate((0.85, 0.85, 0.6, 0.6), start=1):
        parts.append(night(folder, number, share, same=False).assign(night=number))
        codes.append(look(folder, "looks.rows=fresh"))
    rows = pd.concat(parts)
    test = sigstats.anytime_test(rows["right"] - 0.8, looks=rows["night"], start="any", alternative="less")
    found = history(folder).query("slice == 'all rows'")
    assert list(found["p_worse"]) == pytest.approx([state.pvalue for state in test.looks], rel=1e-9)
    assert codes == [0, 0, 1, 1]
    assert "since look 3" in (folder / "out/report.html").read_text()
    assert "points below the bar (" in capsys.readouterr().out


def test_a_cost_may_be_at_most_the_bar(folder, capsys):
    rng = np.random.default_rng(2)
    for number, mean in ((1, 1.0), (2, 3.0)):
        frame = pd.DataFrame({"id": range(400), "seconds": rng.uniform(0, 2 * mean, 400)})
        frame.to_csv(folder / f"model-{number:02}.csv", index=False)
        study_file(folder, STUDY.replace("at_least = 0.8", "at_most = 2"), "nightly.toml")
        settings = ("slices=[]", "measures=['mean-score']", "score_range=[0, 10]")
        assert look(folder, *settings, "columns.lower_is_better=['seconds']") == (number == 2)
    row = history(folder).iloc[-1]
    assert (row["baseline_value"], bool(row["lower_is_better"])) == (2.0, True)
    assert row["difference"] == pytest.approx(frame["seconds"].mean() - 2)
    assert "above the bar" in capsys.readouterr().out


def test_a_quantile_of_a_latency_is_monitored(folder):
    rng = np.random.default_rng(3)
    study_file(folder, STUDY.replace("at_least = 0.8", 'at_most = 400\nmeasures = ["p95"]'), "nightly.toml")
    for number, scale in ((1, 40), (2, 60)):
        frame = pd.DataFrame({"id": range(500), "latency_ms": rng.gamma(4, scale, 500)})
        frame.to_csv(folder / f"model-{number:02}.csv", index=False)
        assert look(folder, "slices=[]", "columns.lower_is_better=['latency_ms']") == (number == 2)
    row = history(folder).iloc[-1]
    assert row["p_worse"] == pytest.approx(
        quantile_test(frame["latency_ms"], q=400, p=0.95, alternative="greater").pvalue
    )
    assert "p95 of latency_ms on all rows failed (evaluation 2, " in (folder / "out/report.html").read_text()


@pytest.mark.long
def test_a_quantile_of_fresh_rows_is_the_anytime_test_of_the_rows_within_the_bar(folder):
    """From night 4 on 15% of the latencies are above the bar, from night 7 on 1%."""
    rng, parts, codes = np.random.default_rng(4), [], []
    study_file(folder, STUDY.replace("at_least = 0.8", 'at_most = 400\nmeasures = ["p95"]'), "nightly.toml")
    for number in range(1, 11):
        beyond = 0.03 if number < 4 else 0.15 if number < 7 else 0.01
        latency = np.where(rng.random(300) < beyond, 400 + rng.gamma(2, 50, 300), rng.uniform(100, 400, 300))
        frame = pd.DataFrame({"id": [f"{number}-{row}" for row in range(300)], "latency_ms": latency})
        frame.to_csv(folder / f"model-{number:02}.csv", index=False)
        parts.append(frame.assign(night=number))
        codes.append(look(folder, "slices=[]", "columns.lower_is_better=['latency_ms']", "looks.rows=fresh"))
    assert codes == [0, 0, 0, 1, 1, 1, *codes[6:-1], 0]
    rows, kept = pd.concat(parts), history(folder)
    within = 0.05 - (rows["latency_ms"] > 400)
    test = sigstats.anytime_test(within, looks=rows["night"], start="any", alternative="less")
    assert list(kept["p_worse"][:6]) == pytest.approx([state.pvalue for state in test.looks[:6]], rel=1e-9)
    third = rows[rows["night"] <= 3]["latency_ms"]
    row = kept.iloc[2]
    assert row["candidate_value"] == pytest.approx(np.sort(third)[-46])  # 5% of 900 rows are above it
    ends = [400 + row["low"], 400 + row["high"]]
    for end, sign in zip(ends, (1, -1), strict=True):  # a step beyond the end excludes 5%, the end itself does not
        for shift, excluded in ((-sign * 1e-6, True), (sign * 1e-6, False)):
            share = sigstats.anytime_test(0.05 - (third > end + shift)).confidence_interval
            assert (share.low > 0 or share.high < 0) == excluded
    page = (folder / "out/report.html").read_text()
    assert "p95 of latency_ms on all rows failed (evaluation 4, " in page
    assert "repaired (evaluation " in page


@pytest.mark.parametrize("rows", ["same", "fresh"])
def test_a_bar_in_per_cent_is_a_share_of_the_range_and_a_bare_share_is_refused(tmp_path, capsys, rows):
    keys = f'kind = "regression"\ncandidate = "model-*.csv"\nscore_range = [0, 10]\nlooks.rows = "{rows}"\n'
    study_file(tmp_path, f'{keys}columns.higher_is_better = ["grade"]\nat_least = "90%"\n', "nightly.toml")
    grades = np.random.default_rng(3).integers(5, 9, 200)
    pd.DataFrame({"id": range(200), "grade": grades}).to_csv(tmp_path / "model-01.csv", index=False)
    assert look(tmp_path, "at_least=0.9") == 2
    wanted = "at_least: 0.9 may be 9 (write 90%) or 0.9 (write 9%) of 0 to 10, the range of 'grade'"
    assert wanted in capsys.readouterr().err
    assert look(tmp_path) == 1
    assert history(tmp_path)["baseline_value"].tolist() == [9]
    (report,) = (tmp_path / "out/comparisons").glob("*.json")
    assert json.loads(report.read_text())["baseline"] == "at least 90%"
    if rows == "same":
        assert look(tmp_path, 'at_least="9%"') == 0


def test_a_bar_in_the_unit_of_a_score_is_no_share_of_its_range(tmp_path):
    """90% of 0 to 5 s are 4.5 s; of a score from 0 to 1, 90% and 0.9 are one bar."""
    for name, high, bars in (("latency_s", 5, [0.9, 4.5]), ("toxicity", 1, [0.9])):
        keys = f'kind = "regression"\ncandidate = "model-*.csv"\nscore_range = [0, {high}]\nat_most = 0.9\n'
        (folder := tmp_path / name).mkdir()
        study_file(folder, f'{keys}columns.lower_is_better = ["{name}"]\n', "nightly.toml")
        pd.DataFrame({"id": range(200), name: np.linspace(0.1, 0.6, 200)}).to_csv(folder / "model-01.csv", index=False)
        assert [look(folder), look(folder, 'at_most="90%"')] == [0, 0]
        assert history(folder)["baseline_value"].tolist() == bars


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (["at_most=0.9"], "give one of baseline, at_least, at_most, not at_least and at_most"),
        (["rule.margin=0.01"], "rule.margin is not valid with at_least"),
        (["at_least=90"], "at_least: 90"),
        (["at_least='ninety'"], "at_least: 'ninety' is not valid; expected a number such as 0.9 or 90%"),
        (["at_least=90", "looks.rows=fresh"], "at_least: 90"),
        (["at_least=0"], "at_least: 0"),
        (["columns.score=['a', 'b']"], "columns.score, of several, is not valid with at_least"),
        (["measures=['macro-f2']"], "measures: 'macro-f2'"),
        (["measures=['macro-f1']", "looks.rows=fresh"], "measures: 'macro-f1'"),
    ],
)
def test_what_is_no_bar_is_one_line(folder, capsys, settings, complaint):
    night(folder, 1, 0.9)
    assert look(folder, *settings) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
    assert not (folder / "out/history").exists()


@pytest.mark.long
@pytest.mark.parametrize("reference", ["at_least = 0.3", 'baseline = "base-*.csv"'])
def test_rows_that_were_lost_or_relabelled_since_the_look_at_them_are_noted(tmp_path, printed, reference):
    study_file(tmp_path, f'kind = "regression"\ncandidate = "model-*.csv"\n{reference}\n', "nightly.toml")
    rng, label = np.random.default_rng(2), np.arange(500) % 3
    relabelled, half = (label + 1) % 3, np.arange(150)
    for number, (rows, labels, told) in enumerate(
        [
            (np.arange(300), label, ""),
            (half, label, "150 of 300 rows of the previous look are missing; a file may be incomplete"),
            (rng.permutation(300), label, ""),
            (np.arange(400), label, ""),  # it grows
            (np.arange(400, 500), label, ""),  # another test set
            (np.arange(400), relabelled, "400 rows had another label at the previous look"),
            (half, relabelled, "250 of 400 rows of the previous look are missing; a file may be incomplete"),
            (rng.permutation(400), label, "400 rows had another label"),  # 250 of them at the last look but one
            (np.arange(10, 420), label, "10 of 400 rows of the previous look are missing, and 20 others are new"),
        ],
        start=1,
    ):
        frame = pd.DataFrame({"id": rows, "label": labels[rows], "prediction": labels[rows]})
        for name in ("base", "model"):
            frame.to_csv(tmp_path / f"{name}-{number}.csv", index=False)
        said = " ".join(printed("run", tmp_path / "nightly.toml", "--output", tmp_path / "out").split())
        assert told in said, number
        assert all((word in said) == (word in told) for word in ("are missing", "another label")), number
