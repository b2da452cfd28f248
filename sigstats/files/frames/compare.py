"""Is the candidate worse than the baseline, anywhere? From arrays or from data frames.

When not to use: for more than two models (`sigstats.rank_models`); the assertion, if a person reads the result.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Never, Unpack

from sigstats._common.calls import check_together, renamed
from sigstats._common.class_columns import class_names_of
from sigstats._common.class_names import label_name
from sigstats._common.column_names import refuse_exchanged
from sigstats._common.validation import as_choice, refuse
from sigstats.comparison.answer import reasons
from sigstats.comparison.compare import compare_scores
from sigstats.comparison.paired_predictions import as_score_range
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.rule import ComparisonRule
from sigstats.measures.costs import with_costs

from ..._common.messages import as_arguments
from ._arguments import (
    CompareOptions,
    Measures,
    as_assertion,
    pair_of_arrays,
    samples_of_arrays,
    unknown_option,
)


@renamed("0.3", prediction_a="baseline", prediction_b="candidate")
def compare(
    y: Any = None,
    baseline: Any = None,
    candidate: Any = None,
    *,
    id: str = "id",  # noqa: A002 - the name of the column
    label: str = "label",
    prediction: str | Sequence[str] = "prediction",
    model: Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    ratio: str | None = None,
    lower_is_better: str | Sequence[str] = (),
    higher_is_better: str | Sequence[str] = (),
    labels: Any = None,
    by_position: bool = False,
    epoch: str | None = None,
    run: str | None = None,
    scores: Sequence[Any] | None = None,
    groups: Any = None,
    order: Any = None,
    weights: Any = None,
    slices: Any = None,
    task: str | None = None,
    measures: Measures = None,
    costs: Any = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
    missing: str | Sequence[str] = (),
    score_range: Sequence[float] | None = None,
    unmatched: Literal["refuse", "drop"] = "refuse",
    unpaired: bool = False,
    unscored: Literal["refuse", "drop", "wrong"] = "refuse",
    duplicates: Literal["refuse", "first", "last", "all"] | None = None,
    rule: ComparisonRule | None = None,
    **unknown: Never,
) -> ComparisonResult:
    """Compare a candidate with a baseline, on all rows and on slices of them, with a verdict.

    Null hypothesis of a result row: in the population of rows, groups or runs, the candidate's measure is not worse.

    Called with two data frames, ``compare(baseline=frame, candidate=other, id=..., slices=[...], groups=...)``, by name
    or in this order, it joins their rows by id; with one frame, ``compare(frame, prediction=["tree", "forest"])``, it
    compares two columns of it; called with arrays, ``compare(y, baseline, candidate)``, rows are in the same order.

    Parameters
    ----------
    y : array_like, shape (n,), or one data frame
        The true labels, all numbers or all strings; with frames of two models, none.
    baseline, candidate : array_like of shape (n,), or data frames
        The predictions of each model: classes, ``predict_proba`` with a column for each class, or, if all `measures`
        are of scores, scores of the positive class. Or frames of pandas, polars or Arrow, with a row for each object.
    id, label : str
        Frames only: the columns of the id, by which rows are joined, and of the true class.
    prediction : str or pair of str
        Frames only: the column of the predicted class, or those of the baseline and of the candidate.
    model : pair of str, optional
        Frames only: the baseline and the candidate among the values of a column ``model``.
    score : str or sequence of str, optional
        Frames only: a column of scores, such as probabilities or marks. Each of several columns is a separate measure.
    ratio : str, optional
        Frames only: two columns of numbers, whose sums are divided, such as ``"errors/words"``.
    lower_is_better, higher_is_better : str or sequence of str
        Frames only: scores that are costs, and scores that are marks, if their names do not tell; these are the scores
        if `score` is not given.
    labels : data frame, optional
        Frames only: the true class of each id, if the frames have none.
    by_position : bool
        Frames only: join rows by position, with the same labels, instead of by `id`.
    epoch : str, optional
        Frames only: the column that numbers several answers to one id.
    run : str, optional
        Frames only: the column of runs of a recipe, such as training seeds, which are then the independent units.
    scores : pair of array_like of float, shape (n,), optional
        Arrays only: the scores of baseline and candidate for each row, probabilities of the positive class or marks; or
        tables of shape (n, k), probabilities of all k classes.
    groups : str, or array_like of shape (n,), optional
        The group of each row, if rows of one group are not independent: a column of frames, or an array.
    order : str, or array_like of shape (n,), optional
        The time of each row, a number or a date, if rows near in time are not independent: means over rows are then
        also tested as by `mean_score_test` with `order`, with its null hypothesis.
    weights : str, or array_like of shape (n,), optional
        The number of rows of the population that each row represents, if the test set was sampled by design: a column
        or an array. Means are then weighted, and an unseen row has the largest weight.
    slices : sequence of str, or mapping of str to array_like of shape (n,), optional
        Columns whose values divide the rows; each value of each column is a slice.
    task : str, optional
        Frames only: the column of tasks; the unweighted mean over tasks is tested as well as all rows. If ids repeat,
        a row is identified by its task and id, and tasks with the same items are refused.
    measures : str, Measure, function, or sequence of them, optional
        Names in ``sigstats.comparison.measure_names.COMPARED_MEASURES``, ``pass@k``, a `sigstats.Measure`, or a
        smooth function (not the worst of several parts) of ``y, prediction, weights`` that returns one finite number,
        the greater the better unless its attribute ``greater_is_better`` is False; by default the accuracy, and the
        area under the curve of probabilities, their log loss for more than two classes, or the mean of marks.
    costs : mapping or DataFrame, optional
        The costs of wrong predictions, whose mean is then the first measure: ``{true class: {predicted class: cost}}``,
        or ``{"fn": 10, "fp": 1}`` of the positive class, as ``sigstats.measures.costs.as_cost_measure`` takes them.
    positive : label, optional
        The class to which scores, and measures such as f1, refer; by default the second of 0 and 1, -1 and 1, false and
        true, or no and yes, as numbers or as text.
    classes : sequence of labels, optional
        All classes, in the order of the columns of probabilities. By default the classes in sorted order, or the column
        names of a data frame; one of the two is needed for text such as "10" and "9", which sorts differently as
        numbers. Texts that usually mean a missing value, such as "NA" or "None", are refused unless they are listed.
    missing : str or sequence of str
        Texts that mean a missing value, as an empty field, None and NaN do.
    score_range : pair of float, optional
        The limits of every score, such as ``(1, 10)``, which bound the scores of unseen rows. By default those implied
        by the name of the score (``f1``); other scores have no limits, and cannot pass.
    unmatched : {"refuse", "drop"}
        Frames only: whether rows that are in one frame only are refused or dropped.
    unpaired : bool
        Whether the models were tested on different rows, which are independent samples. Of arrays, `y`, `groups` and
        each column of `slices` are then pairs of arrays.
    unscored : {"refuse", "drop", "wrong"}
        Whether rows without a score or prediction are refused, dropped from both, or count as wrong.
    duplicates : {"refuse", "first", "last", "all"}, optional
        Frames only: whether rows that repeat an id are refused, one of them is kept, or all are answers to one item.
        By default they are refused, unless `groups` names the column `id`.
    rule : ComparisonRule, optional
        The definition of a regression.

    Returns
    -------
    ComparisonResult
        A table in a notebook; ``.to_pandas()`` is a frame.

    Raises
    ------
    ValueError
        If an input is not valid, lacks data that a measure needs, or has too few rows for any test.

    Notes
    -----
    The p-values are one-sided, and adjusted over all measures and slices. Groups (and items with several answers) are
    assumed to be no larger than the largest one seen, and from 110 groups on not to include kinds rarer than 1 in 25
    (`ComparisonRule`, ``unseen_group``): if one group in 100 wins what the others lose, equal models fail in up to a
    third of samples of 110 groups, as often as no such group is seen. Differences without limits, and denominators of
    ratios, are assumed not to exceed those seen: if 20 rows cost 1 more or, one in 50, 49 less, p is below 0.05
    in 66% of samples.

    References
    ----------
    McNemar, Psychometrika 12 (1947). Gaffke, Mathematical Methods of Statistics 14 (2005). Holm (1979). Of different
    rows: Fay, Proschan and Brittain, Biometrics 71 (2015).

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

    Models on different rows:

    >>> sigstats.compare(([0, 1] * 50, [0, 1] * 40), [0, 1] * 50, [0] * 80, unpaired=True).verdict
    'fail'
    """
    for name in unknown:
        raise unknown_option(name)
    positive_name = None if positive is None else label_name(positive, "positive")
    chosen: Any = with_costs(measures, costs)
    listed = class_names_of(classes)
    for name, value in {"by_position": by_position, "unpaired": unpaired}.items():
        if not isinstance(value, bool):
            raise refuse(name, value, "True or False")
    given: dict[str, Any] = {"run": run, "task": task, "unmatched": unmatched}
    check_together({"unpaired": unpaired, "order": order, "weights": weights, **given})
    refuse_exchanged(baseline=(baseline, candidate), prediction=prediction, model=model, scores=scores)
    if y is None or baseline is None or candidate is None:  # of frames, whatever they are called
        first, second = (*(given for given in (y, baseline, candidate) if given is not None), None, None)[:2]
        if scores is not None:
            raise refuse("scores", scores, "the column `score` of data frames, or three arrays")
        from ._columns import make_columns, pairs_of_frames, score_options

        names = {"id": id, "label": label, "epoch": epoch, "run": run}
        names |= {"group": groups, "order": order, "task": task, "weights": weights}
        score, options = score_options(score, ratio, lower_is_better, higher_is_better)
        options |= {"missing": missing, "classes": listed, "unscored": unscored, "duplicates": duplicates}
        columns = make_columns(names, ("id", "label"), slices=slices, by_position=by_position, **options)
        pairs = pairs_of_frames(
            first, second, columns, prediction, model, score, labels=labels, unmatched=unmatched, unpaired=unpaired
        )
    else:
        given |= {"score": score, "ratio": ratio, "model": model, "epoch": epoch, "labels": labels}
        given |= {"lower_is_better": lower_is_better, "higher_is_better": higher_is_better}
        check_together({"arrays": True, **given, "by_position": by_position, "duplicates": duplicates})
        options = {"scores": scores, "groups": groups, "listed": listed, "slices": slices, "missing": missing}
        options |= {"unscored": unscored} | ({} if unpaired else {"order": order, "weights": weights})
        pair_of = samples_of_arrays if unpaired else pair_of_arrays
        pair, positive_name = pair_of(y, (baseline, candidate), positive_name, chosen, **options)
        pairs = [pair]
    limits = as_score_range(score_range)
    pairs = [replace(pair, score_range=limits) for pair in pairs]
    with as_arguments():
        (result,) = compare_scores([pairs], ComparisonRule() if rule is None else rule, chosen, positive_name)
    return result


@renamed("0.3", prediction_a="baseline", prediction_b="candidate")
def assert_no_regression(
    y: Any = None,
    baseline: Any = None,
    candidate: Any = None,
    *,
    fail_on: Literal["fail", "inconclusive"] = "fail",
    **options: Unpack[CompareOptions],
) -> ComparisonResult:
    """Raise AssertionError if a candidate is worse than a baseline; the message gives the reasons.

    Null hypothesis of a result row: that of `sigstats.compare`, the candidate is not worse than the baseline.

    Parameters
    ----------
    y, baseline, candidate
        Two data frames or three arrays, as `sigstats.compare` takes them.
    fail_on : {"fail", "inconclusive"}
        The mildest verdict that raises: with ``"inconclusive"``, a drop that is not excluded raises too.
    **options
        The options of `sigstats.compare`.

    Returns
    -------
    ComparisonResult
        The comparison, if nothing is raised; otherwise ``.result`` of the AssertionError.

    Raises
    ------
    AssertionError
        If the verdict is "fail", or if it is "inconclusive" and `fail_on` is ``"inconclusive"``.
    ValueError
        As `sigstats.compare`.

    Examples
    --------
    >>> import sigstats
    >>> y = [0, 1] * 500
    >>> sigstats.assert_no_regression(y, [0] * 1000, y).verdict
    'pass'
    >>> sigstats.assert_no_regression(y, y, [0] * 1000)
    Traceback (most recent call last):
    AssertionError: FAIL: accuracy on all rows fell by 50.00 points (46.91 to 53.09)
    Keep the baseline.
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    as_choice(fail_on, "fail_on", ("fail", "inconclusive"))
    result = compare(y, baseline, candidate, **options)
    if result.verdict == "fail" or result.verdict == fail_on:
        raise as_assertion(result, reasons(result, others=True))
    return result
