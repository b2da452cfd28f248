"""A classifier that is retrained in each fold of each replicate of a permutation test.

`sigstats.retraining.permutation` explains the permutations, why folds stay fixed and why transforms may see all rows.
Read it first: this module is for users who spread the replicates over machines, or stop them early. `Retrainer`
predicts with a batched learner of `sigstats.learners` if there is one, otherwise with clones of the estimator.
`in_processes` spreads the replicates over local processes.

When not to use: to fit a classifier once, or to score it otherwise than by the number of wrong rows.
"""

import multiprocessing
import pickle
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from .._common.class_names import as_groups
from .._common.data_frames import require_same_index
from .._common.random_streams import MAX_RESAMPLES, as_generator
from .._common.validation import IntArray, as_choice, as_count, as_flag, raised
from .folds import LabelExchange, as_classes, as_folds, permutations, require_trained, rows_to_permute
from .rows import as_rows, class_codes, fit_transform, permute_features, split_transforms, take, transform_rows

if TYPE_CHECKING:
    from ..learners.base import Fits  # whose room imports scikit-learn

NULLS = ("labels", "features")
Transforms: TypeAlias = Literal["fold", "all"]

TRANSFORMS: tuple[Transforms, ...] = ("fold", "all")
#: Scratch memory a chunk of replicates may take, bytes.
CHUNK_BYTES = 2**26


