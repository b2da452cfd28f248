"""Regression studies whose rows are fresh at each look."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigstats
from sigstats.comparison.fresh import RowValues, decide_fresh, row_of_fresh
from sigstats.comparison.rows import ComparisonRow
from sigstats.flows.commands import main
from sigstats.flows.regression.pair import digests_of_ids, repadded
from sigstats.possibilistic import possibility

from ..conftest import study_file
from ..predictions import evaluate as look
from ..predictions import history

STUDY = """\
kind = "regression"
baseline = "production-*.csv"
candidate = "candidate-*.csv"
slices = ["region"]

[looks]
rows = "fresh"
"""


def night(folder, number, *, n=150, drop=0.0, ids=None, regions=("north", "west")):
    """Two files of a night: the same rows, and a candidate that is right less often by `drop`."""
    rng = np.random.default_rng(number)
    label = rng.integers(0, 3, n)
    frame = pd.DataFrame({"id": [f"{number}-{row}" for row in range(n)] if ids is None else ids, "label": label})
    frame["region"] = np.array(regions)[rng.integers(0, len(regions), n)]
    for name, wrong in (("production", 0.1), ("candidate", 0.1 + drop)):
        prediction = np.where(rng.random(n) < wrong, (label + 1) % 3, label)
        frame.assign(prediction=prediction).to_csv(folder / f"{name}-{number:02}.csv", index=False)


@pytest.fixture
def folder(tmp_path):
    study_file(tmp_path, STUDY, "nightly.toml")
    night(tmp_path, 1)
    return tmp_path


def differences(folder, numbers):
    """The rows of several nights: candidate less baseline, night and region."""
    parts = []
    for number in numbers:
        a, b = (pd.read_csv(folder / f"{name}-{number:02}.csv") for name in ("production", "candidate"))
        right = (b.prediction == b.label).astype(int) - (a.prediction == a.label)
        parts.append(pd.DataFrame({"difference": right, "night": number, "region": a.region}))
    return pd.concat(parts)


def test_rows_are_not_new_because_their_ids_are_written_with_a_decimal_point(folder):
    night(folder, 2, ids=range(150))
    look(folder)
    night(folder, 3, ids=[float(each) for each in range(150)])
    look(folder)
    assert set(history(folder).query("slice == 'all rows'")["n"]) == {150}


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ("{:04}", "{}", "id '0' is new, but an earlier look had '0000'"),
        ("{}", "{:08}", "id '00000000' is new, but an earlier look had '0'"),
        ("item-{:03}", "item-{}", "id 'item-0' is new, but an earlier look had 'item-000'"),
        ("{:04}", "1{:04}", None),
        ("{:04}", "night-2 {}", None),
        ("v1.{}", "v1.0{}", None),
        ("a{:02}b", "a{}c", None),
    ],
)
def test_ids_with_other_leading_zeros_are_not_new(folder, capsys, before, after, refused):
    night(folder, 2, ids=[before.format(row) for row in range(150)])
    look(folder)
    night(folder, 3, ids=[after.format(row) for row in range(150)])
    assert look(folder) == (0 if refused is None else 2)
    assert (refused or "") in capsys.readouterr().err
    assert set(history(folder).query("slice == 'all rows'")["n"]) == ({150} if refused else {150, 300})


@given(
    st.sets(st.integers(0, 10**9), min_size=1, max_size=30), st.integers(0, 20), st.integers(0, 20), st.text("abx-_/")
)
def test_a_spelling_with_other_zeros_is_recognised_and_another_number_is_not(numbers, before, after, prefix):
    seen = [f"{prefix}{'0' * before}{number}" for number in numbers]
    again = [f"{prefix}{'0' * after}{number}" for number in numbers]
    digests = digests_of_ids(pa.array(seen))
    pair = repadded(pa.array(again), digests)
    assert pair is None if before == after else int(pair[0][len(prefix) :]) == int(pair[1][len(prefix) :])
    assert repadded(pa.array([f"{prefix}{10**10 + number}" for number in numbers]), digests) is None


def test_ids_that_begin_again_each_night_are_refused_if_labels_show_it(folder, capsys):
    night(folder, 1, ids=range(150))
    assert look(folder) == 0
    night(folder, 2, n=155, ids=range(155), drop=0.3)
    capsys.readouterr()
    assert look(folder) == 2
    assert "of 150 ids of earlier looks have other labels, as if numbers began again" in capsys.readouterr().err
    assert history(folder)["evaluation"].nunique() == 1


def test_an_undecided_look_says_on_the_terminal_and_on_the_page_that_rows_will_come(folder, capsys):
    assert main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out")]) == 0
    advice = "Go on: the next look adds its rows to these."
    printed = capsys.readouterr().out
    assert printed.startswith("INCONCLUSIVE")
    assert advice in printed
    assert advice in (folder / "out" / "report.html").read_text()


def test_every_look_is_that_of_the_anytime_test_on_all_rows_so_far(folder):
    codes = []
    for number in range(1, 6):
        night(folder, number, drop=0.08)
        codes.append(look(folder))
    found = history(folder)
    assert (codes[0], codes[-1]) == (0, 1)
    assert list(found.drop_duplicates("evaluation")["look"]) == [1, 2, 3, 4, 5]
    rows = differences(folder, range(1, 6))
    parts = {"all rows": rows, **{f"region = {name}": mine for name, mine in rows.groupby("region")}}
    for name, mine in parts.items():
        kept = found[found["slice"] == name]
        options = {"looks": mine["night"].to_numpy(), "start": "any"}
        one_sided = sigstats.anytime_test(mine["difference"].to_numpy(), alternative="less", **options)
        both = sigstats.anytime_test(mine["difference"].to_numpy(), **options)
        assert list(kept["p_worse"]) == pytest.approx([each.pvalue for each in one_sided.looks], rel=1e-9)
        open_ = (kept["row_verdict"] != "fail").to_numpy()  # a row that fails has the values since its change
        looks = [each for each, there in zip(both.looks, open_, strict=True) if there]
        assert list(kept["n"][open_]) == [each.n for each in looks]
        assert list(kept["low"][open_]) == pytest.approx([each.confidence_interval.low for each in looks], rel=1e-9)
        assert list(kept["high"][open_]) == pytest.approx([each.confidence_interval.high for each in looks], rel=1e-9)
        assert kept["change"].isna().tolist() == open_.tolist()
    last = found[found["look"] == 5]
    holm = sigstats.adjust_pvalues(last["p_worse"], method="holm")
    assert list(last["p_adjusted"]) == pytest.approx(list(holm))


@pytest.mark.long
def test_a_monitor_with_a_run_length_adds_up_the_bets_of_each_look(folder, capsys):
    """The first look at which the sum of a slice, over the number of tests, reaches the run length is the alarm."""
    settings = "--set", "looks.run_length=500"
    codes = [look(folder, *settings)]
    for number in range(2, 7):
        night(folder, number, drop=0.08 if number > 3 else 0.0)
        codes.append(look(folder, *settings))
    rows, found = differences(folder, range(1, 7)), history(folder)
    alarm = 7
    for name, mine in {"all rows": rows, **{f"region = {name}": mine for name, mine in rows.groupby("region")}}.items():
        options = {"looks": mine["night"].to_numpy(), "alternative": "less", "run_length": 3 * 500}
        test = sigstats.anytime_test(mine["difference"].to_numpy(), **options)
        rates = [min(1.0, 10**-state.log10_evalue) for state in test.looks]
        assert list(found[found["slice"] == name]["p_worse"]) == pytest.approx(rates, rel=1e-9)
        at_look = [possibility(state.pvalue) for state in test.looks]
        assert list(found[found["slice"] == name]["pd"]) == pytest.approx([indices.pd for indices in at_look], rel=1e-9)
        alarm = min(alarm, test.decided.look if test.decided else 7)
    assert codes == [0] * (alarm - 1) + [1] * (7 - alarm)
    assert 3 < alarm < 7
    capsys.readouterr()
    main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out"), *settings])
    assert (
        "promise: without a fault, a false alarm comes after at least 500 looks on average" in capsys.readouterr().out
    )


@pytest.mark.long
def test_the_page_shows_the_evidence_and_the_faults(folder, printed):
    decided = None
    for number in range(1, 6):
        night(folder, number, drop=0.1)
        if look(folder) and decided is None:
            decided = number
    assert decided is not None
    page = (folder / "out/report.html").read_text()
    assert "The evidence so far that the candidate is worse" in page
    assert page.count('id="evidence-') == 2 * 3  # a title and a description of each
    deepest = r", deepest −\d+\.\d+ points \(evaluation \d, [0-9-]+\)"
    alarm = rf"failed \(evaluation {decided}, [0-9-]+\), worse since look \d \(\d to \d\)"
    assert re.search(rf"{alarm}{deepest}; open\.", page)
    before = (folder / "out/report.html").read_bytes()
    said = printed("run", folder / "nightly.toml", "--output", folder / "out", code=1)
    assert "nothing new: still failing since" in said
    assert "look 5 at fresh rows, level 0.05" in said
    assert (folder / "out/report.html").read_bytes() == before


def test_each_row_counts_once_where_candidates_fill_one_file_of_the_baseline(folder):
    """Each look's candidate answers more rows of one baseline, whose others are dropped."""
    for number in (1, 2, 3):
        night(folder, number)
    for name in ("production", "candidate"):
        nights = [pd.read_csv(folder / f"{name}-{number:02}.csv") for number in (1, 2, 3)]
        for number in (1, 2, 3):
            so_far = pd.concat(nights[: number if name == "candidate" else 3])
            so_far.to_csv(folder / f"{name}-so-far-{number}.csv", index=False)
    wanted = differences(folder, (1, 2, 3))
    files = "baseline=production-so-far-1.csv", "unmatched=drop"
    for number in (1, 2, 3):
        settings = (*files, f"candidate=candidate-so-far-{number}.csv")
        assert look(folder, *(word for each in settings for word in ("--set", each))) == 0
    found = history(folder).query("slice == 'all rows'")
    options = {"looks": wanted["night"].to_numpy(), "start": "any", "alternative": "less"}
    test = sigstats.anytime_test(wanted["difference"].to_numpy(), **options)
    assert list(found["n"]) == [each.n for each in test.looks]
    assert list(found["p_worse"]) == pytest.approx([each.pvalue for each in test.looks], rel=1e-9)


