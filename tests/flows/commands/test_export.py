"""The replicates of a study as other engines read them, beside what the study itself stores."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from scipy.stats import fisher_exact

import sigstats
from sigstats.flows.commands import main
from sigstats.tasks.plan import Cell
from sigstats.tasks.record import Work
from sigstats.tasks.results import folder_of

from ..synthetic_study import make_study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    make_study(folder / "out", datasets=["iris", "wine"], lost=(("wine", "1-nn", "labels"),), replicates=99)
    assert main(["export", str(folder / "out"), "--to", str(folder / "tables")]) == 0
    return sigstats.open_results(folder / "out"), folder / "tables"


def expected(results, fanout):
    frame = results.replicates(fanout=fanout).drop(columns="fanout")
    return frame.sort_values(list(frame.columns)).reset_index(drop=True)


def in_order(frame, columns):
    frame = frame[list(columns)].astype(
        {name: str for name in ("dataset", "classifier", "null_hypothesis") if name in columns}
    )
    return frame.sort_values(list(columns)).reset_index(drop=True)


@pytest.mark.parametrize("fanout", ["retrain", "crossval"])
@pytest.mark.parametrize("engine", ["pandas", "polars", "duckdb"])
def test_other_engines_read_the_replicates_with_their_subjects(study, fanout, engine):
    results, folder = study
    wanted = expected(results, fanout)
    place = folder / f"fanout={fanout}"
    if engine == "pandas":
        read = pd.read_parquet(place)
    elif engine == "duckdb":
        read = duckdb.sql(f"from read_parquet('{place}/**/*.parquet', hive_partitioning = true)").df()
    else:
        read = pl.read_parquet(place / "**/*.parquet", hive_partitioning=True).to_pandas()
    pd.testing.assert_frame_equal(in_order(read, wanted.columns), wanted, check_dtype=False)


def test_there_is_one_file_a_folder_and_each_column_states_its_unit(study):
    _, folder = study
    files = sorted(folder.rglob("*.parquet"))
    assert len({file.parent for file in files}) == len(files) == 2 * 4 + 2 * 4 * 2 - 1
    assert (folder / "fanout=retrain/dataset=iris/classifier=1-nn/null_hypothesis=labels/replicates.parquet") in files
    assert b"unit" in pq.read_schema(files[0]).field("replicate").metadata


def test_the_method_of_a_test_of_counts_is_stored_and_named_once(tmp_path):
    pair = {"name": "two", "a": "old", "b": "new", "counts_a": [3, 9], "counts_b": [7, 5]}
    study = {"kind": "significance", "samples": [pair]}
    results = sigstats.run_study(study, output=tmp_path / "out")
    frame = results.replicates()
    p = fisher_exact([[3, 9], [7, 5]]).pvalue
    assert (frame["method"].tolist(), frame["p_value"].tolist()) == (["exact"], [pytest.approx(p)])
    assert main(["export", results.output, "--to", str(tmp_path / "tables")]) == 0
    read = pd.read_parquet(tmp_path / "tables" / "fanout=evaluate")
    assert {"a": "old", "b": "new", "dataset": "two", "method": "exact"}.items() <= dict(read.iloc[0]).items()
    assert read["p_value"].tolist() == frame["p_value"].tolist()


def test_names_that_no_folder_may_have_are_encoded():
    of = {"fanout": "retrain", "version": 1, "work": Work(), "stream": {}, "seed": 0, "replicates": 1, "lane_size": 1}
    cell = Cell(subject={"dataset": "../a=b/ä", "classifier": "c"}, **of)
    assert folder_of(cell, ["dataset", "classifier"]) == "fanout=retrain/dataset=..%2Fa%3Db%2F%C3%A4/classifier=c"


def test_bad_places_are_refused_in_one_line_and_nothing_is_written(study, tmp_path, capsys, refused):
    results, folder = study
    for arguments, said in (
        ([results.output, "--to", results.output], "contains files; choose a new or empty folder"),
        ([results.output, "--to", str(folder)], "contains files; choose a new or empty folder"),
        ([str(tmp_path / "none"), "--to", str(tmp_path / "new")], "contains no study that is computed in cells"),
    ):
        capsys.readouterr()
        (line,) = refused("export", *arguments).splitlines()
        assert said in line
    assert not list(tmp_path.iterdir())
