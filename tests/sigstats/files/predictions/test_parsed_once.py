"""A file of predictions is parsed once, however many scores and models of it are asked for."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.files.frames import _columns as frames
from sigstats.files.predictions import readers
from sigstats.flows.commands import main

from ....tables import save
from .logs import harness_log

SCORES = ("latency_ms", "cost_usd", "mark")
NAMED = [part for name in SCORES for part in ("--score", name)]


@pytest.fixture
def parsed(monkeypatch):
    """How often each path was parsed."""
    counts, parse = Counter(), readers.read_file
    for module in ("_files", "readers"):
        monkeypatch.setattr(
            f"sigstats.files.predictions.{module}.read_file",
            lambda path, columns: counts.update([path]) or parse(path, columns),
        )
    return counts


def write_tables(folder, ending):
    rng = np.random.default_rng(3)
    frames_ = [pd.DataFrame({"id": range(40), **{name: rng.random(40).round(3) for name in SCORES}}) for _ in "ab"]
    return [str(save(frame, folder / f"{name}.{ending}")) for frame, name in zip(frames_, "ab", strict=True)]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_three_scores_of_two_tables_are_two_parses(parsed, tmp_path, ending):
    paths = write_tables(tmp_path, ending)
    assert main(["compare", *paths, *NAMED, "--higher-is-better", "mark", "--json", str(tmp_path / "out")]) in (0, 1)
    assert parsed == dict.fromkeys(paths, 1)


def test_a_frame_of_three_scores_is_one_parse(parsed, tmp_path):
    path, _ = write_tables(tmp_path, "csv")
    frame = sigstats.read_predictions(path, score=SCORES)
    assert [*frame.columns] == ["id", *SCORES]
    assert parsed == {path: 1}


def test_all_scores_of_two_logs_are_two_parses(parsed, tmp_path):
    documents = [{"acc": row % 2, "acc_norm": int(row % 3 == 0)} for row in range(30)]
    paths = [harness_log(tmp_path / f"{name}.jsonl", documents) for name in "ab"]
    assert main(["compare", *paths, "--score", "all", "--json", str(tmp_path / "out")]) == 0
    assert parsed == dict.fromkeys(paths, 1)


def test_a_frame_of_three_scores_becomes_one_table(monkeypatch, tmp_path):
    tables, table = [], frames.Table
    monkeypatch.setattr(frames, "Table", lambda *given, **named: tables.append(given) or table(*given, **named))
    baseline, candidate = (pd.read_csv(path) for path in write_tables(tmp_path, "csv"))
    result = sigstats.compare(baseline, candidate, score=SCORES, higher_is_better="mark")
    assert {row.score for row in result.rows} == {*SCORES}
    assert len(tables) == 2


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_score_and_a_cost_are_one_parse_of_each_table(parsed, tmp_path, ending):
    paths = write_tables(tmp_path, ending)
    options = ["--score", "mark", "--higher-is-better", "mark", "--cost", "cost_usd"]
    assert main(["rank", *paths, *options, "--json", str(tmp_path / "out")]) == 0
    assert parsed == dict.fromkeys(paths, 1)


def test_the_doctor_parses_a_table_once_before_it_tries_commands(parsed, tmp_path, monkeypatch):
    path, _ = write_tables(tmp_path, "parquet")
    monkeypatch.setattr("sigstats.flows.commands.doctor._refusal", lambda *_: "")
    assert main(["doctor", path]) == 0
    assert parsed == {path: 1}


def test_a_file_that_is_given_twice_is_parsed_once(parsed, tmp_path, refused):
    path, _ = write_tables(tmp_path, "csv")
    assert "is both BASELINE and CANDIDATE" in refused("compare", path, path, "--score", "mark")
    assert parsed == {path: 1}
