"""Rank models from data frames and arrays: possible ranks of every model, all pairs, all slices.

When not to use: the models saw different rows; or the question is about other data sets
(`sigstats.compare_over_datasets`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import Any

import numpy as np

from sigstats._common.class_names import MISSING, as_class_labels, class_notes, coded, coded_groups, label_name
from sigstats._common.class_spelling import DistinctNames
from sigstats._common.column_names import ERRORS
from sigstats._common.data_frames import ModelTable, columns_of, is_columns, require_same_index
from sigstats._common.messages import Note, rephrased
from sigstats._common.validation import FloatArray, as_labels, as_names, as_reals, refuse, same_kind_of_labels, shown
from sigstats.comparison.measure_names import as_compared_measures, is_of_scores
from sigstats.comparison.paired_predictions import Labels, PairedPredictions, Predicted, Scored, as_score_range
from sigstats.comparison.rank_by_pairs import rank_by_pairs
from sigstats.comparison.units import Parted, Units
from sigstats.measures.costs import as_cost_measure
from sigstats.measures.measure import Measure
from sigstats.measures.metrics import against_direction
from sigstats.measures.table import MEASURES
from sigstats.ranking.means import first_of_each, item_means, missing_in
from sigstats.ranking.rank import check_costs, rank_table, with_costs
from sigstats.ranking.rank_sets import as_score_table
from sigstats.ranking.result import Ranking

from ..._common.messages import as_arguments
from ._arguments import ClassProbabilities, class_probabilities

#: Names of columns of wrong answers.
_OF_WRONG = re.compile(rf"(?i)(?:^|[\W_])(?!loss)(?:{ERRORS})$")


def rank_models(
    correct: Any,
    *,
    label: Any = None,
    models: Sequence[str] | None = None,
    groups: Any = None,
    slices: Mapping[str, Any] | Sequence[str] | None = None,
    items: Any = None,
    cost: Any = None,
    measure: str | Measure | Callable[..., Any] | None = None,
    costs: Any = None,
    positive: Any = None,
    score_range: Sequence[float] | None = None,
    confidence_level: float = 0.95,
    smallest_slice: int = 10,
) -> Ranking:
    """Rank models that answered the same rows, with the possible ranks of each model.

    Null hypothesis of an ordered pair: in the population of the rows (or groups), the mean score or measure of the
    first model is not better.

    Parameters
    ----------
    correct : array_like, data frame or mapping of names to columns, shape (n, k), or mapping of names to tables
        Correctness (0 or 1) of n rows for k >= 2 models (columns); or scores, where larger is better; or predictions,
        with `label`. The columns of a data frame (pandas, Polars, Arrow or any that narwhals reads) name the models;
        it may also contain label, groups and slices. Or the probabilities of all classes, ``{model: table}``, with
        `label` and tables as in `sigstats.compare`, for measures such as ``"macro-auc"``.
    label : array_like, shape (n,), or str, optional
        The true label of each row, or its column; `correct` then contains predictions.
    models : sequence of str, optional
        Names of the columns of an array, by default ``"1"``, ``"2"``, ...; or the columns of a data frame that are
        models, by default all other columns.
    groups : array_like, shape (n,), or str, optional
        Group of each row, if rows of one group are dependent; or a column of the data frame.
    slices : mapping of str to array_like of shape (n,), or sequence of str, optional
        Columns by name, or columns of the data frame; each value of a column is a slice.
    items : array_like, shape (n,), or str, optional
        Item that each row answers, if items have several answers, which then form a group; or a column of the data
        frame. If a model has fewer answers to an item than another, the missing ones are NaN or None; the means of all
        answers to each item are then ranked, as in `compare`.
    cost : array_like, data frame or mapping of names to columns, shape (n, k), optional
        Cost of each answer, such as dollars or seconds, 0 or more, with the models as in `correct`. The result then
        contains the models that no other model is shown to beat in both score and cost (``sigstats.ranking.result``).
    measure : str, Measure or function, optional
        Measure to rank by, as in `sigstats.compare`: of predictions; of scores of the positive class, with `label`; or
        a quantile of scores, such as ``"p95"``. By default the accuracy, or the mean of scores.
    costs, positive, score_range
        As in `sigstats.compare`; with `costs`, the models are ranked by the expected cost of predictions.
    confidence_level : float
        Joint confidence of all rank sets, strictly between 0 and 1.
    smallest_slice : int
        Slices with fewer rows are not tested.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        If there are fewer than two models, a value is missing or not finite, lengths differ, a name appears twice,
        columns have the names of costs (``a_loss``, ``b_loss``) and scores above 0 or ranked by a quantile, columns of
        truth values have the names of errors, or an option is out of range.

    Notes
    -----
    The rank sets are those of ``sigstats.ranking.rank_sets``: tests of all ordered pairs, adjusted by Holm's method.
    With a measure, they are the tests of `sigstats.compare`, with its assumptions.
    Slices are a separate family: the rank sets of all slices are jointly correct with `confidence_level` (Bonferroni).
    Without `score_range`, scores outside 0 to 1 have no limits; differences are assumed not to exceed those observed.
    If they do, the order may be wrong: it was wrong in 69% of samples of 20 rows that gain 1 or (one in 50) lose 49.
    A `cost` has no limits either. At least 1 row in 25 is assumed to have a difference of costs as large as any; the
    probability that none is seen is added to p, so fewer than 91 rows (of two models) cannot show a lower cost.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91 (2024).

    Examples
    --------
    >>> import numpy as np, sigstats
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random((400, 3)) < [0.9, 0.88, 0.7]
    >>> ranks = sigstats.rank_models(correct, models=["a", "b", "c"])
    >>> [(each.model, each.rank_low, each.rank_high, each.tier, each.accuracy) for each in ranks.models]
    [('a', 1, 2, 1, 0.9), ('b', 1, 2, 1, 0.8875), ('c', 3, 3, 2, 0.6975)]
    >>> [(pair.a, pair.b, pair.better) for pair in ranks.pairs]
    [('a', 'b', False), ('a', 'c', True), ('b', 'c', True)]
    """
    measure = _one_measure(measure, costs)
    if positive is not None and measure is None:
        raise ValueError("positive: is not valid without measure; add a measure of a class, such as f1")
    limits, probs = as_score_range(score_range), None
    stated = models is not None and getattr(correct, "columns", None) is None and not isinstance(correct, Mapping)
    if isinstance(correct, Mapping) and not is_columns(correct):  # tables of probabilities
        if len(correct) < 2 or label is None or models is not None:
            raise ValueError("correct: give tables of two or more models, with label and without models")
        with _as_one_measure():
            named_class = None if positive is None else label_name(positive, "positive")
            probs = class_probabilities(label, correct, named_class, measures=measure)
        correct, models, positive = np.column_stack(probs.predictions), [*correct], positive or probs.positive
    if getattr(correct, "ndim", 2) == 3:
        raise refuse("correct", correct.shape, "{model: table} for the probabilities of all classes", quantity="shape")
    columns = columns_of(correct, models, {"label": label, "groups": groups, "items": items}, slices)
    names = as_names(columns.models, "models", columns.table.shape[1])
    table, n, named = columns.table, len(columns.table), columns.named
    codes = {name: coded_groups(named[name], name, n) for name in ("groups", "items") if named[name] is not None}
    parts = {k: coded(v, f"slices[{shown(k)}]", n, missing=MISSING) for k, v in columns.slices.items()}
    labels = None if named["label"] is None else as_labels(named["label"], "label")
    group_names, group = codes.get("groups") or codes.get("items") or ((), None)
    units = Units(n=n, group=group, group_names=group_names, slices=parts)
    options: dict[str, Any] = {"confidence_level": confidence_level, "smallest_slice": smallest_slice}
    options["notes"] = (*units.notes_on_names(), *(probs.notes if probs else ()))
    if "items" in codes and missing_in(table).any():
        for name, given in (("cost", cost), ("measure", measure)):
            if given is not None:
                raise ValueError(f"{name}: is not valid with missing answers; leave out the items that lack one")
        return _by_item_means(table, labels, names, codes, parts, stated=stated, score_range=limits, **options)
    if cost is not None:
        require_same_index(correct=correct, label=label, cost=cost)
        if isinstance(correct, (list, tuple)):  # the columns of a frame are found by name
            require_same_index(axis="classes", correct=correct, cost=cost)
        costs_of_answers = as_reals(columns_of(cost, columns.models, {}, name="cost").table, "cost", ndim=2)
        if costs_of_answers.shape != table.shape:
            raise refuse("cost", costs_of_answers.shape, f"{table.shape}, as of the scores", quantity="shape")
        check_costs(costs_of_answers.T, names)
    if measure is not None:
        of_measure = {"positive": positive, "score_range": limits, "probs": probs}
        ranking = _by_measure(measure, columns, names, units, **of_measure, **options)
    else:
        scores = as_score_table(table if labels is None else _right(table, labels, names))
        if labels is None:
            options["notes"] += _notes_on_costs(names, scores, stated=stated)
        else:
            options["notes"] += _notes_on_classes(names, _predicted(labels, table), answers=True)
        ranking = rank_table(scores, names, group, parts, score_range=limits, **options)
    if cost is None:
        return ranking
    options |= {"lower": True, "limits": None, "priced": True}
    return with_costs(ranking, rank_table(costs_of_answers, names, group, {}, **options), "cost")


def _notes_on_costs(
    names: Sequence[str], scores: Any, measure: str = "mean-score", *, stated: bool = False
) -> tuple[Note, ...]:
    """Refuse scores above 0 in columns named after costs, such as `a_latency`, and truth values named after errors.

    Names such as focal_loss are noted if scores are right or wrong, since they may be names of models. If the names are
    `stated` to be those of models, any names of right or wrong answers are at most noted.
    """
    if (are_answers := scores.dtype == np.bool_) and all(map(_OF_WRONG.search, names)):
        if stated:
            return (Note("direction", f"{shown(names[0])} may mark wrong answers, but 1 counts as right here"),)
        cure = "give right answers (~table), or rename the columns if these are models"
        raise ValueError(f"models: {shown(names[0])} seems to mark wrong answers; {cure}")
    mean = measure == "mean-score"
    ways = "give negative scores" if mean else f"use sigstats rank --lower-is-better NAME --measure {measure}"
    cure = f"{ways}, or rename the columns if these are models"
    try:
        notes = against_direction(names, greater=True, cure=cure) if (scores > 0).any() or not mean else []
    except ValueError:  # the names are those of metrics in both directions
        if not (stated and are_answers):
            raise
        notes = []
    if notes and not are_answers:
        raise ValueError(f"models: {notes[0]}")
    return tuple(notes)


def _by_item_means(
    table: Any,
    label: Any,
    names: Sequence[str],
    codes: Mapping[str, Parted],
    parts: Mapping[str, Parted],
    *,
    stated: bool,
    **options: Any,
) -> Ranking:
    """Rank by the mean of all answers to each item; models may have different numbers of answers."""
    missing, (item_names, item) = missing_in(table), codes["items"]
    marks = _marks(table, label, names, missing)
    right = bool(np.isin(marks[~missing], (0.0, 1.0)).all())
    if label is None:
        options["notes"] += _notes_on_costs(names, marks > 0 if right else marks, stated=stated)
    means, counts = item_means(marks, item, item_names, names)
    group = first_of_each(codes["groups"][1], item, "groups", item_names) if "groups" in codes else None
    parts = {
        name: (values, first_of_each(of_rows, item, f"slices[{shown(name)}]", item_names))
        for name, (values, of_rows) in parts.items()
    }
    return rank_table(means, names, group, parts, answers=counts, right=right, **options)


def _one_measure(measure: Any, costs: Any) -> str | None:
    if measure is not None and costs is not None:
        raise ValueError("costs: is not valid with measure; give one of them")
    if costs is not None:
        return as_cost_measure(costs)
    with _as_one_measure():
        return None if measure is None else as_compared_measures([measure])[0]


def _by_measure(
    measure: str,
    columns: ModelTable,
    names: Sequence[str],
    units: Units,
    *,
    positive: Any,
    score_range: tuple[float, float] | None,
    probs: ClassProbabilities | None,
    notes: tuple[Note, ...],
    **options: Any,
) -> Ranking:
    """Rank by the tests of `sigstats.compare` on all ordered pairs."""
    label, table, needs = columns.named["label"], columns.table, MEASURES[measure].needs
    if label is None and needs != "marks":
        raise ValueError(f"label: is missing; {measure} needs the true label of each row")
    if of_scores := is_of_scores(measure):
        scores = as_score_table(table).astype(np.float64).T if probs is None else probs.scores
        if label is None:
            notes += _notes_on_costs(names, scores, measure)
    elif needs != "numbers":
        _right(table, as_labels(label, "label"), names)  # refuses classes that do not fit, by the name of the model
    has_predictions = not of_scores or probs is not None
    outcomes = None if label is None else _predicted(label, table if has_predictions else table[:, :0])
    if outcomes and has_predictions and needs != "numbers":
        notes += _notes_on_classes(names, outcomes)
    truth = outcomes and outcomes(-1, -1)
    labels = truth and Labels(classes=truth.classes, label=truth.label)
    common: dict[str, Any] = {"units": units, "score_range": score_range, "notes": notes}

    def pair(a: int, b: int) -> PairedPredictions:
        if not of_scores:
            return PairedPredictions(outcomes=outcomes and outcomes(a, b), **common)
        both = scores[a], scores[b]
        scored = Scored.of_classes(*both) if both[0].ndim == 2 else Scored(scores=both, column="scores")
        return PairedPredictions(outcomes=labels, scored=scored, **common)

    with _as_one_measure():
        named = None if positive is None else label_name(positive, "positive")
        return rank_by_pairs(names, pair, measure, positive=named, **options)


def _notes_on_classes(
    names: Sequence[str], pair: Callable[[int, int], Predicted], *, answers: bool = False
) -> tuple[Note, ...]:
    models = [(name, pair(position, position)) for position, name in enumerate(names)]
    return tuple(class_notes([(name, own.classes, own.label, own.a) for name, own in models], answers=answers))


def _predicted(label: Any, table: Any) -> Callable[[int, int], Predicted]:
    """Return a function that selects two models by their positions, -1 for the labels. Each column is coded once."""
    columns = [as_class_labels(values, "label") for values in (label, *table.T)]
    occurring, codes = np.unique(np.concatenate(columns), return_inverse=True)
    codes, classes = codes.reshape(len(columns), -1), [label_name(value) for value in occurring.tolist()]
    occurs = np.stack([np.bincount(column, minlength=len(classes)) > 0 for column in codes])

    def pair(a: int, b: int) -> Predicted:
        chosen = [0, a + 1, b + 1]
        used = np.logical_or.reduce(occurs[chosen])
        of_label, of_a, of_b = (np.cumsum(used) - 1)[codes[chosen]]
        return Predicted(classes=tuple(compress(classes, used)), label=of_label, a=of_a, b=of_b)

    return pair


@contextmanager
def _as_one_measure() -> Iterator[None]:
    """Replace `measures` by `measure`, and options by arguments, in error messages."""
    with rephrased(lambda message: re.sub(r"^measures\b", "measure", message)), as_arguments():
        yield


def _marks(table: Any, label: Any, names: Sequence[str], missing: Any) -> FloatArray:
    """Return the mark of each answer; NaN if missing."""
    scores = np.full(table.shape, np.nan)
    for i, name in enumerate(names):
        answered = ~missing[:, i]
        column = np.array(table[answered, i].tolist())[:, np.newaxis]
        marks = as_score_table(column) if label is None else _right(column, label[answered], [name])
        scores[answered, i] = marks[:, 0]
    return scores


def _right(table: Any, label: Any, names: Sequence[str]) -> Any:
    """Return a mask of the right predictions of each model. Raise ValueError if classes do not fit the labels."""
    label, right = as_class_labels(label, "label"), []
    for i in range(table.shape[1]):
        name = f"correct[{shown(names[i])}]"
        column = as_class_labels(table[:, i], name)
        if len(column) != len(label):
            raise refuse("label", len(label), f"{len(column)}, one for each row", quantity="length")
        same_kind_of_labels(label, column, name)
        if (column != label).any():
            labels, predictions = ([label_name(value) for value in np.unique(one).tolist()] for one in (label, column))
            DistinctNames(labels, len(label)).check(shown(names[i]), predictions)
        right.append(column == label)
    return np.column_stack(right)
