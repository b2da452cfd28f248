"""Sizes of rates by hand (`sigstats size`) and of files (`--power`), in text and JSON, and what is refused."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays
from sigstats.comparison.rule import ComparisonRule
from sigstats.flows.commands import main
from sigstats.sizing.measures import plan_measure

from ..predictions import write


@pytest.fixture
def pilot(tmp_path):
    write(tmp_path / "a.csv", wrong=0.10)
    write(tmp_path / "b.csv", wrong=0.12, seed=1)
    return tmp_path / "a.csv", tmp_path / "b.csv"


def size(capsys, *arguments):
    assert main(["size", *map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.fixture
def planned(printed):
    """Returns the sizes in the JSON of a comparison or a ranking."""

    def sizes(*arguments, command="compare"):
        text = printed(command, *arguments, "--power", "0.8", "--json", "-", code=(0, 1))
        return json.loads(text)["sizes"]

    return sizes


@pytest.mark.long
def test_files_give_tables_and_json_after_the_verdict(pilot, tmp_path, printed):
    files = [*map(str, pilot), "--slice", "region"]
    alone = printed("compare", *files, "--json", str(tmp_path / "alone.json"))
    out = printed("compare", *files, "--power", "80%", "--json", str(tmp_path / "found.json"))
    assert out.startswith(f"{alone}\n2,000 rows detect a drop of ")
    found = json.loads((tmp_path / "found.json").read_text())
    sizes = found.pop("sizes")
    assert found == json.loads((tmp_path / "alone.json").read_text())
    assert (sizes["pilot"]["tests"], sizes["level"]) == (4, 0.0125)
    drop = sizes["drops"][1]
    assert drop["drop"] == 0.02
    assert f"{drop['needed']:,} rows" in out
    share = sizes["pilot"]["parts"][0]["discordance"]
    expected = {"only_a": (share + 0.02) / 2, "only_b": (share - 0.02) / 2, "alpha": 0.0125, "alternative": "greater"}
    assert drop["needed"] == sigstats.paired_sample_size(**expected)
    assert drop["power"] == pytest.approx(sigstats.paired_power(2000, **expected))
    assert out.removeprefix(alone).isascii()
    assert sizes["headline"] in out


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "tests"),
    [
        (["--score", "mark", "--measure", "accuracy", "--measure", "auc"], 2),
        (["--score", "mark", "--measure", "accuracy", "--measure", "auc", "--slice", "region"], 6),
        (["--score", "mark", "--measure", "mean-score"], 1),
        (["--measure", "macro-f1", "--measure", "mcc"], 2),
        (["--measure", "accuracy", "--task", "region"], 2),  # and in the mean over tasks
        (["--measure", "accuracy", "--measure", "mcc", "--task", "region", "--slice", "region"], 7),
        (["--score", "mark", "--measure", "mean-score", "--task", "region"], 2),
    ],
)
def test_the_level_of_any_measure_is_that_of_one_test_of_compare(tmp_path, printed, options, tests):
    rng = np.random.default_rng(5)
    label = np.arange(400) % 2
    for name in "ab":
        frame = pd.DataFrame({"id": range(400), "label": label, "region": np.where(np.arange(400) % 3, "s", "n")})
        frame["prediction"] = np.where(rng.random(400) < 0.1, 1 - label, label)
        frame["mark"] = (label * 0.3 + rng.random(400) * 0.7).round(3)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv", *options, "--positive", 1]
    found = json.loads(printed("compare", *files, "--power", "0.8", "--json", "-", code=(0, 1)))
    assert found["sizes"]["level"] == pytest.approx(0.05 / tests)
    assert len(found["rows"]) == tests


@pytest.mark.long
def test_the_page_shows_what_the_example_says(tmp_path, repository, printed):
    subprocess.run([sys.executable, repository / "tools" / "example_predictions.py", tmp_path], check=True)
    files = [tmp_path / "baseline.csv", tmp_path / "candidate.csv", "--slice", "stroke"]
    out = printed("compare", *files, "--power", "0.8", code=1)
    page = (repository / "docs/compare.md").read_text()
    assert page.partition("```text\n")[2].partition("```")[0] in out


@pytest.mark.long
def test_errors_that_are_independent_differ_most(capsys):
    def needed(*arguments):
        return json.loads(size(capsys, "--json", "-", "--drop", "2pt", *arguments))["drops"][0]["needed"]

    assert needed("--accuracy", 0.9) == needed("--discordance", 0.18) > needed("--discordance", 0.1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("option", "percent", "number"),
    [("--accuracy", "84%", "0.84"), ("--discordance", "12.5%", "0.125"), ("--power", "90%", "0.9")],
)
def test_shares_may_be_given_in_per_cent(capsys, option, percent, number):
    more = [] if option == "--accuracy" else ["--accuracy", "0.9"]
    outputs = [size(capsys, "--drop", "5pt", *more, option, text) for text in (percent, number)]
    assert outputs[0] == outputs[1]


def test_an_equal_candidate_of_a_baseline_that_is_always_wrong_passes_by_its_rows_alone(tmp_path, planned):
    """Tango's interval of n rows without differences ends at the margin -m where z^2 = n m / (1 - m)."""
    labels = [index % 2 for index in range(60)]
    for name, right in (("a", 0), ("b", 7)):
        predictions = [label if row < right else 1 - label for row, label in enumerate(labels)]
        frame = pd.DataFrame({"id": range(60), "label": labels, "prediction": predictions})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    chances = planned(tmp_path / "a.csv", tmp_path / "b.csv")["chances"]
    equal = {chance["n"]: chance["passes"] for chance in chances if chance["drop"] == 0}
    assert equal == {n: float(n >= 1.959964**2 * 0.995 / 0.005) for n in equal}
    assert {*equal.values()} == {0.0, 1.0}


