"""Own pipelines that take columns by their names: they get the data frame, and predict as scikit-learn's folds do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sigstats
from sigstats.learners.own import takes_frames

rng = np.random.default_rng(0)
FRAME = pd.DataFrame({"age": rng.normal(50, 10, 80), "town": rng.choice(["A", "B", "C"], 80)})
FRAME["ill"] = np.where((FRAME["age"] > 50) ^ (FRAME["town"] == "A"), "yes", "no")
FRAME.loc[[3, 40], "age"] = np.nan
FEATURES = ["age", "town"]


def by_name(*, town=("town",), age="age"):
    parts = [("t", OneHotEncoder(handle_unknown="ignore"), list(town)), ("a", SimpleImputer(), [age])]
    return make_pipeline(ColumnTransformer(parts), LogisticRegression())


class Rule(ClassifierMixin, BaseEstimator):
    """Says yes where the town is A."""

    takes_frames = True

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X["town"] == "A").astype(int)]


@pytest.mark.long
def test_a_pipeline_by_column_names_predicts_as_scikit_learn_does(tmp_path):
    study = {
        "kind": "benchmark",
        "datasets": [{"name": "ill", "path": FRAME, "target": "ill"}],
        "classifiers": [{"name": "pipeline", "learner": by_name()}, {"name": "rule", "learner": Rule}],
        "cross_validation": {"folds": 3},
        "permutation": {"resamples": 19},
    }
    results = sigstats.run_study(study, output=tmp_path / "out", cluster="serial", allow=["tests"])
    found = results.predictions(classifier="pipeline")
    for fold in range(3):
        test = (found["fold"] == fold).to_numpy()
        fitted = clone(by_name()).fit(FRAME.loc[~test, FEATURES], FRAME.loc[~test, "ill"])
        assert fitted.predict(FRAME.loc[test, FEATURES]).tolist() == found.loc[test, "prediction"].tolist()
    rule = results.predictions(classifier="rule")
    assert (rule["prediction"] == np.where(FRAME["town"] == "A", "yes", "no")).all()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [(["town"], True), ("town", True), ([0], False), (slice(0, 1), False), (make_column_selector(), True), ([], False)],
)
def test_frames_are_for_pipelines_that_name_columns(columns, expected):
    pipeline = make_pipeline(ColumnTransformer([("t", OneHotEncoder(), columns)]), LogisticRegression())
    assert takes_frames(pipeline) == expected
