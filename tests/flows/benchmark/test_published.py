"""A benchmark beside the numbers of a publication."""

import pyarrow.parquet as pq
import pytest

from sigstats.flows.commands import main

from ..conftest import study_file

STUDY = """\
kind = "benchmark"
seed = 1
datasets = ["iris"]
classifiers = ["1-nn", "naive-bayes"]
permutation = { resamples = 19 }

[[published]]
classifier = "1-nn"
null = "labels"
columns = ["estimate", "null_mean", "p_value"]
"""


def rows(tmp_path, text):
    path = study_file(tmp_path, STUDY + text)
    assert main(["run", str(path), "--output", str(tmp_path / "out"), "--cluster", "serial", "--quiet"]) == 0
    found = pq.read_table(tmp_path / "out" / "summary.parquet").to_pylist()
    return [row for row in found if row["printed"]]


def test_what_is_near_or_on_the_same_side_agrees(tmp_path):
    (row,) = rows(
        tmp_path,
        "within = { estimate = 0.03, null_mean = 0.05 }\nside = { p_value = 0.05 }\n"
        'values = { iris = ["0.06", "0.20", "0.001"], wine = ["0", "0", "0"] }\nremarks = { iris = "other folds" }\n',
    )
    assert (row["test"], row["classifier"], row["dataset"]) == ("permutation-labels", "1-nn", "iris")
    assert row["printed"] == "estimate 0.06; null_mean 0.20; p_value 0.001"
    # permuted labels are guessed: two thirds of three equal classes are wrong
    assert row["null_mean"] == pytest.approx(2 / 3, abs=0.1)
    assert row["disagrees"] == f"null_mean 0.20 is printed, {row['null_mean']:.6g} recomputed (other folds)"


def test_the_other_side_of_a_threshold_does_not_agree(tmp_path):
    (row,) = rows(tmp_path, 'side = { p_value = 0.05, estimate = 0.1 }\nvalues = { iris = ["0.2", "0.7", "0.06"] }\n')
    named = [part.split(" ")[0] for part in row["disagrees"].split("; ")]
    # without a rule a printed number agrees only if the result rounds to it
    assert [name for name in named if name != "null_mean"] == ["estimate", "p_value"]


def test_numbers_that_stand_beside_no_result_are_noted(tmp_path, printed):
    path = study_file(
        tmp_path, STUDY.replace('classifier = "1-nn"', 'classifier = "1-n"') + "values.iris = [" + '"1",' * 3 + "]"
    )
    assert "note: the published numbers of 1-n (labels) are not shown: the study has no such test" in printed(
        "plan", path, "--no-timing"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('values = { iris = ["0.1"] }', "values: iris: 1 numbers are not valid; expected 3, one for each of columns"),
        ('values = { iris = ["0.1", "0.2", "many"] }', "'many' is not valid; expected a number in quotes"),
        ("values = { iris = [0.1, 0.2, 0.3] }", "published.0.values.iris.0"),
        ("values = {}\nwithin = { pd = 0.1 }", "'pd' is not valid; expected one of estimate, null_mean, p_value"),
    ],
)
def test_bad_tables_are_one_line(tmp_path, refused, text, complaint):
    path = study_file(tmp_path, STUDY + text)
    said = refused("run", path, "--output", tmp_path / "out")
    assert complaint in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("transforms", "words"), [("fold", "on each training fold only"), ("all", "once on all rows")])
def test_the_report_says_where_transforms_were_learned(tmp_path, transforms, words):
    text = STUDY.partition("[[published]]")[0] + f'cross_validation = {{ transforms = "{transforms}" }}\n'
    path = study_file(tmp_path, text)
    assert main(["run", str(path), "--output", str(tmp_path / "out"), "--cluster", "serial", "--quiet"]) == 0
    assert words in (tmp_path / "out" / "report.html").read_text()
