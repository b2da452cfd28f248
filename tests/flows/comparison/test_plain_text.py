"""Text as people have it: one value per line, spaces between columns, comments, and other encodings."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.files.tables.delimited import DelimitedTable
from sigstats.flows.commands import main

RNG = np.random.default_rng(7)
LABELS = RNG.integers(0, 2, 60)
A, B = (np.where(np.arange(60) % step == 0, 1 - LABELS, LABELS) for step in (10, 3))


def saved(values, **options):
    text = io.StringIO()
    np.savetxt(text, values, fmt="%d", **options)
    return text.getvalue()


def result_of(folder, *arguments):
    main(["compare", *arguments, "--json", str(folder / "result.json")])
    return json.loads((folder / "result.json").read_text())["rows"]


@pytest.fixture
def expected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, values in (("y", LABELS), ("a", A), ("b", B)):
        np.save(f"{name}.npy", values)
    return result_of(tmp_path, "a.npy", "b.npy", "--labels", "y.npy")


def write(texts):
    for name, text in texts.items():
        Path(name).write_bytes(text.encode())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "options"),
    [
        (lambda values: pd.Series(values, name="value").to_csv(index=False), ["value", "value"]),
        (lambda values: saved(values, header="value"), ["value", "value"]),
        (lambda values: "# made by a model\nvalue\n" + saved(values), ["value", "value"]),
    ],
)
def test_one_value_per_line_means_what_an_array_means(tmp_path, expected, text, options, end):
    write({f"{n}.txt": text(each).replace("\n", end) for n, each in (("y", LABELS), ("a", A), ("b", B))})
    named = ["--label", options[0], "--prediction", *options[1:]]
    assert result_of(tmp_path, "a.txt", "b.txt", "--labels", "y.txt", *named) == expected


@pytest.mark.parametrize(
    ("write_columns", "options"),
    [
        (lambda values: saved(values, header="y  guess"), ["--label", "y", "--prediction", "guess"]),
        (lambda values: saved(values, header="y,guess", delimiter=","), ["--label", "y", "--prediction", "guess"]),
        (lambda values: "y guess\n" + saved(values), ["--label", "y", "--prediction", "guess"]),
        (
            lambda v: pd.DataFrame(v, columns=["y", "guess"]).to_string(index=False),
            ["--label", "y", "--prediction", "guess"],
        ),
        (
            lambda values: "# 60 rows of model 1\ny guess\n" + saved(values),
            ["--label", "y", "--prediction", "guess"],
        ),
    ],
)
def test_columns_of_numbers_with_spaces_mean_what_arrays_mean(tmp_path, expected, write_columns, options):
    write({f"{name}.txt": write_columns(np.column_stack([LABELS, each])) for name, each in (("a", A), ("b", B))})
    assert result_of(tmp_path, "a.txt", "b.txt", "--by-position", *options) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1\n0\n1\n", "line 1: '1' is a row, not names of columns; add a first line of names"),
        ("cat\ndog\ncat\n", "line 1: 'cat' is a row, not names of columns; add a first line of names"),
        ("1 0\n0 0\n", "line 1: '1 0' is a row, not names of columns; add a first line of names"),
        ("# by me\n1,0\n0,0\n", "line 2: '1 0' is a row, not names of columns"),
        ("# target\ncat\ndog\n", "lines 1 and 2: both may name the columns; remove one"),
        ("just words\nin three long lines\n\n", "looks like text whose first line is 'just words'"),
        (
            "version https://git-lfs.github.com/spec/v1\nsize 3\n",
            "looks like a Git LFS pointer (run `git lfs",
        ),
        ("a b\nb a\na a\n", "spaces cannot separate columns of text; write commas or tabs\n"),
        ("y guess\n1 1\n0 1 1\n", "looks like text whose first line is 'y guess'"),
        (
            "id,label,prediction\n1,a,a\n2,caf\xe9,a\n",
            "line 3: column 'label' is not UTF-8 text; save it as UTF-8 (for example `iconv -f cp1252 -t utf-8",
        ),
        (
            "id,label,pr\xe9diction\n1,a,a\n",
            "is not UTF-8 text; save it as UTF-8 (for example `iconv -f cp1252",
        ),
        ('{"id": 1, "label": "caf\xe9", "prediction": "a"}\n', "is not UTF-8 text; save it as UTF-8 (for example"),
    ],
)
def test_text_that_may_mean_two_things_is_refused_with_what_to_do(tmp_path, refused, text, complaint):
    for name in "ab":
        (tmp_path / name).write_bytes(text.encode("cp1252"))
    assert complaint in refused("compare", tmp_path / "a", tmp_path / "b")


def test_another_encoding_is_read_where_it_is_named(tmp_path):
    label, first, second = (np.where(values == 1, "café", "tea") for values in (LABELS, A, B))
    frame = pd.DataFrame({"id": range(60), "label": label, "prediction": first})
    other = frame.assign(prediction=second)
    for encoding in ("utf-8", "cp1252", "utf-16-le"):
        (tmp_path / "a").write_bytes(frame.to_csv(index=False).encode(encoding))
        (tmp_path / "b").write_bytes(other.to_csv(index=False).encode(encoding))
        read = [sigstats.read_predictions(tmp_path / name, encoding=encoding) for name in "ab"]
        assert [one.to_dict("list") for one in read] == [
            one.astype({"id": str}).to_dict("list") for one in (frame, other)
        ]
    with pytest.raises(ValueError, match="encoding: 'cp1251x' is not valid"):
        sigstats.read_predictions(tmp_path / "a", encoding="cp1251x")


def test_decimal_commas_are_numbers_in_quotes_unless_they_may_part_thousands():
    table = DelimitedTable("t", b'x,y\n"0,75","1,250"\n"1,5","2,500"\n')
    assert table.numbers("x").to_pylist() == [0.75, 1.5]
    with pytest.raises(ValueError, match="'1,250' is not valid"):
        table.numbers("y")
