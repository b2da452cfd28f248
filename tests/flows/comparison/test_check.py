"""`sigstats check` and `assert_at_least`: one model against a bar, beside SciPy, scikit-learn and the binomial law."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score
from statsmodels.stats.multitest import multipletests

import sigstats
from sigstats.comparison.check.bar import check_predictions
from sigstats.comparison.check.result import rows_that_decide
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays
from sigstats.flows.commands import main

from ..conftest import as_outputs

ONE_CLASS = ("precision", "recall", "specificity", "f1", "jaccard")


@pytest.fixture
def table():
    rng = np.random.default_rng(4)
    label = rng.integers(2, size=500)
    right = rng.random(500) < np.where(np.arange(500) % 2, 0.93, 0.75)
    return pd.DataFrame(
        {
            "label": label,
            "prediction": np.where(right, label, 1 - label),
            "region": np.where(np.arange(500) % 2, "N", "S"),
            "mark": rng.random(500).round(2),
        }
    )


def checked(tmp_path, frame, *arguments, code=None):
    """The exit code and the JSON of a check."""
    path, target = tmp_path / "p.csv", tmp_path / "found.json"
    frame.to_csv(path, index=False)
    found = main(["check", str(path), *map(str, arguments), "--json", str(target)])
    assert code is None or found == code
    return json.loads(target.read_text())


def test_accuracy_is_tested_by_the_binomial_law_and_adjusted_over_slices(tmp_path, table):
    found = checked(tmp_path, table, "--at-least", 0.85, "--slice", "region", code=1)
    parts = [table, table[table["region"] == "N"], table[table["region"] == "S"]]
    hits = [int((part["label"] == part["prediction"]).sum()) for part in parts]
    tests = [binomtest(k, len(part), 0.85, alternative="less") for k, part in zip(hits, parts, strict=True)]
    adjusted = multipletests([each.pvalue for each in tests], method="holm")[1]
    for row, k, part, p, p_adjusted in zip(found["rows"], hits, parts, tests, adjusted, strict=True):
        exact = binomtest(k, len(part)).proportion_ci(0.95, "exact")
        assert (row["value"], row["n"]) == (k / len(part), len(part))
        assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high), rel=1e-9)
        assert (row["pvalue"], row["p_adjusted"]) == pytest.approx((p.pvalue, p_adjusted), rel=1e-9)
        expected = "fail" if p_adjusted <= 0.05 else "pass" if exact.low >= 0.85 else "inconclusive"
        assert row["verdict"] == expected
    assert [row["verdict"] for row in found["rows"]] == ["inconclusive", "pass", "fail"]


def test_measures_of_one_class_are_scikit_learns_and_their_tests_condition_on_the_rows_that_count(tmp_path, table):
    options = [part for name in ONE_CLASS for part in ("--measure", name)]
    found = checked(tmp_path, table, "--at-least", "80%", *options, "--positive", 1)
    y, p = table["label"], table["prediction"]
    values = {
        "precision": precision_score(y, p),
        "recall": recall_score(y, p),
        "specificity": recall_score(y, p, pos_label=0),
        "f1": f1_score(y, p),
        "jaccard": jaccard_score(y, p),
    }
    tp, fp, fn, tn = (int(((y == a) & (p == b)).sum()) for a, b in ((1, 1), (0, 1), (1, 0), (0, 0)))
    share = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "specificity": (tn, tn + fp)}
    for row in found["rows"]:
        name = row["measure"]
        assert row["value"] == pytest.approx(values[name])
        hits, n = share.get(name, (tp, tp + fp + fn))
        bar = 0.8 / 1.2 if name == "f1" else 0.8
        assert row["pvalue"] == pytest.approx(binomtest(hits, n, bar, alternative="less").pvalue, rel=1e-9)
        if name == "f1":
            assert (row["low"], row["high"]) == pytest.approx(tuple(sigstats.f1_interval(tp, fp, fn)[:2]))


@pytest.mark.long
@pytest.mark.parametrize(("n", "bar"), [(30, 0.9), (40, 0.5), (200, 0.97)])
def test_at_the_bar_neither_verdict_is_wrong_more_often_than_stated(n, bar):
    """Summed over all outcomes: a model at the bar fails in at most 5%, one just below passes in at most 2.5%."""
    fails = passes = 0.0
    for hits in range(n + 1):
        y = [1] * n
        verdict = check_predictions(pair_arrays(y, p := [1] * hits + [0] * (n - hits), p), bar).verdict
        chance = binom.pmf(hits, n, bar)
        fails += chance * (verdict == "fail")
        passes += chance * (verdict == "pass")
    assert fails <= 0.05
    assert passes <= 0.025


def test_marks_of_0_and_1_have_the_p_values_of_right_and_wrong(tmp_path, table):
    table["mark"] = (table["label"] == table["prediction"]).astype(float)
    marks = checked(tmp_path, table, "--at-least", 0.85, "--score", "mark", "--score-range", 0, 1)["rows"][0]
    answers = checked(tmp_path, table, "--at-least", 0.85)["rows"][0]
    for name in ("value", "low", "high", "pvalue"):
        assert marks[name] == pytest.approx(answers[name], rel=1e-9)
    assert (marks["measure"], answers["measure"]) == ("mean-score", "accuracy")


def test_pass_at_k_is_the_mean_over_items(tmp_path):
    right = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 1]] * 5)
    frame = pd.DataFrame({"id": np.repeat(np.arange(20), 3), "label": 1, "prediction": right.ravel()})
    (row,) = checked(tmp_path, frame, "--at-least", 0.3, "--measure", "pass@2", "--group", "id")["rows"]
    pairs = [[max(a, b) for a, b in ((x, y), (x, z), (y, z))] for x, y, z in right.tolist()]
    assert row["value"] == pytest.approx(np.mean(pairs))
    assert row["items"] == 20


def test_slices_keep_the_order_of_the_options(tmp_path, table):
    found = checked(tmp_path, table, "--at-least", 0.5, "--slice", "mark=2", "--slice", "region")
    assert [row["slice"].partition(" = ")[0] for row in found["rows"]][1:] == ["mark", "mark", "region", "region"]


def test_the_outputs_say_the_same_and_the_exit_code_is_that_of_the_verdict(tmp_path, table, capsys):
    places = {form: tmp_path / f"out.{form}" for form in ("md", "xml")}
    forms = as_outputs(*places.values())
    checked(tmp_path, table, "--at-least", 0.85, "--slice", "region", *forms, code=1)
    assert capsys.readouterr().out.startswith("FAIL: accuracy on region = S is 76.80% (71.07% to 81.89%), below 85%\n")
    assert places["md"].read_text().startswith("### FAIL: accuracy on region = S is 76.80% (71.07% to 81.89%), ")
    suite = ET.parse(places["xml"]).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    checked(tmp_path, table, "--at-least", 0.84, code=0)
    assert capsys.readouterr().out.startswith(
        "INCONCLUSIVE: accuracy on all rows is 85.60% (82.21% to 88.56%), not shown to be at least 84%\n"
    )
    checked(tmp_path, table, "--at-least", 0.84, "--fail-on", "inconclusive", code=1)
    checked(tmp_path, table, "--at-least", 0.7, code=0)
    passed = "PASS: accuracy on all rows is 85.60% (82.21% to 88.56%), at least 70%\n"
    out = capsys.readouterr().out
    assert (passed in out, "\nAccept the model.\n" in out) == (True, True)


def test_what_could_not_be_tested_fails_in_junit_where_the_exit_code_says_so(tmp_path, table):
    asked = ("--at-least", 0.2, "--measure", "accuracy", "--measure", "precision", "--positive", 1)
    never = table.assign(prediction=0)
    for strict, code, failures, skipped in (((), 0, "0", "1"), (("--fail-on", "inconclusive"), 1, "1", "0")):
        place = tmp_path / f"{code}.xml"
        checked(tmp_path, never, *asked, *strict, "--report", place, code=code)
        suite = ET.parse(place).getroot()[0]
        assert (suite.get("failures"), suite.get("skipped")) == (failures, skipped)


def test_the_first_line_counts_only_tests_that_were_made(tmp_path, capsys):
    """Those that JUnit's file does not skip; a site has no row that counts for recall, and others have few rows."""
    site = np.repeat(["a", "b", "c", "d", "e"], [200, 200, 200, 5, 4])
    rows = pd.DataFrame({"id": np.arange(609), "site": site, "label": (np.arange(609) % 2) * (site != "c")})
    rows["prediction"] = np.where(np.arange(609) % 20 == 1, 0, rows["label"])
    place = tmp_path / "out.xml"
    for sites, left in ((["a", "b", "c"], ""), (["a", "b", "c", "d", "e"], "; 2 other tests were not made")):
        table = rows[rows["site"].isin(sites)]
        recall = "--measure", "recall", "--at-least", 0.5, "--slice", "site"
        answer = checked(tmp_path, table, *recall, "--positive", 1, "--report", place, code=0)["answer"]
        first = "PASS: recall on site = c was not tested: no row counts for recall: nothing can be tested"
        assert answer["headline"] == f"{first}; all 3 tests pass{left}"
        suite = ET.parse(place).getroot()[0]
        assert int(suite.get("tests")) - int(suite.get("skipped")) == 3
    both = {"slices": ["site"], "measures": ["accuracy"], "rule": sigstats.ComparisonRule(margin=0.05)}
    headline = sigstats.compare(rows, rows.assign(prediction=rows["label"]), **both).answer.headline
    assert headline.startswith("PASS: no regression in 4 tests; accuracy on site = d was not tested: too small to test")
    assert headline.endswith("; 1 other test was not made")


