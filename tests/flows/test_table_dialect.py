"""Delimited text is of one dialect, whoever reads it: predictions, data sets, and tables of a significance study."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sigstats.files.predictions import Columns, read
from sigstats.flows.significance.tables.tables import Tables
from sigstats.tasks.datasets.readers import load

Column = Counter[str]


#: Texts that usually mean a missing value; they are classes where they are listed.
MISSING_LOOKING = ("NA", "nan", "null", "NULL", "None", "N/A", "#N/A")


def as_predictions(path: Path) -> tuple[Column, Column]:
    found = read(str(path), Columns("label", "label", "other", duplicates="all").but(classes=MISSING_LOOKING))
    return Counter(found.outcomes.label.to_pylist()), Counter(found.outcomes.prediction.to_pylist())


def as_data_set(path: Path) -> tuple[Column, Column]:
    spec = {
        "source": "csv",
        "path": path.name,
        "target": "label",
        "columns": ["other"],
        "nominal": ["other"],
        "classes": list(MISSING_LOOKING),
    }
    found = load(spec, base=path.parent)
    other = [found.categories[0][int(code)] for code in found.X[:, 0]]
    return Counter(found.classes[code] for code in found.y), Counter(other)


def as_significance_table(path: Path) -> tuple[Column, Column]:
    def column(name: str) -> Column:
        entry = Tables.model_validate(
            {
                "name": "t",
                "path": path.name,
                "label": name,
                "prediction": name,  # classes of other names than those of the labels are refused
                "by": name,
                "classes": list(MISSING_LOOKING),
            }
        )
        cases = entry.cases(path.parent)
        return Counter({case.subject["dataset"][3:]: int(np.sum(case.data["table"])) for case in cases})

    return column("label"), column("other")


Reader = Callable[[Path], tuple[Column, Column]]
READERS: dict[str, Reader] = {
    "predictions": as_predictions,
    "data set": as_data_set,
    "significance": as_significance_table,
}
every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)

#: The columns label and other of a text.
TEXTS: dict[str, tuple[bytes, list[str], list[str]]] = {
    "plain": (b"label,other\na,x\nb,y\n", ["a", "b"], ["x", "y"]),
    "quoted separators": (b'label,other\n"a,1","x;y"\nb,"u\tv"\n', ["a,1", "b"], ["x;y", "u\tv"]),
    "quoted quotes": (b'label,other\n"say ""a""","""x"""\nb,y\n', ['say "a"', "b"], ['"x"', "y"]),
    "quotes inside": (b'label,other\n5" disk,x\nb,it"s"\n', ['5" disk', "b"], ["x", 'it"s"']),
    "ends of lines inside": (b'label,other\n"a\nb","x\r\ny"\nb,y\n', ["a\nb", "b"], ["x\r\ny", "y"]),
    "quoted header": (b'"label","other"\n"a","x"\n"b","y"\n', ["a", "b"], ["x", "y"]),
    "end of line in the header": (b'label,other,"a\nb"\na,x,1\nb,y,2\n', ["a", "b"], ["x", "y"]),
    "CRLF": (b"label,other\r\na,x\r\nb,y\r\n", ["a", "b"], ["x", "y"]),
    "CR": (b"label,other\ra,x\rb,y\r", ["a", "b"], ["x", "y"]),
    "no last end of line": (b"label,other\na,x\nb,y", ["a", "b"], ["x", "y"]),
    "blank lines": (b"\n\nlabel,other\n\na,x\n  \nb,y\n\n", ["a", "b"], ["x", "y"]),
    "white space": (b" label , other\na , x\n\tb,\xc2\xa0y\n", ["a", "b"], ["x", "y"]),
    "byte order mark": (b"\xef\xbb\xbflabel,other\na,x\nb,y\n", ["a", "b"], ["x", "y"]),
    "UTF-8": ("label,other\nä,€\nb,y\n".encode(), ["ä", "b"], ["€", "y"]),
    "bytes of another column": (b"label,other,third\na,x,\xff\nb,y,1\n", ["a", "b"], ["x", "y"]),
    "tabs": (b"label\tother\na,1\tx\nb\ty\n", ["a,1", "b"], ["x", "y"]),
    "semicolons": (b"label;other\na,1;x\nb;y\n", ["a,1", "b"], ["x", "y"]),
    "a comma before semicolons": (b"label,other,a;b;c;d\na,x,1\nb,y,2\n", ["a", "b"], ["x", "y"]),
    "leading zeros": (b"label,other\n007,01\n08,1\n", ["007", "08"], ["01", "1"]),
    "words of other programs": (
        b"label,other\nNA,nan\nnull,NULL\nNone,N/A\n#N/A,-\n",
        ["NA", "null", "None", "#N/A"],
        ["nan", "NULL", "N/A", "-"],
    ),
    "numbers as names": (b"label,other\n1e3,1000\n1000,0x1F\n", ["1e3", "1000"], ["1000", "0x1F"]),
    "truth values": (b"label,other\nTrue,true\nFALSE,yes\n", ["True", "FALSE"], ["true", "yes"]),
    "dates": (
        b"label,other\n2024-01-02,10:30\n2024-01-02T00:00:00Z,x\n",
        ["2024-01-02", "2024-01-02T00:00:00Z"],
        ["10:30", "x"],
    ),
    "large numbers": (b"label,other\n18446744073709551617,x\n1,y\n", ["18446744073709551617", "1"], ["x", "y"]),
    "a column of another kind further down": (
        b"label,other\n" + b"1,2\n" * 200_000 + b"a,b\n",
        ["1"] * 200_000 + ["a"],
        ["2"] * 200_000 + ["b"],
    ),
    "a long field": (b"label,other,third\na,x," + b"z" * 3_000_000 + b"\nb,y,1\n", ["a", "b"], ["x", "y"]),
    "a long field with a quote": (b'label,other,third\na,x,z"' + b"z" * 300_000 + b"\nb,y,1\n", ["a", "b"], ["x", "y"]),
}

