"""Finished calibration, significance and regression studies that grow, and what would change what they stored."""

import json

import pandas as pd
import pytest

from sigstats.flows.api.run import run_study
from sigstats.flows.cli import main

from ..conftest import study_file
from ..predictions import STUDY as NIGHTLY
from ..predictions import write

STURM = {"name": "10 classes", "source": "sturm", "classes": 10, "right": [0.0]}
CALIBRATION = {
    "kind": "calibration",
    "name": "c",
    "seed": 4,
    "sizes": [40],
    "trials": 40,
    "populations": [STURM],
    "tests": [{"test": "mcnemar"}],
}
SAMPLES = {
    "name": "A1",
    "a": "A",
    "b": "B",
    "counts_a": [18, 27, 45, 10],
    "counts_b": [20, 30, 50, 0],
    "methods": ["exact", "monte-carlo"],
}
SIGNIFICANCE = {"kind": "significance", "name": "s", "seed": 4, "resamples": 199, "samples": [SAMPLES]}
PAIR = {"name": "table", "a": "A", "b": "B", "only_a": 3, "only_b": 9, "n": 100}


def content(output, pattern="replicates/**/*.parquet"):
    return {path.relative_to(output).as_posix(): path.read_bytes() for path in output.glob(pattern) if path.is_file()}


def computed(output):
    """The first replicates of the blocks that were computed since the receipts were removed, by cell."""
    paths = [path for path in (output / "receipts").glob("*.json") if path.stem != "workers"]
    return {path.stem: [int(block["first"]) for block in json.loads(path.read_text())["blocks"]] for path in paths}


def finished(study, output):
    run_study(study, output=output, cluster="serial")
    for path in (output / "receipts").glob("*.json"):
        path.unlink()
    return content(output)


@pytest.mark.long
@pytest.mark.parametrize(
    ("study", "more", "parts"),
    [
        (CALIBRATION, {"trials": 90}, {"subsample"}),
        (CALIBRATION, {"sizes": [40, 80]}, {".r-0.80."}),
        (CALIBRATION, {"tests": [{"test": "mcnemar"}, {"test": "proportion"}]}, {"proportion"}),
        (CALIBRATION, {"populations": [STURM, {**STURM, "name": "other"}]}, {"other"}),
        (CALIBRATION, {"alpha": 0.1, "adjust": "none", "name": "another"}, set()),
        (SIGNIFICANCE, {"resamples": 499}, {"replicate"}),
        (SIGNIFICANCE, {"samples": [{**SAMPLES, "methods": ["exact", "monte-carlo", "chi2"]}]}, {"chi2"}),
        (SIGNIFICANCE, {"samples": [SAMPLES, {**SAMPLES, "name": "A2"}]}, {".a2."}),
        (SIGNIFICANCE, {"pairs": [PAIR]}, {"mcnemar"}),
        (SIGNIFICANCE, {"alpha": 0.1, "adjust": "none", "name": "another"}, set()),
    ],
)
def test_a_finished_study_computes_only_what_is_new(tmp_path, study, more, parts):
    before = finished(study, tmp_path / "grown")
    grown = run_study({**study, **more}, output=tmp_path / "grown", cluster="serial")
    cells = computed(tmp_path / "grown")
    assert bool(cells) == bool(parts)
    assert all(any(part in cell for part in parts) for cell in cells)
    anew = run_study({**study, **more}, output=tmp_path / "anew", cluster="serial")
    assert grown.summary.equals(anew.summary)
    after = content(tmp_path / "grown")
    assert {name: after[name] for name in content(tmp_path / "anew")} == content(tmp_path / "anew")
    kept = {name: found for name, found in before.items() if not any(part in name for part in parts)}
    assert {name: after[name] for name in kept} == kept


@pytest.mark.parametrize(
    ("study", "key", "fewer", "least"), [(CALIBRATION, "trials", 240, 200), (SIGNIFICANCE, "resamples", 25_000, 20_000)]
)
def test_the_whole_lanes_of_a_smaller_plan_are_not_drawn_again(tmp_path, study, key, fewer, least):
    finished({**study, key: fewer}, tmp_path)
    run_study({**study, key: fewer + 300}, output=tmp_path, cluster="serial")
    (firsts,) = computed(tmp_path).values()
    assert min(firsts) >= least


@pytest.mark.parametrize(
    ("study", "other", "complaint"),
    [
        (CALIBRATION, {"seed": 5}, "it would change 1 stored cell, test sets of 10 classes, r = 0%, 40"),
        (CALIBRATION, {"trials": 20}, "study.trials is 40 there and 20 here; it would change 1 stored cell, test sets"),
        (CALIBRATION, {"populations": [{**STURM, "classes": 5}]}, "it would change 1 stored cell, test sets of 10"),
        (CALIBRATION, {"populations": [{**STURM, "name": "other"}]}, "it would lose 1 stored cell, test sets of 10"),
        (SIGNIFICANCE, {"seed": 5}, "it would change 2 stored cells, test of homogeneity, A1, A, B, exact"),
        (SIGNIFICANCE, {"resamples": 99}, "it would change 1 stored cell, random tables of homogeneity, A1, A, B"),
        (SIGNIFICANCE, {"samples": [{**SAMPLES, "counts_a": [18, 27, 44, 11]}]}, "it would change 2 stored cells"),
        (SIGNIFICANCE, {"samples": [{**SAMPLES, "name": "A2"}]}, "it would lose 2 stored cells, test of homogen"),
    ],
)
def test_what_would_change_or_lose_stored_cells_is_refused(tmp_path, study, other, complaint):
    finished(study, tmp_path)
    before = content(tmp_path, "**/*")
    with pytest.raises(ValueError, match="contains another study") as raised:
        run_study({**study, **other}, output=tmp_path, cluster="serial")
    assert complaint in str(raised.value)
    assert content(tmp_path, "**/*") == before


@pytest.mark.long
@pytest.mark.parametrize(
    "setting",
    [
        'measures=["accuracy", "macro-f1", "kappa"]',
        "slices=[]",
        "rule.resamples=1999",
        'candidate="predictions/other-*.csv"',
    ],
)
def test_a_regression_study_keeps_its_history_as_it_grows(tmp_path, setting):
    study = study_file(tmp_path, NIGHTLY, "nightly.toml")
    write(tmp_path / "predictions/production.csv", wrong=0.12)
    write(tmp_path / "predictions/candidate-1.csv", wrong=0.08, seed=1)
    write(tmp_path / "predictions/other-1.csv", wrong=0.09, seed=2)
    output = tmp_path / "out"
    command = ["run", str(study), "--output", str(output), "--quiet"]
    assert main(command) == 0
    before = content(output, "history/**/*.parquet")
    assert main([*command, "--set", setting]) == 0
    after = content(output, "history/**/*.parquet")
    assert before.items() < after.items()
    assert sorted(pd.read_parquet(output / "history")["look"].unique()) == [1, 2]  # each evaluation of the same rows
