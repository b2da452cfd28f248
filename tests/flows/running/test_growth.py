"""A study that grows in its output: what is stored stays byte for byte, and what would change it is refused."""

import json
import shutil

import pytest

from sigstats.flows.api.run import run_study

STUDY = {
    "kind": "benchmark",
    "name": "s",
    "seed": 4,
    "datasets": ["iris"],
    "classifiers": ["1-nn", "lda"],
    "cross_validation": {"folds": 5, "repeats": 2},
    "permutation": {"nulls": ["labels"], "resamples": 25},
    "tests": ["permutation", "mcnemar", "corrected-resampled"],
}


def replicates(output):
    found = {}
    for path in sorted((output / "replicates").rglob("*.parquet")):
        found[path.parent.name, path.name] = path.read_bytes()
    return found


def receipts(output):
    """The cells of which blocks were computed by the last run."""
    return {path.stem for path in (output / "receipts").glob("*.json")} if (output / "receipts").exists() else set()


def forget_receipts(output):
    for path in (output / "receipts").glob("*.json"):
        path.unlink()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    output = tmp_path_factory.mktemp("study")
    run_study(STUDY, output=output, cluster="serial")
    return output


@pytest.fixture
def output(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "output")
    forget_receipts(tmp_path / "output")
    return tmp_path / "output"


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "computed"),
    [
        ({"classifiers": ["1-nn", "lda", "naive-bayes"]}, {"naive-bayes"}),
        ({"datasets": ["iris", "wine"]}, {"wine"}),
        ({"alpha": 0.1, "adjust": "none", "name": "other"}, set()),
        ({"tests": ["mcnemar"]}, set()),
        ({"permutation": {"nulls": ["labels", "features"], "resamples": 25}}, {"features"}),
        ({"cross_validation": {"folds": 5, "repeats": 4}}, {"repetition"}),
        ({"permutation": {"nulls": ["labels"], "resamples": 57}}, {"retrain"}),
    ],
)
def test_what_is_stored_is_taken_up(output, tmp_path, more, computed):
    before = replicates(output)
    found = run_study({**STUDY, **more}, output=output, cluster="serial")
    for cell in receipts(output):
        assert any(part in cell for part in computed)
    anew = run_study({**STUDY, **more}, output=tmp_path / "anew", cluster="serial")
    assert found.summary.drop(columns="study").equals(anew.summary.drop(columns="study"))
    after, expected = replicates(output), replicates(tmp_path / "anew")
    assert {key: after[key] for key in expected} == expected
    kept = [key for key in before if not any(part in key[0] for part in computed)]
    assert kept
    assert all(after[key] == before[key] for key in kept)


def test_the_whole_lanes_of_a_smaller_plan_are_not_drawn_again(output):
    run_study({**STUDY, "permutation": {"nulls": ["labels"], "resamples": 57}}, output=output, cluster="serial")
    for path in (output / "receipts").glob("retrain*.json"):
        blocks = json.loads(path.read_text())["blocks"]
        assert min(int(block["first"]) for block in blocks) == 20  # 25 were stored, in lanes of 10


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        (
            {"seed": 5},
            "study.seed is 4 there and 5 here; it would change 6 stored cells, cross-validation of iris, 1-nn and 5",
        ),
        ({"seed": 5, "classifiers": ["lda", "1-nn", "ridge"]}, "study.classifiers"),
        ({"cross_validation": {"folds": 4, "repeats": 2}}, "study.cross_validation.folds is 5 there and 4 here"),
        ({"permutation": {"nulls": ["labels"], "resamples": 24}}, "it would change 2 stored cells, retrains of iris"),
        ({"classifiers": ["1-nn", "ridge"]}, "it would lose 3 stored cells, cross-validation of iris, lda and 2 more"),
        ({"datasets": ["wine"]}, "it would lose 6 stored cells"),
    ],
)
def test_what_would_change_stored_cells_is_refused(output, other, complaint):
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match="contains another study") as raised:
        run_study({**STUDY, **other}, output=output, cluster="serial")
    assert complaint in str(raised.value)
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before
