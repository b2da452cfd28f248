"""Predictions from text files: what is in columns that nobody asked for decides nothing, and text stays as it is."""

import csv
import json
import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.files.predictions import Columns, join, read

PLAIN = [{"id": f"r{number}", "label": "cat", "prediction": "dog"} for number in range(4)]


def lines(path, rows, indent=None):
    path.write_text("".join(json.dumps(row, indent=indent) + "\n" for row in rows))
    return path


def table(path, rows):
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def seen(path, **columns):
    """What is read of a file, as lists; once it is large, in several pieces."""
    found = read(str(path), Columns().but(**columns))
    others = {name: values.to_pylist() for name, values in found.requested.items()}
    score = None if found.score is None else found.score.values.to_pylist()
    return found.ids.to_pylist(), found.outcomes.label.to_pylist(), found.outcomes.prediction.to_pylist(), others, score


@pytest.mark.parametrize(
    "unrelated",
    [
        [1, "one", None, True],
        [{"a": 1}, [1], {"a": "x"}, "2024-01-01T00:00:00"],
        ["short", "x" * 3_000_000, "short", "short"],
        ["short", "x" * 20_000_000, "short", "short"],  # longer than any piece
    ],
    ids=["kinds", "nested", "3 MB", "20 MB"],
)
def test_other_keys_of_json_lines_may_hold_anything(tmp_path, unrelated):
    rows = [row | {"answer": value} for row, value in zip(PLAIN, unrelated, strict=True)]
    assert seen(lines(tmp_path / "a.jsonl", rows)) == seen(lines(tmp_path / "b.jsonl", PLAIN))


@pytest.mark.long
@pytest.mark.parametrize(
    "answer", ["two\nlines, one\n\nis empty", 'with "quotes"', "x" * 3_000_000], ids=["lines", "quotes", "3 MB"]
)
def test_other_columns_of_a_table_may_hold_anything(tmp_path, answer):
    rows = [row | {"id": f"r{number}", "answer": answer} for number, row in enumerate(PLAIN * 20_000)]
    rows = rows[:5] if len(answer) > 1000 else rows
    plain = [{key: row[key] for key in PLAIN[0]} for row in rows]
    path = table(tmp_path / "a.csv", rows)
    assert path.stat().st_size > 2**21
    assert seen(path) == (*([row[key] for row in plain] for key in PLAIN[0]), {}, None)


def test_ids_are_the_same_text_in_every_format(tmp_path):
    times = ["2024-01-01T00:00:00", "2024-01-01", "2024-01-02T10:30:00Z", "2024-01-02 10:30:00"]
    rows = [row | {"id": time, "label": time, "prediction": time} for row, time in zip(PLAIN, times, strict=True)]
    sides = [lines(tmp_path / "a.jsonl", rows), table(tmp_path / "b.csv", rows)]
    assert [seen(side)[0] for side in sides] == [times, times]
    assert join(*(read(str(side), Columns()) for side in sides), Columns()).n == 4


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, 2, 30, 4], ["1", "2", "30", "4"]),
        (["1", "02", "3", "4"], ["1", "02", "3", "4"]),
        ([1.0, 2, 3, 4.0], ["1", "2", "3", "4"]),
        ([1, 2.0, 3, 4], ["1", "2", "3", "4"]),
        ([True, False, True, True], ["true", "false", "true", "true"]),
        ([1, 2**63, 2**64 + 1, 4], ["1", str(2**63), str(2**64 + 1), "4"]),
    ],
)
@pytest.mark.parametrize("indent", [None, 1], ids=["a line", "several lines"])
def test_ids_and_labels_of_json_may_be_numbers_or_truth_values(tmp_path, values, texts, indent):
    rows = [row | {"id": value, "label": value} for row, value in zip(PLAIN, values, strict=True)]
    ids, label, *_ = seen(lines(tmp_path / "a.jsonl", rows, indent), duplicates="all")
    assert ids == label == texts


