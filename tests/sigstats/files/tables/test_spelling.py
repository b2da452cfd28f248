"""A class is the same class in two columns that spell it differently."""

import unicodedata

import pyarrow as pa
import pytest

import sigstats
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


@pytest.mark.parametrize("form", ["NFD", "NFKD"])
def test_ids_and_classes_in_two_forms_of_unicode_are_the_same(tmp_path, form):
    """Two forms of a letter are one text (Unicode Standard Annex 15), which editors show alike."""
    rows = [(f"Å{number}", *pair) for number, pair in enumerate([("é", "é"), ("é", "ü"), ("ü", "ü")] * 9)]
    text = "id,y_true,y_pred\n" + "".join(f"{','.join(row)}\n" for row in rows)
    composed, taken_apart = tmp_path / "composed.csv", tmp_path / "apart.csv"
    composed.write_text(unicodedata.normalize("NFC", text), encoding="utf-8")
    taken_apart.write_text(unicodedata.normalize(form, text), encoding="utf-8")
    found = sigstats.compare(*map(sigstats.read_predictions, (composed, taken_apart)))
    assert (found.rows[0].n, found.rows[0].difference, found.rows[0].candidate) == (27, 0, 18 / 27)
