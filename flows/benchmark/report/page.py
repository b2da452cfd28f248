"""The page of a benchmark: accuracy of each classifier on each data set, over these data sets, and on others like them.

Accuracies are compared with chance and the largest class.
"""

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.messages import join_words, some_of
from sigstats._common.numerals import count_of, percent, percent_range, percent_span
from sigstats.many_datasets.comparison import PairOverDatasets, compare_over_datasets
from sigstats.many_datasets.stratified import stratified_paired_test
from sigstats.multiplicity import adjust_pvalues
from sigstats.retraining.rows import codes_of_columns, copies_in_other_folds
from sigstats.sign_flips.sign_flip_test import sign_flip_test
from sigstats.tasks.benchmark.runs import finished_runs
from sigstats.tasks.benchmark.work import CrossValidated, dataset_of, folds_of
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.statistical_tests import FEWEST_DATA_SETS
from sigstats.tasks.storage.seal import Damaged
from sigstats.test_result import TestResult

from ...pages import svg
from ...pages.page import DotRow, dot_rows
from ...report import heat_tables
from ...report import over_data_sets as data_sets
from ...report.evidence import (
    RESAMPLES,
    SEED,
    Evidence,
    Figure,
    KindPage,
    OverDataSets,
    Particulars,
    Rights,
    Score,
    TheseDataSets,
    Verdict,
)
from ...report.rows import group_by
from ...report.verdicts import best_in_words, choice
from . import accuracies, null_distributions
from .accuracies import Performance, missing, of_pairs, performances

_ACCURACIES = (
    "Cross-validated accuracy with its 95% interval: Clopper and Pearson's, as if the predictions were independent; "
    "if rows come in groups, Gaffke's."
)
_ACCURACY = Score("accuracy", "classifier", in_percent=True, rope=0.01)
_METHOD = (
    "On data sets like these: exact signed-rank tests use one difference of accuracies from each data set. "
    "On these data sets: the rows are the sample, and the mean difference of accuracies is "
    "tested exactly, given the rows that only one classifier got right. Probabilities are those of the Bayesian "
    "signed-rank test; differences of at most one point count as equal. Cross-validated rows share training "
    "sets; neither test accounts for the choice of the folds."
)
#: The most drawings, and lines in one of them, for a picture on the first screen.
MOST_DATA_SETS, _MOST_CLASSIFIERS = 12, 16


def performance(value: Sequence[Performance], evidence: Evidence) -> Verdict | None:
    """Return the best performance on each data set, then all of them; None if nothing was cross-validated.

    No classifier is the best on a data set before all planned ones are complete, or from which nothing is concluded.
    """
    if not value:
        return None
    lacking = missing(value, evidence)
    ordered = _best_first(value)
    details = tuple(_on(dataset, group) for dataset, group in ordered.items())
    whole = {on: group for on, group in ordered.items() if on not in {dataset for _, dataset in lacking}}
    if not whole:
        return Verdict(
            f"{len(value)} of {len(value) + len(lacking)} cross-validations {'is' if len(value) == 1 else 'are'} "
            "complete; the best classifier of a data set is known once all are.",
            details,
        )
    pairs = group_by(of_pairs(evidence), lambda pair: pair.dataset or "")
    chosen = [_choice(group, pairs.get(on, ()), evidence.withheld.get(on, "")) for on, group in whole.items()]
    to_do = "; ".join(advice for _, advice in chosen)
    best = [group[0] for on, group in whole.items() if on not in evidence.withheld]
    if len(best) < FEWEST_DATA_SETS:
        headline = "; ".join(headline for headline, _ in chosen)
        return Verdict(f"{headline}.", details, to_do=f"{to_do[:1].upper()}{to_do[1:]}.")
    spans = (percent_span([one.accuracy for one in best]), percent_span([one.largest for one in best]))
    return Verdict(
        f"The best on each of {len(best)} {'finished ' if lacking else ''}data sets is right on {spans[0]} of rows, "
        f"always naming the largest class on {spans[1]}.",
        details,
    )