@pytest.mark.parametrize(
    "scores", [[0, 1, 0.25, 1], [0.5, 1, 0, 0.25], ["0", "1", "0.25", "1e-1"], [True, False, 1, 0]]
)
def test_scores_of_json_are_numbers(tmp_path, scores):
    rows = [row | {"score": value} for row, value in zip(PLAIN, scores, strict=True)]
    path = lines(tmp_path / "a.jsonl", rows)
    if scores[0] is True:
        with pytest.raises(ValueError, match="column 'score' has booleans and numbers"):
            seen(path, score="score")
    else:
        assert seen(path, score="score")[-1] == [float(value) for value in scores]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([PLAIN[0] | {"id": 1}, PLAIN[1] | {"id": "1"}], "column 'id' has numbers and strings"),
        ([PLAIN[0] | {"label": [1]}, PLAIN[1]], "column 'label' has lists; expected text or numbers"),
        ([{name: [row[name] for row in PLAIN] for name in PLAIN[0]}], r"has lists; .* \(pandas: orient='records'\)"),
        ([PLAIN[0], PLAIN[1] | {"label": {"a": 1}}], "column 'label' has objects"),
        (
            [PLAIN[0] | {"label": 0.5}, PLAIN[1] | {"label": math.inf}],
            "column 'label' has a number that is not finite; expected finite numbers",
        ),
        ([PLAIN[0] | {"label": 1e300}, PLAIN[1] | {"label": 1.0}], "column 'label' has larger numbers"),
        ([PLAIN[0], PLAIN[1] | {"label": None}], "1 of 2 rows have no 'label': id 'r1'; add --unscored drop"),
        ([PLAIN[0], {"id": "x", "label": "cat"}], "1 of 2 rows have no 'prediction': id 'x'; add --unscored wrong"),
        ([{"idx": "x", "lebel": "cat", "predicted": "dog"}], r"not found; did you mean 'idx' \(--id idx\)\?"),
        ([{**row, "lebel": 1} for row in PLAIN], "column 'lebl' was not found"),
        ([PLAIN[0] | {"label": 10**400}, PLAIN[1] | {"label": 1.0}], "cannot be read as JSON-lines"),
        ([PLAIN[0], [1]], "row 1"),
    ],
)
def test_json_of_no_use_is_one_line(tmp_path, rows, complaint):
    columns = {"group": "lebl"} if "lebl" in complaint else {}
    path = lines(tmp_path / "a.jsonl", rows)
    with pytest.raises(ValueError, match=complaint) as caught:
        join(*2 * [read(str(path), Columns().but(**columns))], Columns().but(**columns))
    assert "a.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,label,label,prediction,x,x\n1,a,b,a,0,0\n")
    with pytest.raises(ValueError, match="column 'label' appears 2 times"):
        seen(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("id,label,prediction,x,x\n1,a,b,0,0\n")
    assert seen(tmp_path / "b.csv")[0] == ["1"]
    (tmp_path / "c.jsonl").write_text('{"id": 1, "label": "a", "label": "b", "prediction": "a"}\n')
    with pytest.raises(ValueError, match=r"c\.jsonl.*label"):
        seen(tmp_path / "c.jsonl")


def test_a_group_that_begins_late_is_no_group(tmp_path):
    path = lines(tmp_path / "a.jsonl", [*PLAIN[:3], PLAIN[3] | {"site": "s"}])
    with pytest.raises(ValueError, match=r"row 0 \(from 0\): column 'site' is empty"):
        seen(path, group="site")
    assert seen(lines(tmp_path / "b.jsonl", PLAIN), group="site")[3] == {}


def test_classes_and_ids_that_two_files_spell_differently_are_the_same(tmp_path):
    whole = [{"id": number, "label": number % 2, "prediction": 1} for number in range(4)]
    pointed = [{key: f"{value}.0" for key, value in row.items()} for row in whole]
    truths = [row | {"prediction": "True"} for row in pointed]
    for side in (pointed, truths):
        files = [table(tmp_path / "a.csv", whole), table(tmp_path / "b.csv", side)]
        found = join(*(read(str(file), Columns()) for file in files), Columns())
        assert (found.outcomes.classes, found.n) == (("0", "1"), 4)
        assert found.outcomes.a.tolist() == found.outcomes.b.tolist() == [1, 1, 1, 1]


def test_numbers_with_a_point_beside_classes_of_which_some_are_words(tmp_path):
    """A model that never says "other" writes 1.0 and 2.0 where the labels are 1, 2 and other."""
    rows = [{"id": n, "label": ("1", "2", "other")[n % 3], "prediction": ("1.0", "2.0")[n % 2]} for n in range(12)]
    files = [table(tmp_path / name, rows) for name in ("a.csv", "b.csv")]
    found = join(*(read(str(file), Columns()) for file in files), Columns())
    assert found.outcomes.classes == ("1", "2", "other")
    assert (found.outcomes.a == found.outcomes.label).tolist() == [row["prediction"][0] == row["label"] for row in rows]
    versions = [{"id": n, "label": ("1.0", "2.0")[n % 2], "prediction": ("1", "1.0", "2.0")[n % 3]} for n in range(12)]
    files = [table(tmp_path / name, versions) for name in ("a.csv", "b.csv")]
    assert join(*(read(str(file), Columns()) for file in files), Columns()).classes == ("1", "1.0", "2.0")


FORMS = {
    "whole": lambda values: [int(value) for value in values],
    "float": lambda values: [float(value) for value in values],
    "truth": lambda values: [bool(value) for value in values],
    "text": lambda values: [str(bool(value)) for value in values],
}


@pytest.mark.long
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("predicted", FORMS)
@pytest.mark.parametrize("label", FORMS)
def test_one_is_the_same_class_however_a_reader_finds_it(tmp_path, form, label, predicted):
    truth, guess = [1, 0, 1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 0, 1, 1, 0]
    rows = [
        {"id": n, "label": y, "prediction": p}
        for n, (y, p) in enumerate(zip(FORMS[label](truth), FORMS[predicted](guess), strict=True))
    ]
    file = tmp_path / f"a.{form}"
    if form == "csv":
        table(file, rows)
    elif form == "jsonl":
        lines(file, rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), file)
    other = table(tmp_path / "b.csv", [{"id": n, "label": y, "prediction": y} for n, y in enumerate(truth)])
    found = join(*(read(str(each), Columns()) for each in (file, other)), Columns())
    assert (found.outcomes.a == found.outcomes.label).tolist() == [y == p for y, p in zip(truth, guess, strict=True)]
    assert (found.outcomes.b == found.outcomes.label).all()


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.int8(), pa.uint64(), pa.decimal128(24, 2)], ids=str)
def test_one_is_the_same_class_in_every_type_of_parquet(tmp_path, kind):
    values = np.array([1, 0] * 4)
    guess = pa.array(values.astype(np.float16)) if kind == pa.float16() else pa.array(values).cast(kind)
    pq.write_table(pa.table({"id": range(8), "label": [1, 0, 0, 1] * 2, "prediction": guess}), tmp_path / "a.parquet")
    found = join(*2 * [read(str(tmp_path / "a.parquet"), Columns())], Columns())
    assert (found.outcomes.a == found.outcomes.label).tolist() == [True, True, False, False] * 2