class Retrainer:
    """A classifier, retrained in each fold of each replicate.

    `estimator` is cloned, never fitted itself; `X` are rows (sparse matrices only for ``null="labels"``), `y` their
    classes, and `folds` their test folds (``sigstats.retraining.folds`` draws them).
    `null`: the permutations: ``"labels"``: rows of X against labels and folds; ``"features"``: each feature inside each
    class.
    `batched`: use a batched learner if there is one for this estimator; it gives the same predictions.
    `transforms`: whether the transforms of a pipeline (all its steps but the last) are learned only on the training
    fold (``"fold"``), or once on all rows, without labels (``"all"``).
    `groups`: groups of rows that depend on each other: none is split by `folds`, and permutations keep them.

    Attributes: `codes` are the positions of the rows' classes among the sorted ones; `estimator` is fitted in each
    fold, without the transforms that are learned once; `around_fit` makes a context for each fit with its predictions,
    and may be set to watch over them. Raises ValueError if the data do not fit together, the estimator is not a
    classifier, or it fails to fit or to predict.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        folds: Any,
        *,
        null: str,
        batched: bool = True,
        transforms: str = "fold",
        groups: Any = None,
    ) -> None:
        self.estimator, self._transform = split_transforms(estimator, as_choice(transforms, "transforms", TRANSFORMS))
        as_flag(batched, "batched")
        self.around_fit: Callable[[], AbstractContextManager[None]] = nullcontext
        self.null = as_choice(null, "null", NULLS)
        require_same_index(X=X, y=y, folds=folds, groups=groups)
        self._classes, self.codes = as_classes(y)
        self._X = as_rows(X, len(self.codes), self.null)
        self.folds = as_folds(folds, self._X, self.codes)
        if self._transform is not None and null == "labels":
            self._X, self._transform = fit_transform(self._transform, self._X), None
        self._labels = self._classes[self.codes]
        self._exchange: LabelExchange | None = None
        self._strata = [np.flatnonzero(self.codes == code) for code in range(len(self._classes))]
        if groups is not None:
            codes = as_groups(groups, "groups", len(self.codes))[0]
            require_trained(self.codes, self.folds, "allow", codes)
            if null == "labels":
                self._exchange = LabelExchange(self.codes, codes)
            else:
                self._strata = rows_to_permute(self.codes, codes)
        self._learner = self._find_batched_learner(self.estimator) if batched else None

    @property
    def batched(self) -> bool:
        """True if a batched learner is used."""
        return self._learner is not None

    @property
    def fits(self) -> "Fits":
        """The way of retraining: with ``"shared"`` work, by ``"compiled"`` code, or ``"refitted"`` by the estimator."""
        return "refitted" if self._learner is None else self._learner.fits

    @property
    def batched_if_scaled(self) -> bool:
        """True if no batched learner is used, but one would be used behind a `StandardScaler`."""
        if self.batched:
            return False
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return self._find_batched_learner(make_pipeline(StandardScaler(), self.estimator)) is not None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def observed(self) -> Any:
        """Return the cross-validated prediction of each row, shape (n,), in the labels of `y`."""
        with warnings.catch_warnings():
            # Scalers say this of a feature that no training row has, which the ready neighbours take for unknown.
            warnings.filterwarnings("ignore", message="All-NaN slice encountered")
            return self._classes[self.predict(self.identity())[0]]

    def wrong(self, rng: Any, size: int) -> IntArray:
        """Return the number of wrong rows in each of the next `size` replicates.

        They are drawn from `rng` one after the other, so drawing fewer gives the first of them. The draws depend only
        on `rng`, the shape of X and the classes: all classifiers see the same permutations.
        """
        generator = as_generator(rng)
        size = as_count(size, "size", maximum=MAX_RESAMPLES)
        counts = [self.count_wrong(draws) for draws in self.chunks(generator, size)]
        return np.concatenate([*counts, np.empty(0, dtype=np.int64)])

    @property
    def chunk_size(self) -> int:
        """The number of replicates that fit `CHUNK_BYTES`, at least one."""
        count = self.n * (1 if self.null == "labels" else self._X.shape[1]) * 8 + self.n * 64
        if self._learner is not None:
            count += self._learner.replicate_bytes
        return max(1, CHUNK_BYTES // int(count))

    def chunks(self, generator: np.random.Generator, size: int, most: int = MAX_RESAMPLES) -> Iterator[IntArray]:
        """Yield the draws of `size` replicates, in chunks of `chunk_size`, or of `most` if that is less."""
        step = min(most, self.chunk_size)
        for first in range(0, size, step):
            yield self.draw(generator, min(step, size - first))

    def draw(self, generator: np.random.Generator, size: int) -> IntArray:
        """Return draws of `size` replicates.

        For labels, shape (size, n): row i of X takes the label and the fold of row ``draws[b, i]``. For features, shape
        (size, d, n): value j of row i is that of row ``draws[b, j, i]``.
        """
        if self._exchange is not None:
            return self._exchange.draw(generator, size)
        labels = self.null == "labels"
        runs = [np.arange(self.n)] if labels else self._strata
        shape = size, 1 if labels else self._X.shape[1], self.n
        draws = permutations(generator, runs, shape)
        return draws[:, 0] if labels else draws

    def count_wrong(self, draws: IntArray) -> IntArray:
        """Return the number of wrong rows of each replicate in `draws`."""
        truth, predicted = self.truth_and_predictions(draws)
        return np.asarray((predicted != truth).sum(axis=1), dtype=np.int64)

    def truth_and_predictions(self, draws: IntArray) -> tuple[IntArray, IntArray]:
        """Return the true and predicted class codes of X's rows in each replicate of `draws`, (replicates, n)."""
        truth = self.codes[draws] if self.null == "labels" else self.codes
        with np.errstate(all="ignore"):
            return truth, self.predict(draws, quiet=True)

    def predict(self, draws: IntArray, *, quiet: bool = False) -> IntArray:
        """Return the predicted class code of each row of X in each replicate, shape (replicates, n).

        `quiet`: whether to ignore warnings of fits: on permuted data (no convergence, collinear features) there are 10
        a replicate.
        """
        if self._learner is None:
            predicted = np.full((len(draws), self.n), -1, dtype=np.int64)
        elif self.null == "labels":
            predicted = self._learner.predict_labels(draws)
        else:
            predicted = self._learner.predict_features(draws)
        for replicate in np.flatnonzero((predicted < 0).any(axis=1)):
            self._refit(predicted[replicate], draws[replicate], quiet)
        return predicted

    def _refit(self, predicted: IntArray, draw: IntArray, quiet: bool) -> None:
        """Fill in the folds that have an undecided row, through scikit-learn."""
        order = self._order(draw) if self.null == "labels" else np.arange(self.n)
        rows = self.permuted(draw)
        for fold in np.unique(self.folds[predicted[order] < 0]):
            test = self.folds == fold
            predicted[order[test]] = self._fit_predict(rows, test, fold, quiet)

    def permuted(self, draw: IntArray) -> Any:
        """Return the rows of one replicate, to be used with the labels and folds as they are."""
        if self.null == "labels":
            return take(self._X, self._order(draw))
        rows = permute_features(self._X, draw)
        if self._transform is None:
            return rows
        with warnings.catch_warnings(action="ignore"):
            return fit_transform(self._transform, rows)

    def _order(self, draw: IntArray) -> IntArray:
        """Return the row of X in each place."""
        order = np.empty(self.n, dtype=np.int64)
        order[draw] = np.arange(self.n)
        return order

    def _fit_predict(self, rows: Any, test: Any, fold: int, quiet: bool) -> IntArray:
        from sklearn.base import clone

        name = type(self.estimator[-1] if hasattr(self.estimator, "steps") else self.estimator).__name__
        try:
            with self.around_fit(), warnings.catch_warnings(action="ignore" if quiet else None):
                fitted = clone(self.estimator).fit(take(rows, np.flatnonzero(~test)), self._labels[~test])
                predicted = np.asarray(fitted.predict(take(rows, np.flatnonzero(test))))
        except Exception as error:
            raise ValueError(f"classifier: {name} failed in fold {fold}: {raised(error)}") from error
        called = f"classifier ({name}'s predictions in fold {fold})"
        return class_codes(predicted, self._classes, int(test.sum()), called)

    def identity(self) -> IntArray:
        """Return the draw of one replicate that permutes nothing."""
        rows = np.arange(self.n)[None]
        return rows if self.null == "labels" else np.broadcast_to(rows, (1, self._X.shape[1], self.n))

    def _find_batched_learner(self, estimator: Any) -> Any:
        from ..learners import batched_learners
        from ..learners.base import Problem

        X = self._X
        if self.null == "labels":
            try:
                estimator, X = transform_rows(estimator, X)
            except ValueError:  # the fits of the folds report it
                return None
        if self._transform is not None or not isinstance(X, np.ndarray) or X.dtype.kind not in "iuf":
            return None
        if X.dtype.kind == "f" and X.dtype.itemsize > 8:
            return None
        # scikit-learn computes in float32 if X has it, unless the estimator converts X to other floats first.
        floats = X.dtype.kind == "f"
        shorter, piped = floats and X.dtype.itemsize < 8, hasattr(estimator, "steps")
        X = np.ascontiguousarray(X, dtype=np.float64)
        n_folds = int(self.folds.max()) + 1
        problem = Problem(X, self.codes, self.folds, len(self._classes), n_folds, floats, self._classes)
        for learner in batched_learners():
            if self.null in learner.nulls and (not shorter or (learner.one_size and not piped)):
                recognised = learner.recognise(estimator, problem, self.null)
                if recognised is not None:
                    return recognised
        return None