@pytest.mark.parametrize(("hits", "n", "bar"), [(92, 100, 0.9), (85, 100, 0.9), (450, 500, 0.89)])
def test_so_many_rows_of_the_same_share_decide(hits, n, bar):
    def verdict(k, rows):
        said = [1] * k + [0] * (rows - k)
        return check_predictions(pair_arrays([1] * rows, said, said), bar)

    found = verdict(hits, n)
    wanted = rows_that_decide(found.rows[0], found)
    assert found.verdict == "inconclusive"
    assert wanted > n
    assert verdict(round(hits / n * wanted), wanted).verdict == ("pass" if hits / n > bar else "fail")
    assert verdict(round(hits / n * (0.8 * wanted)), round(0.8 * wanted)).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--at-least", "90"], "--at-least: 90.0 is not valid; expected a number between 0 and 1"),
        (["--at-least", "90ms"], "--at-least: '90ms' is not valid; expected a number without a unit"),
        (["--at-least", "much"], "--at-least: 'much' is not valid; expected a number such as 0.9 or 90%"),
        (["--at-least", "0"], "--at-least: 0.0 is not valid; expected more than 0"),
        (["--at-least", "0.9", "--measure", "kapa"], "--measure: 'kapa' is not valid; did you mean 'kappa'?"),
        (["--at-least", "0.9", "--lower-is-better", "mark"], "expected --at-most, since of mark the lower is better"),
        (["--at-least", "0.9", "--id", "nr"], "column 'nr' was not found"),
        (["--at-most", "3%", "--measure", "rmse"], "'3%' is not valid; expected a number in the unit of rmse"),
        (
            ["--at-least", "15%", "--score", "mark"],
            "unit of mark, which has no known limits (0.15 if it is a share), or --score-range with its limits",
        ),
        (["--at-most", "50%", "--measure", "fn=10,fp=1"], "'50%' is not valid; expected a number in the unit of"),
    ],
)
def test_bad_input_is_one_line(tmp_path, table, capsys, arguments, message):
    table.to_csv(tmp_path / "p.csv", index=False)
    assert main(["check", str(tmp_path / "p.csv"), *arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_the_assertion_is_the_command_from_arrays_and_from_frames(table):
    y, said, slices = table["label"], table["prediction"], {"region": table["region"]}
    with pytest.raises(
        AssertionError, match=r"FAIL: accuracy on region = S is 76.80% .*, below 85%\nDo not accept the model.\n"
    ) as one:
        sigstats.assert_at_least(y, said, at_least=0.85, slices=slices)
    with pytest.raises(AssertionError) as other:
        sigstats.assert_at_least(table, at_least=0.85, slices=["region"])
    assert str(one.value) == str(other.value)
    found = sigstats.assert_at_least(table, at_least=0.4, score="mark")
    assert found.rows[0].value == pytest.approx(table["mark"].mean())
    with pytest.raises(AssertionError, match="INCONCLUSIVE"):
        sigstats.assert_at_least(y, said, at_least=0.84, fail_on="inconclusive")


def test_tables_without_ids_are_joined_by_position_where_rows_and_labels_agree(tmp_path, table, capsys, refused):
    a, b, c = (tmp_path / f"{name}.csv" for name in "abc")
    table.to_csv(a, index=False)
    table.assign(prediction=0).to_csv(b, index=False)
    assert "--by-position" in refused("compare", a, b)
    assert main(["compare", str(a), str(b), "--by-position", "--json", str(tmp_path / "1.json")]) == 1
    table.assign(id=range(500)).to_csv(a, index=False)
    table.assign(id=range(500), prediction=0).to_csv(b, index=False)
    assert main(["compare", str(a), str(b), "--json", str(tmp_path / "2.json")]) == 1
    one, other = (json.loads((tmp_path / f"{n}.json").read_text()) for n in (1, 2))
    assert one["rows"] == other["rows"]
    assert [note["text"] for note in one["notes"]] == [
        "500 rows are joined by their position; the labels agree",
        "the candidate predicts '0' in all 500 rows",
    ]
    table[["label"]].to_csv(c, index=False)
    for path in (a, b):
        pd.read_csv(path)[["prediction"]].to_csv(path, index=False)
    words = ["--labels", str(c), "--by-position", "--json", str(tmp_path / "3.json")]
    assert main(["compare", str(a), str(b), *words]) == 1
    first, *_ = json.loads((tmp_path / "3.json").read_text())["notes"]
    assert first["text"] == "500 rows are joined by their position; no labels confirm that they are the same"
    table.to_csv(a, index=False)
    capsys.readouterr()
    table.iloc[:-1].to_csv(c, index=False)
    assert "has 499 rows, and" in refused("compare", a, c, "--by-position")
    table.iloc[::-1].to_csv(c, index=False)
    assert ": row '" in refused("compare", a, c, "--by-position")
    found = sigstats.compare(table, table.assign(prediction=0), by_position=True)
    assert [row.difference for row in found.rows] == [row["difference"] for row in one["rows"]]


def tasks_of(rng, sizes, chances):
    """Rows of tasks of these sizes, which the model gets right with these chances."""
    task = np.repeat(np.arange(len(sizes)), sizes)
    right = rng.random(len(task)) < np.repeat(chances, sizes)
    return pd.DataFrame({"label": "x", "prediction": np.where(right, "x", "y"), "task": task})


def test_the_mean_over_tasks_is_tested_beside_all_rows(tmp_path, table):
    _, row = checked(tmp_path, table, "--at-least", 0.85, "--task", "region", code=0)["rows"]
    hits = int((table["label"] == table["prediction"]).sum())
    assert row["slice"] == "mean over tasks"
    assert row["value"] == pytest.approx(hits / 500)
    assert row["pvalue"] == pytest.approx(binomtest(hits, 500, 0.85, alternative="less").pvalue, rel=1e-6)
    frame = tasks_of(np.random.default_rng(1), [900, 30, 30], [0.95, 0.5, 0.5])
    found = checked(tmp_path, frame, "--at-least", 0.85, "--task", "task", code=1)["rows"]
    right = frame["label"] == frame["prediction"]
    assert [row["value"] for row in found] == pytest.approx([right.mean(), right.groupby(frame["task"]).mean().mean()])
    assert [row["verdict"] for row in found] == ["pass", "fail"]


def test_measures_without_a_mean_over_tasks_are_named(tmp_path, table):
    options = ("--at-least", 0.5, "--task", "region", "--measure", "f1", "--measure", "accuracy", "--positive", 1)
    assert [note["text"] for note in checked(tmp_path, table, *options)["notes"]] == [
        "f1: no mean over tasks is tested; --slice (slices) tests each task"
    ]
    paired = pair_arrays(table["label"], table["prediction"], table["label"])
    paired = replace(
        paired,
        units=replace(paired.units, tasks=(table["region"] == "N").to_numpy().astype(int), task_names=("N", "S")),
    )
    (note, *_) = compare_pair(paired, measures=["macro-f1", "mcc"]).notes
    assert note == "macro-f1 and mcc: no mean over tasks is tested; --slice (slices) tests each task"


def test_the_assertion_of_a_frame_takes_tasks_and_speaks_of_its_own_arguments(table):
    found = sigstats.assert_at_least(table, at_least=0.7, task="region")
    assert [row.slice for row in found.rows] == ["all rows", "mean over tasks"]
    with pytest.raises(ValueError, match=r"expected scores \(score=COLUMN\)$"):
        sigstats.assert_at_least(table, at_least=0.7, measures=["mean-score"])
    with pytest.raises(ValueError, match=r"^task: 'region' is not valid with arrays; expected data frames"):
        sigstats.assert_at_least(table["label"], table["prediction"], at_least=0.7, task="region")


def test_the_mean_of_a_numerator_is_not_taken_for_a_ratio(tmp_path, table, capsys, refused):
    frame = table.assign(id=range(500), errors=np.arange(500) % 3, words=4)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.assign(errors=frame["errors"] + 1).to_csv(tmp_path / "b.csv", index=False)
    files = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for command, paths, bar in (("compare", files, ()), ("rank", files, ()), ("check", files[:1], ("--at-most", "3"))):
        options = ("--measure", "errors/words", "--lower-is-better", "errors", *bar)
        assert main([command, *paths, *options]) in (0, 1)
        for measure in ("mean-score", "auc"):
            capsys.readouterr()
            told = refused(command, *paths, *options, "--measure", measure)
            odd = "--measure: 2 were given; expected one" if command == "rank" else "not valid for a ratio of sums"
            assert odd in told or (command, measure) == ("check", "auc")


@pytest.mark.parametrize("name", ["latency_ms", "cost_usd", "time_seconds"])
def test_a_bar_may_state_the_unit_of_the_score_and_no_other(tmp_path, refused, name):
    table = pd.DataFrame({"id": range(50), name: np.random.default_rng(5).gamma(4, 20, 50)})
    unit = {"latency_ms": "ms", "cost_usd": "USD", "time_seconds": "s"}[name]
    stated, bare = (
        checked(tmp_path, table, "--score", name, "--at-most", bar, code=0) for bar in (f"120 {unit}", "120")
    )
    assert stated == bare
    for other in {"ms", "s", "kg"} - {unit}:
        message = refused("check", tmp_path / "p.csv", "--score", name, "--at-most", f"1{other}")
        assert f"--at-most: '1{other}' is not valid; expected a number of {unit}" in message


def test_junit_carries_the_advice(tmp_path, table):
    junit = tmp_path / "junit.xml"
    checked(tmp_path, table.assign(prediction=1), "--at-least", 0.9, "--report", junit, code=1)
    (advice,) = ET.parse(junit).findall("testsuite/properties/property[@name='advice']")
    assert advice.get("value") == "Do not accept the model."