def test_prose_with_commas_is_no_table(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# Real logs\n\nWritten by others, as found; names shortened.\n")
    with pytest.raises(ValueError, match="looks like text whose first line is '# Real logs'; expected "):
        read(str(path), Columns())
    path.write_text('"an\nid",label,prediction\n1,x,x\n')
    assert read(str(path), Columns(id="an\nid")).ids.to_pylist() == ["1"]


@pytest.mark.parametrize("ids", [[1, 2, 3], [3, 1, 2], [1, 2, 2], [-5, 0, 7]])
def test_ids_are_distinct_once_they_are_read(tmp_path, ids):
    paths = []
    for name, prediction in (("a", ["x", "y", "x"]), ("b", ["y", "y", "x"])):
        paths.append(tmp_path / f"{name}.parquet")
        pq.write_table(pa.table({"id": ids, "label": ["x", "y", "y"], "prediction": prediction}), paths[-1])
    if len(set(ids)) < 3:
        with pytest.raises(ValueError, match="1 of 3 rows repeat an id: id '2'; --group id or --epoch COLUMN takes"):
            read(str(paths[0]), Columns())
    else:
        first, other = (read(str(path), Columns()) for path in paths)
        assert first.distinct is first.ids
        found = join(first, other, Columns())
        assert [found.outcomes.classes[code] for code in found.outcomes.a] == ["x", "y", "x"]
        assert [found.outcomes.classes[code] for code in found.outcomes.b] == ["y", "y", "x"]


@pytest.mark.parametrize(("one", "other"), [("5", "5.0"), ("5", "05"), ("+5", "5."), ("0", "00.0"), ("x5", "x05")])
def test_one_number_in_two_forms_is_not_two_ids(tmp_path, one, other):
    path = tmp_path / "a.csv"
    path.write_text(f"id,label,prediction\n{one},x,x\n7,y,y\n{other},x,y\n")
    if one.startswith("x"):
        assert len(read(str(path), Columns()).ids) == 3
    else:
        with pytest.raises(ValueError, match=f"ids '{re.escape(one)}' and '{re.escape(other)}' are one number in two"):
            read(str(path), Columns())


@pytest.mark.parametrize("number", ["9" * 400, "-" + "9" * 310])
@pytest.mark.parametrize("column", ["label", "prediction"])
def test_a_number_that_no_float_holds_is_no_class(tmp_path, column, number):
    path = tmp_path / "a.csv"
    rows = [{"id": n, "label": "1", "prediction": "1"} | ({column: number} if n == 3 else {}) for n in range(5)]
    path.write_text("id,label,prediction\n" + "".join(f"{','.join(map(str, row.values()))}\n" for row in rows))
    with pytest.raises(ValueError, match=rf"a.csv, line 5: column '{column}': .*; expected a class, or a number below"):
        read(str(path), Columns())
    path.write_text("".join(json.dumps({name: int(value) for name, value in row.items()}) + "\n" for row in rows))
    with pytest.raises(ValueError, match=rf"a.csv, row 3 \(from 0\): column '{column}': .*; expected a class, or a"):
        read(str(path), Columns())
    path.write_text(f"id,label,prediction\n1,,1\n2,1,\n3,{number},1\n")  # beside answers that are missing
    with pytest.raises(ValueError, match=r"a.csv, line 4: column 'label': .*; expected a class, or a number below"):
        read(str(path), Columns())


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["950", "1.200", "12.345"], "the point in '1.200' may separate thousands"),
        ([*(f"{n}.{301 + 7 * n}" for n in range(1, 40) if n % 10), "7"], "may separate thousands"),
        (["1.250", "2.500", "3.125"], ";"),  # all with as many decimals
        (["1", "1.333", "4.667", "5"], ""),  # means of three
        (["1.25", "1.200", "7"], ""),
        (["0.123", "1.200", "7"], ""),
        (["0", "1.200", "3.400"], ";"),
    ],
)
def test_points_between_thousands_are_no_decimals(tmp_path, texts, said):
    for suffix, separator in (("csv", ","), ("txt", ";")):
        path = tmp_path / f"a.{suffix}"
        path.write_text(f"id{separator}latency_ms\n" + "".join(f"{n}{separator}{t}\n" for n, t in enumerate(texts)))
        if said == separator or len(said) > 1:  # semicolons may surround decimal commas
            with pytest.raises(ValueError, match="may separate thousands, since no" if said == ";" else said):
                read(str(path), Columns(score="latency_ms"))
        else:
            assert read(str(path), Columns(score="latency_ms")).score.values.to_pylist() == [float(t) for t in texts]


def test_measurements_in_thousands_are_no_decimals(tmp_path, refused, printed):
    """Labels and predictions from about 1,000 to 9,100, with a point for thousands, separated by semicolons."""
    rng = np.random.default_rng(3)
    label = rng.integers(1100, 9000, 40)
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    rows = [pd.DataFrame({"label": label, "prediction": label + rng.integers(-90, 90, 40)}) for _ in paths]
    options = ("compare", *paths, "--measure", "neg-mae", "--by-position")
    for path, frame in zip(paths, rows, strict=True):
        frame.map(lambda number: f"{number:,}".replace(",", ".")).to_csv(path, sep=";", index=False)
    assert "a.csv: column " in refused(*options)
    assert "may separate thousands, since no number shows that points are decimal" in refused(*options)
    for path, frame in zip(paths, rows, strict=True):  # decimals, of which some have fewer digits
        (frame / 1000).to_csv(path, sep=";", index=False)
    assert "neg-mae on all rows" in printed(*options)
