"""Features of float32 and float16: what is retrained is scikit-learn's own fit of them, replicate by replicate."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.retrainer import Retrainer

X, Y = load_breast_cancer(return_X_y=True)
X = X[:, 4:10]  # whose squares are within the range of float16
FOLDS = stratified_folds(Y, 3, rng=1)

#: Estimators, and whether they turn features of any length into floats of one size.
ESTIMATORS = {
    "naive Bayes": (GaussianNB(), False),
    "ridge": (RidgeClassifier(), False),
    "LDA": (LinearDiscriminantAnalysis(), False),
    "scaled neighbours": (make_pipeline(StandardScaler(), KNeighborsClassifier()), False),
    "tree": (DecisionTreeClassifier(random_state=0, max_depth=4), True),
    "forest": (RandomForestClassifier(3, random_state=0), True),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_short_floats_are_retrained_as_scikit_learn_does(name, kind):
    estimator, one_size = ESTIMATORS[name]
    short = X[::2].astype(kind)
    y, folds = Y[::2], FOLDS[::2]
    found = Retrainer(estimator, short, y, folds, null="labels")
    assert found.batched == one_size
    assert Retrainer(estimator, short.astype(np.float64), y, folds, null="labels").batched
    expected = cross_val_predict(estimator, short, y, cv=PredefinedSplit(folds))
    assert found.observed().tolist() == expected.tolist()
    if one_size:
        reference = Retrainer(estimator, short, y, folds, null="labels", batched=False)
        assert found.wrong(1, 5).tolist() == reference.wrong(1, 5).tolist()


def test_longer_floats_are_not_shortened():
    assert not Retrainer(SVC(), X.astype(np.longdouble), Y, FOLDS, null="labels").batched
