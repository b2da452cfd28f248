import importlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.datasets.readers import REGISTRY, load

from ...examples import examples

#: rows, numeric and nominal features, classes, missing cells, as the data's own documentation counts them
OJALA_GARRIGA = {
    "anneal_orig": (898, 6, 32, 5, 22175),
    "autos": (205, 15, 10, 6, 59),
    "balance_scale": (625, 4, 0, 3, 0),
    "german": (1000, 7, 13, 2, 0),
    "mushroom": (8124, 0, 22, 2, 2480),
    "sonar": (208, 60, 0, 2, 0),
    "splice": (3190, 0, 60, 3, 0),
    "tic_tac_toe": (958, 0, 9, 2, 0),
    "breast_cancer_ljubljana": (286, 0, 9, 2, 9),
    "iris": (150, 4, 0, 3, 0),
    "pima": (768, 8, 0, 2, 0),
    "promoters": (106, 0, 57, 2, 0),
    "segment_train210": (210, 19, 0, 7, 0),
    "spect": (267, 0, 22, 2, 0),
    "primary_tumor": (339, 0, 17, 21, 225),
    "votes": (435, 0, 16, 2, 392),
}

CSV = "a,b,kind,label\n1,x,2,yes\n2.5,y,1,no\n,x,2,yes\n4,?,1,no\n"


def csv(tmp_path, text=CSV, **changes):
    (tmp_path / "mine.csv").write_text(text)
    spec = {"name": "mine", "source": "csv", "path": "mine.csv", "target": "label", "missing": ["?"], **changes}
    return load({key: value for key, value in spec.items() if value is not None}, base=tmp_path)


@pytest.mark.parametrize("name", OJALA_GARRIGA)
def test_the_sets_of_ojala_and_garriga_are_read_as_documented(shared_data, name):
    dataset = load({"name": name, "source": "parquet", "path": f"{name}.parquet", "target": "class"}, base=shared_data)
    found = (
        len(dataset.y),
        int((~dataset.nominal).sum()),
        int(dataset.nominal.sum()),
        len(dataset.classes),
        int(np.isnan(dataset.X).sum()),
    )
    assert found == OJALA_GARRIGA[name]


def test_csv_numbers_text_and_missing(tmp_path):
    dataset = csv(tmp_path, nominal=["kind"])
    assert dataset.features == ("a", "b", "kind")
    assert dataset.nominal.tolist() == [False, True, True]
    assert dataset.categories == ((), ("x", "y"), ("1", "2"))
    assert dataset.classes == ("no", "yes")
    np.testing.assert_array_equal(dataset.y, [1, 0, 1, 0])
    np.testing.assert_array_equal(dataset.X, [[1, 0, 1], [2.5, 1, 0], [np.nan, 0, 1], [4, np.nan, 0]])


def test_csv_and_parquet_of_one_table_are_one_data_set(tmp_path):
    frame = pd.read_csv(csv_path(tmp_path), na_values=["?"])
    frame.to_parquet(tmp_path / "mine.parquet")
    other = load({"name": "x", "source": "parquet", "path": "mine.parquet", "target": "label"}, base=tmp_path)
    assert other.digest() == csv(tmp_path).digest()


def test_classes_that_are_numbers_are_in_their_order(tmp_path):
    grades = np.random.default_rng(3).permutation(np.repeat(np.arange(-1, 12), 3))
    dataset = csv(tmp_path, "a,label\n" + "".join(f"{row},{grade}\n" for row, grade in enumerate(grades)), missing=None)
    expected, codes = np.unique(grades, return_inverse=True)
    assert dataset.classes == tuple(map(str, expected.tolist()))
    np.testing.assert_array_equal(dataset.y, codes)
    assert dataset.described["classes"] == dataset.classes