def _choice(group: Sequence[Performance], pairs: Sequence[Hypothesis], withheld: str) -> tuple[str, str]:
    """Name the best classifiers of a data set, with advice.

    `group`: the classifiers, the best first. `pairs`: the tests of two of them. `withheld`: why nothing is
    concluded; empty if something is.
    """
    best = group[0]
    where = f"on {best.dataset}"
    if withheld:
        advice = f'{where} keep rows that belong together in one fold (groups = "COLUMN"), and remove copies'
        return f"{where} nothing is concluded: {withheld}", advice
    if best.interval.low <= best.largest:
        doubt = "none is shown to beat always naming the largest class"
        return f"{where} {doubt}", f"{where} choose none until more rows show that one does"
    if len(group) > 1 and not pairs:
        return f"{best.classifier} is right most often {where}; no test compares it", f"{where} take {best.classifier}"
    same = [frozenset((pair.a, pair.b)) for pair in pairs if pair.decision != "reject"]
    others = [one.classifier for one in group[1:]]
    tied = [other for other in others if frozenset((best.classifier, other)) in same]
    right = f"{where}, with {_with_interval(best)} right"
    headline = best_in_words(best.classifier, tied, [other for other in others if other not in tied], right)
    if not others:
        headline = f"{best.classifier} is right on {_with_interval(best)} of the rows {where}"
    return headline, f"{where} {choice(best.classifier, tied)}"


def accuracy_panels(value: Sequence[Performance]) -> Markup:
    """Return a drawing for each of the first data sets: intervals of all classifiers, chance, the largest class."""
    panels = [
        _panel(f"accuracy-{number}", dataset, group[:_MOST_CLASSIFIERS])
        for number, (dataset, group) in enumerate(list(_best_first(value).items())[:MOST_DATA_SETS])
    ]
    return svg.side_by_side(panels) if panels else Markup("")


def _panel(name: str, dataset: str, group: Sequence[Performance]) -> Markup:
    largest, chance = group[0].largest, sum(one.chance for one in group) / len(group)
    least = min(largest, *(end for one in group for end in (one.chance, one.interval.low)))
    return dot_rows(
        name,
        dataset,
        [
            DotRow(one.classifier, one.accuracy, (one.interval.low, one.interval.high), _with_interval(one))
            for one in group
        ],
        lines={"margin": chance, "level": largest},
        limits=(least, 1),
        title=f"Accuracy on {dataset}",
        description=_on(dataset, group),
        quiet=count_of(group[0].n, "row"),
    )


def _best_first(value: Sequence[Performance]) -> dict[str, list[Performance]]:
    groups = group_by(value, lambda one: one.dataset)
    return {name: sorted(group, key=lambda one: -one.accuracy) for name, group in groups.items()}


def _on(dataset: str, group: Sequence[Performance]) -> str:
    words = join_words([f"{one.classifier} {_with_interval(one)}" for one in group])
    useless = [one.classifier for one in group if one.interval.low <= one.largest]
    doubt = f" Not shown to be above the largest class: {join_words(useless)}." if useless else ""
    chance, n = percent_span([one.chance for one in group]), group[0].n
    return f"{dataset}: {words}; chance {chance}, the largest class {percent(group[0].largest, n)}.{doubt}"


def _with_interval(one: Performance) -> str:
    return f"{percent(one.accuracy, one.n)} ({percent_range(one.interval.low, one.interval.high, one.n)})"


def _withheld(results: Results) -> dict[str, str]:
    """Return data sets where folds share rows of a unit, or copies that decide the accuracy, with the reason."""
    reasons = {}
    for name, (cell, *_) in results.by_dataset("crossval").items():
        work = cell.work_of(CrossValidated)
        with suppress(FileNotFoundError, Damaged):  # pages need no data
            data = dataset_of(results.store, work)
            text, decisive = copies_in_other_folds(codes_of_columns(data.X), data.y, folds_of(data, work))
            units = [] if data.groups is not None else [*data.units().values()]
            reasons[name] = text if decisive else "; ".join(units)
    return {name: reason for name, reason in reasons.items() if reason}


