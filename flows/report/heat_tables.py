"""Tests as tables with coloured cells: single classifiers by data set, and a square of pairs for each data set."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from sigstats._common.numerals import (
    NBSP,
    adjusted_p,
    index_number,
    p_equation,
    p_number,
    p_order,
    signed,
    signed_points,
    significant,
)
from sigstats.tasks.schema import Hypothesis

from ..pages.page import (
    MISSING,
    HeatCell,
    heat_table,
    necessity_legend,
    necessity_shade,
    p_legend,
    p_shade,
    pair_table,
    side_by_side,
)
from . import sections
from .evidence import Evidence, Figure
from .rows import (
    advantage_of_a,
    at_smallest_p,
    distinct,
    group_by,
    is_proportion,
    less_is_better,
    necessity,
    primary_rows,
)
from .usual_columns import DECISION


def draw_classifiers(evidence: Evidence) -> Iterator[Figure]:
    """Return a grid of p-values and one of necessities for every test of single classifiers."""
    grids = []
    for section in sections.of_study(evidence):
        rows = evidence.rows_of(section.test)
        if all(row.decision == "none" for row in rows):  # estimates, of which nothing is tested
            continue
        if all(row.dataset and row.classifier and not row.slice for row in rows):
            grids.append(Markup("<h4>{}</h4>{}").format(section.name, _grids(section.name, rows, evidence)))
    if grids:
        yield Figure(
            title="Data sets by classifiers",
            caption=(
                "p-values are before adjustment; ● marks a rejected null hypothesis "
                f"({adjusted_p(evidence.adjust)} ≤ {significant(evidence.alpha)}). Necessity states how strongly the "
                "data support one side, the alternative (1 − PD) or the null hypothesis (NSD); the legend has both."
            ),
            body=Markup("").join(grids),
        )


def _grids(name: str, rows: Sequence[Hypothesis], evidence: Evidence) -> Markup:
    by_place = {(row.dataset or "", row.classifier or ""): row for row in rows}
    datasets, classifiers = distinct(row.dataset for row in rows), distinct(row.classifier for row in rows)

    def p_cell(dataset: str, classifier: str) -> HeatCell:
        row = by_place.get((dataset, classifier))
        if row is None or row.p_value is None:
            return MISSING
        text = f"≤{NBSP}{p_number(row.p_value)}" if at_smallest_p(row) else p_order(row.p_value, row.log10_p)
        return HeatCell(text, p_shade(row.p_value), marked=row.decision == "reject", hint=_hint(row, evidence))

    def necessity_cell(dataset: str, classifier: str) -> HeatCell:
        row = by_place.get((dataset, classifier))
        value = None if row is None else necessity(row)
        if row is None or value is None:
            return MISSING
        return HeatCell(index_number(abs(value)), necessity_shade(value), hint=_hint(row, evidence))

    by_p = heat_table("p-value", f"{name}: p-value", datasets, classifiers, p_cell)
    by_necessity = heat_table("Necessity", f"{name}: necessity", datasets, classifiers, necessity_cell)
    panels = [by_p + p_legend(), by_necessity + necessity_legend("alternative", "null")]
    return side_by_side(panels, len(classifiers))


def _hint(row: Hypothesis, evidence: Evidence) -> str:
    parts = [f"{row.classifier} on {row.dataset}"]
    if row.p_adjusted is not None:
        parts.append(p_equation(row.p_adjusted, at_most=at_smallest_p(row), name=adjusted_p(evidence.adjust)))
    return ", ".join([*parts, DECISION.text(row)])


def draw_pairs(evidence: Evidence) -> Iterator[Figure]:
    """Yield one figure for every test that compares two classifiers."""
    for section in sections.of_study(evidence):
        rows = primary_rows(evidence.rows_of(section.test))
        if all(row.a and row.b and not row.slice for row in rows) and any(row.estimate is not None for row in rows):
            squares = [_square(caption, group) for caption, group in _groups(rows)]
            body = side_by_side(squares, len(distinct(name for row in rows for name in (row.a, row.b))))
            yield Figure(
                title=f"{section.name}: pairs of classifiers",
                caption=(
                    "Each cell states how strongly the data support a difference between two classifiers (1 − PD), "
                    "in the shades of the legend for the one on the left or the one above. Below it is the "
                    f"difference, left minus above{_reading(rows)}. The greatest gains come first. ● marks a rejected "
                    f"null hypothesis ({adjusted_p(evidence.adjust)} ≤ {significant(evidence.alpha)})."
                ),
                body=body + necessity_legend("left is better", "above is better"),
            )


def _groups(rows: Sequence[Hypothesis]) -> Iterator[tuple[str, Sequence[Hypothesis]]]:
    """Yield the rows of each square: one data set and one measure, since other measures are not comparable."""
    for dataset, group in group_by(rows, lambda row: row.dataset or "").items():
        measures = distinct(row.measure for row in group)
        if len(measures) < 2:
            yield dataset, group
            continue
        for measure in measures:
            yield f"{dataset}: {measure}", [row for row in group if row.measure in (measure, None)]


def _reading(rows: Sequence[Hypothesis]) -> str:
    hypotheses = [row for row in rows if row.estimate is not None]
    proportions = [row for row in hypotheses if is_proportion(row)]
    unit = ", in percentage points" + (" if of proportions" if len(proportions) < len(hypotheses) else "")
    less = "; of errors and costs less is better" if any(map(less_is_better, hypotheses)) else ""
    return (unit if proportions else "") + less


def _square(caption: str, rows: Sequence[Hypothesis]) -> Markup:
    by_pair = {(row.a, row.b): row for row in rows}

    def cell(left: str, above: str) -> HeatCell:
        row, sign = by_pair.get((left, above)), 1  # the estimate is a minus b
        if row is None:
            row, sign = by_pair.get((above, left)), -1
        value = None if row is None else necessity(row)
        if row is None or value is None:
            return MISSING
        certain, difference = max(value, 0), sign * (row.estimate or 0)
        below = signed_points(difference, row.n) if is_proportion(row) else signed(difference, 4)
        return HeatCell(
            index_number(certain),
            necessity_shade(certain if sign * (advantage_of_a(row) or 0) > 0 else -certain),
            below="" if row.estimate is None else below,
            marked=row.decision == "reject",
            hint=f"{left} against {above}: p = {p_number(row.p_value or 0, row.log10_p)}",
        )

    return pair_table(caption, f"Pairs of classifiers on {caption}", ranked(rows), cell)


def ranked(rows: Sequence[Hypothesis]) -> list[str]:
    """Return the classifiers of a data set, best first, by the sum of their gains over others; missing ones last."""
    gains: dict[str, list[float]] = {name: [] for name in distinct(name for row in rows for name in (row.a, row.b))}
    for row in rows:
        of_a = advantage_of_a(row)
        if row.a is not None and row.b is not None and of_a is not None:
            gains[row.a].append(of_a)
            gains[row.b].append(-of_a)
    return sorted(gains, key=lambda name: (not gains[name], -round(math.fsum(gains[name]), 12)))
