"""What may be deleted of an output, and what the program does without it."""

import fcntl

import pytest

import sigstats
from sigstats.flows.commands import main

from ..predictions import STUDY, write
from ..synthetic_study import make_study

TABLE = {"name": "ulcers", "counts": [[9, 7, 3], [15, 17, 13], [3, 7, 28]], "methods": ["exact", "monte-carlo"]}


@pytest.fixture
def output(tmp_path):
    sigstats.run_study({"kind": "significance", "tables": [TABLE], "resamples": 99}, output=tmp_path / "out")
    return tmp_path / "out"


def contents(output):
    return {str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*") if path.is_file()}


def test_the_summary_and_the_page_are_left_and_a_report_does_not_overwrite_them(output, printed, refused):
    before = contents(output)
    assert printed("prune", output, "--keep", "summary") == "deleted: receipts, replicates\n"
    after = contents(output)
    assert after == {name: content for name, content in before.items() if "/" not in name}
    assert {"summary.parquet", "report.html", "plan.parquet", "study.json"} <= after.keys()
    (line,) = refused("report", output).splitlines()
    assert "the replicates of 2 computations were deleted" in line
    assert contents(output) == after
    assert len(sigstats.open_results(output).summary) == 2
    assert printed("prune", output, "--keep", "summary") == "deleted: nothing\n"


def test_a_run_computes_what_was_deleted_again(output):
    before = contents(output)
    assert main(["prune", str(output), "--keep", "summary"]) == 0
    sigstats.run_study({"kind": "significance", "tables": [TABLE], "resamples": 99}, output=output)
    after = contents(output)
    kept = [name for name in before if not name.startswith(("receipts/", "finished"))]
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_with_replicates_kept_the_report_is_the_same(output):
    before = contents(output)
    assert main(["prune", str(output), "--keep", "replicates"]) == 0
    assert main(["report", str(output)]) == 0
    assert contents(output) == {name: content for name, content in before.items() if not name.startswith("receipts/")}


def test_a_report_of_an_interrupted_study_is_written(tmp_path):
    make_study(tmp_path / "out", datasets=["iris"], lost=(("iris", "1-nn", "labels"),), replicates=19)
    assert main(["report", str(tmp_path / "out")]) == 0


def test_nothing_is_deleted_of_a_gate_of_a_running_study_or_elsewhere(output, tmp_path, capsys, refused):
    write(tmp_path / "predictions/production.csv", n=300)
    write(tmp_path / "predictions/candidate-1.csv", n=300, seed=1)
    (tmp_path / "gate.toml").write_text(STUDY)
    main(["run", str(tmp_path / "gate.toml"), "--output", str(tmp_path / "gate"), "--quiet"])
    with (output / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for place, said in ((tmp_path / "gate", "contains no study that"), (output, "is locked by another run")):
            before = contents(place)
            capsys.readouterr()
            (line,) = refused("prune", place, "--keep", "summary").splitlines()
            assert said in line
            assert contents(place) == before
