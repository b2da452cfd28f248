"""Retraining on permuted data compared with scikit-learn's `permutation_test_score`: same data, estimators and folds.

One worker, one thread; milliseconds of processor time a permutation, best of several repeats in turn. Names of
classifiers as arguments measure these alone. `--large` measures on 20,000 and 50,000 rows: one permutation of
scikit-learn's, two of these, and the memory of a process that computes two; of 2 folds for trees and forests, else 10.
scikit-learn permutes labels alone: for permuted features its contender is `cross_val_score` on each permuted set, which
is what it would do.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import functools
import itertools
import multiprocessing
import platform
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import PredefinedSplit, cross_val_score, permutation_test_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sigstats.learners import build
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

#: Behind the 0/1 columns of categories, which scikit-learn makes anew in each fit.
OF_CATEGORIES = "tree of categories"
#: Features scaled to the unit range of each training fold, so that distances change from fold to fold.
SCALED = "1-NN, scaled"
#: Columns of which some are sums of others.
COLLINEAR = "LDA, collinear"
BALANCED_RIDGE = "ridge, scaled, balanced"
BALANCED_SVM = "linear SVM, balanced"
BALANCED_REGRESSION = "logistic regression, scaled, balanced"
COLLINEAR_QDA = "QDA, collinear"
ESTIMATORS = {
    "1-NN": KNeighborsClassifier(1),
    SCALED: make_pipeline(MinMaxScaler(), KNeighborsClassifier(1)),
    "naive Bayes": GaussianNB(),
    "LDA": LinearDiscriminantAnalysis(),
    "linear SVM": make_pipeline(StandardScaler(), LinearSVC(dual=False, tol=1e-6, random_state=0)),
    "5-NN, scaled": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    "logistic regression, scaled": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "ridge, scaled": make_pipeline(StandardScaler(), RidgeClassifier()),
    "random forest": RandomForestClassifier(random_state=0),
    "extra trees": ExtraTreesClassifier(random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(random_state=0),
    COLLINEAR: LinearDiscriminantAnalysis(),
    # Without `reg_param` scikit-learn refuses all of these but iris.
    "QDA, scaled": make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=0.01)),
    COLLINEAR_QDA: QuadraticDiscriminantAnalysis(reg_param=0.01),
    "tree": DecisionTreeClassifier(random_state=0),
    "5-NN by distance, scaled": make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance")),
    "5-NN, unit length": make_pipeline(Normalizer(), KNeighborsClassifier(5)),
    BALANCED_RIDGE: make_pipeline(StandardScaler(), RidgeClassifier(class_weight="balanced")),
    BALANCED_SVM: make_pipeline(
        StandardScaler(), LinearSVC(class_weight="balanced", dual=False, tol=1e-6, random_state=0)
    ),
    BALANCED_REGRESSION: make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)),
    "random forest, balanced": RandomForestClassifier(class_weight="balanced", random_state=0),
    "tree, entropy": DecisionTreeClassifier(criterion="entropy", random_state=0),
    "random forest, entropy": RandomForestClassifier(criterion="entropy", random_state=0),
    "extra trees, entropy": ExtraTreesClassifier(criterion="entropy", random_state=0),
    OF_CATEGORIES: build("decision-tree", nominal=np.ones(20, dtype=bool), missing=False),
}
GOALS = {
    ("1-NN", "labels"): 500,
    (SCALED, "labels"): 500,
    ("naive Bayes", "labels"): 50,
    ("LDA", "labels"): 100,
    ("1-NN", "features"): 5,
    (SCALED, "features"): 5,
    ("naive Bayes", "features"): 20,
    ("linear SVM", "labels"): 3,
    ("tree", "labels"): 2,
    ("tree", "features"): 2,
    (OF_CATEGORIES, "labels"): 2,
    (OF_CATEGORIES, "features"): 2,
    ("5-NN, scaled", "labels"): 100,
    ("logistic regression, scaled", "labels"): 5,
    ("random forest", "labels"): 5,
    ("random forest", "features"): 5,
    ("extra trees", "labels"): 5,
    ("extra trees", "features"): 5,
    ("histogram boosting", "labels"): 2,
    ("histogram boosting", "features"): 2,
    (COLLINEAR, "labels"): 10,
    ("QDA, scaled", "labels"): 10,
    (COLLINEAR_QDA, "labels"): 10,
    ("ridge, scaled", "labels"): 1,
    ("5-NN by distance, scaled", "labels"): 10,
    ("5-NN, unit length", "labels"): 10,
    (BALANCED_RIDGE, "labels"): 10,
    (BALANCED_SVM, "labels"): 3,
    (BALANCED_REGRESSION, "labels"): 5,
    ("random forest, balanced", "labels"): 2,
    ("tree, entropy", "labels"): 2,
    ("random forest, entropy", "labels"): 2,
    ("extra trees, entropy", "labels"): 2,
}
DATA = {"iris": load_iris, "breast cancer": load_breast_cancer, "digits": load_digits}
REPEATS = 3
#: Measured once on digits.
SLOW = (
    *("tree", "random forest", "extra trees", "linear SVM", BALANCED_SVM, "histogram boosting"),
    *("random forest, balanced", "tree, entropy", "random forest, entropy", "extra trees, entropy"),
)


def categories(rows: int, return_X_y: bool = True) -> tuple[Any, Any]:  # noqa: ARG001 (as scikit-learn's loaders)
    """Rows of twenty features with five categories each, two of which tell the class."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (rows, 20)).astype(np.float64)
    y = ((X[:, 0] + X[:, 1] + rng.integers(0, 4, rows)) > 5).astype(np.int64)
    return X, y


