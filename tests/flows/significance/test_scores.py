"""Tables of scores in a significance study: Demsar's printed figures, enumeration of signs, bad input."""

import html
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import friedman_test
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.significance.tables.models import Scores
from sigstats.tasks.results import Results
from sigstats.tasks.statistical_tests import named, run_table_test
from sigstats.tasks.storage.store import Store

from ...examples import examples
from ...sigstats.many_datasets.test_friedman import DEMSAR
from ..conftest import program as program
from ..conftest import study_file

MODELS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def table(scores, models):
    frame = pd.DataFrame(np.array(scores), columns=list(models))
    frame.insert(0, "dataset", [f"set {number}" for number in range(len(frame))])
    return frame


def study(folder, frame, extra="", name="scores.csv"):
    frame.to_csv(folder / name, index=False) if name.endswith(".csv") else frame.to_parquet(folder / name)
    return study_file(folder, f'kind = "significance"\n[[scores]]\nname = "areas"\npath = "{name}"\n{extra}\n')


def rows(output):
    return pq.read_table(output / "summary.parquet").to_pylist()


def enumerated(differences):
    """The two-sided p of the signed-rank test by all signs, in whole numbers; equal scores are left out."""
    rest = [each for each in differences if each]
    doubled = [round(2 * rank) for rank in stats.rankdata([abs(each) for each in rest])]
    sums = [sum(itertools.compress(doubled, signs)) for signs in itertools.product((0, 1), repeat=len(doubled))]
    observed = sum(rank for rank, each in zip(doubled, rest, strict=True) if each > 0)
    greater, less = sum(each >= observed for each in sums), sum(each <= observed for each in sums)
    return min(Fraction(1), Fraction(2 * min(greater, less), len(sums)))


