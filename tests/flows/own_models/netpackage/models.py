"""Classifiers of NumPy alone: a small network with early stopping, and one that does what it is told not to."""

import contextlib
import ctypes
import os
import random
import signal
import stat
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_info


class Net(ClassifierMixin, BaseEstimator):
    """One hidden layer, batch gradient descent, which stops once a held-out fifth of the rows gets no better."""

    def __init__(self, hidden=8, rate=0.5, epochs=200, patience=10, random_state=None):
        self.hidden = hidden
        self.rate = rate
        self.epochs = epochs
        self.patience = patience
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("a network needs two classes; this data has 1 class")
        rng = np.random.default_rng(self.random_state)
        held_out = rng.permutation(len(X)) < len(X) // 5
        target = np.eye(len(self.classes_))[codes]
        weights = [rng.normal(size=(X.shape[1] + 1, self.hidden)), rng.normal(size=(self.hidden + 1, target.shape[1]))]
        best, since = np.inf, 0
        self.weights_ = weights
        for _ in range(self.epochs):
            inner, out = self._forward(X[~held_out], weights)
            error = (out - target[~held_out]) / len(out)
            back = error @ weights[1][1:].T * (1 - inner**2)
            weights = [
                weights[0] - self.rate * _one(X[~held_out]).T @ back,
                weights[1] - self.rate * _one(inner).T @ error,
            ]
            loss = -np.log(self._forward(X[held_out], weights)[1][target[held_out] == 1] + 1e-12).sum()
            if loss < best:
                best, since, self.weights_ = loss, 0, weights
            else:
                since += 1
                if since == self.patience:
                    break
        return self

    def _forward(self, X, weights):
        inner = np.tanh(_one(X) @ weights[0])
        scores = _one(inner) @ weights[1]
        out = np.exp(scores - scores.max(axis=1, keepdims=True))
        return inner, out / out.sum(axis=1, keepdims=True)

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.classes_[self._forward(X, self.weights_)[1].argmax(axis=1)]


def _one(X):
    return np.hstack([np.ones((len(X), 1)), X])


scaled = make_pipeline(StandardScaler(), Net())
regressor = Ridge()


class Unruly(ClassifierMixin, BaseEstimator):
    """Predicts the class of the nearest mean, and does what `deed` says while it is fitted."""

    def __init__(self, deed=""):
        self.deed = deed

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        if self.deed:
            getattr(self, f"_{self.deed}")()
        return self

    def predict(self, X):
        distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)] + 100 * (self.deed == "alien")

    def _alien(self):
        """Predict a class that it never saw."""

    def _raises(self):
        raise RuntimeError("no\nluck")

    def _quits(self):
        sys.exit(3)

    def _exits(self):
        os._exit(7)

    def _assaults(self):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)

    def _crashes(self):
        ctypes.string_at(0)

    def _writes(self):
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    os.write(descriptor, b"\x7f\xff\xff\xff")

    def _garbles(self):
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    os.write(descriptor, b"\0\0\0\5hello")

    def _complains(self):
        raise ValueError("\x1b[2Jx" * 10**7)

    def _has_one_thread(self):
        self._require_threads(1)

    def _has_two_threads(self):
        self._require_threads(2)

    def _require_threads(self, number):
        blas = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
        if blas != {number} or os.environ["OMP_NUM_THREADS"] != str(number):
            raise RuntimeError(f"{blas} threads, OMP_NUM_THREADS {os.environ['OMP_NUM_THREADS']}")

    def _hangs(self):
        time.sleep(1000)

    def _prints(self):
        print("}{" * 1000)
        os.write(1, b"\x80\x04raw")
        os.write(2, b"\x80\x04raw")

    def _moves(self):
        os.chdir("/")
        os.environ.clear()
        sys.path.clear()
        np.seterr(all="raise")
        warnings.simplefilter("error")

    def _stays(self):
        if Path.cwd() == Path("/") or not sys.path or np.geterr()["under"] == "raise" or not os.environ:
            raise RuntimeError("somebody has moved this process")

    def _forks(self):
        os.fork()

    def _seeds(self):
        np.random.seed(1)
        random.seed(1)

    def _draws(self):
        self.means_ = self.means_ + np.random.normal(size=self.means_.shape) + random.random()

    def _takes(self):
        self.hoard_ = [np.ones(2**24) for _ in range(1000)]

    def _leaks(self):
        type(self).hoard = [*getattr(type(self), "hoard", []), np.ones(2**21)]
