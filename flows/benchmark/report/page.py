"""The page of a benchmark: how good each classifier is on each data set, compared with chance and the largest class."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sigstats.intervals import Interval
from sigstats.ranking.means import share_interval
from sigstats.tasks.benchmark.runs import observed_run
from sigstats.tasks.benchmark.work import CrossValidated
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import count_of, join_words, percent, percent_range, percent_span, some_of
from ...report.best_model import choice
from ...report.evidence import Evidence, Figure, KindPage, Particulars, Verdict
from ...report.figures import dominance, single_classifiers
from ...report.figures import over_data_sets as over_data_sets_figures
from ...report.over_data_sets import FEWEST_DATA_SETS
from ...report.rows import group_by
from . import null_histograms, permutation_tests, trends
from .over_data_sets import over_data_sets

_ACCURACIES = (
    "Cross-validated accuracy with its 95% interval: Clopper and Pearson's, as if the predictions were independent; "
    "where rows come in groups, Gaffke's of groups."
)
#: The room of the values, and the most that names of classifiers have.
_VALUES, _LINE, _BOTTOM, _WIDEST = 142.0, 22.0, 24.0, 168.0
#: More drawings than so many, or lines in one, are no first picture any more.
MOST_DATA_SETS, _MOST_CLASSIFIERS = 12, 16


@dataclass(frozen=True)
class Performance:
    """The cross-validated accuracy of a classifier on a data set."""

    dataset: str
    classifier: str
    n: int
    accuracy: float
    #: Its 95% interval.
    interval: Interval
    #: The mean accuracy of naming classes at random, each as often as the classifier named it.
    chance: float
    #: The share of the largest class.
    largest: float


def performances(evidence: Evidence) -> list[Performance]:
    """Every classifier on every data set with a completed observed run, in the order of the plan."""
    items = []
    for cell in evidence.results.cells("crossval"):
        dataset, classifier = cell.subject["dataset"], cell.subject["classifier"]
        run = observed_run(evidence.results, cell)
        if run is None:
            continue
        accuracy, interval = (run.n - run.wrong) / run.n, share_interval(run.right, run.groups, 0.95)
        true, named = (run.table().sum(axis=axis) / run.n for axis in (1, 0))
        chance, largest = float(true @ named), float(true.max())
        items.append(Performance(dataset, classifier, run.n, accuracy, interval, chance, largest))
    return items


def missing(value: Sequence[Performance], evidence: Evidence) -> list[tuple[str, str]]:
    """The planned classifiers and data sets without a completed observed run."""
    planned = [(cell.subject["classifier"], cell.subject["dataset"]) for cell in evidence.results.cells("crossval")]
    there = {(one.classifier, one.dataset) for one in value}
    return [item for item in planned if item not in there]


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
    best = [group[0] for group in whole.values()]
    to_do = "; ".join(_to_do(group, [pair for pair in pairs if pair.dataset == on]) for on, group in whole.items())
    if len(best) == 1:
        return Verdict(_best(best[0]), details, to_do=f"{to_do[:1].upper()}{to_do[1:]}.")
    spans = (percent_span([one.accuracy for one in best]), percent_span([one.largest for one in best]))
    finished = "finished " if lacking else ""
    return Verdict(
        f"The best classifier of each of {len(best)} {finished}data sets is right on {spans[0]} of the rows, where "
        f"always naming the largest class is right on {spans[1]}.",
        details,
        to_do=f"{to_do[:1].upper()}{to_do[1:]}." if len(best) < FEWEST_DATA_SETS else "",
    )


def _to_do(group: Sequence[Performance], pairs: Sequence[Hypothesis]) -> str:
    """Which classifier to choose on a data set; `group`: the best first."""
    best = group[0]
    if best.interval.low <= best.largest:
        return f"on {best.dataset} choose none until more rows show that it beats always naming the largest class"
    same = {(pair.a, pair.b) for pair in pairs if pair.decision != "reject"}
    tied = [
        one.classifier
        for one in group[1:]
        if {(best.classifier, one.classifier), (one.classifier, best.classifier)} & same
    ]
    return f"on {best.dataset} {choice(best.classifier, tied)}"


def accuracy_panels(value: Sequence[Performance]) -> Markup:
    """A drawing for each of the first data sets: every classifier with its interval, chance and the largest class."""
    panels = [
        _panel(f"accuracy-{number}", dataset, group[:_MOST_CLASSIFIERS])
        for number, (dataset, group) in enumerate(list(_best_first(value).items())[:MOST_DATA_SETS])
    ]
    return svg.side_by_side(panels) if panels else Markup("")


def _panel(name: str, dataset: str, group: Sequence[Performance]) -> Markup:
    room = min(max(svg.text_width(one.classifier) for one in group), _WIDEST)
    largest, chance = group[0].largest, sum(one.chance for one in group) / len(group)
    least = min(largest, *(end for one in group for end in (one.chance, one.interval.low)))
    axes = Axes(
        width=room + 12 + _VALUES,
        height=_LINE * len(group) + 8 + _BOTTOM,
        left=room + 12,
        top=8,
        bottom=_BOTTOM,
        x_limits=(100 * least, 100),
        y_limits=(len(group), 0),
    )
    parts = [axes.upwards("margin", 100 * chance), axes.upwards("level", 100 * largest), axes.x_axis(most=3, unit="%")]
    for position, one in enumerate(group):
        middle = position + 0.5
        said = f"{one.classifier}: {_with_interval(one)}"
        marks = [
            svg.text(axes.left - 8, axes.y(middle) + 4, svg.shortened(one.classifier, _WIDEST), anchor="end"),
            axes.line("interval", [(100 * end, middle) for end in one.interval]),
            svg.verdict_mark(axes.x(100 * one.accuracy), axes.y(middle), ""),
        ]
        parts.append(Markup("<g><title>{}</title>{}</g>").format(said, Markup("").join(marks)))
    drawing = axes.drawing(name, f"Accuracy on {dataset}", _on(dataset, group), *parts)
    rows = count_of(group[0].n, "row")
    return Markup('<div class="trend"><p><b>{}</b> <span class="quiet">{}</span></p>{}</div>').format(
        dataset, rows, drawing
    )


def _best_first(value: Sequence[Performance]) -> dict[str, list[Performance]]:
    groups = group_by(value, lambda one: one.dataset)
    return {name: sorted(group, key=lambda one: -one.accuracy) for name, group in groups.items()}


def _best(one: Performance) -> str:
    return (
        f"{one.classifier}, the best on {one.dataset}, is right on {_with_interval(one)} of the rows; chance is "
        f"{percent(one.chance, one.n)}, always naming the largest class {percent(one.largest, one.n)}."
    )


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
    verdict = performance(measured, evidence.of("mcnemar"), lacking)
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
        "sigstats.flows.report.efficiency": ("efficiency",),
    },
    figures=(
        over_data_sets_figures.draw_ranks,
        over_data_sets_figures.draw_pairs,
        trends.draw,
        single_classifiers.draw_grids,
        permutation_tests.draw,
        dominance.draw,
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
