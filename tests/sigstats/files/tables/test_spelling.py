"""A class is the same class in two columns that spell it differently."""

import pyarrow as pa
import pytest

from sigstats.files.tables.spelling import same_spelling


@pytest.mark.parametrize(
    ("columns", "alike"),
    [
        ((["1", "0"], ["1.0", "0.0"]), (["1", "0"], ["1", "0"])),
        ((["1.0", "-2."], ["-2", "30"]), (["1", "-2"], ["-2", "30"])),
        ((["1", "0"], ["True", "False"]), (["1", "0"], ["1", "0"])),
        ((["1.0", "0.0"], ["true", "false"]), (["1", "0"], ["1", "0"])),
        ((["True", "False"], ["true", "true"]), (["true", "false"], ["true", "true"])),
        ((["1", "0"], ["1.0", "0.0"], ["TRUE", "FALSE"]), (["1", "0"], ["1", "0"], ["1", "0"])),
        ((["True"], [None, "1"]), (["1"], [None, "1"])),
    ],
)
def test_a_column_that_differs_as_a_whole_is_spelled_as_the_others(columns, alike):
    found = same_spelling([pa.array(column, pa.string()) for column in columns])
    assert [column.to_pylist() for column in found] == list(map(list, alike))


@pytest.mark.parametrize(
    "columns",
    [
        (["007", "7"], ["7", "007"]),
        (["1.0", "x"], ["1", "x"]),
        (["1.0", "2.5"], ["1", "2"]),
        (["1.0", "0.0"], ["1.0", "2.0"]),
        (["1e3"], ["1000"]),
        (["True", "maybe"], ["1", "0"]),
        (["True", "False"], ["2", "3"]),
        (["True"], ["True"]),
        (["NA", "null"], ["nan", ""]),
        ([], ["1"]),
    ],
)
def test_other_names_keep_their_spelling(columns):
    found = same_spelling([pa.array(column, pa.string()) for column in columns])
    assert [column.to_pylist() for column in found] == list(map(list, columns))