def over_data_sets(evidence: Evidence) -> OverDataSets | None:
    """Return the analysis; None unless at least two classifiers finished the same three or more data sets."""
    runs = finished_runs(evidence.results, without=evidence.withheld)
    names = runs.classifiers
    if len(runs.datasets) < FEWEST_DATA_SETS or len(names) < 2:
        return None
    comparison = compare_over_datasets(
        runs.accuracies, models=names, datasets=runs.datasets, adjust=evidence.results.plan.adjust,
        alpha=evidence.alpha, rope=_ACCURACY.rope, n_resamples=RESAMPLES, rng=SEED,
    )  # fmt: skip
    these = _these_data_sets(comparison.pairs, names, runs.right, runs.groups)
    means = dict(zip(names, runs.accuracies.mean(axis=0).tolist(), strict=True))
    return OverDataSets(comparison, _ACCURACY, means, _METHOD, these)


def _these_data_sets(
    pairs: Sequence[PairOverDatasets],
    names: Sequence[str],
    tables: Sequence[Rights],
    groups: Sequence[NDArray[np.int64] | None],
) -> list[TheseDataSets]:
    sizes = [len(table) for table in tables]
    tested: list[TestResult] = []
    for pair in pairs:
        a, b = names.index(pair.a), names.index(pair.b)
        only_a = [int((table[:, a] & ~table[:, b]).sum()) for table in tables]
        only_b = [int((table[:, b] & ~table[:, a]).sum()) for table in tables]
        if all(group is None for group in groups):
            tested.append(stratified_paired_test(only_a, only_b, sizes))
        else:
            tested.append(sign_flip_test(_group_differences(a, b, tables, groups)))
    adjusted = adjust_pvalues([result.pvalue for result in tested], method="holm").tolist()
    return [TheseDataSets(result.statistic, result.pvalue, p) for result, p in zip(tested, adjusted, strict=True)]


def _group_differences(
    a: int, b: int, tables: Sequence[Rights], groups: Sequence[NDArray[np.int64] | None]
) -> list[Fraction]:
    """Return the contribution of each group (or row) to the mean difference of accuracies over the data sets."""
    fractions = []
    for table, codes in zip(tables, groups, strict=True):
        sums = np.bincount(np.arange(len(table)) if codes is None else codes, table[:, a].astype(int) - table[:, b])
        fractions += [Fraction(int(value), len(table) * len(tables)) for value in sums]
    return fractions


def _particulars(evidence: Evidence) -> Particulars:
    measured = performances(evidence)
    caption = _accuracies_caption(measured, missing(measured, evidence))
    verdict = performance(measured, evidence)
    figure = Figure("", caption, accuracy_panels(measured)) if measured else None
    return Particulars(
        first=[("How good is each classifier?", verdict, _ACCURACIES)], figure=figure, transforms=_transforms(evidence)
    )


def _accuracies_caption(measured: Sequence[Performance], lacking: Sequence[tuple[str, str]]) -> str:
    count = len({one.dataset for one in measured})
    first = f", on the first {MOST_DATA_SETS} of {count} data sets" if count > MOST_DATA_SETS else ""
    return (
        f"Accuracy of each classifier with its 95% interval{first}. Dashed: always naming the largest class. Dotted: "
        "naming at random, each class as often as the classifier does."
        + (f" Not finished: {some_of([' on '.join(value) for value in lacking])}." if lacking else "")
    )


def _transforms(evidence: Evidence) -> str:
    works = [cell.work_of(CrossValidated) for cell in evidence.results.cells("crossval")]
    if not works:
        return ""
    if any(work.cross_validation.transforms == "all" for work in works):
        return (
            "Scales, categories and imputed values were learned once on all rows, without their labels. The "
            "permutation tests remain valid, since permutation commutes with this step; the errors may be slightly "
            "optimistic."
        )
    return "Scales, categories and imputed values were learned on each training fold only."


PAGE = KindPage(
    sections=(
        "sigstats.flows.benchmark.report.measures",
        "sigstats.flows.benchmark.report.retrained",
        "sigstats.flows.report.sections",
    ),
    figures=(
        accuracies.draw,
        data_sets.draw_ranks,
        data_sets.draw_pairs,
        null_distributions.draw_trends,
        heat_tables.draw_classifiers,
        heat_tables.draw_pairs,
        null_distributions.draw_histograms,
    ),
    particulars=_particulars,
    over_data_sets=over_data_sets,
    withheld=_withheld,
    counted={
        "permutation-labels": "learned the classes",
        "permutation-features": "use features together",
        "mcnemar": "pairs that differ",
    },
)
