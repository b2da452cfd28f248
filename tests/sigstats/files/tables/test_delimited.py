"""Delimited text: two parsers that agree, and numbers where numbers are asked for."""

import csv
import io
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sigstats.files.tables import _records, delimited
from sigstats.files.tables.delimited import DelimitedTable
from sigstats.files.tables.table import WithMissing

from ....examples import examples

#: What makes or breaks a field.
PARTS = [
    *("a", "b", "07", "é", " ", "\u00a0", "\x1c", '"', '""', ",", "\n", "\r\n", "\r", "\x00"),
    *('","', '"\r"', '"\n', '\n"', '\n"a\nb",c\n', 'x,"\n"', ',""'),
]


def by_both(content, separator=","):
    names, _, start, lines = _records.header(content, "t", separator)
    positions = list(range(len(names)))
    fast = delimited.read_columns(content, separator, len(names), positions, start=start)
    rows = _records.records(content, "t", separator, start=start, line=lines)
    return fast, lambda: _records.read_columns(rows, "t", len(names), positions)


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=examples(1500))
@given(st.lists(st.sampled_from(PARTS), max_size=60).map("".join), st.sampled_from([8, 16, 64, 2**20]))
@example('"a\nb",c\n' * 9, 8)
@example('a,"\n"\n"",""\n' * 9, 16)
def test_both_parsers_read_the_same(text, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_PIECE", piece)
        fast, slow = by_both(b"a,b\n" + text.encode())
    if fast is None:
        return
    (rows, columns), (other_rows, others) = fast, slow()
    assert rows == other_rows
    assert [columns[i].to_pylist() for i in columns] == [others[i].to_pylist() for i in others]


fields = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(['"', "\n", ",", "a,b", "\r\n", " x "])


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=examples(300))
@given(
    st.lists(st.tuples(fields, fields, fields), min_size=1, max_size=20),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_the_csv_module_writes_is_read_fast_and_whole(rows, quoting, separator, end):
    handle = io.StringIO(newline="")
    writer = csv.writer(handle, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(["x", "y", "z"])
    if quoting == csv.QUOTE_MINIMAL:  # it puts no quotes around a carriage return before Python 3.13
        rows = [tuple(field.replace("\r", "") for field in row) for row in rows]
    writer.writerows(rows)
    content = handle.getvalue().encode()
    assert by_both(content, separator)[0] is not None
    table = DelimitedTable("t", content)
    found = [table.texts_or_missing(name).to_pylist() for name in "xyz"]
    assert found == [[field.strip() or None for field in column] for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "0.25", "-3e-2", ".5", "7."], [1, 0.25, -0.03, 0.5, 7]),
        (["+1", "007", "1E3"], [1, 7, 1000]),
        (["True", "false", "TRUE", "0"], [1, 0, 1, 0]),
        (["0.1", "2.2250738585072014e-308", "9007199254740993"], [0.1, 2.2250738585072014e-308, 9007199254740992]),
    ],
)
def test_numbers_are_read_where_they_are_asked_for(texts, numbers):
    table = DelimitedTable("t", "\n".join(["x,y", *(f"{text},a" for text in texts)]).encode())
    np.testing.assert_array_equal(table.numbers("x").to_numpy(), np.array(numbers, dtype=float))
    assert table.texts("x").to_pylist() == texts


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("one", "'one' is not valid; expected a number"),
        ("nan", "nan is not finite; expected a number"),
        ("inf", "inf is not finite; expected a number"),
        ("1_000", "'1_000' is not valid; expected a number"),
        ("1,5", "'1,5' is not valid; expected a number"),
        ("true", "'true' is not valid; expected a number"),
        ("", " is empty; expected a value"),
    ],
)
def test_what_is_no_number_is_named_with_its_line(text, complaint):
    table = DelimitedTable("t.csv", f'x,y\n0.5,a\n\n"{text}",b\n'.encode())
    with pytest.raises(ValueError) as caught:
        table.numbers("x")
    assert str(caught.value).startswith("t.csv, line 4: column 'x'")
    assert str(caught.value).endswith(complaint)


