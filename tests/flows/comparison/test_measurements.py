"""Files of a regression model, whose labels and predictions are measurements."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from sigstats.flows.commands import main

from ..conftest import as_outputs

N = 200


@pytest.fixture
def files(tmp_path):
    """Two files with labels that are whole numbers, and the column of their absolute errors."""
    rng = np.random.default_rng(40)
    label = rng.integers(100, 300, N).astype(float)
    for name in ("a", "b"):
        frame = pd.DataFrame({"id": range(N), "label": label, "prediction": label + rng.normal(0, 20, N)})
        frame["sex"] = np.where(np.arange(N) % 2, "f", "m")
        frame.assign(absolute_error=(frame["label"] - frame["prediction"]).abs()).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    return [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


@pytest.mark.parametrize("options", ["--measure neg-mae", "--score absolute_error --measure mean-score"])
def test_where_no_limit_of_a_row_is_known_every_form_says_how_to_name_it(tmp_path, printed, files, options):
    outputs = {name: tmp_path / f"out.{name}" for name in ("json", "md", "html")}
    written = as_outputs(*outputs.values())
    said = " ".join(printed("compare", *files, *options.split(), "--slice", "sex", *written).split())
    measure = "neg-mae" if "neg-mae" in options else "mean-score of absolute_error"
    wanted = f"{measure}: values have no known limits: no row can pass, and a fail assumes"
    assert "are known, so that no" in said
    markdown, page = (outputs[name].read_text() for name in ("md", "html"))
    for form in (said, markdown.replace("\\", ""), json.loads(outputs["json"].read_text())["notes"][0]["text"], page):
        assert wanted in form
    assert "(--score-range LOW HIGH): without them no number of rows passes." in page
    assert "--power" not in page


@pytest.mark.long
def test_the_command_that_a_page_names_says_how_many_rows_show_a_drop(tmp_path, printed, files):
    options = ["--slice", "sex", "--score-range", "0", "500"]
    page = tmp_path / "page.html"
    assert main(["compare", *files, *options, "--measure", "neg-mae", "--report", str(page)]) == 0
    text = page.read_text()
    named = re.search(r"sigstats compare (--measure \S+ --power 0.8) with the same files", text)[1]
    said = " ".join(printed("compare", *files, *options, *shlex.split(named)).split())
    assert re.search(r" 200 rows detect a drop of [0-9.]+ of neg-mae with 80% power", said)
    assert "an equally good candidate passes 80% of the time at a margin of 2.5" in said
    assert "The number of rows that compare suggests assumes that the observed difference is the true one." in said


@pytest.mark.parametrize("options", ["--lower-is-better absolute_error", "--score absolute_error"])
def test_a_score_of_measurements_is_compared_without_their_accuracy(tmp_path, capsys, files, options):
    assert main(["compare", *files, *options.split(), "--json", str(tmp_path / "found.json")]) == 0
    rows = json.loads((tmp_path / "found.json").read_text())["rows"]
    assert [row["measure"] for row in rows] == ["mean-score"]
    mean = pd.read_csv(files[0])["absolute_error"].mean()
    assert rows[0]["baseline"] == pytest.approx(mean)
    capsys.readouterr()
    assert main(["compare", *files]) == 2  # labels that are whole numbers are measurements all the same
    assert "expected the measure neg-mae or neg-mse" in capsys.readouterr().err
