"""Columns of half and of single precision stand for the decimals that they print."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigstats
from sigstats.files.predictions import Columns, read
from sigstats.files.tables.spelling import to_decimals
from sigstats.files.tables.table import Table


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@given(data=st.data())
def test_a_float_is_the_shortest_decimal_that_rounds_to_it(kind, data):
    width = np.dtype(kind).itemsize * 8
    values = data.draw(st.lists(st.none() | st.floats(width=width, allow_nan=False), max_size=20))
    column = pa.array([None if each is None else kind(each) for each in values], pa.from_numpy_dtype(kind))
    found = to_decimals(column)
    assert found.type == pa.float64()
    for each, number in zip(values, found.to_pylist(), strict=True):
        if each is None:
            assert number is None
        elif not math.isfinite(each) or each == math.floor(each):
            assert number == each
        else:
            assert kind(number) == kind(each)
            assert number == float(np.format_float_scientific(kind(each), unique=True))


def test_columns_of_a_table_are_read_so_whatever_their_chunks_and_codes():
    parts = pa.chunked_array([pa.array([0.1, 0.3], pa.float32()), pa.array([0.7], pa.float32())])
    coded = pa.array([0.1, 0.3, 0.1], pa.float32()).dictionary_encode()
    table = Table("scores.parquet", pa.table({"parts": parts, "coded": coded}))
    assert table.numbers("parts").to_pylist() == [0.1, 0.3, 0.7]
    assert table.numbers("coded").to_pylist() == [0.1, 0.3, 0.1]
    assert table.texts("parts").to_pylist() == ["0.1", "0.3", "0.7"]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_scores_of_a_parquet_file_have_the_ties_of_their_decimals(tmp_path, kind):
    rng = np.random.default_rng(20)
    tenths = rng.integers(2, 11, 60), rng.integers(0, 10, 60)
    scores = []
    for number, column in enumerate(tenths):
        path = tmp_path / f"{number}.parquet"
        rows = {"id": range(60), "label": [1] * 60, "prediction": [1] * 60}
        pq.write_table(pa.table({**rows, "score": pa.array(column / 10).cast(kind)}), path)
        scores.append(read(str(path), Columns(score="score")).score.values.to_numpy())
        np.testing.assert_array_equal(scores[-1], column / 10)
    of_file = sigstats.sign_flip_test(scores[0] - scores[1])
    assert of_file.pvalue == sigstats.sign_flip_test((tenths[0] - tenths[1]).tolist()).pvalue
