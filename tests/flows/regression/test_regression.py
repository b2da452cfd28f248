"""Regression studies without a server: what is found, what is kept, and what is refused."""

import itertools
import json
import os
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sigstats.flows.commands import compare, main
from sigstats.flows.commands._options import rule_of
from sigstats.multiplicity import spent_level
from sigstats.tasks.storage import history as history_files
from sigstats.tasks.storage.local_files import LocalFiles

from ..conftest import start, study_file
from ..predictions import STUDY, evaluate, history, write


@pytest.fixture
def folder(tmp_path):
    """A study with a baseline and a candidate that is no worse."""
    study_file(tmp_path, STUDY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12, at=1000)
    write(tmp_path / "predictions/candidate-1.csv", wrong=0.08, seed=1, at=1001)
    return tmp_path


def evaluations(folder):
    return history(folder).drop_duplicates("evaluation")


def test_it_agrees_with_compare_and_is_kept_by_day(folder, printed, monkeypatch):
    assert evaluate(folder) == 0
    found = history(folder)
    baseline, candidate = (folder / f"predictions/{name}.csv" for name in ("production", "candidate-1"))
    options = "--measure accuracy --measure macro-f1 --slice region --json -"
    monkeypatch.setattr(compare, "rule_of", lambda options: replace(rule_of(options), n_resamples=999))
    rows = json.loads(printed("compare", baseline, candidate, *options.split()))["rows"]
    kept = found.set_index(["slice", "measure"])
    assert len(rows) == len(kept) == 8
    for row in rows:
        one = kept.loc[(row["slice"], row["measure"])]
        assert (one["p_adjusted"], one["difference"], one["row_verdict"]) == (
            row["p_adjusted"],
            row["difference"],
            row["verdict"],
        )
    days = {str(day) for day in found["date"]}
    assert days == {str(at.date()) for at in found["evaluated_at"]}
    assert set(found["verdict"]) <= {"pass", "inconclusive"}


def test_expected_costs_are_evaluated_again(folder):
    text = STUDY.replace('"macro-f1"]', '"expected-cost(fn=10,fp=1)"]\npositive = "3"')
    study_file(folder, text, "nightly.toml")
    assert evaluate(folder) == 0
    write(folder / "predictions/candidate-2.csv", wrong=0.3, seed=2, at=1002)
    assert evaluate(folder) == 1
    table = pd.read_csv(folder / "predictions/candidate-2.csv")
    true, said = table["label"] == 3, table["prediction"] == 3
    rows = history(folder).query("measure == 'expected-cost(fn=10,fp=1)' and slice == 'all rows'")
    assert rows["candidate_value"].iloc[-1] == pytest.approx((10 * (true & ~said) + (~true & said)).mean())


def test_the_newest_candidate_is_taken_and_a_regression_on_one_slice_is_named(folder, printed):
    assert evaluate(folder) == 0
    write(
        folder / "predictions/candidate-10.csv", wrong=0.08, on_west=0.40, seed=2, at=900
    )  # changed before the others
    said = printed("run", folder / "nightly.toml", "--output", folder / "out", code=1)
    assert said.startswith("FAIL: accuracy on region = west fell by ")
    assert "\nKeep the baseline. Look at region = west first" in said
    worse = [line for line in said.splitlines() if line.strip().endswith(" fail")]
    assert worse
    assert all("region = west" in line or "all rows" in line for line in worse)
    assert any("region = west" in line for line in worse)
    last = evaluations(folder).iloc[-1]
    assert (last["verdict"], last["look"]) == ("fail", 2)
    page = (folder / "out/report.html").read_text()
    assert re.search(r"<title>[^<]*: FAIL: Accuracy on region = west fell by [0-9.]+ points", page)
    assert page.count('class="point ') == 8 * 2 + 8  # two evaluations in eight trends, and the forest of the last one


def test_a_quiet_evaluation_is_silent_unless_something_is_wrong(folder, capsys):
    assert evaluate(folder) == 0
    assert capsys.readouterr() == ("", "")
    write(folder / "predictions/candidate-2.csv", wrong=0.08, on_west=0.40, seed=2, at=1002)
    assert evaluate(folder) == 1
    said = capsys.readouterr()
    first, *reasons = said.err.splitlines()
    assert said.out == ""
    assert first.startswith("nightly: FAIL: accuracy on region = west fell by ")
    assert reasons[0].startswith("  Keep the baseline. ")
    assert reasons[1].startswith("  accuracy on all rows fell by ")


