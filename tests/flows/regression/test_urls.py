"""Candidates and baselines behind URLs, with patterns."""

from pathlib import Path

import fsspec
import pandas as pd
import pytest

from sigstats.flows.commands import main

from ...object_store import client, object_store
from ..conftest import run, study_file
from ..predictions import STUDY, write

SECRET = "wJalrXUtnFEMIbPxRfiCY"


def of_bucket(folder, root):
    return study_file(folder, STUDY.replace("predictions/", f"{root}/predictions/"), "nightly.toml")


def candidates(output):
    rows = pd.read_parquet(output / "history").sort_values("evaluated_at").drop_duplicates("evaluation")
    return list(rows["candidate"]), list(rows["baseline"]), list(rows["verdict"])


@pytest.mark.long
def test_matches_of_a_pattern_are_taken_up_in_order(tmp_path, capsys, refused):
    root, system = "memory://gate", fsspec.filesystem("memory")

    def put(name, **of):
        system.pipe_file(f"/gate/predictions/{name}", Path(write(tmp_path / name, **of)).read_bytes())

    study = of_bucket(tmp_path, root)
    words = ["run", str(study), "--output", str(tmp_path / "out")]
    put("production.csv", wrong=0.12)
    put("candidate-2026-11-01.csv", wrong=0.09, seed=1)
    assert main(words) == 0
    put("candidate-2026-11-02.csv", wrong=0.42, seed=2)
    put("candidate-2026-11-03.csv", wrong=0.09, seed=3)
    assert main(words) == 1  # both are due
    compared, baselines, verdicts = candidates(tmp_path / "out")
    assert [name.rpartition("/")[2] for name in compared] == [f"candidate-2026-11-0{day}.csv" for day in (1, 2, 3)]
    assert all(name.startswith("memory://") for name in compared)
    assert {*baselines} == {f"{root}/predictions/production.csv"}
    assert verdicts[1] == "fail" not in (verdicts[0], verdicts[2])
    put("candidate-2026-10-01.csv", wrong=0.42, seed=4)  # by its date it comes before those that were compared
    assert main(words) == 0
    put("candidate-1.csv", wrong=0.42, seed=4)  # no date, and made after the last run
    assert "candidate-1.csv" in refused(*words)
    capsys.readouterr()
    said = refused(*words, "--set", f'candidate="s3://key:{SECRET}@bucket/candidate-*.csv"')
    assert "candidate" in said
    assert SECRET not in said


@pytest.mark.long
def test_predictions_in_a_bucket_are_compared_there(tmp_path, monkeypatch):
    with object_store("nights") as environment:
        bucket = client(environment)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

        def put(name, **of):
            content = Path(write(tmp_path / name, **of)).read_bytes()
            bucket.put_object(Bucket="nights", Key=f"predictions/{name}", Body=content)

        study = of_bucket(tmp_path, "s3://nights")
        words = ["run", study, "--output", tmp_path / "out"]
        put("production.csv", wrong=0.12)
        put("candidate-1.csv", wrong=0.09, seed=1)
        assert run(*words).returncode == 0
        put("candidate-2.csv", wrong=0.42, seed=2)
        assert run(*words).returncode == 1
    names = [f"s3://nights/predictions/candidate-{number}.csv" for number in (1, 2)]
    compared, _, verdicts = candidates(tmp_path / "out")
    assert (compared, verdicts[1]) == (names, "fail")