@pytest.mark.parametrize("damage", ["truncated", "removed"])
def test_a_look_whose_rows_are_lost_is_named_and_nothing_is_appended(folder, capsys, damage):
    """Its rows would be new again in a test set that grows, and what they counted would be left out."""
    assert look(folder) == 0
    (rows,) = (folder / "out/rows").iterdir()
    whole = rows.read_bytes()
    rows.write_bytes(whole[:100])
    if damage == "removed":
        rows.unlink()
    night(folder, 2)
    before = {path: path.read_bytes() for path in (folder / "out").rglob("*.*") if path.is_file()}
    assert look(folder) == 2
    said = capsys.readouterr().err
    assert "the values of the fresh rows of look 1 (" in said
    assert f"are lost; expected rows/{rows.name} as that look wrote it, or another output" in said
    assert {path: path.read_bytes() for path in (folder / "out").rglob("*.*") if path.is_file()} == before
    rows.write_bytes(whole)
    assert look(folder) == 0
    assert list(history(folder).query("slice == 'all rows'")["n"]) == [150, 300]


def test_a_slice_that_comes_later_is_shown_and_not_tested(folder):
    assert look(folder) == 0
    night(folder, 2, regions=("north", "west", "south"), drop=0.3)
    assert look(folder) == 1
    kept = history(folder).query("slice == 'region = south'").iloc[0]
    assert pd.isna(kept["row_verdict"])
    assert np.isnan(kept["p_worse"])
    assert kept["note"] == "absent from the first look: shown, not tested"


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (["measures=['macro-f1']"], "measures: 'macro-f1' is not a mean over rows"),
        (["group=region", "slices=[]"], "group: is not valid with fresh rows"),
        (["looks.spending=series"], "spending: 'series' is not valid with rows = 'fresh'"),
        (
            ["looks.run_length=9", "adjust=benjamini-hochberg"],
            "adjust: 'benjamini-hochberg' is not valid with looks.run",
        ),
        (["looks.run_length=9", "looks.rows=same"], "run_length: 9.0 is not valid; expected only with rows fresh"),
        (["measures=['neg-mae']"], "score_range: is missing; expected the limits of neg-mae for fresh rows"),
    ],
)
def test_what_fresh_rows_cannot_answer_is_one_line(folder, capsys, settings, complaint):
    assert look(folder, *(word for each in settings for word in ("--set", each))) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
    assert not [path for path in (folder / "out").rglob("*") if path.suffix in (".json", ".parquet", ".html")]


