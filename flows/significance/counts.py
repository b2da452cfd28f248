"""Tables of counts on the page of a significance study: observed and expected counts with p by each method."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sigstats._common.numerals import number
from sigstats.tasks.schema import Hypothesis

from ..pages.page import data_table
from ..report import sections
from ..report.evidence import Evidence, Figure
from ..report.rows import distinct, group_by
from ..report.usual_columns import ABSENT, P

#: The largest table that is shown; of larger ones, only the size.
_MOST_CLASSES = 6
#: A table of counts, and expected counts under the null hypothesis.
Counts = list[list[int]]
Expected = list[list[float]]


def draw_counts(evidence: Evidence) -> Iterator[Figure]:
    """Return one figure for each test of tables; equal counts share a line."""
    for section in sections.of_study(evidence):
        groups = group_by(evidence.rows_of(section.test), evidence.table_of).values()
        lines = [(rows, counted) for rows in groups if (counted := _counts_of(rows[0], evidence)) is not None]
        if lines:
            yield Figure(
                title=f"{section.name}: the counts, and p by each method",
                caption=(
                    "Observed counts, and counts expected under the null hypothesis given the totals of the test. "
                    "p-values are before adjustment; ● marks those that reject. Only the largest number of "
                    "Monte-Carlo replicates is shown."
                ),
                body=_table(lines),
            )


def _counts_of(row: Hypothesis, evidence: Evidence) -> tuple[Counts, Expected] | None:
    cells, table = evidence.cells_of(row), evidence.page.table
    return counted(table(cells[0])) if table is not None and len(cells) == 1 and row.p_value is not None else None


def counted(data: Mapping[str, Any]) -> tuple[Counts, Expected] | None:
    """Return the observed and expected counts of a test of tables; None for other tests.

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


def _table(lines: Sequence[tuple[Sequence[Hypothesis], tuple[Counts, Expected]]]) -> Markup:
    """Return the counts of each table, and its p-values by each method."""
    methods = distinct(row.method for rows, _ in lines for row in rows)
    known = lines[0][0][0].test == "likeness"
    columns = {"Table": "row", **({"Like": ""} if known else {}), "Counts": "counts", "Expected": "counts"}
    columns |= dict.fromkeys(("Least expected", *methods), "number")
    texts = []
    for rows, (counts, expected) in lines:
        by_method = {row.method: row for row in sorted(rows, key=lambda row: row.replicates or 0)}
        table = [_grid(counts, 0), _grid(expected, 1), number(min(map(min, expected)), 1)]
        names = [rows[0].dataset or "", *([rows[0].a or ""] if known else [])]
        texts.append([*names, *table, *(_p(by_method.get(method)) for method in methods)])
    return data_table("counts and p-values", columns, texts, "data")


def _grid(table: Sequence[Sequence[float]], decimals: int) -> Markup:
    """Return the numbers of a table, a line for each row; for a large one, its size."""
    if max(len(table), len(table[0])) > _MOST_CLASSES:
        return Markup("{} × {}").format(len(table), len(table[0]))
    return Markup("<br/>").join(" ".join(number(value, decimals) for value in row) for row in table)


def _p(row: Hypothesis | None) -> str:
    shown = ABSENT if row is None else P.text(row)
    return f"● {shown}" if row is not None and row.decision == "reject" else shown
