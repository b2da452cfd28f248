"""ARFF files: the format as Weka documents it, SciPy's reader where it reads the same, and bad input."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from sigstats.tasks.datasets.readers import load
from sigstats.tasks.datasets.readers.arff import Arff

from ...examples import examples

WEATHER = """\
% a comment
@RELATION weather

@attribute outlook {sunny, overcast, 'light rain'}
@ATTRIBUTE 'air temperature' real
@attribute humidity INTEGER [0, 100]
@attribute windy {TRUE, FALSE} % with a comment
@attribute play {yes, no}

@DATA
sunny,85.5,85,FALSE,no
'light rain',?,90, TRUE ,no   % cold
overcast,-1e1,?,FALSE,yes
?,70,96,FALSE,yes,
"""


def arff(tmp_path, text=WEATHER, **changes):
    (tmp_path / "mine.arff").write_text(text)
    spec = {"name": "mine", "source": "arff", "path": "mine.arff", **changes}
    return load({key: value for key, value in spec.items() if value is not None}, base=tmp_path)


def test_types_quotes_comments_and_missing_values(tmp_path):
    dataset = arff(tmp_path)
    assert dataset.features == ("outlook", "air temperature", "humidity", "windy")
    assert dataset.nominal.tolist() == [True, False, False, True]
    assert dataset.categories == (("light rain", "overcast", "sunny"), (), (), ("FALSE", "TRUE"))
    assert (dataset.classes, dataset.y.tolist()) == (("no", "yes"), [0, 0, 1, 1])
    nan = np.nan
    np.testing.assert_array_equal(dataset.X, [[2, 85.5, 85, 0], [0, nan, 90, 1], [1, -10, nan, 0], [nan, 70, 96, 0]])


ROWS = [
    ["sunny", "85.5", "85", "FALSE", "no"],
    ["'light rain'", "?", "90", "TRUE", "no"],
    ["?", "70", "96", "FALSE", "yes"],
]


@pytest.mark.parametrize("between", [",", " ", "\t", ", ", "   "])
def test_values_may_be_separated_by_commas_or_white_space(tmp_path, between):
    head = WEATHER.partition("sunny,85.5")[0]
    plain = arff(tmp_path, head + "\n".join(map(",".join, ROWS)))
    assert arff(tmp_path, head + "\n".join(map(between.join, ROWS))).digest() == plain.digest()


def test_a_sparse_row_leaves_zeros_and_first_values_out(tmp_path):
    head = "@relation r\n@attribute a numeric\n@attribute b {x, 'y z'}\n@attribute c numeric\n"
    head += "@attribute class {no, yes}\n@data\n"
    dense = arff(tmp_path, head + "0,x,2.5,no\n0,'y z',0,yes\n?,x,0,yes\n")
    sparse = arff(tmp_path, head + "{2 2.5}\n{1 'y z', 3 yes}\n{ 0 ? ,3 yes }\n")
    assert sparse.digest() == dense.digest()


def test_the_class_is_named_class_or_last_or_asked_for(tmp_path):
    head = (
        "@relation r\n@attribute Class {a, b}\n@attribute x numeric\n@attribute k {u, v}\n@attribute z numeric\n@data\n"
    )
    text = head + "a,1,u,3\nb,2,v,4\n"
    assert arff(tmp_path, text).features == ("x", "k", "z")
    assert arff(tmp_path, text, target="k").classes == ("u", "v")
    without = text.replace("Class", "kind")
    with pytest.raises(
        ValueError, match=r"target: is missing, and the last attribute, 'z', is numeric; set target to one of 'kind'"
    ):
        arff(tmp_path, without)
    nominal_last = without.replace("z numeric", "z {3, 4}")
    assert arff(tmp_path, nominal_last).classes == ("3", "4")


def test_numbers_and_categories_are_those_of_scipy(tmp_path):
    text = WEATHER.replace("'light rain'", "rain").replace("'air temperature'", "temperature")
    text = (
        text.replace(" % with a comment", "")
        .replace(" TRUE ,no   % cold", "TRUE,no")
        .replace("yes,\n", "yes\n")
        .replace("[0, 100]", "")
    )
    table, meta = scipy_arff.loadarff(io.StringIO(text))
    dataset = arff(tmp_path, text)
    assert list(meta.names())[:-1] == list(dataset.features)
    for position, name in enumerate(dataset.features):
        if dataset.nominal[position]:
            ours = [dataset.categories[position][int(code)] if code == code else "?" for code in dataset.X[:, position]]
            assert ours == [value.decode() for value in table[name]]
        else:
            np.testing.assert_array_equal(dataset.X[:, position], table[name])


HEAD = "@relation r\n@attribute x numeric\n@attribute class {a, b}\n@data\n"
BAD = {
    "no header": ("1,2\n", "line 1: '1,2' is not valid; expected @relation"),
    "no data": ("@relation r\n@attribute x numeric\n", "has no @data"),
    "no attribute": ("@relation r\n@data\n1\n", "line 2: no attribute"),
    "type": ("@relation r\n@attribute x complex\n@data\n", "line 2: type 'complex' is not valid"),
    "relational": ("@relation r\n@attribute x relational\n@data\n", "relational attributes are not read"),
    "declared twice": ("@relation r\n@attribute x {a, a}\n@data\n", "line 2: 'a' is declared twice"),
    "open brace": ("@relation r\n@attribute x {a, b\n@data\n", "line 2: the list of values does not end"),
    "too few": (HEAD + "1,a\n2\n", "line 6: 1 fields; expected 2"),
    "too many": (HEAD + "1,a\n2,b,3\n", "line 6: 3 fields; expected 2"),
    "no number": (HEAD + "1,a\nmany,b\n", "line 6: column 'x': 'many' is not valid"),
    "not declared": (HEAD + "1,a\n2,c\n", "line 6: column 'class': 'c' is not declared"),
    "nothing": (HEAD + "1,a\n,b\n", "line 6: there is nothing between two commas"),
    "weight": (HEAD + "1,a,{5}\n2,b\n", "weights of rows are not read"),
    "open quote": (HEAD + "1,'a\n2,b\n", "line 5"),
    "missing class": (HEAD + "1,a\n2,?\n", "line 6: column 'class': a class is missing"),
    "sparse place": (HEAD + "{0 1}\n{7 b}\n", "line 6: '7 b' is not valid; expected a place from 0 to 1"),
    "sparse end": (HEAD + "{0 1}\n{1 b\n", "expected a sparse row that ends with a brace"),
    "date": ("@relation r\n@attribute t date\n@attribute class {a, b}\n@data\n1,a\n2,b\n", "a date cannot be"),
    "empty": ("", "is empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_one_line_with_its_number(tmp_path, case):
    text, complaint = BAD[case]
    with pytest.raises(ValueError, match=r"mine\.arff") as caught:
        arff(tmp_path, text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


LINES = ["@relation r\n", "@attribute a numeric\n", "@attribute b {x,'y z'}\n", "@data\n", "1,x\n", "{1 x}\n"]
PIECES = st.sampled_from([*LINES, *"'\"\\{}%,? \né"])


@given(st.lists(PIECES | st.text(max_size=5), max_size=30).map("".join))
@settings(derandomize=True, deadline=None, max_examples=examples(500))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        table = Arff("file.arff", text)
        for name in dict.fromkeys(table.names):
            table.numbers(name)
            table.texts(name)
    except ValueError as error:
        assert "\n" not in str(error)