def test_rows_that_are_not_fresh_are_refused_and_rules_that_change_begin_anew(folder, capsys):
    assert look(folder) == 0
    night(folder, 2, ids=[f"1-{row}" for row in range(150)])
    assert look(folder) == 2
    assert "candidate-02.csv has no new row: all 150 ids occurred" in capsys.readouterr().err
    night(folder, 2)
    for command in ("plan", "run"):
        assert main([command, str(folder / "nightly.toml"), "--output", str(folder / "out"), "--set", "alpha=0.1"]) == 0
        said = capsys.readouterr()
        assert "the rules of the study changed: evidence and episodes begin again" in said.out + said.err
    found = history(folder).query("slice == 'all rows'")
    assert list(zip(found["n"], found["level"], found["segment"], strict=True)) == [(150, 0.05, 1), (150, 0.1, 2)]


@pytest.mark.parametrize("content", [None, "{"])
def test_the_rules_of_looks_are_known_where_study_json_is_lost(folder, content):
    """The identity of a look tells whether it was made by the same rules."""
    assert look(folder) == 0
    path = folder / "out/study.json"
    path.unlink() if content is None else path.write_text(content)
    night(folder, 2)
    assert look(folder) == 0
    path.unlink()
    night(folder, 3)
    assert look(folder, "--set", "alpha=0.1") == 0
    assert list(history(folder).query("slice == 'all rows'")["segment"]) == [1, 1, 3]


