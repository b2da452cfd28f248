"""What neither a person nor a file states is asked for: directions, units, orders of classes and of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sigstats
from sigstats.flows.commands import main
from sigstats.measures.metrics import metric_of

from ...sigstats.files.predictions.logs import harness_log

RNG = np.random.default_rng(21)
N = 200
SHARES = RNG.random(N)
LABEL = RNG.integers(0, 2, N)
A, B = (np.where(RNG.random(N) < wrong, 1 - LABEL, LABEL) for wrong in (0.1, 0.3))


def run(tmp_path, capsys, command, a, b=None, *options):
    """The exit code and the first line of a command on tables with these columns."""
    files = []
    for name, columns in (("a", a), ("b", b)):
        if columns is not None:
            files.append(str(tmp_path / f"{name}.csv"))
            pd.DataFrame({"id": range(N), **columns}).to_csv(files[-1], index=False)
    code = main([command, *files, *options])
    said = capsys.readouterr()
    return code, (said.out or said.err).strip()


@pytest.mark.parametrize(
    ("command", "options", "wanted"),
    [
        ("compare", ("--margin", "latency_ms=2pt"), "'latency_ms=2pt' is not valid; expected a number of ms"),
        ("compare", ("--margin", "latency_ms="), "--margin: 'latency_ms=' is not valid; expected X or NAME=X"),
        ("compare", ("--margin", "500%"), "--margin: 5.0 is not valid; expected"),
        ("compare", ("--power", "0.8", "--drop", "2pt"), "points are only for shares; expected a number of ms"),
        ("check", ("--at-most", "50%"), "--at-most: '50%' is not valid; expected a number in the unit of latency_ms"),
    ],
)
def test_shares_of_an_amount_are_refused(tmp_path, capsys, command, options, wanted):
    other = None if command == "check" else {"latency_ms": 103 * SHARES}
    score = ("--score", "latency_ms")
    code, said = run(tmp_path, capsys, command, {"latency_ms": 100 * SHARES}, other, *score, *options)
    assert code == 2
    assert wanted in said


def test_a_bar_in_per_cent_is_of_marks_between_0_and_1(tmp_path, capsys):
    bar = ("--score", "f1", "--at-least", "40%")
    assert run(tmp_path, capsys, "check", {"f1": SHARES}, None, *bar)[0] == 0
    code, said = run(tmp_path, capsys, "check", {"f1": 100 * SHARES}, None, *bar)
    assert (code, "expected a number in the unit of f1" in said) == (2, True)


def test_an_error_is_no_verdict_on_an_answer(tmp_path, capsys):
    words = np.where(A == LABEL, "pass", "fail").astype(object)
    words[7] = "error"  # of the answer, or of the program that judged it?
    code, said = run(tmp_path, capsys, "check", {"passed": words}, None, "--score", "passed", "--at-least", "50%")
    assert code == 2
    wanted = "use one word for right and one for wrong, or add --missing 'error'"
    assert f"line 9: column 'passed': 'error' is not valid; {wanted}" in said


@pytest.mark.parametrize("other", ["Prediction", "prediction.1", "prediction_calibrated"])
def test_two_columns_that_differ_in_case_or_are_copies_are_asked_about(tmp_path, capsys, other):
    both = {"label": LABEL, "prediction": B, other: A}
    code, said = run(tmp_path, capsys, "compare", {"label": LABEL, "prediction": A}, both)
    assert (code, f"columns 'prediction' and '{other}' may each be the prediction; name" in said) == (2, True)


def test_a_candidate_that_is_given_twice_is_refused(tmp_path, capsys, refused):
    run(tmp_path, capsys, "compare", {"label": LABEL, "prediction": A}, {"label": LABEL, "prediction": B})
    a, b, link = (tmp_path / name for name in ("a.csv", "b.csv", "link.csv"))
    link.symlink_to(b)
    assert f"{link}: is given twice as CANDIDATE; expected a second file" in refused("compare", *(a, b, link))
    with pytest.raises(SystemExit, match="2"):
        main(["check", str(a), "--at-least", "0.99", "--at-least", "0.4"])
    assert "--at-least: '0.99' and '0.4' are given; expected one value" in capsys.readouterr().err
    for first, second in (("1pt", "12pt"), ("5%", "6%"), ("accuracy=1pt", "accuracy=2pt")):
        told = refused("compare", a, b, "--margin", first, "--margin", second)
        assert told.endswith("are given; expected one value\n")


def test_a_small_rise_of_a_cost_names_the_option_that_counts_it(tmp_path, capsys):
    cost = ("--score", "latency_ms")
    _, said = run(tmp_path, capsys, "compare", {"latency_ms": 100 * SHARES}, {"latency_ms": 103 * SHARES}, *cost)
    assert "Set --minimum-effect to a rise that matters, in % of the baseline." in said
    assert main(["compare", *map(str, sorted(tmp_path.glob("*.csv"))), *cost, "--minimum-effect", "1%"]) == 1


@pytest.mark.parametrize("command", ["compare", "size"])
@pytest.mark.parametrize("option", ["--margin", "--minimum-effect"])
def test_a_part_of_the_baseline_is_refused_where_all_measures_have_limits(tmp_path, capsys, command, option):
    files, rates = (
        ([{"label": A, "prediction": right} for right in (A, B)], ())
        if command == "compare"
        else ((None, None), ("--accuracy", "0.9"))
    )
    said = f"sigstats: {option}: '5%' is not valid; expected points, such as 5pt; measures without limits take %"
    assert run(tmp_path, capsys, command, *files, *rates, option, "5%") == (2, said)


CLASSES = {"label": A * 1, "prediction": A * 1}


@pytest.mark.parametrize("option", ["--margin", "--minimum-effect"])
@pytest.mark.parametrize("drop", ["0.001", "0.5pt", "0.005"])
@pytest.mark.parametrize("how", [("--score", "latency_ms", "--score-range", "0", "200"), ("--measure", "latency_ms/n")])
def test_a_share_is_refused_where_each_margin_is_a_part_of_the_baseline(tmp_path, capsys, option, drop, how):
    files = [{"latency_ms": size * SHARES, "n": 1} for size in (100, 103)]
    code, said = run(tmp_path, capsys, "compare", *files, *how, option, drop)
    share = 0.005 if drop.endswith("pt") else float(drop)
    assert (code, f"{option}: {share} ({100 * share:g}pt) is not used by " in said) == (2, True)
    assert f"; expected {100 * share:g}% of the baseline (relative_" in said
    command = ["compare", *map(str, sorted(tmp_path.glob("*.csv"))), *how]
    assert main([*command, option, f"{100 * share:g}%"]) in (0, 1)
    assert main([*command, option, drop, option, "1%"]) in (0, 1)
    assert main(command) in (0, 1)  # nobody states a share
    if "--score" in how:  # of the accuracy, if there are labels
        assert run(tmp_path, capsys, "compare", *({**file, **CLASSES} for file in files), *how, option, drop)[0] != 2


@pytest.mark.parametrize(
    ("classes", "refused"), [("a,b", True), ("cat,dgo", True), ("cat,dog,bird", False), ("NA", False)]
)
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_labels_that_a_list_of_all_classes_lacks_are_refused(tmp_path, capsys, command, classes, refused):
    names = np.array(["cat", "dog"])
    files = [{"label": names[A * 1], "prediction": names[of * 1]} for of in (A, B)]
    code, said = run(tmp_path, capsys, command, *files, "--classes", classes)
    assert (code == 2, "list all classes in --classes" in said) == (refused, refused)
    given = lambda: sigstats.compare(*(names[of * 1] for of in (A, A, B)), classes=classes.split(","))  # noqa: E731
    if refused:
        with pytest.raises(ValueError, match=r"y: .* is not one of .*; list all classes in classes"):
            given()
    else:
        assert given().rows


def test_words_of_verdicts_in_a_column_of_errors_state_no_direction(tmp_path, capsys):
    passed, yes = (
        [{"error": np.where(each, *words)} for each in (A, B)] for words in (("pass", "fail"), ("yes", "no"))
    )
    code, said = run(tmp_path, capsys, "compare", *passed, "--score", "error")
    assert code == 2
    assert "column 'error': it has the name of a cost and the words of marks; add --higher-is-better" in said
    assert run(tmp_path, capsys, "compare", *yes, "--score", "error")[0] == 0
    assert run(tmp_path, capsys, "compare", *passed, "--higher-is-better", "error")[0] in (0, 1)


@pytest.mark.parametrize(
    ("ratio", "known"), [("cost_usd/errors", False), ("correct/passed", False), ("errors/words", True)]
)
def test_a_ratio_of_two_costs_or_two_marks_states_no_direction(tmp_path, capsys, ratio, known):
    columns = dict.fromkeys(ratio.split("/"), 1 + SHARES)
    code, said = run(tmp_path, capsys, "compare", columns, {**columns, ratio.split("/")[0]: SHARES}, "--measure", ratio)
    assert ("Is a higher" not in said, code != 2) == (known, known)


def test_a_unit_after_the_name_of_a_mark_states_no_direction():
    assert metric_of("score_ms") is metric_of("accuracy_usd") is None
    assert metric_of("latency_ms").direction == "lower"


def test_costs_without_limits_are_ranked_alike_in_every_unit(tmp_path, capsys):
    for unit in (0.01, 100):
        costs = [{"cost_usd": unit * times * SHARES} for times in (1, 2)]
        assert run(tmp_path, capsys, "rank", *costs, "--score", "cost_usd")[1].startswith("a is the best of 2 models.")


@pytest.mark.parametrize("measure", ["mcc", "kappa", "macro-precision", "macro-specificity"])
def test_a_measure_that_no_answer_can_change_passes_nowhere(measure):
    wrong = np.where(np.arange(N) < 90, "y", "x")
    with pytest.raises(ValueError, match=f"{measure} has the same value here for any answers"):
        sigstats.compare(["x"] * N, ["x"] * N, wrong, measures=[measure])
    found = sigstats.compare(["x"] * N, ["x"] * N, wrong, measures=[measure, "accuracy"])
    assert [row.verdict for row in found.rows] == [None, "fail"]


def test_runs_are_asked_for_where_runs_are_what_is_independent(tmp_path, capsys):
    runs = {"id": np.tile(range(40), 5), "seed": np.repeat(range(5), 40), "label": np.tile(LABEL[:40], 5)}
    files = [{**runs, "prediction": each} for each in (A, RNG.permutation(A))]
    said = run(tmp_path, capsys, "compare", *files, "--run", "seed")[1]
    assert "Compare more runs of both recipes: sigstats compare --run COLUMN --power 0.8" in " ".join(said.split())
    said = run(tmp_path, capsys, "check", files[0], None, "--run", "seed", "--at-least", "0.5")[1]
    assert "Check more runs." in said


def test_frames_in_another_order_are_not_joined_by_position():
    marks = pd.DataFrame({"f1": SHARES})
    with pytest.raises(ValueError, match=r"candidate .index.: .* expected the index of baseline, in its order"):
        sigstats.compare(marks, marks.sample(frac=1, random_state=3), score="f1", by_position=True)
    assert sigstats.compare(marks, pl.from_pandas(marks * 0.9), score="f1", by_position=True).rows[0].n == N


def test_categories_in_another_order_than_their_names_leave_the_columns_unknown():
    names, table = np.array(["high", "low"]), np.c_[0.8 * (1 - A) + 0.1, 0.8 * A + 0.1]
    graded = pd.Categorical(names[LABEL], ["low", "high"])
    for y in (graded, pd.Series(graded), pl.Series(names[LABEL], dtype=pl.Enum(["low", "high"]))):
        with pytest.raises(
            ValueError, match=r"order of the classes is ambiguous \(high, low as text, low, high as cat"
        ):
            sigstats.compare(y, table, table.copy())
    expected = sigstats.compare(names[LABEL], table, table.copy()).rows[0].baseline
    assert expected == (A == LABEL).mean()
    assert sigstats.compare(graded, table, table.copy(), classes=["high", "low"]).rows[0].baseline == expected
    assert sigstats.compare(pd.Categorical(names[LABEL]), table, table.copy()).rows[0].baseline == expected


def test_intervals_and_periods_of_a_frame_are_slices():
    ages = pd.cut(np.arange(N), [-1, 50, 150])
    frame = pd.DataFrame({"id": range(N), "label": LABEL, "prediction": A, "age": ages})
    frame["month"] = pd.period_range("2020-01-01", periods=N, freq="D").asfreq("M")
    found = sigstats.compare(frame, frame.assign(prediction=B), slices=["age", "month"])
    sizes = {row.slice: row.n for row in found.rows}
    assert (sizes["age = (-1, 50]"], sizes["age = (missing)"], sizes["month = 2020-02"]) == (51, 49, 29)
    assert sigstats.assert_at_least(frame, at_least=0.5, slices=["age"]).verdict == "pass"


ASKED = "Is a higher 'mae' better? Add --higher-is-better mae or --lower-is-better mae"


@pytest.mark.parametrize("command", ["compare", "rank"])
@pytest.mark.parametrize("negative", ["a", "b", "ab"])
def test_values_below_0_of_any_model_contradict_the_name_of_a_cost(tmp_path, capsys, refused, command, negative):
    costs = {name: (-1.0 if name in negative else 1.0) * (1 + SHARES) for name in "ab"}
    tables = [{"mae": values} for values in costs.values()]
    code, said = run(tmp_path, capsys, command, *tables, "--score", "mae")
    assert (code, ASKED in said) == (2, True)
    assert run(tmp_path, capsys, command, *tables, "--lower-is-better", "mae")[0] != 2
    logs = [harness_log(tmp_path / f"samples_t_{name}.jsonl", [{"mae": each} for each in costs[name]]) for name in "ab"]
    assert ASKED in refused(command, *logs, "--score", "mae")


def test_values_below_0_of_one_model_contradict_the_name_of_a_cost(tmp_path, capsys):
    code, said = run(tmp_path, capsys, "check", {"mae": -1.0 - SHARES}, None, "--score", "mae", "--at-most", "1")
    assert (code, ASKED in said) == (2, True)


def test_a_margin_and_the_headline_name_a_score_by_its_name(tmp_path, capsys):
    marks = {"f1": SHARES}, {"f1": 0.99 * SHARES}
    code, said = run(tmp_path, capsys, "compare", *marks, "--score", "f1", "--margin", "f1=5pt")
    assert (code, said.splitlines()[0][:29]) == (0, "PASS: no regression; mean f1 ")
    said = run(tmp_path, capsys, "check", marks[0], None, "--score", "f1", "--at-least", "0.4")[1]
    assert said.startswith("PASS: mean f1 on all rows is 0.")
    rule = sigstats.ComparisonRule(margins={"f1": "5pt"})
    frames = [pd.DataFrame({"id": range(N), **columns}) for columns in marks]
    (row,) = sigstats.compare(*frames, score="f1", rule=rule).rows
    assert (row.margin, row.score) == (0.05, "f1")


@pytest.mark.parametrize("measure", ["accuracy", "f1", "macro-f1", "kappa"])
def test_an_interval_contains_its_estimate_where_one_row_outweighs_all_others(measure):
    for power in (3, 9, 18):
        weights, a, b = np.ones(N), A.copy(), B.copy()
        weights[7], a[7], b[7] = 10.0**power, LABEL[7], 1 - LABEL[7]
        row = sigstats.compare(LABEL, a, b, weights=weights, measures=measure).rows[0]
        assert row.low is None or row.low <= row.difference <= row.high


@pytest.mark.long
def test_columns_of_many_rows_that_are_not_examined_are_noted():
    n = 300_000
    frame = pd.DataFrame({"id": np.arange(n), "label": 1, "prediction": 1, "patient": np.arange(n) // 10})
    frame.loc[::2, ["label", "prediction"]] = 0
    other = frame.assign(prediction=np.where(np.arange(n) % 97 == 0, 1 - frame.label, frame.label))
    told = "1 further columns are not examined for copies and clusters: 300,000 rows take too long"
    assert told in sigstats.compare(frame, other).notes
    assert told not in sigstats.compare(frame[:1000], other[:1000]).notes
    assert told not in sigstats.compare(frame, other, groups="patient").notes
