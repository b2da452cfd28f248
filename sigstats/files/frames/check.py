"""One model against a bar, from arrays or from a data frame.

When not to use: if a baseline was tested on the same rows, `sigstats.compare` detects more than a bar.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

from sigstats._common.calls import check_together
from sigstats._common.class_columns import class_names_of
from sigstats._common.class_names import label_name
from sigstats._common.data_frames import opened
from sigstats._common.messages import Note
from sigstats._common.validation import as_choice, refuse
from sigstats.comparison.check.bar import check_predictions
from sigstats.comparison.check.result import CheckResult, reasons_of
from sigstats.comparison.margins import as_bar
from sigstats.comparison.measure_names import are_scores, as_compared_measures, is_of_scores
from sigstats.comparison.paired_predictions import as_score_range
from sigstats.comparison.rule import ComparisonRule
from sigstats.measures.costs import with_costs

from ..._common.messages import as_arguments
from ._arguments import CommonOptions, Measures, as_assertion, class_probabilities, has_columns, paired_arrays


class CheckOptions(CommonOptions, total=False):
    """The options of `check`, for functions that pass them on."""

    score: str | None
    at_least: float | str | None
    at_most: float | str | None
    human: str | None


def check(
    y: Any,
    prediction: Any = "prediction",
    *,
    at_least: float | str | None = None,
    at_most: float | str | None = None,
    id: str = "id",  # noqa: A002 - the name of the column
    label: str = "label",
    score: str | None = None,
    ratio: str | None = None,
    lower_is_better: str | Sequence[str] = (),
    higher_is_better: str | Sequence[str] = (),
    run: str | None = None,
    task: str | None = None,
    groups: Any = None,
    slices: Any = None,
    measures: Measures = None,
    costs: Any = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
    missing: str | Sequence[str] = (),
    score_range: Sequence[float] | None = None,
    human: str | None = None,
    unscored: Literal["refuse", "drop", "wrong"] = "refuse",
    duplicates: Literal["refuse", "first", "last", "all"] | None = None,
    rule: ComparisonRule | None = None,
) -> CheckResult:
    """Test whether a model reaches a bar, on all rows and on every slice of them, with a verdict.

    Null hypothesis of a result row: in the population of rows, groups or runs, the measure reaches the bar.

    Parameters
    ----------
    y : data frame, or array_like of shape (n,)
        A frame of pandas, polars or Arrow, with a row for each object; or the true labels.
    prediction : str, or array_like of shape (n,)
        The column of the predicted class; or predicted classes; or ``predict_proba``, with the likeliest class as the
        prediction.
    at_least, at_most : float or str
        One of them: the lowest acceptable value, a share such as 0.9 or ``"90%"``, or a mark in its own unit, or the
        highest acceptable cost. For marks from 0 to 10, ``"90%"`` is 9, and 0.9 is refused, as it may be either.
    id, label : str
        Frames only: the columns that name each row and its true class.
    score : str, optional
        Frames only: a column of marks or costs, whose mean is tested.
    ratio, lower_is_better, higher_is_better, run, task, unscored, duplicates
        Frames only: as `sigstats.compare` takes them. Runs are tested by Student's t of their distances from the
        bar, which assumes nearly normal runs: if a rare run fails altogether, a few that did not may pass.
    groups : str, or array_like of shape (n,), optional
        The group of each row, if rows of one group are not independent: a column of a frame, or an array.
    slices : sequence of str, or mapping of str to array_like of shape (n,), optional
        Columns whose values divide the rows; each value of each column is a slice.
    measures : str, Measure, function, or sequence of them, optional
        As `sigstats.compare` takes them, and ``p95``; by default the accuracy, or the mean of marks.
    positive : label, optional
        The class of precision, recall, specificity, Jaccard's index and F1, as `sigstats.compare` takes it.
    costs, classes, missing
        As `sigstats.compare` takes them.
    score_range : pair of float, optional
        The limits of every mark, if its name does not imply them.
    human : str, optional
        Frames only: the column of people's labels (1 right, 0 wrong, or missing; marks with `score_range`). `score`, or
        the prediction being the label, is then the verdict of a judge, and the accuracy that people would see is
        tested, as by `sigstats.judged_test`. Labelled rows must be a random sample of those with the same verdict.
    rule : ComparisonRule, optional
        The level, the adjustment over slices and measures, the confidence of the intervals and the smallest slice.

    Returns
    -------
    CheckResult
        The values with their intervals, p-values and verdicts.

    Raises
    ------
    ValueError
        If an input is not valid, lacks data that a measure needs, or has too few rows for any test.

    Notes
    -----
    For single rows, p-values and intervals are binomial; for marks and rows in groups they are Gaffke's, with the
    assumptions of `sigstats.compare` about groups. P-values are adjusted over all slices, by default by Holm's method.

    References
    ----------
    Clopper and Pearson (1934). Gaffke, Mathematical Methods of Statistics 14 (2005). Holm (1979).

    Examples
    --------
    >>> import sigstats
    >>> y = [0, 1] * 500
    >>> sigstats.check(y, y, at_least=0.9).verdict
    'pass'
    >>> sigstats.check(y, [0] * 1000, at_least=0.9).rows[0].value
    0.5
    """
    if (at_least is None) == (at_most is None):
        raise ValueError("at_least: give one of at_least and at_most, as in at_least=0.9")
    bar = as_bar(at_least, "at_least") if at_most is None else as_bar(at_most, "at_most")
    if rule is not None and not isinstance(rule, ComparisonRule):
        raise refuse("rule", rule, "a ComparisonRule")
    named, listed = None if positive is None else label_name(positive, "positive"), class_names_of(classes)
    limits, chosen = as_score_range(score_range), with_costs(measures, costs)
    if opened(y) is not None:
        from ._columns import as_score_names, make_columns, paired_with_itself, score_options

        scores, options = score_options(score, ratio, lower_is_better, higher_is_better)
        one = as_score_names(scores)
        if len(one) > 1:
            raise refuse("score", scores, "one column")
        names = {"id": id, "label": label, "prediction": prediction, "score": one[0], "group": groups}
        names |= {"run": run, "task": task}
        if human is not None and not isinstance(human, str):
            raise refuse("human", human, "the name of a column")
        options |= {"unscored": unscored, "duplicates": duplicates, "missing": missing, "classes": listed}
        columns = make_columns(names, ("id", "label", "prediction"), slices=slices, **options)
        paired = paired_with_itself(y, columns, human, limits)
    else:
        of_frames: dict[str, Any] = {"score": score, "ratio": ratio, "run": run, "task": task, "duplicates": duplicates}
        of_frames |= {"lower_is_better": lower_is_better, "higher_is_better": higher_is_better, "human": human}
        check_together({"arrays": True, **of_frames})
        notes: tuple[Note, ...] = ()
        rows: dict[str, Any] = {"listed": listed, "groups": groups, "slices": slices, "names": ["predictions"] * 2}
        if has_columns(prediction):
            probs = class_probabilities(y, {"prediction": prediction}, named, classes=listed, measures=chosen)
            used = not probs.positive or any(map(is_of_scores, as_compared_measures(chosen or "accuracy")))
            (prediction,), rows["scores"] = probs.predictions, probs.scores * 2 if used else None
            named = named or (probs.positive if used else None)
            notes = probs.notes
        elif are_scores(y, prediction, prediction, chosen):
            prediction, rows["scores"] = y, (prediction, prediction)
        rows |= {"missing": missing, "unscored": unscored, "arguments": ("prediction",) * 4}
        paired = paired_arrays(y, (prediction, prediction), **rows)
        paired = replace(paired, score_range=limits, notes=(*paired.notes, *notes))
    with as_arguments():
        return check_predictions(paired, bar, rule, chosen, positive=named, at_most=at_most is not None)


def assert_at_least(
    y: Any,
    prediction: Any = "prediction",
    *,
    fail_on: Literal["fail", "inconclusive"] = "fail",
    **options: Unpack[CheckOptions],
) -> CheckResult:
    """Raise AssertionError if a model is shown to be below a bar, on all rows or on any slice of them.

    Null hypothesis of a result row: that of `sigstats.check`, the measure reaches the bar.

    Parameters
    ----------
    y, prediction
        A data frame and the column of the predicted class, or two arrays, as `sigstats.check` takes them.
    fail_on : {"fail", "inconclusive"}
        The mildest verdict that raises: with ``"inconclusive"``, a value below the bar that is not excluded raises too.
    **options
        The options of `sigstats.check`: the bar by ``at_least`` or ``at_most``, and others.

    Returns
    -------
    CheckResult
        The result of the check, if nothing is raised; otherwise ``.result`` of the AssertionError.

    Raises
    ------
    AssertionError
        If the verdict is "fail", or if it is "inconclusive" and `fail_on` is ``"inconclusive"``.
    ValueError
        As `sigstats.check`.

    Examples
    --------
    >>> import sigstats
    >>> y = [0, 1] * 500
    >>> sigstats.assert_at_least(y, y, at_least=0.9).verdict
    'pass'
    >>> sigstats.assert_at_least(y, [0] * 1000, at_least=0.9)
    Traceback (most recent call last):
    AssertionError: FAIL: accuracy on all rows is 50.00% (46.85% to 53.15%), below 90%
    Do not accept the model.
    """
    __tracebackhide__ = True
    as_choice(fail_on, "fail_on", ("fail", "inconclusive"))
    result = check(y, prediction, **options)
    if result.verdict == "fail" or result.verdict == fail_on:
        raise as_assertion(result, reasons_of(result, others=True))
    return result