def csv_path(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(CSV)
    return path


def test_codes_do_not_depend_on_the_order_of_rows(tmp_path):
    lines = CSV.splitlines()
    backwards = "\n".join([lines[0], *reversed(lines[1:])]) + "\n"
    one, other = csv(tmp_path), csv(tmp_path, backwards)
    np.testing.assert_array_equal(one.X, other.X[::-1])
    np.testing.assert_array_equal(one.y, other.y[::-1])


def test_the_default_source_is_scikit_learn(tmp_path):
    dataset = load({"name": "iris"}, base=tmp_path)
    np.testing.assert_array_equal(dataset.X, load_iris().data)
    np.testing.assert_array_equal(dataset.y, load_iris().target)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"path": "nowhere.csv"}, "nowhere.csv: there is no such file"),
        ({"text": "  \n"}, "is empty"),
        ({"target": "lable"}, "column 'lable' was not found; did you mean 'label'?"),
        ({"target": None}, "target: is missing"),
        ({"drop": ["c"]}, "column 'c' was not found"),
        ({"nominal": ["kind"], "columns": ["a"]}, "nominal: 'kind' is not a feature column"),
        ({"nominal": ["kind"], "drop": ["kind"]}, "nominal: 'kind' is not a feature column"),
        ({"drop": ["a", "b", "kind"]}, "no column is left"),
        ({"drop": "a"}, "drop: 'a' is not valid; expected a list"),
        ({"drop": [1]}, "drop: 1 is not valid; expected only strings in the list"),
        ({"tarmet": "x"}, "unknown option; did you mean 'target'?"),
        ({"separator": "::"}, "expected one character"),
        ({"source": "cvs"}, "did you mean 'csv'?"),
        ({"text": "a,label\n1,yes\n2,\n"}, "line 3: column 'label': a class is missing"),
        ({"text": "a,label\n1,yes\n2,yes\n"}, "'yes' is the only class"),
        ({"text": "a,label\ninf,yes\n2,no\n"}, "line 2: column 'a': infinity"),
        ({"text": "a,label\n1,yes\n2,no,3,4\n"}, "line 3: 4 fields; expected 2"),
        ({"text": "a;label\n0,5;yes\n1;no\n"}, "line 2: column 'a': '0,5' has a decimal comma; write a point"),
        ({"text": "a,g,label\n1,NA,yes\n2,p,no\n", "groups": "g"}, "column 'g': 1 of 2 values are 'NA'; leave out"),
        (
            {"text": "a,g,label\n1,3.0,yes\n2,03,no\n", "groups": "g"},
            "column 'g': '03' and '3.0' are taken as two; write",
        ),
        ({"text": "a,g,label\n1,p-1,yes\n2,P 1,no\n", "groups": "g"}, "'P 1' and 'p-1' are taken as two; write them"),
        ({"text": "a,f,label\n1,?,yes\n2,1,no\n", "folds": "f", "missing": []}, "column 'f': 1 of 2 values are '?'"),
    ],
)
def test_bad_sources_are_one_line(tmp_path, changes, complaint):
    with pytest.raises(ValueError) as caught:
        csv(tmp_path, **changes)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_parquet_or_no_feature_is_refused(tmp_path):
    spec = {"name": "mine", "source": "parquet", "path": "x.parquet", "target": "label"}
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(ValueError, match=r"x\.parquet: is not a readable Parquet file"):
        load(spec, base=tmp_path)
    frame = pd.DataFrame({"a": [[1], [2]], "label": ["x", "y"]})
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"column 'a'"):
        load(spec, base=tmp_path)
    pd.DataFrame({"a": pd.to_datetime(["2020", "2021"]), "label": ["x", "y"]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"column 'a'.*times"):
        load(spec, base=tmp_path)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (["1.5", "?", "2"], r"row 1 \(from 0\): column 'a': '\?' is not a number, but other values are"),
        (["1", "?", "2"], "'\\?' is not a number"),  # missing: numbers all the same
        (["1,5", "2", "0,5"], "'1,5' has a decimal comma"),
        (["1.5", "2", "0.5"], "'1.5' is a number stored as text"),
        (["1", None, "2"], ""),
        (["1.0", "2.0", "2.0"], ""),
        (["x", "?", "-"], ""),
        (["x", "8", "y"], ""),  # 8 is missing
    ],
)
def test_strings_of_parquet_that_may_be_numbers_are_refused(tmp_path, values, complaint):
    frame = pd.DataFrame({"a": values, "label": ["u", "v", "u"]})
    spec = {"name": "mine", "source": "parquet", "path": "x.parquet", "target": "label", "missing": ["?", "8"]}
    frame.to_parquet(tmp_path / "x.parquet")
    if complaint:
        with pytest.raises(ValueError, match=complaint + ".*; convert the column to numbers, or list it in nominal"):
            load(spec, base=tmp_path)
    for more in [{"nominal": ["a"]}] if complaint else [{"nominal": ["a"]}, {}]:
        assert load({**spec, **more}, base=tmp_path).nominal.all()
    frame.astype({"a": "category"}).to_parquet(tmp_path / "x.parquet")
    assert load(spec, base=tmp_path).nominal.all()


