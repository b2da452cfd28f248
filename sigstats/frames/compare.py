"""Is the candidate worse than the baseline, anywhere? From arrays or from data frames.

When not to use: for more than two models (`sigstats.rank`), or for models that were tested on different rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._common.class_names import label_name
from .._common.validation import refuse
from ..comparison.paired_predictions import PairedPredictions, as_score_range, pair_arrays
from ..comparison.requirements import are_measurements
from ..comparison.result import ComparisonResult
from ..comparison.rule import ComparisonRule
from ..comparison.several_scores import compare_scores, with_names
from ..comparison.strangers import strangers

#: What notes call the models of arrays.
_ARRAYS = "baseline", "candidate"


def compare(
    y: Any,
    prediction_a: Any,
    prediction_b: Any = None,
    *,
    id: str = "id",  # noqa: A002 - the name of the column
    label: str = "label",
    prediction: str = "prediction",
    score: str | Sequence[str] | None = None,
    epoch: str | None = None,
    scores: Sequence[Any] | None = None,
    groups: Any = None,
    slices: Any = None,
    measures: Sequence[str] | None = None,
    positive: Any = None,
    score_range: Sequence[float] | None = None,
    unmatched: str = "refuse",
    rule: ComparisonRule | None = None,
) -> ComparisonResult:
    """Whether a candidate is worse than a baseline, on all rows or on any slice of them.

    Called with two data frames, ``compare(baseline, candidate, id=..., slices=[...], groups=...)``, it joins their rows
    by id; called with arrays, ``compare(y, prediction_a, prediction_b, ...)``, rows are in the same order.

    Parameters
    ----------
    y, prediction_a : data frames, or array_like of shape (n,)
        Baseline and candidate as frames of pandas, polars or Arrow, with a row for each object; or the true labels, all
        numbers or all strings, and what the baseline predicts.
    prediction_b : array_like, shape (n,), optional
        The predictions of the candidate for the same rows; not with frames.
    id, label, prediction : str
        Frames only: the columns by which rows are joined, of the true class, and of the predicted class.
    score : str or sequence of str, optional
        Frames only: a column of scores, such as probabilities or marks. Each of several columns is a separate measure.
    epoch : str, optional
        Frames only: the column that numbers several answers to one id.
    scores : pair of array_like of float, shape (n,), optional
        Arrays only: the scores of baseline and candidate for each row, probabilities of the positive class or marks.
    groups : str, or array_like of shape (n,), optional
        The group of each row, if rows of one group are not independent: a column of frames, or an array.
    slices : sequence of str, or mapping of str to array_like of shape (n,), optional
        Columns whose values divide the rows; each value of each column is a slice.
    measures : sequence of str, optional
        Of ``sigstats.comparison.requirements.COMPARED_MEASURES``, or ``pass@k``; by default the accuracy, and the area
        under the curve where there are scores.
    positive : label, optional
        The class whose probability the scores are; needed where the names of the classes do not tell.
    score_range : pair of float, optional
        What every score lies between, such as ``(1, 10)``: how far a mark that was not seen might differ. By default 0
        to 1, where all that were seen do.
    unmatched : {"refuse", "drop"}
        Frames only: whether rows that only one frame has are refused or dropped.
    rule : ComparisonRule, optional
        What counts as a regression.

    Returns
    -------
    ComparisonResult
        A table in a notebook; ``.to_pandas()`` is a frame.

    Raises
    ------
    ValueError
        If an input is not valid, does not hold what a measure needs, or has so few rows that nothing can be tested.

    Notes
    -----
    The p-values are one-sided, of the null hypothesis that the candidate is not worse, and adjusted over all measures
    and slices.

    Examples
    --------
    >>> import pandas as pd
    >>> import sigstats
    >>> baseline = pd.DataFrame({"id": range(100), "label": [0, 1] * 50, "prediction": [0, 1] * 50})
    >>> candidate = baseline.assign(prediction=0)
    >>> sigstats.compare(baseline, candidate).verdict
    'fail'

    The same from arrays, with a slice:

    >>> y = [0, 1] * 50
    >>> found = sigstats.compare(y, y, [0] * 100, slices={"half": ["first"] * 50 + ["second"] * 50})
    >>> [(row.slice, row.difference) for row in found.rows]
    [('all rows', -0.5), ('half = first', -0.5), ('half = second', -0.5)]
    """
    positive_name = None if positive is None else label_name(positive, "positive")
    if prediction_b is None:
        if scores is not None:
            raise refuse("scores", scores, "the column `score` of data frames, or three arrays")
        names = {"id": id, "label": label, "prediction": prediction, "epoch": epoch, "group": groups}
        pairs = _of_frames(y, prediction_a, names, score, slices, unmatched)
        if score_range is not None:
            limits = as_score_range(score_range)
            pairs = [replace(pair, score_range=limits) for pair in pairs]
    else:
        for name, value in (("score", score), ("epoch", epoch)):
            if value is not None:
                raise refuse(name, value, "none with arrays, which have `scores` and `groups`")
        options: dict[str, Any] = {"scores": scores, "groups": groups, "slices": slices, "score_range": score_range}
        pair = pair_arrays(y, prediction_a, prediction_b, **options)
        if not are_measurements(pair.classes):
            told = strangers(pair.classes, [np.unique(each) for each in (pair.label, pair.a, pair.b)], *_ARRAYS)
            pair = replace(pair, notes=tuple(told))
        pairs = [pair]
    (found,) = compare_scores([pairs], rule, measures, positive=positive_name)
    return found


def _of_frames(
    baseline: Any, candidate: Any, names: Mapping[str, Any], score: Any, slices: Any, unmatched: str
) -> list[PairedPredictions]:
    for name, value in names.items():
        if not isinstance(value, str) and (value is not None or name in ("id", "label", "prediction")):
            raise refuse("groups" if name == "group" else name, value, "the name of a column")
    listed = [] if slices is None else slices
    if isinstance(listed, (str, Mapping)) or not isinstance(listed, Sequence):
        raise refuse("slices", slices, "a sequence of names of columns")
    for each in listed:
        if not isinstance(each, str):
            raise refuse("slices", each, "names of columns")
    from ..tasks.predictions import Columns
    from ._columns import as_scores, pair_frames, same_frames

    scores = as_scores(score)
    columns = Columns(**names, slices=tuple(dict.fromkeys(listed)))
    pairs = [pair_frames(baseline, candidate, replace(columns, score=each), unmatched=unmatched) for each in scores]
    identical = same_frames(baseline, candidate)
    return with_names([replace(pair, identical=identical) for pair in pairs], scores)