#: What a text is refused for; every message names the file.
FAULTS: dict[str, tuple[bytes, str]] = {
    "a row is short": (b"label,other\na,x\nb\n", r", line 3: 1 fields; expected 2$"),
    "a row is long": (b'label,other\n"a\nb",x\nb,y,z\n', r", line 4: 3 fields; expected 2$"),
    "a column twice": (b"label,other,label\na,x,b\nb,y,a\n", r": column 'label' appears (2 times|twice)"),
    "no such column": (b"lable,other\na,x\nb,y\n", r": column 'label' was not found; did you mean 'lable'\?$"),
    "an empty field": (
        b"label,other\na,x\n,y\n",
        r", line 3: column 'label'(: a class is missing; give| is empty; expected)",
    ),
    "an empty field in quotes": (
        b'label,other\na,x\n" ",y\n',
        r", line 3: column 'label'(: a class is missing| is empty)",
    ),
    "an empty field behind lines": (b'label,other\n"a\n\nb",x\n,y\n', r", line 5: column 'label'"),
    "a quote without an end": (b'label,other\na,x\n"b,y\n', r", line 3: a quoted field has no end; expected fields in"),
    "text behind a quote": (
        b'label,other\na,x\n"b"c,y\n',
        r", line 3: text follows a closing quote; expected fields in",
    ),
    "no UTF-8": (b"label,other\na,x\nb\xe9,y\n", r", line 3: column 'label' is not UTF-8 text; save it as UTF-8"),
    "no rows": (b"label,other\n", r": has no rows$"),
    "nothing": (b"", r": is empty; expected (a table|predictions)$"),
    "nothing but white space": (b" \n\n", r": is empty; expected"),
}


@pytest.mark.long
@every_reader
@pytest.mark.parametrize("case", TEXTS)
def test_a_text_is_the_same_table_to_every_reader(tmp_path: Path, reader: Reader, case: str) -> None:
    content, label, other = TEXTS[case]
    (tmp_path / "rows.csv").write_bytes(content)
    assert reader(tmp_path / "rows.csv") == (Counter(label), Counter(other))


@every_reader
@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_the_same_to_every_reader(tmp_path: Path, reader: Reader, case: str) -> None:
    content, complaint = FAULTS[case]
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=complaint) as caught:
        reader(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@every_reader
def test_a_file_of_numbers_and_a_file_of_text_hold_the_same_names(tmp_path: Path, reader: Reader) -> None:
    (tmp_path / "numbers.csv").write_text("label,other\n1,2\n2,1\n")
    (tmp_path / "text.csv").write_text("label,other\n1,2\n2,1\nx,y\n")
    label, other = reader(tmp_path / "text.csv")
    assert reader(tmp_path / "numbers.csv") == (label - Counter("x"), other - Counter("y"))