@pytest.mark.long
def test_a_drop_that_never_fails_is_said(capsys):
    out = size(capsys, "--discordance", 0.1, "--rows", 500, "--drop", 0.01, "--minimum-effect", 0.02)
    assert "no number: the minimum effect is 2 points" in out
    assert size(capsys, "--discordance", 0.1, "--drop", 0.01, "--minimum-effect", 0.02).startswith("no number of rows")
    assert size(capsys, "--discordance", 0.5, "--rows", 4).startswith("4 rows detect no drop with 80% power")


@pytest.mark.long
def test_a_drop_above_the_discordance_is_shown_by_the_rows_that_its_line_needs(capsys):
    """Both say it: the first line of the rows, and the table of the drop."""
    rule = ("--accuracy", 0.66, "--json", "-")
    for more in ([], ["--answers", 2]):
        found = json.loads(size(capsys, *rule, "--discordance", 0.0122, "--rows", 164, *more))
        shown = found["parts"][0]["detectable"]
        needed = json.loads(size(capsys, *rule, "--discordance", shown, *more, "--drop", shown))["drops"][0]["needed"]
        assert shown > 0.0122
        assert 160 <= needed <= 164  # rows of two answers are whole


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--accuracy: is missing"),
        (["a.csv", "my b.csv"], "FILE: size reads no files; run sigstats compare a.csv 'my b.csv' --power 0.8"),
        ([*"abc", "--power", "90%"], "FILE: size reads no files; run sigstats rank a b c --power 0.9"),
        (["--accuracy", "1.5"], "--accuracy: 1.5 is not valid"),
        (["--discordance", "0"], "--discordance: 0.0 is not valid"),
        (["--accuracy", "0.9", "--correlation", "2"], "--correlation: 2.0 is not valid"),
        (["--accuracy", "0.9", "--rows", "0"], "--rows: 0 is not valid"),
        (["--accuracy", "0.9", "--drop", "2"], "drop: 2.0 is not valid"),
        (["--accuracy", "0.9", "--drop", "two"], "drop: 'two' is not valid; expected a number of points such as 0.5pt"),
        (["--accuracy", "0.9", "--power", "1"], "power: 1.0 is not valid"),
        (["--accuracy", "0.9", "--minimum-effect", "2"], "--minimum-effect: 2.0 is not valid"),
        (["--accuracy", "0.99", "--discordance", "0.5"], "--discordance: 0.5 is not valid; expected at most 0.02 with"),
        (
            ["--accuracy", "0.9", "--discordance", "0.1", "--drop", "0.3"],
            "--drop: 0.3 is not valid; expected at most 0.1 with --accuracy 0.9 and --discordance 0.1",
        ),
        (["--accuracy", "0.5", "--discordance", "0.9", "--drop", "0.2"], "--drop: 0.2 is not valid; expected at most"),
        (["--discordance", "0.02", "--drop", "5pt"], "--drop: 0.05 is not valid; expected at most 0.02 with"),
        (["--accuracy", "0.02", "--drop", "0.05"], "--drop: 0.05 is not valid; expected at most 0.02 with --accuracy"),
        (["--accuracy", "0.02", "--margin", "5pt"], "--margin: 0.05 is not valid; expected at most 0.02 with"),
        (["--discordance", "0.003"], "--minimum-effect: 0.005 is not valid; expected at most 0.003 with --discordance"),
        (["--accuracy", "0.9", "--correlation", "0.5"], "--correlation: 0.5 is not valid; expected 0, or"),
    ],
)
def test_wrong_input_is_one_line(arguments, said, refused):
    error = refused("size", *arguments)
    assert error.count("\n") == 1
    assert said in error


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("compare", ["--drop", "2pt"], "--drop: '2pt' is not valid without --power; add --power 0.8"),
        ("compare", ["--power", "1"], "--power: 1.0 is not valid; expected a number strictly between 0 and 1"),
        ("compare", ["--power", "0.8", "--drop", "2"], "--drop: 2.0 is not valid"),
        ("compare", ["a.csv", "--power", "0.8"], "--power: is not valid with several candidates; expected one"),
        (
            "compare",
            ["--power", "0.8", "--lower-is-better", "id", "--higher-is-better", "label"],
            "with several scores",
        ),
        ("compare", ["--power", "0.8", "--weights", "id"], "--power: is not valid with --weights"),
        ("compare", ["--power", "0.8", "--unpaired"], "--power: is not valid with --unpaired"),
        ("rank", ["--power", "0"], "--power: 0.0 is not valid"),
        ("rank", ["--power", "0.8", "--measure", "mcc"], "--power: is not valid with this measure; rank by acc"),
    ],
)
def test_a_power_that_nothing_is_planned_by_is_one_line(pilot, refused, command, options, said):
    error = refused(command, *pilot, *options)
    assert error.count("\n") == 1
    assert said in error


