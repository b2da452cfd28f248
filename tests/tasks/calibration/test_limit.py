"""Populations on disk that hold far more than their files are refused, within the limit of what is read."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.files.inputs.limit import Budget
from sigstats.tasks.calibration.populations.counts import count_outcomes
from sigstats.tasks.calibration.populations.prediction_files import scan_footers

from ...sigstats.files.inputs.test_input_files import LIMIT, read_in_a_process

NAMES = {"label": "label", "a": "a", "b": "b"}

_COUNTS = """from sigstats.tasks.calibration.populations.prediction_files import scan_footers
    scan_footers("p", sys.argv[1], Path(), label="label", a="a", b="b").count_all()"""
_SCORES = """from sigstats.tasks.calibration.populations.scored import read_scores
    columns = {"label": "label", "a": "a", "b": "b"}
    read_scores("p", sys.argv[1], Path(), columns=columns, positive=1, measures=["auc"])"""


def table(column):
    return pa.table(dict.fromkeys(NAMES, column))


def in_groups(path, columns, times, **options):
    """A file of the same row group many times."""
    with pq.ParquetWriter(path, columns.schema, compression="zstd", **options) as writer:
        for _ in range(times):
            writer.write_table(columns)


def bomb(path, kind):
    """A file of few bytes that holds more than the limit."""
    if kind == "scores":
        in_groups(path, table(pa.array(np.ones(2**20))), 16)
    elif kind == "one group of scores":
        pq.write_table(table(pa.array(np.ones(5_000_000))), path, compression="zstd", row_group_size=2**26)
    elif kind == "prefixes":
        coding = dict.fromkeys(NAMES, "DELTA_BYTE_ARRAY")
        long = pa.array(["x" * 10**6] * 300)
        in_groups(path, table(long), 1, use_dictionary=False, column_encoding=coding)
    elif kind == "lists":
        lists = pa.ListArray.from_arrays(
            pa.array([0, 20_000_000], pa.int32()), pa.array(np.zeros(20_000_000, np.int64))
        )
        in_groups(path, pa.table({"label": lists, "a": lists, "b": lists}), 1)
    elif kind == "numbers that are no labels":
        coding = dict.fromkeys(NAMES, "DELTA_BINARY_PACKED")
        in_groups(path, table(pa.array(np.arange(10**6))), 1, use_dictionary=False, column_encoding=coding)
    else:
        in_groups(path, table(pa.array(["x" * (4 * 10**7)])), 1)
    return path


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("scores", _SCORES),
        ("one group of scores", _SCORES),
        ("lists", _COUNTS),
        ("numbers that are no labels", _COUNTS),
        ("long values", _COUNTS),
        ("prefixes", _COUNTS),
    ],
)
def test_a_population_larger_than_the_limit_is_refused_before_it_is_held(tmp_path, kind, call):
    path = bomb(tmp_path / "bomb.parquet", kind)
    assert path.stat().st_size < LIMIT / 10
    said, taken = read_in_a_process(path, call)
    wanted = "row group 0: cannot be read" if kind == "prefixes" else "takes more than 100 MB of memory"
    assert said.startswith(str(path))
    assert wanted in said
    assert taken < 1.5 * LIMIT


def test_a_dictionary_that_names_a_label_twice_is_counted_as_one(tmp_path):
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1], pa.int8()), pa.array(["x", "y", "x"]))
    counts = count_outcomes("file", tuple(NAMES), [twice] * 3, Budget("file"))
    assert counts == {("x",) * 3: 2, ("y",) * 3: 2}


def test_a_pipe_is_no_population(tmp_path):
    path = tmp_path / "pipe.parquet"
    os.mkfifo(path)
    with pytest.raises(ValueError, match=r"pipe\.parquet: is not a file; expected a Parquet file"):
        scan_footers("p", str(path), tmp_path, **NAMES)
