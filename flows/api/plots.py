"""The figures of a study for papers: drawn with Matplotlib from the data of the figures of its report."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from sigstats._common.drawing import Draw, curves, forest, ranks_with_cliques, shares_of, stairs, zip_plot
from sigstats._common.messages import some_of
from sigstats._common.validation import did_you_mean, refuse
from sigstats.multiplicity import ecdf_band, shares
from sigstats.tasks.calibration.rejections import COVERAGE
from sigstats.tasks.results import Results
from sigstats.tasks.schema import POWER, Hypothesis
from sigstats.tasks.storage.history import Record

from ..benchmark.report.null_distributions import Bins, curves_of, null_distribution
from ..calibration.report import null_p_values, rate_curves, same_test_sets, stated_confidence
from ..report.evidence import Evidence
from ..report.rows import distinct, group_by, some_sizes

#: The options that choose a figure with their values, and the function that draws it on axes.
Panel: TypeAlias = tuple[dict[str, Any], Draw]

_FIGURES: dict[str, Callable[["StudyPlots"], Iterable[Panel]]] = {}


def _figure(panels: Callable[["StudyPlots"], Iterable[Panel]]) -> Callable[..., Any]:
    """Make a method that draws the panel with the given options."""

    def draw(self: "StudyPlots", ax: Any = None, **options: Any) -> Any:
        return self._chosen(panels.__name__, options)(ax)

    draw.__name__, draw.__qualname__, draw.__doc__ = panels.__name__, panels.__qualname__, panels.__doc__
    _FIGURES[panels.__name__] = panels
    return draw


@dataclass(frozen=True)
class StudyPlots:
    """The figures of a study on axes of Matplotlib, without title or caption.

    Every method takes axes, ``ax=``, and returns them; by default it makes a figure as wide as a column of a paper, 3.4
    inches. If a study has several such figures, options choose one by the columns of `StudyResults.summary`, as in
    ``null(dataset="iris", classifier="lda", test="permutation-labels")``; a ValueError lists the choices.

    Examples
    --------
    >>> import tempfile
    >>> from sigstats.flows.api.run import run_study
    >>> study = {"kind": "benchmark", "datasets": ["iris"], "classifiers": ["lda", "1-nn"],
    ...          "cross_validation": {"folds": 3}, "permutation": {"resamples": 19}}
    >>> results = run_study(study, output=tempfile.mkdtemp())
    >>> results.plot.names
    ('forest', 'null')
    >>> results.plot.forest(test="mcnemar").figure.savefig("pairs.pdf")  # doctest: +SKIP
    """

    _results: Results = field(repr=False)
    #: The comparison of a regression study.
    _record: Record | None = field(default=None, repr=False)

    def __call__(self, ax: Any = None, **options: Any) -> Any:
        """Draw the figure of a study that has only one; ValueError lists the names of several."""
        if len(self.names) != 1:
            raise ValueError(f"plot: choose one of its figures by name: {', '.join(self.names) or 'it has none'}")
        return getattr(self, self.names[0])(ax, **options)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The figures that this study has."""
        return tuple(sorted(name for name in _FIGURES if self._panels(name)))

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self._results)

    def _panels(self, name: str) -> list[Panel]:
        return [] if self._record is not None and name != "forest" else list(_FIGURES[name](self))

    def _chosen(self, name: str, options: dict[str, Any]) -> Draw:
        """Return the only panel of a figure with these options; raise ValueError if none or several match."""
        panels = self._panels(name)
        if not panels:
            raise refuse("figure", name, f"one that this study has: {', '.join(self.names) or 'it has none'}")
        keys = tuple(panels[0][0])
        for key, value in options.items():
            if key not in keys:
                raise refuse("option", key, f"one of {', '.join(keys)}{did_you_mean(key, keys)}")
            known = distinct(str(about[key]) for about, _ in panels)
            panels = [panel for panel in panels if str(panel[0][key]) == str(value)]
            if not panels:
                raise refuse(key, value, f"one of {', '.join(known)}{did_you_mean(str(value), known)}")
        if len(panels) > 1:
            values = {key: distinct(repr(about[key]) for about, _ in panels) for key in keys}
            choices = "; ".join(f"{key}= {some_of(known)}" for key, known in values.items() if len(known) > 1)
            raise ValueError(f"{name}: there are {len(panels)} such figures; choose one by {choices}")
        return panels[0][1]

    @_figure
    def critical_difference(self) -> Iterator[Panel]:
        """Draw mean ranks over the data sets, and bars over classifiers without a significant difference."""
        if over := self._evidence.over_data_sets:
            result = over.comparison
            yield {}, partial(ranks_with_cliques, models=result.models, ranks=result.ranks, cliques=result.cliques)

    @_figure
    def over_data_sets(self) -> Iterator[Panel]:
        """Draw the probabilities that the first of two classifiers is better, equal in practice, and worse."""
        if over := self._evidence.over_data_sets:
            yield {}, shares_of({f"{pair.a} − {pair.b}": pair.probabilities for pair in over.comparison.pairs})

    @_figure
    def forest(self) -> Iterator[Panel]:
        """Draw estimates with their intervals: of classifiers, of pairs (a − b), of slices of a regression study."""
        if self._record is not None:
            for measure, changed in group_by(self._record.rows, lambda row: str(row["measure"])).items():
                lines = [(row["slice"], row["difference"], row["low"], row["high"]) for row in changed]
                if lines := [line for line in lines if None not in line]:
                    yield {"measure": measure}, partial(forest, lines=lines, unit=f"difference of {measure}")
            return
        known = [row for row in self._evidence.rows if row.estimate_low is not None and (row.classifier or row.a)]
        rows = [row for row in known if row.test != "confidence"]  # whose interval is of another quantity
        for group in group_by(rows, lambda row: (row.test, row.dataset, row.measure, row.method)).values():
            lines = [(_label(row), row.estimate, row.estimate_low, row.estimate_high) for row in group]
            drawn = partial(forest, lines=lines, unit=group[0].measure or "", marks=(0.0,) if group[0].a else ())
            yield _about(group[0], "test", "dataset", "measure", "method"), drawn

    @_figure
    def null(self) -> Iterator[Panel]:
        """Draw the measure on permuted data as a histogram, and the observed one as a line."""
        for row in self._evidence.rows:
            if null := null_distribution(row, self._evidence):
                bins = Bins.of([null])
                counts, left = bins.count(null.counts, null.observed, more=row.alternative == "greater")
                edges = null.step * np.append(left, left[-1] + bins.width)
                drawn = stairs(counts, edges, null.step * null.observed, (row.measure or "", "permutations"))
                yield _about(row, "test", "dataset", "classifier", "measure"), drawn

    @_figure
    def resampled_differences(self) -> Iterator[Panel]:
        """Draw the bootstrap replicates of a difference on a single test set, with the middle 95% shaded."""
        for row in self._evidence.rows_of("confidence"):
            if row.resampled is not None:
                loads = json.loads(row.resampled)
                edges = (loads["first"] + np.arange(len(loads["counts"]) + 1)) * loads["width"]
                band = loads["mean"] - loads["reach"], loads["mean"] + loads["reach"]
                drawn = stairs(loads["counts"], edges, 0.0, (f"difference in {row.measure}", "replicates"), band)
                yield _about(row, "dataset", "slice", "method", "measure", "n"), drawn

    @_figure
    def trends(self) -> Iterator[Panel]:
        """Draw errors against the number in which data sets differ, with the mean and middle 90% of permuted errors."""
        for test in self._evidence.tests:
            name, entries = curves_of(test, self._evidence)
            for classifier, points in entries.items():
                x, observed, mean, low, high, _ = np.array([list(vars(point).values()) for point in points]).T
                lines = {"observed": (x, observed), "permuted": (x, mean)}
                drawn = curves(lines, (name, "error"), band=(x, low, high))
                yield {"test": test, "classifier": classifier}, drawn

    @_figure
    def power(self) -> Iterator[Panel]:
        """Draw rates of rejection or coverage with 95% intervals against the size of the test set; lines: exact."""
        for dataset, method, covers, group in rate_curves.curves_of(self._evidence):
            measure, level = (COVERAGE, 1 - self._evidence.alpha) if covers else (POWER, self._evidence.alpha)
            bars = [
                tuple(zip(*((r.n, r.estimate, r.estimate_low, r.estimate_high) for r in curve.rows), strict=True))
                for curve in group
            ]
            exact = [[row.statistic for row in curve.rows] if curve.exact else None for curve in group]
            lines = {c.label: (bar[0], line or bar[1]) for c, bar, line in zip(group, bars, exact, strict=True)}
            drawn = curves(lines, ("rows of the test set", measure), level=level, bars=bars)
            yield {"dataset": dataset, "method": method, "measure": measure}, drawn

    @_figure
    def calibration_curves(self) -> Iterator[Panel]:
        """Draw the achieved type I error, with its 95% interval, against the stated one."""
        for row in null_p_values.true_nulls(self._evidence):
            x, p_values = null_p_values.RATE_LEVELS, null_p_values.p_values_of(row, self._evidence)
            share, low, high = null_p_values.achieved(p_values).T
            drawn = curves({"": (x, share)}, ("stated", "achieved"), diagonal=True, band=(x, low, high))
            yield _about(row, "dataset", "slice", "method", "n"), drawn

    @_figure
    def law_of_p(self) -> Iterator[Panel]:
        """Draw the distribution function of p under the null hypothesis, and the 95% band of uniform p-values."""
        rows = null_p_values.true_nulls(self._evidence)
        for group in group_by(rows, lambda row: (row.dataset, row.slice, row.method)).values():
            sizes = some_sizes(sorted(group, key=lambda row: row.n or 0))
            x, trials = np.array(null_p_values.LEVELS), min(row.replicates or 0 for row in sizes)
            p_values = {f"{row.n:,} rows": null_p_values.p_values_of(row, self._evidence) for row in sizes}
            lines = {label: (x, shares(p, null_p_values.LEVELS)) for label, p in p_values.items()}
            low, high = (bound / trials for bound in ecdf_band(trials, null_p_values.LEVELS))
            drawn = curves(lines, ("level", "share of p ≤ level"), diagonal=True, scale="log", band=(x, low, high))
            yield _about(group[0], "dataset", "slice", "method"), drawn

    @_figure
    def reliability(self) -> Iterator[Panel]:
        """Draw how often the classifier that is better on a test set is truly better, against the stated confidence."""
        for dataset, method, sizes in stated_confidence.statements_of(self._evidence):
            for n, statements in sizes.items():
                x, share, low, high, _ = np.array(stated_confidence.binned(statements)).T
                drawn = curves({"": (x, share)}, ("stated", "right"), diagonal=True, bars=[(x, share, low, high)])
                yield {"dataset": dataset, "method": method, "n": n}, drawn

    @_figure
    def nested_loops(self) -> Iterator[Panel]:
        """Draw a rate over all settings of a grid, a line for each method; ticks have the values of the factors."""
        for grid in rate_curves.grids(self._evidence):
            order = grid.order
            places, methods = range(len(order)), distinct(row.method for row in grid.rows)
            lines = {method: (places, np.full(len(order), np.nan)) for method in methods}
            for row, setting in zip(grid.rows, grid.settings, strict=True):
                lines[row.method][1][order.index(setting)] = row.estimate
            level = 1 - self._evidence.alpha if grid.measure == COVERAGE else self._evidence.alpha
            ticks = [", ".join(f"{value:g}" for value in setting) for setting in order]
            drawn = curves(lines, (", ".join(grid.names), grid.measure), level=level, ticks=ticks)
            yield {"dataset": grid.dataset, "measure": grid.measure, "of": grid.estimand}, drawn

    @_figure
    def zips(self) -> Iterator[Panel]:
        """Draw the intervals of a method where its coverage is lowest, those farthest from the truth on top."""
        for dataset, rows in same_test_sets.worst_of(self._evidence).items():
            for row in rows:
                intervals, confidence = same_test_sets.intervals(row, self._evidence), 1 - self._evidence.alpha
                yield {"dataset": dataset, "method": row.method}, zip_plot(*intervals, row.truth or 0.0, confidence)


def _about(row: Hypothesis, *columns: str) -> dict[str, Any]:
    return {column: getattr(row, column) for column in columns}


def _label(row: Hypothesis) -> str:
    return " ".join(filter(None, (row.classifier or f"{row.a} − {row.b}", row.slice)))