def collinear(return_X_y: bool = True) -> tuple[Any, Any]:  # noqa: ARG001 (as scikit-learn's loaders)
    """Two thousand rows, 40 columns that differ a little between seven classes, and 14 that depend on these."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, 2000)
    base = rng.normal(size=(2000, 40)) + 0.2 * y[:, None] * rng.normal(size=40)
    return np.hstack([base, base[:, :10] @ rng.normal(size=(10, 6)), base[:, :8] - base[:, 8:16]]), y


def normal(rows: int, return_X_y: bool = True) -> tuple[Any, Any]:  # noqa: ARG001 (as scikit-learn's loaders)
    """Rows of 54 normal features whose means differ a little between seven classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, rows)
    return rng.normal(size=(rows, 54)) + 0.1 * y[:, None], y


#: The rows of the data of ``--large``.
LARGE_SIZES = (20_000, 50_000)
#: Classifiers of which ten folds of a large set take minutes, measured with two folds.
TWO_FOLDS = ("tree", OF_CATEGORIES, "random forest", "extra trees")
#: Data that belong to one classifier.
OWN_DATA: dict[str, dict[str, Callable[..., Any]]] = {
    OF_CATEGORIES: {"generated": functools.partial(categories, 1000)},
    COLLINEAR: {"generated": collinear},
    COLLINEAR_QDA: {"generated": collinear},
}


def best(*works: tuple[Callable[[], object], int], repeats: int = REPEATS) -> list[float]:
    """Milliseconds of processor time a unit in the fastest of `repeats` runs of each of the works, in turn."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for (work, units), own in zip(works, times, strict=True):
            start = time.process_time()
            work()
            own.append((time.process_time() - start) / units)
    return [1000 * min(own) for own in times]


def peer(estimator: Any, X: Any, y: Any, folds: Any, null: str, draws: Any) -> Callable[[], object]:
    split = PredefinedSplit(folds)
    if null == "labels":
        # One fit on the observed labels comes with the permuted ones.
        return lambda: permutation_test_score(
            estimator, X, y, cv=split, n_permutations=len(draws) - 1, random_state=1, n_jobs=1
        )
    return lambda: [
        cross_val_score(estimator, np.take_along_axis(X, draw.T, axis=0), y, cv=split, n_jobs=1) for draw in draws
    ]


def large(name: str, rows: int) -> tuple[Any, Any, Any]:
    """Data of so many rows, and their folds."""
    X, y = categories(rows) if name == OF_CATEGORIES else normal(rows)
    return X, y, stratified_folds(y, 2 if name in TWO_FOLDS else 10, 1)


def peak_memory(name: str, null: str, rows: int) -> float:
    """GiB at most in a process that loads the data and computes two permutations."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_own_peak, (name, null, rows))


