"""Which classifier dominates which: one square for each data set."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from tasks.schema import Hypothesis

from .. import sections
from ..evidence import Evidence, distinct, grouped, necessity
from ..sections import _tables
from ..wording import adjusted_p, index_number, p_number, points
from . import Figure, FigureKind, _heat


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for every test that compares two classifiers."""
    for section in sections.of(evidence):
        rows = _tables.primary(evidence.of(section.test))
        if all(row.a and row.b and not row.slice for row in rows) and any(row.estimate is not None for row in rows):
            squares = [_square(name, group) for name, group in grouped(rows, lambda row: row.dataset or "").items()]
            body = _heat.side_by_side(squares, len(distinct(name for row in rows for name in (row.a, row.b))))
            yield Figure(
                title=f"{section.name}: pairs of classifiers",
                caption=(
                    "Each cell says how necessarily the data support that two classifiers differ (1 − PD): blue where "
                    "the one on the left is better, orange where the one above is. Under it is the difference, left "
                    "minus above, in percentage points. The best classifier comes first. ● marks a rejected null "
                    f"hypothesis ({adjusted_p(evidence.adjust)} ≤ {evidence.alpha:g})."
                ),
                body=body + _heat.necessity_legend("left is better", "above is better"),
            )


def _square(dataset: str, rows: Sequence[Hypothesis]) -> Markup:
    by_pair = {(row.a, row.b): row for row in rows}
    names = ranked(rows)

    def cell(left: str, above: str) -> _heat.Heat:
        if left == above:
            return _heat.DIAGONAL
        row, sign = by_pair.get((above, left)), 1  # the estimate is b minus a
        if row is None:
            row, sign = by_pair.get((left, above)), -1
        value = None if row is None else necessity(row)
        if row is None or value is None:
            return _heat.NOTHING
        difference = sign * (row.estimate or 0)
        certain = max(value, 0)
        return _heat.Heat(
            index_number(certain),
            _heat.necessity_shade(certain if difference > 0 else -certain),
            below="" if row.estimate is None else points(difference, row.n),
            marked=row.decision == "reject",
            hint=f"{left} against {above}: p = {p_number(row.p_value or 0, row.log10_p)}",
        )

    return _heat.heat_table(dataset, f"Pairs of classifiers on {dataset}", names, names, cell)


def ranked(rows: Sequence[Hypothesis]) -> list[str]:
    """The classifiers of a data set, the best first, by the sum of their differences; the missing last."""
    differences: dict[str, list[float]] = {
        name: [] for name in distinct(name for row in rows for name in (row.a, row.b))
    }
    for row in rows:
        if row.a is not None and row.b is not None and row.estimate is not None:
            differences[row.b].append(row.estimate)
            differences[row.a].append(-row.estimate)
    return sorted(differences, key=lambda name: (not differences[name], -round(math.fsum(differences[name]), 12)))


KIND = FigureKind(order=20, draw=draw)