def test_counts_are_whole_numbers_from_zero():
    table = DelimitedTable("t.csv", b"x,y,z\n12,1.0,-7\n007,2,0\n")
    assert table.counts("x") == [12, 7]
    for name, value in {"y": "1.0", "z": "-7"}.items():
        told = f"t.csv, line 2: column '{name}': '{value}' is not valid; expected a whole number, 0 or more"
        with pytest.raises(ValueError, match=re.escape(told)):
            table.counts(name)


def test_a_table_of_many_columns_is_read_by_name():
    names = [f"c{number}" for number in range(10_000)]
    content = "\n".join([",".join(names), ",".join(map(str, range(10_000)))]).encode()
    table = DelimitedTable("t", content, wanted=lambda _: ["c9999", "c3"])
    assert (table.texts("c9999").to_pylist(), table.texts("c3").to_pylist()) == (["9999"], ["3"])
    assert len(table.names) == 10_000


def test_names_may_be_given_and_the_first_line_is_a_row_then():
    table = DelimitedTable("t", b"1|x\n2|y\n", names=["a", "b"], separator="|")
    assert (table.texts("a").to_pylist(), table.row(1)) == (["1", "2"], "line 2")


def test_a_field_that_nothing_can_hold_is_called_too_long(monkeypatch):
    told = r"a field is longer than [0-9,]+ bytes, the most that can be read; expected less$"
    text = b'a,b\n1,x\n2,it"s ' + b"y" * 300 + b"\n"
    before = csv.field_size_limit(200)
    monkeypatch.setattr(_records, "_LONGEST", 200)
    try:
        with pytest.raises(ValueError, match="^t, line 3: " + told.replace("[0-9,]+", "200")):
            DelimitedTable("t", text)
    finally:
        csv.field_size_limit(before)

    def full(*_):
        raise pa.ArrowCapacityError("array cannot contain more than 2147483646 bytes, have 3000000005")

    monkeypatch.setattr(delimited.csv, "read_csv", full)
    with pytest.raises(ValueError, match="^t: " + told):
        DelimitedTable("t", b"a,b\n1,x\n")


@pytest.mark.parametrize(
    "text",
    [
        "| id | label |\n|---|:--:|\n| 1 | cat |\n| 2 | dog |\n",
        " id | label\n----+-------\n 1 | cat\n 2 | dog\n",
        "id,label\r\n--,-----\r\n1,cat\r\n2,dog\r\n",
        "id\tlabel\nstring\tdiscrete\nmeta\tclass\n1\tcat\n2\tdog\n",
        "id\tlabel\nc\td\n\tclass\n1\tcat\n2\tdog",
    ],
)
def test_lines_below_the_names_that_are_no_rows_are_left_out(text):
    table = DelimitedTable("t.csv", text.encode())
    assert (table.num_rows, table.texts("label").to_pylist()) == (2, ["cat", "dog"])
    assert table.row(1) == f"line {len(text.splitlines())}"


