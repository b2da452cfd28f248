"""Compile what Numba compiles for this processor, so that no run waits for it.

Run it once after sigstats is installed with the extra fast: then neither the first study nor any worker waits for the
compiler.
"""

import argparse

from ..errors import DONE, BadInput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``sigstats warm-up`` has no arguments."""


def run(options: argparse.Namespace) -> int:  # noqa: ARG001
    """Compile the functions that studies use, by calling them on small data."""
    try:
        from sigstats.learners.batched._tree_growth import predict_fold
    except ImportError:
        raise BadInput("warm-up: Numba is missing; expected the extra fast: pip install 'sigstats[fast]'") from None
    _retrain()
    _count_rows()
    print(f"compiled in {predict_fold.stats.cache_path}")  # noqa: T201
    return DONE


def _retrain() -> None:
    import numpy as np

    from sigstats import permutation_test

    features = np.tile([[0.5, 1.0], [1.5, 2.0], [2.5, 1.0], [3.5, 2.0]], (4, 1))
    label = np.repeat([0, 1], 8)
    # more levels than 8 bits can number
    fine = np.linspace(0.0, 1.0, 600)[:, np.newaxis], np.arange(600) % 2
    forests = ("sklearn.ensemble.RandomForestClassifier", "sklearn.ensemble.ExtraTreesClassifier")
    boosting = "sklearn.ensemble.HistGradientBoostingClassifier"
    for classifier in ("decision-tree", "c4.5", "svm", "1-nn", boosting, *forests):
        for null in ("labels", "features"):
            permutation_test(classifier, features, label, null=null, cv=2, n_resamples=1, rng=0)
    whole = features + np.arange(32).reshape(16, 2) % 5
    for classifier, null in (("lda", "labels"), ("naive-bayes", "labels"), ("naive-bayes", "features")):
        permutation_test(classifier, whole, label, null=null, cv=2, n_resamples=1, rng=0)
    for classifier in forests:
        permutation_test(classifier, *fine, cv=2, n_resamples=1, rng=0)


def _count_rows() -> None:
    import pyarrow as pa

    from sigstats.tasks.populations.tally import Tally

    # whole numbers of each size; codes of texts have 32 bits
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64()):
        tally = Tally(("label", "a", "b"), many=True)
        for _ in range(2):  # the second time the labels are known, and compiled code counts them
            tally.add([pa.array([0, 1], type=kind)] * 3)