@settings(
    derandomize=True,
    deadline=None,
    max_examples=examples(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.text(max_size=80) | st.lists(st.sampled_from(["a", "b", "1", "?", ",", "\n", '"', "label", "\x00"])).map("".join)
)
def test_any_text_is_a_data_set_or_one_line(tmp_path, text):
    (tmp_path / "mine.csv").write_text(text, newline="")
    try:
        load({"name": "m", "source": "csv", "path": "mine.csv", "target": "label"}, base=tmp_path)
    except ValueError as error:
        assert "\n" not in str(error)


@st.composite
def datasets(draw):
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    cell = st.floats(allow_infinity=False, width=32) | st.just(float("nan"))
    X = np.array(draw(st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array([0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    names = draw(st.lists(st.text(max_size=5), min_size=d, max_size=d, unique=True))
    return Dataset("s", X, np.zeros(d, dtype=bool), y, ("no", "yes"), tuple(names), ((),) * d)


@settings(derandomize=True, deadline=None, max_examples=examples(60))
@given(datasets())
def test_a_data_set_comes_back_from_its_table(dataset):
    back = Dataset.from_table(dataset.to_table())
    assert back.digest() == dataset.digest()
    np.testing.assert_array_equal(back.X, dataset.X)
    assert (back.name, back.classes, back.features, back.categories) == (
        "s",
        *(dataset.classes, dataset.features, dataset.categories),
    )


def test_every_kind_of_source_says_its_name():
    assert {"scikit-learn", "csv", "parquet"} <= set(REGISTRY.names())


@pytest.mark.parametrize(
    ("source", "head"),
    [("csv", "a,b,c\n"), ("arff", "@relation r\n@attribute a numeric\n@attribute b string\n@data\n")],
)
@pytest.mark.parametrize("text", ["few", "many"])
def test_a_table_whose_fields_take_more_than_the_limit_is_refused(tmp_path, monkeypatch, source, head, text):
    rows = 30_000
    lines = (f"1,t{row if text == 'many' else 0}" + ",x" * (source == "csv") for row in range(rows))
    (tmp_path / "a").write_text(head + "\n".join(lines) + "\n")
    spec = {"name": "a", "source": source, "path": "a", "target": "b"}
    reader = importlib.import_module(f"sigstats.tasks.datasets.readers.{source}")
    monkeypatch.setenv("SIGSTATS_READ_LIMIT", "4MB" if text == "many" else "1MB")
    with pytest.raises(ValueError, match=r"a: takes more than .MB of memory|a: takes more than . MB of memory"):
        reader.load(spec, tmp_path)


@pytest.mark.parametrize(
    ("name", "values", "named"),
    [
        ("patient_id", "shuffled", True),
        ("patientId", "shuffled", True),
        ("income", "shuffled", False),
        ("income", "sorted", True),
        ("income", "halves", False),
        ("id", "few", False),
    ],
)
def test_whole_numbers_that_name_rows_are_found_by_their_order_or_their_name(name, values, named):
    numbers = 100 + np.random.default_rng(3).permutation(10_000)[:60].astype(np.float64)
    column = {"sorted": np.sort(numbers), "halves": np.sort(numbers) / 2, "few": numbers % 7}.get(values, numbers)
    X = np.column_stack([column, np.random.default_rng(4).normal(size=60)])
    found = Dataset("s", X, np.zeros(2, dtype=bool), np.arange(60) % 2, ("no", "yes"), (name, "width"), ((), ()))
    assert found.identifiers() == ((name,) if named else ())


@pytest.mark.parametrize("kind", ["csv", "parquet", "arff", "openml"])
def test_labels_that_look_missing_are_refused_unless_they_are_listed_as_classes(tmp_path, monkeypatch, kind):
    label = ["NA" if row % 4 == 0 else "yes" if row % 2 else "no" for row in range(60)]
    frame = pd.DataFrame({"a": np.arange(60.0), "label": label})
    spec = {"name": "mine", "source": kind, "path": f"mine.{kind}", "target": "label"}
    if kind == "csv":
        frame.to_csv(tmp_path / "mine.csv", index=False)
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "mine.parquet")
    elif kind == "arff":
        lines = [f"{a},{text}" for a, text in zip(frame["a"], label, strict=True)]
        header = "@relation r\n@attribute a real\n@attribute label {yes,no,NA}\n@data\n"
        (tmp_path / "mine.arff").write_text(header + "\n".join(lines))
    else:
        bunch = Bunch(data=frame[["a"]].to_numpy(), target=np.array(label, dtype=object), categories={})
        bunch |= {"feature_names": ["a"], "target_names": ["label"]}
        monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *_, **__: Bunch(**bunch))
        spec = {"name": "mine", "source": kind, "id": 1}
    with pytest.raises(ValueError, match="column 'label': 15 of 60 labels are 'NA'; leave out rows without a class"):
        load(spec, base=tmp_path)
    assert load({**spec, "classes": ["NA"]}, base=tmp_path).classes == ("NA", "no", "yes")
