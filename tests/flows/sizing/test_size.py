"""`sigstats size`: from a pilot and by hand, in text, a page and JSON, and what is refused."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays
from sigstats.comparison.rule import ComparisonRule
from sigstats.flows.cli import main
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


@pytest.mark.long
def test_a_pilot_gives_tables_curves_a_page_and_json(pilot, tmp_path, capsys):
    out = size(
        capsys, *pilot, "--slice", "region", "--report", tmp_path / "size.html", "--json", tmp_path / "size.json"
    )
    found = json.loads((tmp_path / "size.json").read_text())
    assert (found["version"], found["pilot"]["tests"], found["level"]) == (1, 4, 0.0125)
    drop = found["drops"][1]
    assert drop["drop"] == 0.02
    assert f"{drop['needed']:,} rows" in out
    share = found["pilot"]["parts"][0]["discordance"]
    expected = {"only_a": (share + 0.02) / 2, "only_b": (share - 0.02) / 2, "alpha": 0.0125, "alternative": "greater"}
    assert drop["needed"] == sigstats.paired_sample_size(**expected)
    assert drop["power"] == pytest.approx(sigstats.paired_power(2000, **expected))
    assert out.isascii()
    page = (tmp_path / "size.html").read_text()
    drawing = ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    assert len(drawing.findall(".//g[@class]")) == 3
    assert found["headline"] in page


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
def test_the_level_of_any_measure_is_that_of_one_test_of_compare(tmp_path, capsys, printed, options, tests):
    rng = np.random.default_rng(5)
    label = np.arange(400) % 2
    for name in "ab":
        frame = pd.DataFrame({"id": range(400), "label": label, "region": np.where(np.arange(400) % 3, "s", "n")})
        frame["prediction"] = np.where(rng.random(400) < 0.1, 1 - label, label)
        frame["mark"] = (label * 0.3 + rng.random(400) * 0.7).round(3)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv", *options, "--positive", 1]
    assert json.loads(size(capsys, *files, "--json", "-"))["level"] == pytest.approx(0.05 / tests)
    assert len(json.loads(printed("compare", *files, "--json", "-", code=(0, 1)))["rows"]) == tests


OPTIONS_OF_PAIRS = """--measure a/b | --task x | --positive 1 | --margin 5pt | --score-range 0 1 |
--answers 1 | --correlation 0 | --adjust none"""


@pytest.mark.parametrize("option", [option.strip() for option in OPTIONS_OF_PAIRS.split("|")])
def test_what_says_nothing_of_a_leaderboard_is_refused(pilot, refused, option):
    assert f"{option.split()[0]}: is not valid with three files or more; expected two files" in refused(
        "size", *pilot, "c.csv", *option.split()
    )


OPTIONS_OF_FILES = """--slice x | --score x | --lower-is-better x | --measure a/b | --labels t.csv |
--by-position | --unscored drop | --unscored refuse | --unmatched refuse | --measure f1 | --positive 1 |
--score-range 0 1 | --run x"""


@pytest.mark.parametrize("option", [option.strip() for option in OPTIONS_OF_FILES.split("|")])
def test_what_is_read_of_files_is_refused_beside_rates_by_hand(refused, option):
    assert f"{option.split()[0]}: is not valid with rates by hand" in refused(
        "size", "--accuracy", "0.9", *option.split()
    )


@pytest.mark.long
def test_the_page_shows_what_the_example_says(tmp_path, repository, capsys):
    subprocess.run([sys.executable, repository / "tools" / "example_predictions.py", tmp_path], check=True)
    out = size(capsys, tmp_path / "baseline.csv", tmp_path / "candidate.csv", "--slice", "stroke")
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


def test_an_equal_candidate_of_a_baseline_that_is_always_wrong_passes_by_its_rows_alone(tmp_path, capsys):
    """Tango's interval of n rows without differences ends at the margin -m where z^2 = n m / (1 - m)."""
    labels = [index % 2 for index in range(60)]
    for name, right in (("a", 0), ("b", 7)):
        predictions = [label if row < right else 1 - label for row, label in enumerate(labels)]
        frame = pd.DataFrame({"id": range(60), "label": labels, "prediction": predictions})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    chances = json.loads(size(capsys, tmp_path / "a.csv", tmp_path / "b.csv", "--json", "-"))["chances"]
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
        ([], "FILE: is missing"),
        (["one.csv"], "FILE: 1 given; expected a second file"),
        (["a.csv", "b.csv", "--rows", "5"], "--rows: 5 is not valid with files"),
        (["a.csv", "b.csv", "--answers", "3"], "--answers: 3 is not valid with files"),
        (["a.csv", "b.csv", "--correlation", "0"], "--correlation: 0.0 is not valid with files"),
        (["a.csv", "b.csv", "--run", "seed", "--lower-is-better", "x"], "--lower-is-better: is not valid with --run"),
        (["a.csv", "b.csv", "--run", "seed", "--margin", "5pt"], "--margin: is not valid with --run"),
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