def test_a_comparison_keeps_its_answer_if_no_size_can_be_planned(pilot, tmp_path, printed):
    pilot[1].write_text(pilot[0].read_text() + "\n")
    for measure, problem in (("accuracy", "both models are right on the same"), ("mcc", "'mcc' has no known spread")):
        files = [*pilot, "--measure", measure, "--json", tmp_path / "sizes.json"]
        answer = printed("compare", *files)
        assert printed("compare", *files, "--power", "0.8").startswith(
            f"{answer}\nSizes cannot be planned (--power: {problem}"
        )
        sizes = json.loads((tmp_path / "sizes.json").read_text())["sizes"]
        assert sizes["problem"].startswith(f"--power: {problem}")


def test_a_ranking_keeps_its_answer_if_no_size_can_be_planned(pilot, tmp_path, printed):
    files = [*pilot, "--group", "region", "--json", tmp_path / "sizes.json"]
    answer = printed("rank", *files)
    assert printed("rank", *files, "--power", "0.8").startswith(f"{answer}\nSizes cannot be planned (--power: is")
    sizes = json.loads((tmp_path / "sizes.json").read_text())["sizes"]
    assert sizes["problem"].startswith("--power: is not valid for groups")


def test_a_margin_of_many_points_is_planned(pilot, planned):
    assert planned(*pilot, "--margin", "25pt")["rule"]["margin"] == 0.25


def test_a_measure_is_planned_with_the_mean_over_tasks(tmp_path, planned):
    rng = np.random.default_rng(3)
    for name in "ab":
        frame = pd.DataFrame({"id": range(60), "task": np.arange(60) % 3, "quality": rng.random(60)})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    score = ["--score", "quality", "--higher-is-better", "quality", "--score-range", "0", "1"]
    sizes = planned(tmp_path / "a.csv", tmp_path / "b.csv", *score, "--task", "task")
    assert "mean over tasks" in [part["slice"] for part in sizes["parts"]]