def test_a_log_for_a_program_has_each_measure_and_the_verdict(folder, capsys):
    write(folder / "predictions/candidate-2.csv", wrong=0.08, on_west=0.40, seed=2, at=1002)
    assert main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out"), "--log-format", "json"]) == 1
    said = capsys.readouterr()
    *measures, end = [json.loads(line) for line in said.err.splitlines()]
    assert (said.out, {event["event"] for event in measures}) == ("", {"measure"})
    assert len(measures) == len(history(folder))
    assert any("region = west" in event.values() for event in measures)
    assert (end["event"], end["verdict"], end["since"]) == ("end", "fail", None)
    assert end["headline"].startswith("FAIL: accuracy on region = west fell by ")
    assert end["reasons"][0].startswith("Keep the baseline. ")


def test_the_same_files_are_evaluated_once(folder, printed):
    assert evaluate(folder) == 0
    before = {path: path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()}
    os.utime(folder / "predictions/candidate-1.csv")
    assert "nothing new" in printed("run", folder / "nightly.toml", "--output", folder / "out")
    assert {path: path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()} == before
    assert main(["report", str(folder / "out")]) == 0
    assert {path: path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()} == before


def test_a_candidate_that_failed_fails_each_time(folder, printed):
    write(folder / "predictions/candidate-2.csv", wrong=0.08, on_west=0.40, seed=2, at=1002)
    assert evaluate(folder) == 1
    assert evaluate(folder) == 1
    assert "nothing new: still failing since " in printed(
        "run", folder / "nightly.toml", "--output", folder / "out", code=1
    )


@pytest.mark.long
def test_looks_at_the_same_rows_share_the_level(folder, capsys):
    spending = ["--set", "looks.spending=obrien-fleming", "--set", "looks.planned=3"]
    for number in range(1, 4):
        write(folder / "predictions/candidate-1.csv", wrong=0.09, seed=number, at=1000 + number)
        assert evaluate(folder, *spending) == 0
    found = evaluations(folder)
    assert list(found["look"]) == [1, 2, 3]
    wanted = [spent_level(look, spending="obrien-fleming", looks=3) for look in (1, 2, 3)]
    assert list(found["level"]) == pytest.approx(wanted)
    write(folder / "predictions/candidate-2.csv", wrong=0.09, seed=4, at=1009)
    assert evaluate(folder, *spending) == 2
    assert "3 looks at these rows are used" in capsys.readouterr().err
    assert len(evaluations(folder)) == 3
    for name in ("production", "candidate-2"):  # fresh rows have judged nobody
        write(folder / f"predictions/{name}.csv", wrong=0.1, n=1900, seed=5, at=1010, first=2000)
    assert evaluate(folder, *spending) == 0
    assert evaluations(folder).iloc[-1]["look"] == 1


@pytest.mark.long
def test_every_evaluation_on_rows_that_are_shared_is_a_look(folder):
    """Whatever is compared: another baseline, slice, measure, or a set with one row more; rows apart start again."""
    more = ["--set", "looks.spending=series"]
    assert evaluate(folder, *more) == 0
    assert evaluate(folder, *more, "--set", "measures=['accuracy']") == 0
    assert evaluate(folder, *more, "--set", "slices=[]") == 0
    write(folder / "predictions/production.csv", wrong=0.12, seed=9)
    assert evaluate(folder, *more) == 0
    for name in ("production", "candidate-1"):
        path = write(folder / f"predictions/{name}.csv", wrong=0.1, n=700, seed=len(name), first=2000)
        shared = pd.DataFrame({"id": [1999], "label": 1, "prediction": 1, "region": "west"})
        pd.concat([pd.read_csv(path), shared]).to_csv(path, index=False)
    assert evaluate(folder, *more) == 0
    for first, look in ((2001, 6), (9000, 1), (2000, 7)):  # linked by rows of another set; apart; linked again
        for name in ("production", "candidate-1"):
            write(folder / f"predictions/{name}.csv", wrong=0.1, n=500, seed=first, first=first)
        assert evaluate(folder, *more) == 0
        assert evaluations(folder).iloc[-1]["look"] == look
    found = evaluations(folder)
    assert list(found["look"]) == [1, 2, 3, 4, 5, 6, 1, 7]
    assert list(found["level"]) == [spent_level(look) for look in found["look"]]