@pytest.mark.parametrize("rows", ["-\t-\n", "d\tc\nb\td\n", "discrete\tcontinuous\n", "c\td\n\t\n"])
def test_rows_like_these_lines_are_rows(rows):
    assert DelimitedTable("t.csv", b"a\tb\n" + rows.encode()).num_rows == rows.count("\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("first", "last"), [(0, 2), (3, 7), (5, 19)])
@pytest.mark.parametrize("column", [1, 2])
def test_a_stray_pair_of_quotes_around_rows_is_refused_with_their_lines(end, first, last, column):
    rows = [[f"{row}", "cat", "dog" if row % 3 else "cat"] for row in range(20)]
    rows[first][column] = f'"{rows[first][column]}'
    rows[last][column] = f'{rows[last][column]}"'
    content = end.join(["id,label,prediction", *map(",".join, rows)])
    told = rf"f\.csv, lines {first + 2} to {last + 2}: quotes surround rows; remove them"
    with pytest.raises(ValueError, match=told):
        DelimitedTable("f.csv", content.encode(), wanted=lambda names: names[:1])


@pytest.mark.parametrize(
    "text",
    [
        "1, 2\n3, 4\n5, 6",
        "well, yes\nno, 7\nfine",
        "Step 1\n2, do x\n3, do y",
        "1,2,3\n4,5\n",
        "\n\n",
        "a,b,c\nd,e,f",
        "7, of\n8, in",
    ],
)
@pytest.mark.parametrize("columns", [["id", "answer"], ["id", "answer", "right"], ["id", "right", "answer"]])
def test_texts_of_several_lines_are_no_rows(text, columns):
    buffer = io.StringIO()
    rows = [{"id": row, "answer": text, "right": row % 2} for row in range(9)]
    writer = csv.DictWriter(buffer, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    assert DelimitedTable("f.csv", buffer.getvalue().encode()).num_rows == 9


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id,label\n1,a\n# 50,a\n2,b\n", 3),
        ("# a comment\nid,label\n1,a\n2,b\n# 3,b\n", 5),
        ("text,label\n" + "a,b\n" * 30 + "# c,b\n" * 2, 32),
        ('id;label\r\n1;"a\r\n# b"\r\n#\t2;b\r\n', 4),
        ("id,label\n# 1,a\n# 2,b\n", None),
        ('text,label\n"# 1",a\n2,b\n', None),
        ('text,label\n"a\n# 50,b\n",a\n2,b\n', None),
        ("text,label\n#new in town,a\nold,b\n", None),
        ("answer\n# 1\n2\n", None),
        ("id,label\n#12,a\n#12a,b\n", None),
        ("id,label\n#12,a\n!34,b\n", None),
    ],
)
def test_a_line_that_may_be_a_comment_among_rows_is_refused(text, line):
    if line is None:
        assert DelimitedTable("f.csv", text.encode()).num_rows == 2
        return
    with pytest.raises(ValueError, match=rf"^f\.csv, line {line}: may be a comment"):
        DelimitedTable("f.csv", text.encode())


def test_many_rows_that_begin_with_a_number_sign_are_headings():
    assert DelimitedTable("f.csv", b"text,label\n" + b"plain,a\n" * 17 + b"# Title,b\n" * 3).num_rows == 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id;x;y\na;1.502;0,85\nb;1.100;0,9\n", "other numbers have a decimal comma; write 1502, or 1.5020"),
        ("id\tx\ty\r\na\t1.502\t10,5\r\nb\t0\t0,9\r\n", "other numbers have a decimal comma"),
        ('id,x,y\na,1.502,"0,8512"\nb,1.100,"2,9"\n', "other numbers have a decimal comma"),
        ("id;x\na;1.502\nb;121.100\n", "no number shows that points are decimal"),
        ("id;x;y\na;1.502;0.85\nb;1.100;0.9\n", ""),
        ("id;x\na;1.502\nb;0.100\n", ""),
        ("id;x;y\na;1.5020;0,85\nb;1.1000;0,9\n", ""),
        ("id;x;y\na;1;0,85\nb;0;0,9\n", ""),
        ("id\tx\ty\na\t1.502\t1,234\nb\t1.100\t2,345\n", ""),  # commas that may separate thousands
        ("id,x,y\na,1.502,0\nb,1.100,85\n", ""),
    ],
)
def test_points_that_may_separate_thousands_are_refused_next_to_decimal_commas(text, said):
    for table in (DelimitedTable("f.csv", text.encode()), WithMissing(DelimitedTable("f.csv", text.encode()), ["-"])):
        if said:
            with pytest.raises(ValueError, match=rf"column 'x': the point in '1\.502' may .* since {said}"):
                table.numbers("x")
        else:
            fields = [row.split(text[2])[1] for row in text.splitlines()[1:]]
            assert table.numbers("x").to_pylist() == [float(field) for field in fields]