def _own_peak(name: str, null: str, rows: int) -> float:
    warnings.simplefilter("ignore")
    X, y, folds = large(name, rows)
    Retrainer(ESTIMATORS[name], X, y, folds, null=null).wrong(1, 2)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure_large(names: list[str]) -> None:
    """Print the rows of larger sets: milliseconds a permutation, and memory."""
    print("| classifier | permuted | data | rows x features | scikit-learn | sigstats | ratio | memory |")
    print("|---|---|---|---|---|---|---|---|")
    for (name, null), rows in itertools.product(GOALS, LARGE_SIZES):
        if (names and name not in names) or name in (COLLINEAR, COLLINEAR_QDA):
            continue
        memory = peak_memory(name, null, rows)
        estimator, (X, y, folds) = ESTIMATORS[name], large(name, rows)
        retrainer = Retrainer(estimator, X, y, folds, null=null)
        retrainer.wrong(1, 1)
        draw = retrainer.draw(np.random.default_rng(1), 1)[0]
        mixed = X[draw.argsort()] if null == "labels" else np.take_along_axis(X, draw.T, axis=0)
        split = PredefinedSplit(folds)
        theirs, ours = best(
            (lambda e=estimator, Z=mixed, t=y, s=split: cross_val_score(e, Z, t, cv=s, n_jobs=1), 1),
            (lambda r=retrainer: r.wrong(1, 2), 2),
            repeats=1,
        )
        print(f"| {name} | {null} | generated | {X.shape[0]} x {X.shape[1]} ", end="")
        print(f"| {theirs:.3g} | {ours:.3g} | {theirs / ours:.3g} | {memory:.2f} |", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    cores = os.cpu_count()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}; ", end="")
    print(f"{platform.system()} {platform.machine()}, {cores} cores, one thread, one worker.")
    print(
        "`python benchmarks/permutation.py [CLASSIFIER ...]`; 10 stratified folds; milliseconds of processor time "
        "a permutation, best of several runs.\n"
    )
    names = [each for each in sys.argv[1:] if each != "--large"]
    if "--large" in sys.argv:
        measure_large(names)
        return
    print("| classifier | permuted | data | rows x features | scikit-learn | sigstats | ratio | goal |")
    print("|---|---|---|---|---|---|---|---|")
    met: dict[str, list[bool]] = {}
    for (name, null), goal in GOALS.items():
        if names and name not in names:
            continue
        estimator = ESTIMATORS[name]
        for title, load in OWN_DATA.get(name, DATA).items():
            X, y = load(return_X_y=True)
            folds = stratified_folds(y, 10, 1)
            retrainer = Retrainer(estimator, X, y, folds, null=null)
            slow = name in SLOW and title == "digits"
            draws = retrainer.draw(np.random.default_rng(1), 2 if title == "digits" else 5)
            retrainer.wrong(1, 1)  # compiles what is to be compiled
            (once,) = best((lambda r=retrainer: r.wrong(1, 1), 1), repeats=1)
            replicates = int(np.clip(300 / once, 2, 500))
            theirs, ours = best(
                (peer(estimator, X, y, folds, null, draws), len(draws)),
                (lambda r=retrainer, b=replicates: r.wrong(1, b), replicates),
                repeats=1 if slow else REPEATS,
            )
            met[title] = [*met.get(title, []), theirs / ours >= goal]
            print(
                f"| {name} | {null} | {title} | {X.shape[0]} x {X.shape[1]} "
                f"| {theirs:.3g} | {ours:.3g} | {theirs / ours:.3g} | {goal} |"
            )
            sys.stdout.flush()
    print("\nGoals met: " + "; ".join(f"{title} {sum(each)} of {len(each)}" for title, each in met.items()) + ".")


if __name__ == "__main__":
    main()
