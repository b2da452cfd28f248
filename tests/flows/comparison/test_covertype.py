"""Two versions of a model of forest cover, with a regression in one wilderness area and with none."""

import importlib.util

import pandas as pd
import pytest

from sigstats.flows.commands import main


@pytest.fixture(scope="module")
def example(repository):
    """The program that makes the example's predictions."""
    found = importlib.util.spec_from_file_location("example", repository / "tools" / "example_predictions.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def versions(example, shared_data):
    """What the model in use says of held-out places, one without an area, and one of other places."""
    return example.forest_cover(shared_data / "covertype.parquet")


@pytest.fixture
def files(versions, tmp_path):
    for name in ("baseline", "candidate"):
        versions[name].iloc[:20_000].to_parquet(tmp_path / f"{name}.parquet", index=False)
    return tmp_path


@pytest.mark.long
def test_a_regression_in_one_area_is_found_and_named(example, versions, files, printed):
    paths = [str(files / f"{name}.parquet") for name in ("baseline", "candidate")]
    said = printed("compare", *paths, "--slice", "area", "--measure", "accuracy", "--measure", "macro-f1", code=1)
    worse = [line.strip() for line in said.splitlines() if line.strip().endswith(" fail")]
    assert any(line.startswith(f"area = {example.LOST}") and "accuracy" in line for line in worse)
    assert not any(f"area = {other}" in line for line in worse for other in ("area1", "area2", "area3"))
    right = [
        (one["prediction"] == one["label"])[one["area"] == example.LOST].mean()
        for one in (versions[name].iloc[:20_000] for name in ("baseline", "candidate"))
    ]
    drop = 100 * (right[1] - right[0])
    assert any(f"{drop:+.2f}".replace("-", "−") in line for line in worse)


@pytest.mark.long
def test_the_area_is_found_in_the_history_too(example, files):
    (files / "study.toml").write_text(
        'kind = "regression"\nbaseline = "baseline.parquet"\ncandidate = "candidate.parquet"\nslices = ["area"]\n'
    )
    assert main(["run", str(files / "study.toml"), "--output", str(files / "out"), "--quiet"]) == 1
    found = pd.read_parquet(files / "out" / "history")
    failed = set(found.loc[found["row_verdict"] == "fail", "slice"])
    assert f"area = {example.LOST}" in failed
    assert failed <= {f"area = {example.LOST}", "all rows"}