#: By default, processes are started if the replicates take longer than this many seconds.
_LONG = 10.0
#: Chunks of replicates for each process, so that all end at about the same time.
_CHUNKS_EACH = 8


def in_processes(
    compute: Callable[[IntArray], Any],
    retrainer: Retrainer,
    generator: np.random.Generator,
    n_resamples: int,
    n_jobs: int | None,
) -> Any:
    """Return the results of `compute` for all draws, concatenated.

    The first replicate is timed. If the others take long, each processor gets a process, unless `n_jobs` or a
    configuration of joblib states otherwise.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    began = time.perf_counter()
    first = compute(retrainer.draw(generator, 1))
    rest = n_resamples - 1
    if n_jobs is None and (time.perf_counter() - began) * rest > _LONG and effective_n_jobs(None) == 1:
        n_jobs = -1 if _can_be_sent(compute) else 1
    workers = effective_n_jobs(n_jobs)
    most = max(1, rest // (_CHUNKS_EACH * workers)) if workers > 1 else MAX_RESAMPLES
    chunks = retrainer.chunks(generator, rest, most)
    return np.concatenate([first, *Parallel(n_jobs=n_jobs)(delayed(compute)(draw) for draw in chunks)])


def _can_be_sent(compute: Callable[[IntArray], Any]) -> bool:
    """Return True if processes can be started and this function, with its classifier, can be sent to them."""
    if multiprocessing.current_process().daemon or threading.current_thread() is not threading.main_thread():
        return False
    try:
        pickle.dumps(compute)
    except Exception:  # a classifier that holds a connection, for example
        return False
    return True
