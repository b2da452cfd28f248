"""The two permutation tests of Ojala and Garriga for a classifier that is retrained on each replicate.

``null="labels"`` (their PermClass, Test 1) asks whether the classifier learned a true class structure: under the null
hypothesis rows and labels are independent. ``null="features"`` (PermFeats, Test 2) asks whether its accuracy
depends on the joint structure of the features: under the null hypothesis features are independent inside each class.
A rejection does not say that the classifier models that structure, since data with another structure may be easier or
harder for any classifier. The statistic is the cross-validated error, compared as the whole number of wrong rows, or a
measure of the user's choice.

Why folds stay fixed. A replicate of ``"labels"`` permutes the rows of X against labels and folds, which stay where they
are, so folds remain stratified. For any learner this equals giving row i of a fixed X both the label and the fold of
the place it moved to, which is how batched learners see it: distances, encoders and cross products of X stay what they
were, while the training rows of each fold change. (If only labels were permuted, folds would no longer be stratified,
and the observed run would not be one of the outcomes compared.) Given labels and folds, under the null hypothesis all
orders of the rows of X are equally likely, so the observed run is one more draw and the p-value valid: P(p <= a) <= a
for any learner and any folds chosen without looking at X. scikit-learn's `permutation_test_score` permutes y and splits
again; if its folds depend only on y, its replicates have the same distribution.

Why a transform may see all rows. If a transform never sees labels and does not depend on the order of rows, learning it
on the permuted rows gives the permuted result. The test stays valid with ``transforms="all"``; only the error estimate
changes (slightly optimistic in principle).

When not to use: to show that a classifier is good, since with many rows a structure too weak to be of use is
significant; to compare two classifiers (`sigstats.mcnemar_test`); or for rows in an order, such as a time series. If
rows depend on each other in groups, pass `groups`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.class_names import as_class_labels, as_groups
from .._common.data_frames import require_same_index
from .._common.drawing import histogram
from .._common.extreme import at_least
from .._common.random_streams import MAX_RESAMPLES, as_generator
from .._common.tabular import shown_record
from .._common.validation import as_count, refuse
from ..measures.costs import as_cost_measure
from ..measures.measure import Measure
from ..test_result import TestResult, monte_carlo_outcome
from .folds import as_classes, as_folds, note_on_few_arrangements
from .measured import Statistic, observed_value, statistic_of, values_of
from .retrainer import Retrainer as Retrainer
from .retrainer import Transforms, in_processes
from .rows import as_rows, copies_note, encoded

if TYPE_CHECKING:
    from ..learners.base import Fits, Null  # whose room imports scikit-learn

_MOST_PROCESSES = 1000

_SCALER = "a StandardScaler before the classifier would let permutations share work: some ten times as fast"
#: Estimators of scikit-learn that use the random state only to order the rows; the optimum does not depend on it.
_DRAWN_ONLY_BY_THE_SOLVER = {"LogisticRegression", "RidgeClassifier", "LinearSVC", "SVC", "NuSVC", "PCA"}


@dataclass(frozen=True, kw_only=True, repr=False)
class PermutationTestResult(TestResult):
    """The result of `permutation_test`.

    Attributes
    ----------
    statistic, estimate : float
        The observed cross-validated measure: by default the error, the share of wrong rows. It has no interval, since
        the predictions of a cross-validation depend on each other; `pvalue_interval` is the interval of p.
    null_distribution : tuple of float
        The measure in each replicate.
    measure : str
        The name of the measure.
    wrong : int
        The observed number of wrong rows.
    null_wrong : tuple of int
        The number of wrong rows in each replicate; empty if the statistic is another measure than the error.
    n : int
        The number of rows.
    null_values : tuple of float
        ``null_distribution`` if the statistic is another measure than the error; otherwise empty.
    fits : {"shared", "compiled", "refitted"}
        How the classifier is retrained: with work that all permutations share, by compiled code, or by its own ``fit``,
        which takes as long as scikit-learn's `permutation_test_score`.
    """

    _question = "Permutation test: is the classifier no better than on permuted data?"
    _null = "it is not"
    __repr__ = shown_record

    wrong: int
    null_wrong: tuple[int, ...]
    n: int
    fits: "Fits"
    measure: str = "error"
    null_values: tuple[float, ...] = ()

    @property
    def estimate(self) -> float:
        """The observed measure, which is the statistic."""
        return self.statistic

    @property
    def null_distribution(self) -> tuple[float, ...]:
        """The measure in each replicate."""
        return self.null_values or tuple(wrong / self.n for wrong in self.null_wrong)

    def _draw(self, ax: Any) -> Any:
        return histogram(ax, self.null_distribution, {"observed": self.statistic}, unit=self.measure)


def permutation_test(
    classifier: Any,
    X: Any,
    y: Any,
    *,
    null: "Null" = "labels",
    cv: Any = 10,
    n_resamples: int = 999,
    rng: Any = None,
    transforms: Transforms = "fold",
    n_jobs: int | None = None,
    groups: Any = None,
    measure: str | Measure | Callable[..., Any] = "error",
    costs: Any = None,
    positive: Any = None,
) -> PermutationTestResult:
    """Test whether a classifier learned class structure, or uses dependency between features (Ojala and Garriga).

    Null hypothesis: labels are independent of rows, or (``null="features"``) features of each other within a class.

    The p-value is ``(#{replicates with no more wrong rows than observed} + 1) / (n_resamples + 1)``.

    Parameters
    ----------
    classifier : estimator or str
        A scikit-learn classifier, or the name of a ready classifier of studies: ``"1-nn"``, ``"lda"``,
        ``"decision-tree"``. If a `StandardScaler` before it would make the test much faster, ``.reason`` says so.
    X : array_like or DataFrame, shape (n, d)
        The rows. For a ready classifier the strings, categories and booleans of a data frame are nominal features, as
        in a study; strings that may be numbers are refused. Other estimators get the frame unchanged. Use float64: with
        shorter floats most estimators have no batched form, and are much slower.
    y : array_like, shape (n,)
        The class of each row.
    null : {"labels", "features"}
        The null hypothesis: rows and labels are independent (PermClass), or features are independent of each other
        inside each class (PermFeats).
    cv : int, splitter, iterable of (train, test), or array_like of int, shape (n,)
        A number of stratified folds (shuffled with `rng`), a splitter that tests each row once, its pairs of training
        and test rows, or the test fold of each row. It must not depend on X. Splits that repeat test rows or leave some
        out are refused: give each repetition to a test of its own.
    n_resamples : int
        The number of replicates.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of folds and permutations.
    transforms : {"fold", "all"}
        Learn a pipeline's transforms only on the training fold, or once on all rows without labels; the test is valid
        either way (see the module's docstring).
    n_jobs : int, optional
        Number of processes, as in scikit-learn; it does not change the result. By default one for each processor if
        the replicates take more than about ten seconds, otherwise one. Within
        ``joblib.parallel_config(backend="dask")`` the work runs on the workers of a Dask client.
    groups : array_like, shape (n,), optional
        Groups of rows that depend on each other, such as those of a patient. No fold splits one, and permutations keep
        them: labels are exchanged inside groups or, where each is of one class, among groups of equally many rows;
        features inside each group and class (see ``sigstats.retraining.folds``).
    measure : str, Measure or callable
        The statistic over all rows: the error, a measure for which larger is better, or your own `Measure` or function
        ``f(y, prediction, weights)``, as in `sigstats.compare`. Equal rows are passed once, weighted by their number.
        ``"accuracy"``, ``"balanced-accuracy"``, ``"mcc"``, ``"kappa"`` and ``"macro-f1"`` and the like use predictions,
        so do ``"f1"``, ``"precision"``, ``"recall"`` of two classes; ``"auc"`` and ``"neg-brier"`` (two classes) and
        ``"neg-log-loss"`` use scores, by scikit-learn's own fits.
    costs : mapping or DataFrame, optional
        The cost of each wrong prediction, ``{true class: {predicted class: cost}}`` or ``{"fn": 10, "fp": 1}`` of the
        positive class. The statistic is then the mean cost; omit `measure`.
    positive : object, optional
        The label to which ``"f1"``, ``"precision"``, ``"recall"``, ``"auc"`` and the like refer; by default the second
        of 0 and 1, -1 and 1, false and true, or no and yes.

    Returns
    -------
    PermutationTestResult
        ``.statistic`` is the measure, ``.null_distribution`` its values in the replicates, ``.pvalue`` the p-value.

    Raises
    ------
    ValueError
        If the data do not fit together, a class has fewer rows than there are folds, the estimator is no classifier, or
        it fails or predicts something else than classes.

    Notes
    -----
    In place of scikit-learn's ``score, scores, p = permutation_test_score(clf, X, y, cv=cv, n_permutations=B)``::

        r = permutation_test(clf, X, y, cv=cv, n_resamples=B)
        score, scores, p = 1 - r.statistic, [1 - e for e in r.null_distribution], r.pvalue

    Differences: the error is that of all rows together, not the mean over folds (equal where folds are equally large);
    replicates are compared by whole numbers of wrong rows, where scikit-learn compares means of floats and misses
    ties by rounding; folds are made once; each row must be tested once. In place of ``scoring`` there is `measure`,
    which is likewise of all rows together; values that differ only by rounding are ties.

    References
    ----------
    Ojala and Garriga, *Permutation Tests for Studying Classifier Performance*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import sigstats
    >>> X, y = load_iris(return_X_y=True)
    >>> result = sigstats.permutation_test("1-nn", X, y, n_resamples=99, rng=1)
    >>> round(result.statistic, 2), result.pvalue
    (0.04, 0.01)
    >>> result = sigstats.permutation_test("1-nn", X, y, measure="macro-f1", n_resamples=99, rng=1)
    >>> round(result.statistic, 2), result.pvalue, result.alternative
    (0.96, 0.01, 'greater')
    """
    n_resamples = as_count(n_resamples, "n_resamples", minimum=1, maximum=MAX_RESAMPLES)
    generator = as_generator(rng)
    if n_jobs is not None:
        n_jobs = as_count(n_jobs, "n_jobs", minimum=-_MOST_PROCESSES, maximum=_MOST_PROCESSES)
    if n_jobs == 0:
        raise refuse("n_jobs", n_jobs, "None, a number of processes, or -1 for one on each processor")
    require_same_index(X=X, y=y, cv=cv, groups=groups)
    notes = ["" if isinstance(classifier, str) else _random_state_warning(classifier)]
    if getattr(cv, "shuffle", False) and getattr(cv, "random_state", 0) is None:
        notes.append("warning: cv has no random_state, so rng is not enough to repeat the folds; set it")
    if isinstance(classifier, str):
        from ..learners import build

        X, nominal = encoded(X)
        classifier = build(classifier, nominal=nominal)
    names, codes = as_classes(y)
    as_class_labels((names.astype(str) if names.dtype.kind == "O" else names)[codes], "y")
    units = None if groups is None else as_groups(groups, "groups", len(codes))[0]
    folds = as_folds(cv, X, codes, generator, groups=units)
    retrainer = Retrainer(classifier, X, y, folds, null=null, transforms=transforms, groups=groups)
    if retrainer.batched_if_scaled:
        notes.append(_SCALER)
    rows = as_rows(X, retrainer.n, null)
    if units is None:
        notes.append(copies_note(rows, codes, folds, null))
    elif few := note_on_few_arrangements(codes, units, folds, null, features=rows.shape[1], needed=n_resamples + 1):
        notes.append(f"warning: {few}")
    if costs is not None:
        if measure != "error":
            raise ValueError(f"measure: {measure!r} cannot be combined with costs, whose mean is the statistic")
        measure = as_cost_measure(costs)
    if isinstance(measure, str) and measure == "error":
        if positive is not None:
            raise refuse("positive", positive, "None, since the error has no positive class")
        outcome = _compare_errors(retrainer, y, generator, n_resamples, n_jobs)
    else:
        statistic = statistic_of(measure, retrainer, y, positive)
        outcome = _compare_values(retrainer, statistic, generator, n_resamples, n_jobs)
    return PermutationTestResult(
        method=f"permutation of {retrainer.null}",
        n=retrainer.n,
        reason="; ".join(filter(None, notes)),
        fits=retrainer.fits,
        **outcome,
    )


def _compare_errors(
    retrainer: Retrainer, y: Any, generator: np.random.Generator, n_resamples: int, n_jobs: int | None
) -> dict[str, Any]:
    """Return the fields of the result if the statistic is the error."""
    wrong = int((retrainer.observed() != np.asarray(y)).sum())
    counts = in_processes(retrainer.count_wrong, retrainer, generator, n_resamples, n_jobs)
    return {
        "statistic": wrong / retrainer.n,
        "alternative": "less",
        "wrong": wrong,
        "null_wrong": tuple(counts.tolist()),
        **monte_carlo_outcome(int((counts <= wrong).sum()), n_resamples),
    }


def _compare_values(
    retrainer: Retrainer, statistic: Statistic, generator: np.random.Generator, n_resamples: int, n_jobs: int | None
) -> dict[str, Any]:
    """Return the fields of the result if the statistic is another measure."""
    truth, predicted = retrainer.truth_and_predictions(retrainer.identity())
    observed = observed_value(retrainer, statistic)
    values = in_processes(partial(values_of, retrainer, statistic), retrainer, generator, n_resamples, n_jobs)
    return {
        "statistic": statistic.sign * observed,
        "alternative": "greater" if statistic.sign > 0 else "less",
        "wrong": int((truth != predicted).sum()),
        "null_wrong": (),
        "measure": str(statistic.name),
        "null_values": tuple((statistic.sign * values).tolist()),
        **monte_carlo_outcome(int(at_least(values, observed).sum()), n_resamples),
    }


def _random_state_warning(classifier: Any) -> str:
    """Return a warning if an estimator has a random state that is not set; otherwise empty."""
    try:
        params = {"": classifier, **classifier.get_params(deep=True)}
    except Exception:  # what is no estimator is refused later
        return ""
    unset = []
    for name, value in params.items():
        owner, _, parameter = name.rpartition("__")
        solver = type(params.get(owner)).__name__
        if parameter == "random_state" and value is None and solver not in _DRAWN_ONLY_BY_THE_SOLVER:
            unset.append(name)
    if not unset:
        return ""
    return f"warning: {min(unset)} is None: if the fit is random, rng is not enough to repeat the result"
