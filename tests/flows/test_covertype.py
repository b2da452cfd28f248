"""Two versions of a model of forest cover, with a regression in one wilderness area and with none."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

from flows.cli import main
from flows.comparison import Rule, compare
from tasks.predictions import Joined

SPOILED = "area4"


@pytest.fixture(scope="module")
def rows(shared_data):
    """Held-out rows with the predictions of a model, of one trained on other rows, and of one that broke in an area."""
    frame = pd.read_parquet(shared_data / "covertype.parquet").sample(120_000, random_state=1, ignore_index=True)
    area = frame["wilderness_area"].astype(str)
    X = pd.get_dummies(frame.drop(columns=["class", "soil_type"]), columns=["wilderness_area"]).to_numpy(np.float64)
    y = frame["class"].to_numpy()

    def trained(*, first, last, without=None):
        chosen = np.arange(first, last)
        chosen = chosen if without is None else chosen[area[chosen] != without]
        return DecisionTreeClassifier(max_depth=14, random_state=0).fit(X[chosen], y[chosen])

    held = slice(40_000, None)
    versions = {
        "production": trained(first=0, last=20_000),
        "other-rows": trained(first=20_000, last=40_000),
        "without-an-area": trained(first=0, last=20_000, without=SPOILED),
    }
    predicted = {name: model.predict(X[held]) for name, model in versions.items()}
    return pd.DataFrame({"label": y[held], "area": area[held].to_numpy(), **predicted}).reset_index(names="id")


def files(rows, folder, *names):
    for name in names:
        frame = rows[["id", "label", "area"]].assign(prediction=rows[name])
        frame.to_parquet(folder / f"{name}.parquet", index=False)
    return [str(folder / f"{name}.parquet") for name in names]


def test_a_regression_in_one_area_is_found_and_named(rows, tmp_path, capsys):
    paths = files(rows.iloc[:20_000], tmp_path, "production", "without-an-area")
    assert main(["compare", *paths, "--slice", "area", "--measure", "accuracy", "--measure", "macro-f1"]) == 1
    said = capsys.readouterr().out
    worse = [line.strip() for line in said.splitlines() if line.strip().startswith("worse:")]
    assert any(f"accuracy on area = {SPOILED}:" in line for line in worse)
    assert not any(f"area = {other}" in line for line in worse for other in ("area1", "area2", "area3"))
    right = rows.iloc[:20_000].query("area == @SPOILED")
    drop = 100 * ((right["without-an-area"] == right["label"]).mean() - (right["production"] == right["label"]).mean())
    assert any(f"area = {SPOILED}: {drop:+.2f} points" in line for line in worse)


def test_the_area_is_found_in_the_history_too(rows, tmp_path):
    (tmp_path / "study.toml").write_text(
        'kind = "regression"\nbaseline = "production.parquet"\n'
        'candidate = "without-an-area.parquet"\nslices = ["area"]\n'
    )
    files(rows.iloc[:20_000], tmp_path, "production", "without-an-area")
    output = tmp_path / "out"
    assert main(["run", str(tmp_path / "study.toml"), "--output", str(output), "--quiet"]) == 1
    found = pd.read_parquet(output / "history")
    failed = set(found.loc[found["row_verdict"] == "fail", "slice"])
    assert f"area = {SPOILED}" in failed
    assert failed <= {f"area = {SPOILED}", "all rows"}


def test_without_a_regression_false_alarms_keep_their_level_over_all_areas(rows):
    # Outputs swapped at random row by row: exactly equal models, which differ as two real ones do.
    rng = np.random.default_rng(11)
    labels = sorted(rows["label"].astype(str).unique())
    areas = sorted(rows["area"].unique())
    columns = {name: np.searchsorted(labels, rows[name].astype(str)) for name in ("label", "production", "other-rows")}
    where = np.searchsorted(areas, rows["area"])
    repetitions, alarms = 200, 0
    for _ in range(repetitions):
        chosen = rng.choice(len(rows), size=3000, replace=False)
        label, first, second = (column[chosen] for column in columns.values())
        swapped = rng.random(3000) < 0.5
        a, b = np.where(swapped, second, first), np.where(swapped, first, second)
        slices = {"area": (tuple(areas), where[chosen])}
        joined = Joined(label, a, b, tuple(labels), None, slices, False, ())
        alarms += compare(joined, Rule(minimum_effect=0.0)).verdict == "fail"
    assert alarms <= binom.isf(1e-6, repetitions, 0.05)
    assert alarms > 0  # a test that never rejects keeps its level too