def test_ids_that_are_written_with_a_decimal_point_are_the_same_rows(folder):
    assert evaluate(folder) == 0
    for name in ("production", "candidate-1"):
        path = folder / f"predictions/{name}.csv"
        pd.read_csv(path, dtype={"id": float}).to_csv(path, index=False)
    assert evaluate(folder) == 0
    assert list(evaluations(folder)["look"]) == [1, 2]


@pytest.mark.long
def test_candidates_that_lack_some_rows_are_looks_at_the_same_rows(folder):
    """A model that times out on a few other rows each night does not get fresh ones by that."""
    for number in range(3):
        path = write(folder / "predictions/candidate-1.csv", wrong=0.09, seed=number)
        pd.read_csv(path).drop(index=[number, 7 + number]).to_csv(path, index=False)
        os.utime(path, (1000 + number, 1000 + number))
        assert evaluate(folder, "--set", "unmatched=drop", "--set", "looks.spending=series") == 0
    found = evaluations(folder)
    assert list(found["look"]) == [1, 2, 3]
    assert set(history(folder).query("slice == 'all rows'")["n"]) == {1998}


def test_marks_are_drawn_and_listed_in_their_own_unit(folder):
    rng = np.random.default_rng(3)
    marks = rng.integers(1, 11, 2000)
    for name, drop in (("production", 0), ("candidate-1", rng.integers(0, 2, 2000))):
        path = folder / f"predictions/{name}.csv"
        pd.read_csv(path).assign(mark=np.maximum(marks - drop, 1)).to_csv(path, index=False)
    more = ("measures=['accuracy', 'mean-score']", "columns.score=mark", "slices=[]")
    assert evaluate(folder, *(word for one in more for word in ("--set", one))) == 1
    page = (folder / "out/report.html").read_text()
    trend = page.split("mean-score of mark over time")[1].split("</svg>")[0]
    labels = [float(text) for text in re.findall(r'class="tick">([0-9.]+)<', trend)]
    assert labels
    assert all(1 <= value <= 10 for value in labels)
    cells = re.findall(r"<td.*?>(.*?)</td>", page.split('id="tables"')[1])
    difference = history(folder).set_index("measure").loc["mean-score of mark", "difference"]
    assert cells[2:4] == [f"−{abs(difference):.4f}", "mean mark on all rows"]
    assert re.search(r'<path class="point fail" d="M[0-9. ]+h8v8h-8Z"/>', page)


@pytest.mark.long
@pytest.mark.processes
def test_evaluations_at_once_lose_nothing_and_each_has_a_look_of_its_own(folder):
    for number in range(5):
        write(folder / f"predictions/candidate-{number}.csv", wrong=0.1, seed=number, at=2000)
    started = [
        start(
            "run",
            folder / "nightly.toml",
            "--output",
            folder / "out",
            "--set",
            f"candidate=predictions/candidate-{number}.csv",
        )
        for number in range(5)
    ]
    for process in started:
        _, complaint = process.communicate(timeout=240)
        assert (process.returncode, complaint) == (0, "")
    found = evaluations(folder)
    assert sorted(found["look"]) == [1, 2, 3, 4, 5]
    assert (folder / "out/report.html").read_text().count('<a href="comparisons/') == 5


def test_a_damaged_file_of_the_history_is_named_and_counts_as_a_look(folder, capsys):
    assert evaluate(folder) == 0
    (kept,) = (folder / "out/history").rglob("*.parquet")
    kept.write_bytes(kept.read_bytes()[:-20])
    write(folder / "predictions/candidate-2.csv", wrong=0.1, seed=3, at=1009)
    for more in ([], ["--quiet"]):
        assert main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out"), *more]) == 0
        assert f"left out: {kept.relative_to(folder / 'out')} is damaged, or was not" in capsys.readouterr().err
    assert "The history is damaged" in (folder / "out/report.html").read_text()
    kept.unlink()
    assert list(evaluations(folder)["look"]) == [2]


