"""The tables of counts of a significance study: observed and expected counts, and p by every method."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.significance.tables import TableTested

from ...pages.heat_table import data_table
from ...pages.wording import number, p_at_most
from ...report import sections
from ...report.evidence import Evidence, Figure
from ...report.rows import at_smallest_p, distinct, group_by

#: Larger tables are shown by their size.
_MOST_CLASSES = 6

#: A table of counts, and what is expected of each cell under the null hypothesis.
Counts = list[list[int]]
Expected = list[list[float]]


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test of tables: equal counts are one line."""
    for section in sections.of(evidence):
        groups = group_by(evidence.of(section.test), evidence.table_of).values()
        lines = [(rows, counted) for rows in groups if (counted := _counted(rows[0], evidence)) is not None]
        if lines:
            yield Figure(
                title=f"{section.name}: the counts, and p by each method",
                caption=(
                    "Counts beside what the null hypothesis expects, with the totals that the test takes as given. "
                    "p-values are before adjustment; ● marks those that reject. Of several numbers of Monte-Carlo "
                    "replicates the largest is shown."
                ),
                body=_table([rows for rows, _ in lines], [counted for _, counted in lines]),
            )


def _counted(row: Hypothesis, evidence: Evidence) -> tuple[Counts, Expected] | None:
    cells = evidence.cells_of(row)
    if len(cells) != 1 or row.p_value is None:
        return None
    work = cells[0].work
    return counted(work.data) if isinstance(work, TableTested) else None


def counted(data: Mapping[str, Any]) -> tuple[Counts, Expected] | None:
    """The observed and expected counts of a table test; None for a test of another kind.

    >>> counted({"counts": [8, 2], "probabilities": [0.5, 0.5]})
    ([[8, 2]], [[5.0, 5.0]])
    >>> counted({"counts_a": [9, 1], "counts_b": [5, 5]})
    ([[9, 1], [5, 5]], [[7.0, 3.0], [7.0, 3.0]])
    """
    if "probabilities" in data:
        n = sum(data["counts"])
        return [data["counts"]], [[n * p for p in data["probabilities"]]]
    table = data.get("table") or ([data["counts_a"], data["counts_b"]] if "counts_a" in data else None)
    if table is None:
        return None
    columns, n = [sum(column) for column in zip(*table, strict=True)], sum(map(sum, table))
    return table, [[sum(row) * column / n for column in columns] for row in table]


def _table(groups: Sequence[Sequence[Hypothesis]], tables: Sequence[tuple[Counts, Expected]]) -> Markup:
    methods = distinct(row.method for rows in groups for row in rows)
    known = groups[0][0].test == "likeness"
    columns = {"Table": "row", **({"Like": ""} if known else {}), "Counts": "counts", "Expected": "counts"}
    columns |= dict.fromkeys(("Least expected", *methods), "number")
    rows = [_line(rows, *table, methods, known=known) for rows, table in zip(groups, tables, strict=True)]
    return data_table("counts and p-values", columns, rows, "data")


def _line(
    rows: Sequence[Hypothesis], counts: Counts, expected: Expected, methods: Sequence[str], *, known: bool
) -> list[str]:
    by_method = {row.method: row for row in sorted(rows, key=lambda row: row.replicates or 0)}
    return [
        rows[0].dataset or "",
        *([rows[0].a or ""] if known else []),
        _grid(counts, 0),
        _grid(expected, 1),
        number(min(map(min, expected)), 1),
        *(_p(by_method.get(method)) for method in methods),
    ]


def _grid(table: Sequence[Sequence[float]], decimals: int) -> Markup:
    """The numbers of a table, a line for each of its rows; of a large one its size."""
    if max(len(table), len(table[0])) > _MOST_CLASSES:
        return Markup("{} × {}").format(len(table), len(table[0]))
    return Markup("<br/>").join(" ".join(number(value, decimals) for value in row) for row in table)


def _p(row: Hypothesis | None) -> str:
    if row is None or row.p_value is None:
        return "–"
    shown = p_at_most(row.p_value, at_most=at_smallest_p(row), log10_p=row.log10_p)
    return f"● {shown}" if row.decision == "reject" else shown
