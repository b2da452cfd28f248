"""A study of any kind that grows in its output: what is stored stays, and what would change it is refused."""

import json
import shutil

import pandas as pd
import pytest

from sigstats.flows.api.run import run_study
from sigstats.flows.commands import main

from ..conftest import study_file
from ..predictions import STUDY as NIGHTLY
from ..predictions import write

BENCHMARK = {
    "kind": "benchmark",
    "name": "b",
    "seed": 4,
    "datasets": ["iris"],
    "classifiers": ["1-nn", "lda"],
    "cross_validation": {"folds": 5, "repeats": 2},
    "permutation": {"nulls": ["labels"], "resamples": 25},
    "tests": ["permutation", "mcnemar", "corrected-resampled"],
}
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


@pytest.fixture(scope="module")
def finished_copy(tmp_path_factory):
    """Copies a finished study, which is run once."""
    made = {}

    def copy(study, output):
        kind = study["kind"]
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind)
            finished(study, made[kind])
        shutil.copytree(made[kind], output)
        return output

    return copy


@pytest.mark.long
@pytest.mark.parametrize(
    ("study", "more", "parts"),
    [
        (BENCHMARK, {"classifiers": ["1-nn", "lda", "naive-bayes"]}, {"naive-bayes"}),
        (BENCHMARK, {"datasets": ["iris", "wine"]}, {"wine"}),
        (BENCHMARK, {"alpha": 0.1, "adjust": "none", "name": "other"}, set()),
        (BENCHMARK, {"tests": ["mcnemar"]}, set()),
        (BENCHMARK, {"permutation": {"nulls": ["labels", "features"], "resamples": 25}}, {"features"}),
        (BENCHMARK, {"cross_validation": {"folds": 5, "repeats": 4}}, {"repetition"}),
        (BENCHMARK, {"permutation": {"nulls": ["labels"], "resamples": 57}}, {"retrain"}),
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
def test_a_finished_study_computes_only_what_is_new(finished_copy, tmp_path, study, more, parts):
    output = finished_copy(study, tmp_path / "grown")
    before = content(output)
    grown = run_study({**study, **more}, output=output, cluster="serial")
    cells = computed(output)
    assert bool(cells) == bool(parts)
    assert all(any(part in cell for part in parts) for cell in cells)
    anew = run_study({**study, **more}, output=tmp_path / "anew", cluster="serial")
    assert grown.summary.equals(anew.summary)
    after = content(output)
    assert {name: after[name] for name in content(tmp_path / "anew")} == content(tmp_path / "anew")
    kept = {name: found for name, found in before.items() if not any(part in name for part in parts)}
    assert {name: after[name] for name in kept} == kept


def test_the_whole_lanes_of_fewer_permutations_are_not_drawn_again(finished_copy, tmp_path):
    output = finished_copy(BENCHMARK, tmp_path / "grown")
    run_study({**BENCHMARK, "permutation": {"nulls": ["labels"], "resamples": 57}}, output=output, cluster="serial")
    for firsts in computed(output).values():
        assert min(firsts) == 20  # 25 were stored, in lanes of 10


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
        (
            BENCHMARK,
            {"seed": 5},
            "study.seed is 4 there and 5 here; it would change 6 stored cells, cross-validation of iris, 1-nn and 5",
        ),
        (BENCHMARK, {"seed": 5, "classifiers": ["lda", "1-nn", "ridge"]}, "study.classifiers"),
        (BENCHMARK, {"cross_validation": {"folds": 4, "repeats": 2}}, "study.cross_validation.folds is 5 there and 4"),
        (BENCHMARK, {"permutation": {"nulls": ["labels"], "resamples": 24}}, "change 2 stored cells, retrains of iris"),
        (BENCHMARK, {"classifiers": ["1-nn", "ridge"]}, "lose 3 stored cells, cross-validation of iris, lda and 2"),
        (BENCHMARK, {"datasets": ["wine"]}, "it would lose 6 stored cells"),
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
def test_what_would_change_or_lose_stored_cells_is_refused(finished_copy, tmp_path, study, other, complaint):
    output = finished_copy(study, tmp_path / "grown")
    before = content(output, "**/*")
    with pytest.raises(ValueError, match="contains another study") as raised:
        run_study({**study, **other}, output=output, cluster="serial")
    assert complaint in str(raised.value)
    assert content(output, "**/*") == before


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