@pytest.mark.long
@pytest.mark.parametrize("spoiled", [0, 1])
def test_a_damaged_evaluation_is_one_look_at_every_later_one(folder, spoiled):
    for number in (1, 2, 3, 4):
        write(folder / f"predictions/candidate-{number}.csv", wrong=0.1, seed=number, at=1000 + number)
        assert evaluate(folder) == 0
        if number == 2:
            files = sorted((folder / "out/history").rglob("*.parquet"))
            files[spoiled].write_bytes(b"PAR1")
    files[spoiled].unlink()
    assert sorted(evaluations(folder)["look"]) == [2 - spoiled, 3, 4]


def test_an_output_that_is_moved_meanwhile_has_its_history_in_one_place(folder, monkeypatch, capsys):
    assert evaluate(folder) == 0
    write(folder / "predictions/candidate-2.csv", wrong=0.1, seed=3, at=1009)
    output, moved = folder / "out", folder / "moved"
    with monkeypatch.context() as patched:
        patched.setattr(history_files, "keep", lambda *_: output.exists() and output.rename(moved))
        assert evaluate(folder) == 2
    assert capsys.readouterr().err.endswith(
        f"sigstats: --output: {output}: was moved or removed meanwhile; expected it with its history\n"
    )
    assert not (output / "history").exists()
    shutil.rmtree(output, ignore_errors=True)
    moved.rename(output)
    assert evaluate(folder) == 0
    assert sorted(evaluations(folder)["look"]) == [1, 2]


def test_what_comes_from_files_is_escaped(folder):
    name = "candidate-<script>alert(1)<_script>.csv"
    write(folder / "predictions" / name, wrong=0.1, seed=3, at=1009)
    assert evaluate(folder, "--set", 'newest.by="name"') == 0
    assert "<script>alert" not in (folder / "out/report.html").read_text()


def damage_labels(folder):
    path = folder / "predictions/candidate-1.csv"
    lines = path.read_text().splitlines()
    cells = lines[1].split(",")
    path.write_text("\n".join([lines[0], ",".join([cells[0], str((int(cells[1]) + 1) % 5), *cells[2:]]), *lines[2:]]))


