"""The page of a benchmark: how good each classifier is on each data set, compared with chance and the largest class."""

from collections.abc import Sequence

from markupsafe import Markup

from sigstats.tasks.benchmark.work import CrossValidated
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.statistical_tests import FEWEST_DATA_SETS

from ...pages import svg
from ...pages.dot_rows import DotRow, dot_rows
from ...pages.wording import count_of, join_words, percent, percent_range, percent_span, some_of
from ...report import heat_tables
from ...report import over_data_sets as data_sets
from ...report.evidence import Evidence, Figure, KindPage, Particulars, Verdict
from ...report.rows import group_by
from ...report.verdicts import best_in_words, choice
from . import accuracies, null_histograms, trends
from .accuracies import Performance, missing, of_pairs, performances
from .over_data_sets import over_data_sets

_ACCURACIES = (
    "Cross-validated accuracy with its 95% interval: Clopper and Pearson's, as if the predictions were independent; "
    "where rows come in groups, Gaffke's of groups."
)
#: More drawings than so many, or lines in one, are no first picture any more.
MOST_DATA_SETS, _MOST_CLASSIFIERS = 12, 16


def performance(
    value: Sequence[Performance], pairs: Sequence[Hypothesis] = (), lacking: Sequence[tuple[str, str]] = ()
) -> Verdict | None:
    """The best performance on each data set, then all; None if nothing was cross-validated.

    `pairs`: the tests of two classifiers on a data set, which show among which to choose. `lacking`: the result of
    `missing`; no classifier is the best on a data set before all planned ones are complete.
    """
    if not value:
        return None
    ordered = _best_first(value)
    details = tuple(_on(dataset, group) for dataset, group in ordered.items())
    whole = {on: group for on, group in ordered.items() if on not in {dataset for _, dataset in lacking}}
    if not whole:
        return Verdict(
            f"{len(value)} of {len(value) + len(lacking)} cross-validations {'is' if len(value) == 1 else 'are'} "
            "there; the best classifier of a data set is known once all of them are.",
            details,
        )
    chosen = [_choice(group, [pair for pair in pairs if pair.dataset == on]) for on, group in whole.items()]
    to_do = "; ".join(advice for _, advice in chosen)
    if len(whole) < FEWEST_DATA_SETS:
        headline = "; ".join(headline for headline, _ in chosen)
        return Verdict(f"{headline}.", details, to_do=f"{to_do[:1].upper()}{to_do[1:]}.")
    best = [group[0] for group in whole.values()]
    spans = (percent_span([one.accuracy for one in best]), percent_span([one.largest for one in best]))
    return Verdict(
        f"The best on each of {len(best)} {'finished ' if lacking else ''}data sets is right on {spans[0]} of rows, "
        f"always naming the largest class on {spans[1]}.",
        details,
    )


def _choice(group: Sequence[Performance], pairs: Sequence[Hypothesis]) -> tuple[str, str]:
    """The best classifiers of a data set, with advice; `group`: the classifiers, the best first."""
    best = group[0]
    where = f"on {best.dataset}"
    if best.interval.low <= best.largest:
        doubt = "none is shown to beat always naming the largest class"
        return f"{where} {doubt}", f"{where} choose none until more rows show that it beats that"
    if len(group) > 1 and not pairs:
        return f"{best.classifier} is right most often {where}; no test compares it", f"{where} take {best.classifier}"
    same = [frozenset((pair.a, pair.b)) for pair in pairs if pair.decision != "reject"]
    others = [one.classifier for one in group[1:]]
    tied = [other for other in others if frozenset((best.classifier, other)) in same]
    right = f"{where}, with {_with_interval(best)} right"
    said = best_in_words(best.classifier, tied, [other for other in others if other not in tied], right)
    if not others:
        said = f"{best.classifier} is right on {_with_interval(best)} of the rows {where}"
    return said, f"{where} {choice(best.classifier, tied)}"


def accuracy_panels(value: Sequence[Performance]) -> Markup:
    """A drawing for each of the first data sets: every classifier with its interval, chance and the largest class."""
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


def _particulars(evidence: Evidence) -> Particulars:
    measured = performances(evidence)
    lacking = missing(measured, evidence)
    verdict = performance(measured, of_pairs(evidence), lacking)
    figure = Figure("", _accuracies_caption(measured, lacking), accuracy_panels(measured)) if measured else None
    return Particulars(
        first=[("How good is each classifier?", verdict, _ACCURACIES)], figure=figure, transforms=_transforms(evidence)
    )


def _accuracies_caption(measured: Sequence[Performance], lacking: Sequence[tuple[str, str]]) -> str:
    count = len({one.dataset for one in measured})
    first = f", on the first {MOST_DATA_SETS} of {count} data sets" if count > MOST_DATA_SETS else ""
    return (
        f"Accuracy of each classifier with its 95% interval{first}. Dashed: always naming the largest class. Dotted: "
        "naming at random, each class as often as the classifier does."
        + (f" Not there yet: {some_of([' on '.join(value) for value in lacking])}." if lacking else "")
    )


def _transforms(evidence: Evidence) -> str:
    works = [cell.work_of(CrossValidated) for cell in evidence.results.cells("crossval")]
    if not works:
        return ""
    if any(work.cross_validation.transforms == "all" for work in works):
        return (
            "Scales, categories and imputed values were learned once on all rows, without their labels. The "
            "permutation tests are valid all the same, since permuting commutes with it; the errors may be slightly "
            "optimistic."
        )
    return "Scales, categories and imputed values were learned on each training fold alone."


PAGE = KindPage(
    sections={
        "sigstats.flows.benchmark.report.measures":
            ("measures", "measured-pairs", "resampled-measures", "resampled-pairs", "slices", "sliced-pairs"),
        "sigstats.flows.benchmark.report.retrained":
            ("corrected-resampled", "permutation-features", "permutation-labels"),
        "sigstats.flows.report.shared_tests": ("efficiency", "friedman", "mean-rank", "signed-rank"),
    },
    figures=(
        accuracies.draw,
        data_sets.draw_ranks,
        data_sets.draw_pairs,
        trends.draw,
        heat_tables.draw_classifiers,
        heat_tables.draw_pairs,
        null_histograms.draw,
    ),
    particulars=_particulars,
    over_data_sets=over_data_sets,
    counted={
        "permutation-labels": "learned the classes",
        "permutation-features": "use features together",
        "mcnemar": "pairs that differ",
    },
)  # fmt: skip