@pytest.mark.long
def test_marks_of_0_and_1_need_about_the_rows_that_mcnemars_exact_power_says(pilot, tmp_path, capsys):
    for file in pilot:
        frame = pd.read_csv(file)
        frame.assign(mark=(frame["label"] == frame["prediction"]) * 1).to_csv(file, index=False)
    drops = ("--drop", "0.02", "--drop", "0.05")
    limits = ("--score-range", 0, 1)
    marks = json.loads(
        size(capsys, *pilot, "--score", "mark", "--measure", "mean-score", *limits, *drops, "--json", "-")
    )
    exact = json.loads(size(capsys, *pilot, *drops, "--json", "-"))
    assert marks["level"] == exact["level"] == 0.05
    for mine, other in zip(marks["drops"], exact["drops"], strict=True):
        # Three standard errors of 1,000 samples, 0.013 each; power grows by 0.01 in 1.5% of the rows.
        assert mine["needed"] == pytest.approx(other["needed"], rel=0.06)
        assert mine["power"] == pytest.approx(other["power"], abs=0.04)
    assert marks["parts"][0]["detectable"] == pytest.approx(exact["parts"][0]["detectable"], rel=0.03)
    assert marks["passing"] == pytest.approx(exact["passing"], rel=0.03)
    assert " of mean-score of mark with 80% power" in size(
        capsys, *pilot, "--score", "mark", "--measure", "mean-score", *limits
    )
    files = [*pilot, tmp_path / "c.csv"]
    pd.read_csv(pilot[0]).assign(mark=lambda frame: frame["mark"] * (frame["id"] % 3 > 0)).to_csv(files[2], index=False)
    pairs = json.loads(size(capsys, *files, "--score", "mark", "--json", "-"))["neighbours"]
    for pair, known in zip(pairs, json.loads(size(capsys, *files, "--json", "-"))["neighbours"], strict=False):
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
def test_items_of_several_answers_have_a_table_of_answers(capsys, tmp_path):
    page = tmp_path / "size.html"
    out = size(
        capsys, "--accuracy", 0.8, "--rows", 200, "--answers", 3, "--correlation", 0.4, "--drop", 0.1, "--report", page
    )
    assert out.startswith("200 items of 3 answers detect a drop of ")
    assert "answers an item  items for 10 points" in out
    assert "answers an item" in page.read_text()


def test_a_leaderboard_has_the_rows_that_tell_each_model_from_the_next(pilot, tmp_path, capsys, refused):
    write(tmp_path / "c.csv", wrong=0.3, seed=2)
    found = json.loads(size(capsys, *pilot, tmp_path / "c.csv", "--json", "-"))
    right = [pd.read_csv(tmp_path / f"{name}.csv").set_index("id").eval("label == prediction") for name in "abc"]
    assert [(pair["a"], pair["b"]) for pair in found["neighbours"]] == [("a", "b"), ("b", "c")]
    for pair, (a, b) in zip(found["neighbours"], [(right[0], right[1]), (right[1], right[2])], strict=True):
        only_a, only_b = float((a & ~b).mean()), float((b & ~a).mean())
        options = {"alpha": 0.05 / 6, "alternative": "greater"}
        assert pair["needed"] == sigstats.paired_sample_size(only_a=only_a, only_b=only_b, **options)
        assert pair["power"] == pytest.approx(sigstats.paired_power(2000, only_a=only_a, only_b=only_b, **options))
    assert "a over b" in size(capsys, *pilot, tmp_path / "c.csv")
    assert "--slice: is not valid with three files or more" in refused(
        "size", *[*pilot, tmp_path / "c.csv"], "--slice", "region"
    )


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
def test_a_measure_that_is_named_is_sized_beside_a_cost(tmp_path, capsys, refused):
    rng = np.random.default_rng(2)
    for name in "ab":
        label = np.arange(60) % 3
        frame = pd.DataFrame({"id": range(60), "label": label, "cost": rng.random(60), "seed": 0})
        frame["prediction"] = np.where(rng.random(60) < 0.2, 0, label)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv", "--score", "cost"]
    found = json.loads(size(capsys, *files, "--measure", "accuracy", "--json", "-"))
    alone = json.loads(size(capsys, *files[:2], "--measure", "accuracy", "--json", "-"))
    assert found["measure"] == "accuracy"
    assert [part["part"] for part in found["parts"]] == [part["part"] for part in alone["parts"]]
    assert found["level"] == alone["level"] / 2
    assert "--score: is not valid with --run" in refused("size", *files, "--run", "seed")


@pytest.mark.long
@pytest.mark.parametrize("measure", [(), ("--measure", "macro-f1")])
def test_copies_and_a_model_of_one_answer_are_told(tmp_path, capsys, measure):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"label": rng.choice(list("xyz"), 150), "text": [f"t{n}" for n in range(150)]})
    for name, said in (("a", rows["label"].where(rng.random(150) < 0.8, "x")), ("b", "x")):
        once = rows.assign(prediction=said)
        pd.concat([once, once[:10]], ignore_index=True).to_csv(tmp_path / f"{name}.csv", index_label="id")
    out = size(capsys, tmp_path / "a.csv", tmp_path / "b.csv", *measure)
    assert "the candidate predicts 'x' in all 160 rows" in out
    assert "10 of 160 rows equal others in all columns" in out