def test_runs_by_a_score_without_limits_have_drops_of_its_size(tmp_path, planned, refused):
    rng = np.random.default_rng(4)
    for name in "ab":
        frame = pd.DataFrame({"id": np.arange(150) % 25, "seed": np.arange(150) // 25})
        frame.assign(latency_ms=rng.normal(200, 2, 150)).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv", "--run", "seed", "--score", "latency_ms"]
    drops = planned(*files)["drops"]
    assert [drop["drop"] for drop in drops] == pytest.approx([20, 40, 100, 200], rel=0.05)
    assert all(drop["needed"] for drop in drops)
    assert planned(*files, "--drop", "20")["drops"][0]["drop"] == 20
    error = refused("compare", *files, "--power", "0.8", "--drop", "5pt")
    assert "--drop: points are only for shares; expected a number of ms" in error


@pytest.mark.long
def test_marks_of_0_and_1_need_about_the_rows_that_mcnemars_exact_power_says(pilot, tmp_path, printed, planned):
    for file in pilot:
        frame = pd.read_csv(file)
        frame.assign(mark=(frame["label"] == frame["prediction"]) * 1).to_csv(file, index=False)
    drops = ("--drop", "0.02", "--drop", "0.05")
    limits = ("--score-range", 0, 1)
    marked = [*pilot, "--score", "mark", "--measure", "mean-score", *limits]
    marks, exact = planned(*marked, *drops), planned(*pilot, *drops)
    assert marks["level"] == exact["level"] == 0.05
    for mine, other in zip(marks["drops"], exact["drops"], strict=True):
        # Three standard errors of 1,000 samples, 0.013 each; power grows by 0.01 in 1.5% of the rows.
        assert mine["needed"] == pytest.approx(other["needed"], rel=0.06)
        assert mine["power"] == pytest.approx(other["power"], abs=0.04)
    assert marks["parts"][0]["detectable"] == pytest.approx(exact["parts"][0]["detectable"], rel=0.03)
    assert marks["passing"] == pytest.approx(exact["passing"], rel=0.03)
    out = printed("compare", *marked, "--power", "0.8", code=(0, 1))
    assert " of mean-score of mark with 80% power" in out
    files = [*pilot, tmp_path / "c.csv"]
    pd.read_csv(pilot[0]).assign(mark=lambda frame: frame["mark"] * (frame["id"] % 3 > 0)).to_csv(files[2], index=False)
    pairs = planned(*files, "--score", "mark", command="rank")["neighbours"]
    for pair, known in zip(pairs, planned(*files, command="rank")["neighbours"], strict=False):
        if pair["difference"] == known["difference"]:
            assert pair["needed"] == pytest.approx(known["needed"], rel=0.04)


@pytest.mark.long
@pytest.mark.parametrize("measure", ["mean-score", "ratio"])
def test_the_rows_needed_show_the_drop_as_often_as_said(measure):
    rng, trials = np.random.default_rng(2), 200

    def pair(n, drop):
        hard = rng.beta(2, 2, n)
        a, b = (np.clip(hard + rng.normal(0, 0.15, n) - shift, 0, 1) for shift in (0.0, drop))
        length = rng.integers(1, 20, n).astype(float)
        per = (length, length) if measure == "ratio" else None
        scores = (a * length, b * length) if measure == "ratio" else (a, b)
        found = pair_arrays(np.zeros(n, int), np.zeros(n, int), np.zeros(n, int), scores=scores, score_range=(0, 1))
        return replace(found, outcomes=None, scored=replace(found.scored, per=per))

    rule = ComparisonRule(n_resamples=999)
    needed = plan_measure(pair(2000, 0.0), measure, rule, [0.03], target=0.8).drops[0].needed
    fails = sum(compare_pair(pair(needed, 0.03), rule, [measure]).verdict == "fail" for _ in range(trials))
    # The clipped marks drop by somewhat less than 0.03.
    assert 0.65 * trials <= fails <= 0.88 * trials


@pytest.mark.long
def test_items_of_several_answers_have_a_table_of_answers(capsys):
    out = size(capsys, "--accuracy", 0.8, "--rows", 200, "--answers", 3, "--correlation", 0.4, "--drop", 0.1)
    assert out.startswith("200 items of 3 answers detect a drop of ")
    assert "answers an item  items for 10 points" in out


def test_a_leaderboard_has_the_rows_that_tell_each_model_from_the_next(pilot, tmp_path, printed):
    write(tmp_path / "c.csv", wrong=0.3, seed=2)
    files = [*pilot, tmp_path / "c.csv", "--slice", "region", "--json", tmp_path / "found.json"]
    out = printed("rank", *files, "--power", "0.8")
    found = json.loads((tmp_path / "found.json").read_text())["sizes"]
    right = [pd.read_csv(tmp_path / f"{name}.csv").set_index("id").eval("label == prediction") for name in "abc"]
    assert [(pair["a"], pair["b"]) for pair in found["neighbours"]] == [("a", "b"), ("b", "c")]
    for pair, (a, b) in zip(found["neighbours"], [(right[0], right[1]), (right[1], right[2])], strict=True):
        only_a, only_b = float((a & ~b).mean()), float((b & ~a).mean())
        options = {"alpha": 0.05 / 6, "alternative": "greater"}
        assert pair["needed"] == sigstats.paired_sample_size(only_a=only_a, only_b=only_b, **options)
        assert pair["power"] == pytest.approx(sigstats.paired_power(2000, only_a=only_a, only_b=only_b, **options))
    assert out == f"{printed('rank', *files)}\n{out[out.index('Rows that distinguish neighbours') :]}"
    assert "a over b" in out


@pytest.mark.long
def test_drops_that_no_number_of_rows_shows_are_none_of_the_default(capsys):
    def drops(*arguments):
        return [
            each["drop"] for each in json.loads(size(capsys, "--accuracy", "0.9", "--json", "-", *arguments))["drops"]
        ]

    assert drops() == [0.01, 0.02, 0.05]
    assert drops("--minimum-effect", "0") == [0.005, 0.01, 0.02, 0.05]
    assert drops("--minimum-effect", "0.1") == [0.2]
    assert drops("--drop", "0.005") == [0.005]


@pytest.mark.long
def test_a_measure_that_is_named_is_sized_beside_a_cost(tmp_path, planned):
    rng = np.random.default_rng(2)
    for name in "ab":
        label = np.arange(60) % 3
        frame = pd.DataFrame({"id": range(60), "label": label, "cost": rng.random(60)})
        frame["prediction"] = np.where(rng.random(60) < 0.2, 0, label)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv", "--score", "cost"]
    found, alone = (planned(*given, "--measure", "accuracy") for given in (files, files[:2]))
    assert found["measure"] == "accuracy"
    assert [part["part"] for part in found["parts"]] == [part["part"] for part in alone["parts"]]
    assert found["level"] == alone["level"] / 2
    macro, of_cost = [*files, "--measure", "macro-f1"], ["--margin", "5%", "--margin", "cost=10%"]
    assert planned(*macro, *of_cost) == planned(*macro)
    for path in files[:2]:
        pd.concat([pd.read_csv(path).assign(seed=seed) for seed in range(2)]).to_csv(path, index=False)
    sizes = planned(*files, "--run", "seed")
    assert sizes["problem"].startswith(
        "--power: runs cannot be planned by mean-score of cost; expected the measure acc"
    )


@pytest.mark.parametrize("runs", [False, True])
def test_a_drop_in_points_is_of_the_range_of_marks(tmp_path, planned, runs):
    rng = np.random.default_rng(5)
    marks = np.clip(80 + rng.normal(0, 8, (2, 100)), 0, 100)

    def sized(scale, *drop):
        paths = [tmp_path / f"{name}{scale}.csv" for name in ("a", "b")]
        for path, side in zip(paths, marks, strict=True):
            frame = pd.DataFrame({"id": np.arange(100) % 25 if runs else range(100), "quality": side * scale / 100})
            frame.assign(seed=np.arange(100) // 25).to_csv(path, index=False)
        score = ["--score", "quality", "--higher-is-better", "quality", "--score-range", "0", scale]
        return planned(*paths, *score, *(["--run", "seed"] if runs else []), *drop)["drops"]

    (shares,), (points,), (own,) = sized(1, "--drop", "5pt"), sized(100, "--drop", "5pt"), sized(100, "--drop", "5")
    assert points == own
    assert (points["drop"], points["needed"]) == (5, shares["needed"])
    usual = [[drop["drop"] for drop in sized(scale)] for scale in (1, 100)]
    assert usual[1] == pytest.approx([100 * drop for drop in usual[0]], rel=0.1)
