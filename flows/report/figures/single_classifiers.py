"""Tests of single classifiers on data sets: grids coloured by p-value and by necessity."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from sigstats.tasks.schema import Hypothesis

from ...pages.heat_table import (
    MISSING,
    HeatCell,
    heat_table,
    necessity_legend,
    necessity_shade,
    p_legend,
    p_shade,
    side_by_side,
)
from ...pages.wording import (
    NBSP,
    adjusted_p,
    index_number,
    p_equation,
    p_number,
    p_order,
    significant,
)
from .. import sections
from ..evidence import Evidence, Figure
from ..rows import at_smallest_p, distinct, necessity
from ..usual_columns import DECISION


def draw_grids(evidence: Evidence) -> Iterator[Figure]:
    """A grid of p-values and one of necessities for every test of single classifiers."""
    grids = []
    for section in sections.of(evidence):
        rows = evidence.of(section.test)
        if all(row.decision == "none" for row in rows):  # estimates, of which nothing is tested
            continue
        if all(row.dataset and row.classifier and not row.slice for row in rows):
            grids.append(Markup("<h4>{}</h4>{}").format(section.name, _grids(section.name, rows, evidence)))
    if grids:
        yield Figure(
            title="Data sets by classifiers",
            caption=(
                "p-values are before adjustment; ● marks a rejected null hypothesis "
                f"({adjusted_p(evidence.adjust)} ≤ {significant(evidence.alpha)}). Necessity says how necessarily the "
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
