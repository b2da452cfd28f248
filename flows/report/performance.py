"""How well each classifier of a benchmark does: on each data set, compared with chance, and over all."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sigstats.intervals import Interval
from sigstats.multiplicity import fewest_resamples
from sigstats.ranking.means import share_interval
from sigstats.tasks.benchmark.runs import observed_run
from sigstats.tasks.schema import Hypothesis

from ..pages import svg
from ..pages.svg import Axes
from ..pages.wording import count_of, join_words, p_equation, percent, percent_range, percent_span
from .evidence import Evidence, group_by
from .over_data_sets import FEWEST_DATA_SETS, OverDataSets
from .section import Verdict

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


def choice(best: str, tied: Sequence[str]) -> str:
    """Which to choose of the best classifier and those that do not differ significantly from it.

    >>> choice("a", ["b"])
    'take a or b: other criteria, such as cost, or more rows may decide'
    """
    rest = f" or {', '.join(tied)}: other criteria, such as cost, or more rows may decide" if tied else ""
    return f"take {best}{rest}"


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


_NAMED = 6

_RUNS = (
    "On data sets like these: each data set gives one difference of accuracies, which exact signed-rank tests take, "
    "adjusted by Holm's method. On these data sets: the rows are the sample, and the mean difference of accuracy is "
    "tested exactly given the rows that only one classifier got right. Probabilities are those of the Bayesian "
    "signed-rank test; differences of at most one point are none in practice. Cross-validated rows share training "
    "sets; neither test accounts for the choice of the folds."
)
_SCORES = (
    "Each data set gives one difference of scores, which exact signed-rank tests take. The data sets are taken for a "
    "sample of data sets like them, and of a score it is not known how far chance moved it. Probabilities are those "
    "of the Bayesian signed-rank test; differences of at most {equal} are none in practice. Where less is better, "
    "differences are turned, so that the greater is the better."
)


def over_data_sets(evidence: Evidence) -> Verdict | None:
    """The best classifier on data sets like these, and on these; None if there are too few."""
    analysis = evidence.over_data_sets
    if analysis is None:
        return None
    beyond = analysis.comparison.conclusion.replace("No two", "no two", 1)
    on_these, to_do = _on_these(analysis)
    return Verdict(f"{on_these} Beyond these: {beyond}", tuple(_details(analysis)), to_do=to_do)


def over_data_sets_method(evidence: Evidence) -> str:
    """The method of this statement; empty if there are too few data sets."""
    analysis = evidence.over_data_sets
    if analysis is None:
        return ""
    return _RUNS if analysis.score.in_percent else _SCORES.format(equal=analysis.score.equal)


def _details(analysis: OverDataSets) -> list[str]:
    comparison = analysis.comparison
    k, models, what = len(comparison.models), comparison.models, analysis.score.model
    said = []
    if analysis.low:
        first = [model for model, low in zip(models, analysis.low, strict=True) if low == 1]
        named = join_words([*first[:_NAMED], *([f"{len(first) - _NAMED} more"] if len(first) > _NAMED else [])])
        may = "is the best" if len(first) == 1 else "may each be the best"
        said.append(f"On data sets like these {named} {may} of {count_of(k, what)}, all ranks taken together.")
    # The smallest p of n data sets is 2 / 2**n.
    fewest = fewest_resamples(len(comparison.pairs), [], method=comparison.adjust, alpha=comparison.alpha)
    needed = 1 + fewest.bit_length()
    if comparison.datasets < needed:
        said.append(
            f"{comparison.datasets} data sets are too few: {count_of(len(comparison.pairs), 'pair')} can be told "
            f"apart on {needed} or more."
        )
    if comparison.friedman is not None:
        p = p_equation(comparison.friedman.pvalue)
        how = "exactly" if comparison.friedman.method == "exact" else "Iman and Davenport's F"
        said.append(f"That all {what}s are alike: {p} (Friedman, {how}).")
    return said


def _on_these(analysis: OverDataSets) -> tuple[str, str]:
    comparison, what = analysis.comparison, analysis.score.model
    better = max if analysis.score.greater_is_better else min
    most = comparison.models[better(range(len(analysis.means)), key=lambda model: analysis.means[model])]
    pairs = zip(comparison.pairs, analysis.these, strict=False)
    ahead = {pair.b if pair.a == most else pair.a: these for pair, these in pairs if most in (pair.a, pair.b)}
    best = f"{most} has the best mean {analysis.score.name}"
    if not ahead:
        return f"On these {comparison.datasets} data sets {best}; how certain that is needs their rows.", ""
    tied = [other for other, these in ahead.items() if these.adjusted_pvalue > comparison.alpha]
    least = min(ahead.values(), key=lambda these: abs(these.difference))
    nearest = analysis.score.difference(abs(least.difference)).lstrip("+")
    others = count_of(len(comparison.models) - 1, f"other {what}")
    said = f"On these {comparison.datasets} data sets {best}; it differs from {len(ahead) - len(tied)} of {others}"
    said += f" (exact stratified tests, Holm), the nearest being {nearest} points behind."
    return said, f"On these data sets {choice(most, tied)}."