@pytest.mark.long
def test_demsar_s_table(tmp_path, program):
    # His own scores have more decimals: of voting, C4.5+cf is before C4.5+m+cf, where the table prints 0.975 for both.
    scores = [[*row] for row in DEMSAR]
    scores[12][2] += 0.0001
    done = program("run", study(tmp_path, table(scores, MODELS)), "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = Evidence(Results(Store(str(tmp_path / "out")))).over_data_sets
    ranks = dict(zip(found.comparison.models, found.comparison.ranks, strict=True))
    assert {name: round(rank, 3) for name, rank in ranks.items()} == {
        "C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964
    }  # fmt: skip
    n, k = 14, 4
    chi2 = 12 * n / (k * (k + 1)) * (sum(rank**2 for rank in ranks.values()) - k * (k + 1) ** 2 / 4)
    assert (round(chi2, 2), round((n - 1) * chi2 / (n * (k - 1) - chi2), 2)) == (9.28, 3.69)  # as he prints them
    # He does not correct for ties: three data sets with two equal scores, and one with four.
    corrected = chi2 / (1 - Fraction(3 * (2**3 - 2) + 4**3 - 4, n * (k**3 - k)))
    friedman, *pairs = rows(tmp_path / "out")
    f = (n - 1) * corrected / (n * (k - 1) - corrected)
    assert friedman["statistic"] == pytest.approx(f)
    assert friedman["p_value"] == pytest.approx(friedman_test(np.array(scores), method="exact").pvalue)
    assert friedman["p_value"] == pytest.approx(stats.f.sf(f, 3, 39), rel=0.5)
    columns = {
        name: [Fraction(f"{value:.4f}") for value in column]
        for name, column in zip(MODELS, zip(*scores, strict=True), strict=True)
    }
    for row in pairs:
        differences = [x - y for x, y in zip(columns[row["a"]], columns[row["b"]], strict=True)]
        assert row["p_value"] == pytest.approx(float(enumerated(differences)), rel=1e-12)
        means = sorted((x + y) / 2 for i, x in enumerate(differences) for y in differences[i:])
        assert row["estimate"] == pytest.approx(float(means[52] + means[51 + (len(means) % 2)]) / 2, abs=1e-12)
    assert [row["n"] for row in pairs] == [14] * 6
    page = (tmp_path / "out" / "report.html").read_text()
    title, answer = page.split("<h1")[1].partition(">")[2].split("</h1>")[0], found.comparison.conclusion
    assert html.unescape(title) == answer.removesuffix(".")  # the tests, not the best mean score
    assert "C4.5+m+cf has the best mean rank" in page
    assert "Mean ranks over the data sets" in page
    assert "These data sets, and data sets like these" not in page  # their rows are not known


@pytest.mark.long
def test_csv_parquet_and_values_are_one(tmp_path, program):
    frame = table(DEMSAR, MODELS)
    values = "values = {" + ", ".join(f'"{name}" = {frame[name].tolist()}' for name in MODELS) + "}\n"
    inline = study_file(tmp_path, f'kind = "significance"\n[[scores]]\nname = "areas"\n{values}', "inline.toml")
    (tmp_path / "parquet").mkdir()
    floats = frame.astype({MODELS[0]: np.float32, MODELS[1]: np.float16})  # of three decimals, as the others print them
    files = [study(tmp_path, frame), study(tmp_path / "parquet", floats, name="scores.parquet"), inline]
    found = []
    for number, file in enumerate(files):
        assert program("run", file, "--output", tmp_path / f"{number}").returncode == 0
        found.append([{**row, "study": ""} for row in rows(tmp_path / f"{number}")])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 7


def test_errors_turn_the_differences_and_a_control_limits_the_pairs(tmp_path, program):
    frame = table(1 - np.array(DEMSAR), MODELS)
    losses = study(tmp_path, frame, 'greater_is_better = false\ncontrol = "C4.5"')
    assert program("run", losses, "--output", tmp_path / "out").returncode == 0
    pairs = rows(tmp_path / "out")[1:]
    assert [(row["a"], row["b"]) for row in pairs] == [("C4.5", other) for other in MODELS[1:]]
    assert all(row["estimate"] < 0 for row in pairs)  # all are better than the control, in less error
    raw = [row["p_value"] for row in pairs]
    holm = [
        min(1, 3 * sorted(raw)[0]),
        *np.maximum.accumulate([3 * sorted(raw)[0], 2 * sorted(raw)[1], sorted(raw)[2]])[1:],
    ]
    assert sorted(row["p_adjusted"] for row in pairs) == pytest.approx(holm)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "All are compared with C4.5" in page
    assert "better than C4.5; 1 of 3 was not shown to differ from it" in page


def test_models_name_the_columns_of_scores(tmp_path, program):
    frame = table(DEMSAR, MODELS)
    frame["remark"] = "text"
    chosen = study(tmp_path, frame, 'models = ["C4.5", "C4.5+m"]')
    assert program("run", chosen, "--output", tmp_path / "out").returncode == 0
    (pair,) = rows(tmp_path / "out")
    assert (pair["test"], pair["a"], pair["b"]) == ("signed-rank", "C4.5", "C4.5+m")


@pytest.mark.parametrize("name", ["rmse", "error_rate", "val loss", "latency_ms"])
def test_the_direction_of_a_known_cost_is_stated(tmp_path, name):
    frame = table(np.random.default_rng(3).uniform(0.5, 0.9, (9, 3)).round(3), "abc")
    wide = frame.rename(columns={model: f"{model} {name}" for model in "abc"})
    for kind, models in ((frame.melt("dataset", var_name="by", value_name=name), {"models": "by"}), (wide, {})):
        kind.to_csv(tmp_path / "scores.csv", index=False)
        values = {"name": "areas", "path": "scores.csv", **models}
        with pytest.raises(ValueError, match=r"greater_is_better: is missing; a lower .* is better.* = false$"):
            next(Scores(**values).cases(tmp_path))
        for greater in (False, True):
            case = next(Scores(**values, greater_is_better=greater).cases(tmp_path))
            assert ("but higher counts as better here" in case.data.get("note", "")) == greater


@pytest.mark.parametrize("missing", ["drop", "worst", "pairs"])
def test_missing_scores_of_a_long_table(tmp_path, program, missing):
    scores = np.random.default_rng(3).uniform(0.5, 0.9, (9, 3))
    scores[2, 0] = scores[5, 1] = np.nan
    frame = table(scores, "abc")
    file = study(tmp_path, frame.melt("dataset", var_name="by").dropna(), f'models = "by"\nmissing = "{missing}"')
    done = program("run", file, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    friedman, *pairs = rows(tmp_path / "out")
    whole, worst = np.delete(scores, [2, 5], axis=0), np.nanmin(scores, axis=1)
    used = {"drop": whole, "pairs": scores, "worst": np.where(np.isnan(scores), worst[:, None], scores)}[missing]
    assert friedman["p_value"] == friedman_test(used if missing == "worst" else whole).pvalue
    for row, (a, b) in zip(pairs, itertools.combinations(range(3), 2), strict=True):
        differences = used[:, a] - used[:, b]
        differences = differences[~np.isnan(differences)]
        assert row["n"] == len(differences)
        assert row["p_value"] == pytest.approx(float(enumerated(differences.tolist())), rel=1e-12)
        assert row["note"].startswith("No score of b on set 5, a on set 2: ")
    assert "No score of b on set 5, a on set 2" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("content", "extra", "said"),
    [
        ("dataset,a,b\n1,2,3\n2,,4\n3,1,1\n", "", "scores: no score of a on 2; missing='drop' leaves"),
        ("dataset,a,b\n1,2,3\n2,x,4\n3,1,1\n", "", "line 3: column 'a': 'x' is not valid; expected a number"),
        ("dataset,a,b\n1,2,3\n1,2,4\n3,1,1\n", "", "datasets: '1' is not valid; expected each name once"),
        ("dataset,a,b\n1,2,3\n2,2,4\nAvg.,2,3.5\n", "", "datasets: 'Avg.' is not valid; expected names that differ"),
        (
            "dataset,a,b\nsplit0_test_score,2,3\nsplit1_test_score,2,4\nrank_test_score,1,2\n",
            "",
            "datasets: 'split0_test_score' is a part of cross-validation",
        ),
        ("fold,a,b\n1,2,3\n2,2,4\n3,1,1\n", 'datasets = "fold"', "datasets: 'fold 1' is a part of cross-validation"),
        ("seed,a,b\n1,2,3\n2,2,4\n3,1,1\n", 'datasets = "seed"', "datasets: 'seed 1' is a run on one data set"),
        ("dataset,a,b\nd0,2,3\n1,2,4\nD0,3,1\n", "", "datasets: 'D0' is not valid; expected names that differ"),
        ("dataset,a,b\n1,2,3\n2,2,4\n", "", "scores: the number of data sets is 2; expected 3 or more"),
        (
            "dataset,a\n1,2\n2,2\n3,1\n",
            "",
            "(3, 1); expected at least two data sets (rows) and two models",
        ),
        ("dataset,a,b\n1,2,3\n2,,4\n3,1,1\n", 'missing = "drop"', "scores: the number of data sets is 2; expected 3"),
        ("set,a,b\n1,2,3\n2,2,4\n3,1,1\n", "", "column 'dataset' was not found"),
        ("dataset,a,a\n1,2,3\n2,2,4\n3,1,1\n", "", "column 'a' appears 2 times"),
        ("dataset,a,b\n1,2,3\n2,2,4\n3,1,1\n", 'control = "c"', "control: 'c' is not valid; expected one of 'a', 'b'"),
        ("dataset,a,b\n1,2,3\n2,2,4\n3,1,1\n", "rope = -1", "rope: -1 is not valid"),
        (
            "dataset,a,b\n1,2,3\n2,2,4\n3,1,1\n",
            "values = {a = [1.0, 2.0, 3.0], b = [1.0, 2.0, 3.0]}",
            "path and values",
        ),
        (
            "dataset,a,b\n1,2,3\n2,2,4\n3,1,1\n",
            '[[scores]]\nname = "more"\npath = "scores.csv"',
            "scores: 2 are not valid",
        ),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(tmp_path, program, content, extra, said):
    (tmp_path / "scores.csv").write_text(content)
    file = study_file(tmp_path, f'kind = "significance"\n[[scores]]\nname = "t"\npath = "scores.csv"\n{extra}\n')
    done = program("run", file, "--output", tmp_path / "out")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("error")
def test_scores_that_are_farther_apart_than_floats_are_refused():
    with pytest.raises(ValueError, match="differences: inf is not valid"):
        named("signed-rank").table.observed(
            {"a": [1.7e308, 1.0, 2.0], "b": [-1.7e308, 2.0, 4.0], "greater_is_better": True}
        )


def test_more_pairs_than_files_can_hold_are_refused(tmp_path):
    values = {f"m{i}": [0.0, 1.0, 2.0] for i in range(448)}
    with pytest.raises(ValueError, match=r"pairs of models is 100128; expected 100000 or fewer"):
        next(Scores(name="t", values=values).cases(tmp_path))
    assert next(Scores(name="t", values=values, control="m0").cases(tmp_path)).test == "friedman"
    del values["m7"]
    assert next(Scores(name="t", values=values).cases(tmp_path)).test == "friedman"


@settings(deadline=None, max_examples=examples(10))
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=3, max_size=8))
def test_every_pair_is_what_all_signs_give(tmp_path_factory, scores):
    for a, b in itertools.combinations(range(3), 2):
        data = {"a": [row[a] for row in scores], "b": [row[b] for row in scores], "greater_is_better": False}
        found = run_table_test("signed-rank", data, "exact")
        differences = [row[a] - row[b] for row in scores]
        assert found["p_value"] == pytest.approx(float(enumerated(differences)), rel=1e-12)