def test_rules_in_study_json_that_no_look_had_are_not_believed(folder, refused):
    assert look(folder) == 0
    path = folder / "out/study.json"
    whole = path.read_text()
    changed = json.loads(whole)
    changed["study"]["alpha"] = 0.1
    path.write_text(json.dumps(changed))
    assert "study.json was altered: no evaluation of history/ was made by its rules" in refused(
        "report", folder / "out"
    )
    renamed = json.loads(whole)
    renamed["study"]["name"] = "other"  # is no rule
    path.write_text(json.dumps(renamed))
    assert main(["report", str(folder / "out")]) == 0
    path.write_text(json.dumps(changed))
    night(folder, 2)
    assert look(folder) == 0
    assert main(["report", str(folder / "out")]) == 0
    found = history(folder).query("slice == 'all rows'")
    assert list(found["level"]) == [0.05, 0.05]
    assert list(found["segment"]) == [1, 1]


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("how", [Path.unlink, lambda file: file.write_bytes(file.read_bytes()[:100])])
def test_no_look_is_taken_where_one_before_is_lost(folder, capsys, number, how):
    for each in (1, 2, 3):
        night(folder, each)
        assert look(folder) == 0
    how(sorted((folder / "out/history").rglob("*.parquet"))[number - 1])
    night(folder, 4)
    assert look(folder) == 2
    said = capsys.readouterr().err
    assert f"look {number} is lost, and later looks need it" in said
    assert said.count("\n") == 1


def test_looks_at_fresh_rows_are_not_followed_by_looks_at_the_same(folder, capsys):
    assert look(folder) == 0
    night(folder, 2)
    assert look(folder, "--set", "looks.rows=same") == 2
    assert "looks.rows: 'same' is not valid after looks with 'fresh'" in capsys.readouterr().err
    assert look(folder) == 0


@pytest.mark.long
def test_looks_of_a_version_that_had_fewer_keys_are_taken_up(folder):
    assert look(folder) == 0
    path = folder / "out/study.json"
    stored = json.loads(path.read_text())
    del stored["study"]["columns"]["lower_is_better"], stored["study"]["weights"]
    path.write_text(json.dumps(stored))
    night(folder, 2)
    assert look(folder) == 0
    assert history(folder)["look"].max() == 2


@pytest.mark.long
def test_any_false_alarm_on_any_slice_at_any_look_is_at_most_the_level():
    """Three slices of marks with unlike laws of equal means, looked at twelve times, by e-Holm."""
    rng, rule = np.random.default_rng(4), sigstats.ComparisonRule(alpha=0.2, minimum_effect=0)
    trials = 60
    false = sum(_alarm(rng, rule, 12) <= 12 for _ in range(trials))
    assert false <= 20  # P(more | 0.2) = 0.005


