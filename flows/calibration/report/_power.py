"""Power in words: how often a test detects the difference of a population, and how many rows it needs for that."""

from collections.abc import Sequence

from sigstats.measures.table import MEASURES
from sigstats.tasks.calibration.rates import measure_of
from sigstats.tasks.calibration.work import Events, OnTestSets, Outcomes, Tested
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, number, percent, significant
from ...report.evidence import Evidence
from ...report.rows import group_by
from ...report.usual_columns import where
from .columns import rate

#: How often a test should find what there is: the power that is usual in planning.
_WANTED = 0.8
_IN_WORDS = {0.5: "half of the time", 0.8: "four times in five"}


def finds(rows: Sequence[Hypothesis], evidence: Evidence) -> str:
    """How often the largest size detects the difference of a population, and the rows for a higher power."""
    most = max(rows, key=lambda row: row.n or 0)
    cell = evidence.cells_of(most)[0]
    difference = (
        "the difference"
        if most.truth is None
        else _difference(abs(most.truth), measure_of(cell.work_of(Tested).test).name)
    )
    sentence = f"{count_of(most.n or 0, 'row')} find {difference} {percent(rate(most))} of the time by {most.method}"
    if most.rows_half is None or most.rows_four_fifths is None:
        return f"{sentence}; {_among_sizes(rows)}."
    population = cell.work.population if isinstance(cell.work, OnTestSets) else None
    endless = isinstance(population, Outcomes | Events) and population.endless
    about, of_what = ("", "") if endless else ("about ", " of an infinite population of such answers")
    half, often = (f"{about}{needed:,}" for needed in (most.rows_half, most.rows_four_fifths))
    return f"{sentence}; {half} rows{of_what} are needed for {_IN_WORDS[0.5]}, {often} for {_IN_WORDS[_WANTED]}."


def fewest_needed(powers: Sequence[Sequence[Hypothesis]]) -> str:
    """The test that needs the fewest rows in the hardest population; empty if that is unknown."""
    known = [row for group in powers for row in group if row.rows_four_fifths is not None]
    if not known:
        return ""
    hardest = [max(of, key=_needed) for of in group_by(known, lambda row: row.method).values()]
    best = min(hardest, key=_needed)
    fewest = count_of(_needed(best), "row")
    return f"Use {best.method}. {fewest} find the difference of “{where(best)}” {_IN_WORDS[_WANTED]}."


def _needed(row: Hypothesis) -> int:
    return row.rows_four_fifths or 0


def _difference(value: float, measure: str) -> str:
    spec = MEASURES.get(measure)
    if spec is not None and spec.in_points:
        return f"a difference in {measure} of {number(100 * value, 1 if value >= 0.001 else 3)} points"
    return f"a difference in {measure} of {significant(value, 3)}"


def _among_sizes(rows: Sequence[Hypothesis]) -> str:
    least = {share: min((row.n or 0 for row in rows if rate(row) >= share), default=0) for share in _IN_WORDS}
    if not least[0.5]:
        return "no size that was tried finds it half of the time"
    if least[0.5] == least[_WANTED]:
        return f"of the sizes that were tried, {least[_WANTED]:,} rows are the fewest that find it four times in five"
    sentence = f"of the sizes that were tried, {least[0.5]:,} rows are the fewest that find it half of the time"
    more = f"{least[_WANTED]:,} rows" if least[_WANTED] else "none"
    return f"{sentence}, and {more} {'find' if least[_WANTED] else 'finds'} it four times in five"
