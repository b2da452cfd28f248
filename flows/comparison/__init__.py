"""Comparisons as text, Markdown, JSON and pages, and the description of the compared files in all of them."""

from dataclasses import replace

from sigstats._common.numerals import count_of, p_number
from sigstats.comparison.cells import difference_of, interval_of, items_in_words, named, value_of
from sigstats.comparison.result import CandidatesResult, ComparisonResult, ComparisonRow, counted
from sigstats.comparison.units import ALL_ROWS


def rows_in_words(result: ComparisonResult | ComparisonRow) -> str:
    """Return the number of rows and, if items have several answers, of items."""
    if isinstance(result, ComparisonResult):
        sizes = sorted({row.n for row in result.rows if row.slice == ALL_ROWS})
        if len(sizes) > 1:  # several scores, each of tasks of its own
            return f"{sizes[0]:,} to {sizes[-1]:,} rows by score"
    rows = count_of(result.n, "row")
    if result.items is None:
        return rows
    named = items_in_words(result.n, result.items)
    return named if result.n == result.items else f"{rows}{named.removeprefix(f'{result.n:,}')}"


def subjects_in_words(result: ComparisonResult) -> list[str]:
    """Return the subjects of the files: a line on their common part, and one on the differences."""
    if result.subjects is None:
        return []
    baseline, candidate = result.subjects
    common = {name: value for name, value in baseline.items() if candidate.get(name) == value}
    lines = [("both", common)]
    for role, subject in (("baseline", baseline), ("candidate", candidate)):
        lines.append((role, {name: value for name, value in subject.items() if name not in common}))
    listed = [(role, ", ".join(f"{name} {value}" for name, value in subject.items())) for role, subject in lines]
    return [f"{role}: {subject}" for role, subject in listed if subject]


#: The columns of `overview`.
OVERVIEW = (
    "verdict", "candidate", "decided by", "difference", "interval", "baseline", "value", "adjusted p, worse",
    "adjusted p, better", "rows",
)  # fmt: skip


def overview(comparison: CandidatesResult) -> list[tuple[str, ...]]:
    """Return a line for each candidate under `OVERVIEW`: the row that decides its verdict."""
    lines = []
    for row, candidate, result, p_better in zip(
        comparison.deciding, comparison.candidates, comparison.results, comparison.p_better, strict=True
    ):
        p_worse = "–" if row.adjusted_pvalue is None else p_number(row.adjusted_pvalue)
        values = [value_of(row, value) for value in (row.baseline, row.candidate)]
        shown = (named(row), difference_of(row, row.difference), interval_of(row), *values, p_worse, p_number(p_better))
        lines.append((result.verdict, candidate, *shown, counted(result.rows)))
    return lines


def deciding_rows(result: CandidatesResult) -> list[ComparisonRow]:
    """Return the row that decides the verdict of each candidate, under the name of the candidate, for a figure."""
    pairs = zip(result.candidates, result.deciding, strict=True)
    return [replace(row, slice=name if row.slice == ALL_ROWS else f"{name}, {row.slice}") for name, row in pairs]
