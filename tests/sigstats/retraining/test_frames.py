"""A data frame with string columns, as a study reads the same rows from a file."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sigstats
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.rows import encoded
from sigstats.tasks.datasets.readers import load


def patients(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    town = np.where(rng.random(n) < 0.8, np.array(["Brest", "Lille"])[y], "Metz").astype(object)
    town[::17] = None
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40 + 5 * y, 10)),
            "town": town,
            "grade": pd.Categorical(rng.choice(["b", "a", "c"], n), categories=["c", "b", "a"]),
            "smokes": rng.random(n) < 0.3 + 0.3 * y,
            "visits": rng.integers(0, 9, n),
            "outcome": np.array(["ill", "well"])[y],
        }
    )


@pytest.fixture
def read(tmp_path):
    """The same rows, as a study reads them."""
    patients().to_parquet(tmp_path / "patients.parquet")
    spec = {"name": "patients", "source": "parquet", "path": "patients.parquet", "target": "outcome"}
    return load(spec, base=tmp_path)


@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_a_frame_is_encoded_as_a_study_encodes_the_file(read, library):
    frame = patients().drop(columns="outcome")
    rows, nominal = encoded(frame if library == "pandas" else pa.Table.from_pandas(frame, preserve_index=False))
    np.testing.assert_array_equal(rows, read.X)
    np.testing.assert_array_equal(nominal, read.nominal)


@pytest.mark.long
@pytest.mark.parametrize("learner", ["1-nn", "naive-bayes", "decision-tree", "ridge"])
def test_the_test_of_a_frame_is_that_of_the_study(read, learner):
    frame = patients()
    folds = stratified_folds(read.y, 5, 1)
    found = sigstats.permutation_test(
        learner, frame.drop(columns="outcome"), frame["outcome"], cv=folds, n_resamples=19, rng=2
    )
    built = sigstats.learners.build(learner, nominal=read.nominal)
    expected = sigstats.permutation_test(built, read.X, read.y, cv=folds, n_resamples=19, rng=2)
    assert (found.wrong, found.null_wrong) == (expected.wrong, expected.null_wrong)


def test_numbers_alone_and_arrays_stay_as_they_are():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    for given in (frame, frame.to_numpy(), [[1, 2], [3, 4]]):
        rows, nominal = encoded(given)
        assert rows is given
        assert nominal is None


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "string"])
def test_the_missing_value_of_nullable_columns_is_a_missing_value(kind):
    values = [None if number % 9 == 0 else number % 2 for number in range(90)]
    values = [text if text is None else str(text) for text in values] if kind == "string" else values
    frame = patients()[["age", "town"]].assign(more=pd.array(values, dtype=kind))
    rows, _ = encoded(frame)
    assert np.array_equal(rows, encoded(frame.assign(more=values))[0], equal_nan=True)
    assert np.isnan(rows[::9, 2]).all()
    assert sigstats.permutation_test("1-nn", frame, patients()["outcome"], n_resamples=9, rng=0).n == 90


def test_an_estimator_of_ones_own_gets_the_frame_itself():
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    frame = patients()[["town", "visits", "outcome"]].fillna("none")
    own = make_pipeline(
        make_column_transformer((OrdinalEncoder(), ["town"]), remainder="passthrough"),
        DecisionTreeClassifier(random_state=0),
    )
    found = sigstats.permutation_test(own, frame[["town", "visits"]], frame["outcome"], cv=3, n_resamples=9, rng=0)
    assert found.n == 90


def test_a_column_of_times_is_refused_by_name():
    frame = patients().drop(columns="outcome").assign(seen=datetime.date(2026, 1, 1))
    with pytest.raises(ValueError, match=r"X \(column 'seen'\): .* is not valid; expected numbers, strings"):
        sigstats.permutation_test("1-nn", frame, patients()["outcome"], n_resamples=9)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace(".", ","), "has a decimal comma"),
        (lambda text: text if text > "39" else "?", "'\\?' is not a number, but other values are"),
        (str, "is a number stored as text"),
        (lambda text: text[0], ""),
    ],
)
def test_strings_that_may_be_numbers_are_refused(change, complaint):
    frame = patients()[["age", "town"]].fillna({"age": 40.5})
    frame["age"] = frame["age"].astype(str).map(change)
    if complaint:
        with pytest.raises(ValueError, match=f"X \\(column 'age'\\): .*{complaint}; convert the column to numbers, or"):
            sigstats.permutation_test("naive-bayes", frame, patients()["outcome"], n_resamples=9)
    else:
        assert encoded(frame)[1].all()
    assert encoded(frame.astype({"age": "category"}))[1].all()