@pytest.mark.long
def test_the_first_false_alarm_on_any_slice_comes_after_the_run_length_on_average():
    """The same series, of one row a look and slice, cut at look 30; the run length is 5."""
    rng, rule = np.random.default_rng(4), sigstats.ComparisonRule(alpha=1 / 5, minimum_effect=0, smallest_slice=1)
    lengths = np.array([_alarm(rng, rule, 30, n=1, rate=True) for _ in range(40)])
    assert lengths.mean() > 5 - 3 * lengths.std() / 40**0.5
    assert (lengths <= 30).sum() > 5  # the bound is not idle


def _alarm(rng, rule, looks, n=15, **how):
    """The look of the first alarm; one more than all if there is none."""
    marks = [rng.beta(0.2, 0.1, size=(looks, n)) for _ in range(3)]
    others = [rng.beta(8, 4, size=(looks, n)) for _ in range(3)]
    before = [None] * 3
    for number in range(1, looks + 1):
        rows = []
        for name, (a, b) in enumerate(zip(marks, others, strict=True)):
            row, of_row = ComparisonRow(slice="", measure="mean-score", n=0), np.repeat(np.arange(number), n)
            values = RowValues(row, a[:number].ravel(), b[:number].ravel(), 1.0, of_row)
            rows.append(row_of_fresh(values, str(name), before[name], rule, late=False, **how))
        before = decide_fresh(rows, 3, rule)
        if any(row.verdict == "fail" for row in before):
            return number
    return looks + 1


def test_rows_that_differ_are_counted_however_many_differences_there_are():
    """Of more than 2,048 differences the evidence is that of a grid; the rows that differ are those that do."""
    marks = np.linspace(0, 1, 3000)
    values = RowValues(
        ComparisonRow(slice="", measure="mean-score", n=0), np.zeros(3000), marks, 1.0, np.zeros(3000, int)
    )
    found = row_of_fresh(values, "all", None, sigstats.ComparisonRule(), late=False)
    assert found.row.differing == 2999


def test_marks_that_change_their_unit_between_two_nights_are_noted(folder, capsys):
    study = STUDY.replace('slices = ["region"]', 'columns = { score = "f1" }\nscore_range = [0, 100]')
    study_file(folder, study, "nightly.toml")
    rng = np.random.default_rng(1)
    for number, unit in ((1, 1), (2, 1), (3, 100)):
        for name, mean in (("production", 93), ("candidate", 92)):
            marks = pd.DataFrame(
                {"id": [f"{number}-{row}" for row in range(150)], "f1": rng.normal(mean, 1, 150) / unit}
            )
            marks.to_csv(folder / f"{name}-{number:02}.csv", index=False)
        assert main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out")]) in (0, 1)
        assert ("for this look" in capsys.readouterr().out.replace("\n", " ")) == (number == 3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("keys", "unit", "noted"),
    [
        ('columns.score = "f1"\nat_least = 1.5', 1, "for the bar and "),
        ('columns.score = "f1"\nat_least = "1.5%"', 1, None),
        ('columns.score = "f1"\nat_least = 90', 1, None),
        ('measures = ["neg-mae"]\nbaseline = "production-*.csv"', 1_000, "for the candidate and "),
        ('measures = ["neg-mae"]\nbaseline = "production-*.csv"', 1, None),
        ('measures = ["neg-mae"]\nat_least = -0.001', 1, "for the bar and "),
        ('measures = ["neg-mae"]\nat_least = -2', 1, None),
    ],
)
@pytest.mark.parametrize("rows", ["same", "fresh"])
def test_a_bar_or_labels_in_another_unit_are_noted_at_looks_of_both_kinds(folder, capsys, rows, keys, unit, noted):
    head = f'kind = "regression"\ncandidate = "candidate-*.csv"\nscore_range = [0, 100]\n{keys}'
    study_file(folder, f'{head}\n[looks]\nrows = "{rows}"', "nightly.toml")
    rng = np.random.default_rng(1)
    marks = rng.normal(93, 1, (3, 150)).round(3)
    for name, numbers in (("production", marks[1]), ("candidate", marks[2] / unit)):
        frame = pd.DataFrame({"id": range(150), "label": marks[0], "prediction": numbers, "f1": marks[1]})
        frame.to_csv(folder / f"{name}-01.csv", index=False)
    assert main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out")]) in (0, 1)
    told = capsys.readouterr().out.replace("\n", " ")
    assert ("scores may be in two units" in told) == (noted is not None)
    assert noted is None or noted in told