@pytest.mark.parametrize(
    ("settings", "damage", "complaint"),
    [
        (["candidate=nothing-*.csv"], None, "candidate: 'nothing-*.csv' is not valid; no file in"),
        (["baseline=predictions/candidate-1.csv"], None, "matches it besides"),
        (["candidate=memory://nowhere/*.csv"], None, "no file matches this folder or pattern"),
        (["candidate=memory://nowhere/x.csv"], None, "there is no such file"),
        (["measures=['auc-pr']"], None, "measures: 'auc-pr' is not valid; expected one of"),
        (["measures=['mcc', 'mcc']"], None, "measures: 'mcc' is named twice"),
        (["score_range=[0, 5]"], None, "score_range: 0 to 5 is not used by accuracy, macro-f1; expected a measure of"),
        (["slices=['regoin']"], None, "'regoin' was not found"),
        (["columns.id=idx"], None, "column 'idx' was not found; did you mean 'id'?"),
        (["rule.alpha=0.1"], None, "rule.alpha: unknown key"),
        (["rule.margin=x"], None, ": rule.margin: 'x' is not valid"),
        (["rule.smallest_slice=10000000000000000"], None, "rule.smallest_slice: 10000000000000000 is not valid"),
        (["looks.spending=pocock"], None, "planned is missing"),
        (["looks.planned=3"], None, "planned: 3 is not valid; expected only with spending linear, pocock, obrien"),
        (["looks.spending=pocok"], None, "looks.spending: 'pocok' is not valid"),
        ([], damage_labels, "expected the same labels"),
        ([], lambda folder: (folder / "predictions/candidate-1.csv").write_text(""), "is empty"),
        ([], lambda folder: (folder / "predictions/production.csv").unlink(), "baseline: 'predictions/production.csv'"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_appended(folder, capsys, settings, damage, complaint):
    if damage is not None:
        damage(folder)
    more = [word for setting in settings for word in ("--set", setting)]
    assert evaluate(folder, *more) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
    assert not (folder / "out").exists()


def test_another_study_s_output_is_refused(folder, capsys):
    assert evaluate(folder) == 0
    shutil.copytree(folder / "predictions", folder / "others")
    others = ["baseline=others/production.csv", "candidate=others/candidate-*.csv", "name=other"]
    assert evaluate(folder, *(word for each in others for word in ("--set", each))) == 2
    assert "contains another study: name is 'nightly' there" in capsys.readouterr().err


def test_studies_of_one_name_in_two_folders_do_not_share_an_output(tmp_path, monkeypatch, capsys):
    for seed, task in enumerate(("chat", "code")):
        (tmp_path / task).mkdir()
        study_file(tmp_path / task, STUDY, "nightly.toml")
        for number, name in enumerate(("production", "candidate-1")):
            write(tmp_path / task / f"predictions/{name}.csv", wrong=0.1, seed=2 * seed + number, at=1000 + number)
    monkeypatch.chdir(tmp_path)
    run = ["--quiet", "--output", str(tmp_path / "out")]
    assert main(["run", "chat/nightly.toml", *run]) == 0
    assert main(["run", "code/nightly.toml", *run]) == 2
    assert "contains the looks of another study, such as that at chat/predictions/candidate-1.csv" in (
        capsys.readouterr().err
    )
    monkeypatch.chdir(tmp_path / "chat")  # the same folder, written in another way
    assert main(["run", "nightly.toml", *run]) == 0
    monkeypatch.chdir(tmp_path)
    shutil.move("chat", "talk")
    assert main(["run", "talk/nightly.toml", *run]) == 0  # the files are the same
    assert history(tmp_path)["evaluated_at"].nunique() == 1


@pytest.mark.parametrize("runs", [("2026-11-30", "2026-12-01"), ("run-5e0a1c2", "run-fb07d1e")])
def test_each_night_may_be_in_a_folder_of_its_own(tmp_path, monkeypatch, runs):
    monkeypatch.chdir(tmp_path)
    study_file(tmp_path, 'kind = "regression"\ncandidate = "*/model.csv"\nat_least = 0.8\n', "nightly.toml")
    for number, run in enumerate(runs):
        (tmp_path / run).mkdir()
        write(tmp_path / run / "model.csv", wrong=0.1, seed=number)
        assert main(["run", "nightly.toml", "--quiet", "--output", str(tmp_path / "out")]) == 0
        shutil.rmtree(tmp_path / run)
    assert list(history(tmp_path)["candidate"]) == [f"{run}/model.csv" for run in runs]


def test_a_study_may_change_its_name(folder):
    assert evaluate(folder) == evaluate(folder, "--set", "name=other") == 0
    assert history(folder)["evaluated_at"].nunique() == 1  # the second was known


def test_an_output_whose_study_cannot_be_told_is_left_alone(folder, capsys):
    (folder / "out").mkdir()
    (folder / "out/study.json").symlink_to("study.json")
    assert evaluate(folder) == 2
    assert "study.json cannot be read" in capsys.readouterr().err
    assert [path.name for path in (folder / "out").iterdir()] == ["study.json"]


def test_the_plan_tells_what_would_be_compared_and_writes_nothing(folder, printed):
    said = printed("plan", folder / "nightly.toml", "--output", folder / "out")
    assert "candidate-1.csv" in said
    assert "2,000, 3 slices, 2 measures" in said
    assert not (folder / "out").exists()


def write_scores(folder, name, scores, settings):
    """Scores of both files under a name, and the study that compares them."""
    for file, values in zip(("production", "candidate-1"), scores, strict=True):
        frame = pd.DataFrame({"id": range(len(values)), name: values})
        frame.to_csv(folder / f"predictions/{file}.csv", index=False)
    largest = 2000 if name == "latency_ms" else 10
    text = STUDY[: STUDY.index("measures")] + f'measures = ["mean-score"]\nscore_range = [0, {largest}]\n'
    (folder / "nightly.toml").write_text(f"{text}[columns]\n{settings}\n")


@pytest.mark.parametrize("worse", ["lower", "higher"])
def test_a_study_says_which_way_a_score_is_better(folder, capsys, worse):
    scores = np.random.default_rng(1).integers(1, 6, size=(2, 400))
    scores[1] += 3 if worse == "higher" else -1
    write_scores(folder, "stars", scores, 'score = "stars"')
    assert evaluate(folder) == 2
    said = capsys.readouterr().err
    assert "Add columns.higher_is_better = ['stars'] or columns.lower_is_better = ['stars'], and score_range if" in said
    keys = "lower_is_better" if worse == "higher" else "higher_is_better"
    write_scores(folder, "stars", scores, f'{keys} = ["stars"]')
    assert evaluate(folder) == 1
    assert evaluate(folder) == 1
    changed = f"Mean stars on all rows {'rose' if worse == 'higher' else 'fell'} by "
    assert changed in (folder / "out/report.html").read_text()
    write_scores(folder, "stars", scores[::-1], f'{keys} = ["stars"]')
    assert evaluate(folder) == 0
    assert evaluate(folder, "--set", 'columns.lower_is_better=["a"]', "--set", 'columns.higher_is_better=["a"]') == 2
    assert "'a' is in higher_is_better too" in capsys.readouterr().err


def test_the_page_calls_the_loss_of_a_cost_a_rise_in_its_unit(folder):
    costs = np.random.default_rng(1).exponential(100, size=(2, 400)).round(1)
    write_scores(folder, "latency_ms", costs, 'score = "latency_ms"')
    assert evaluate(folder) == 0
    page = (folder / "out/report.html").read_text()
    (change,) = re.findall(r"<title>[^<]*: INCONCLUSIVE: Mean latency_ms on all rows (rose|fell) by [\d.]+ ms \(", page)
    assert change in ("rose", "fell")
    assert "a rise of more than " in page


def test_flips_of_items_are_those_that_pandas_counts(folder, capsys):
    write(folder / "predictions/candidate-1.csv", wrong=0.3, n=50, seed=1)
    write(folder / "predictions/production.csv", wrong=0.2, n=50)
    frames = {"baseline": pd.read_csv(folder / "predictions/production.csv", index_col="id")}
    for look in range(1, 6):
        path = write(folder / f"predictions/candidate-{look}.csv", wrong=0.3, n=50, seed=look)
        frames[f"look {look}"] = pd.read_csv(path, index_col="id")
        assert evaluate(folder, "--set", 'measures=["accuracy"]') in (0, 1)
    right = pd.DataFrame({name: frame["prediction"] == frame["label"] for name, frame in frames.items()})
    baseline = right.pop("baseline")
    expected = pd.DataFrame({"looks": 5, "correct": right.sum(axis=1)})
    expected["flips"] = right.astype(int).diff(axis=1).abs().sum(axis=1).astype(int)
    expected["broken"], expected["fixed"] = baseline * (5 - expected["correct"]), ~baseline * expected["correct"]
    found = pd.read_csv(folder / "out/flips.csv", index_col="id").drop(columns="score")
    assert list(found["flips"]) == sorted(found["flips"], reverse=True)
    pd.testing.assert_frame_equal(found.sort_index(), expected[expected["flips"] > 0], check_dtype=False)
    page = (folder / "out/report.html").read_text()
    assert f"{len(found)} items flipped in 5 of 5 evaluations" in page

    # An old history has no answers: those that are there are counted.
    for path in sorted((folder / "out/answers").iterdir())[:2]:
        path.unlink()
    assert main(["report", str(folder / "out")]) == 0
    assert "flipped in 3 of 5 evaluations" in (folder / "out/report.html").read_text()
    shutil.rmtree(folder / "out/answers")
    assert main(["report", str(folder / "out")]) == 0
    assert "flipped in" not in (folder / "out/report.html").read_text()


@pytest.mark.long
def test_a_run_of_other_rules_that_ends_at_any_write_leaves_a_report_of_what_is_complete(folder, monkeypatch, capsys):
    whole, left = LocalFiles._write, [0]

    def killed(files, path, content):
        left[0] -= 1
        assert left[0] >= 0
        whole(files, path, content)

    assert evaluate(folder) == 0
    for writes in itertools.count():
        left[0] = writes
        with monkeypatch.context() as patch:
            patch.setattr(LocalFiles, "_write", killed)
            code = evaluate(folder, "--set", "seed=7")
        assert main(["report", str(folder / "out")]) == 0
        assert len(re.findall('href="comparisons/', (folder / "out/report.html").read_text())) == len(
            evaluations(folder)
        )
        if code == 0:
            break
    assert len(evaluations(folder)) == 2
    assert capsys.readouterr().err.count("AssertionError") == writes
