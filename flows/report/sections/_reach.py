"""What a test finds with how many rows: for who plans the next evaluation."""

from collections.abc import Sequence

from sigstats.measures.table import MEASURES
from sigstats.tasks.rates import measure_of
from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, number, percent, significant
from ..evidence import Evidence

#: How often a test should find what there is: the power that is usual in planning.
WANTED = 0.8
_IN_WORDS = {0.5: "half of the time", 0.8: "four times in five"}
_RATES = ((0.1, "one time in ten"), (0.2, "one time in five"), (0.25, "one time in four"), *_IN_WORDS.items())
#: A rate is called by the name of one that is so near.
_SAME_RATE = 0.005


def finds(rows: Sequence[Hypothesis], evidence: Evidence) -> str:
    """How often the most rows find the difference of a population, and how many find it half of the time and more.

    Parameters
    ----------
    rows : sequence of Hypothesis
        The power of one test in one population, at one size or more.
    evidence : Evidence
    """
    most = max(rows, key=lambda row: row.n or 0)
    cell = evidence.cells_of(most)[0]
    difference = (
        "the difference" if most.truth is None else _difference(abs(most.truth), measure_of(cell.work["test"]).name)
    )
    rate = most.estimate if most.statistic is None else most.statistic
    found = f"{count_of(most.n or 0, 'row')} find {difference} {_often(rate or 0)} by {most.method}"
    if most.rows_half is None or most.rows_four_fifths is None:
        return f"{found}; {_among_sizes(rows)}."
    about = "" if cell.work["population"].get("endless") else "about "
    half, often = (f"{about}{needed:,}" for needed in (most.rows_half, most.rows_four_fifths))
    return f"{found}; {half} rows are needed for {_IN_WORDS[0.5]}, {often} for {_IN_WORDS[WANTED]}."


def _often(rate: float) -> str:
    """A rate in words where it is one of few, else in percent.

    Examples
    --------
    >>> from sigstats.flows.report.sections._reach import _often
    >>> [_often(rate) for rate in (0.103, 0.347, 0.798)]
    ['one time in ten', '34.7% of the time', 'four times in five']
    """
    words = next((words for share, words in _RATES if abs(rate - share) <= _SAME_RATE), None)
    return words or f"{percent(rate)} of the time"


def _difference(value: float, measure: str) -> str:
    spec = MEASURES.get(measure)
    if spec is not None and spec.in_points:
        return f"a difference in {measure} of {number(100 * value, 1 if value >= 0.001 else 3)} points"
    return f"a difference in {measure} of {significant(value, 3)}"


def _among_sizes(rows: Sequence[Hypothesis]) -> str:
    """Which of the sizes that were tried find the difference often."""
    least = {share: min((row.n or 0 for row in rows if (row.estimate or 0) >= share), default=0) for share in _IN_WORDS}
    if not least[0.5]:
        return "no size that was tried finds it half of the time"
    if least[0.5] == least[WANTED]:
        return f"of the sizes that were tried, {least[WANTED]:,} rows are the fewest that find it four times in five"
    found = f"of the sizes that were tried, {least[0.5]:,} rows are the fewest that find it half of the time"
    more = f"{least[WANTED]:,} rows" if least[WANTED] else "none"
    return f"{found}, and {more} {'find' if least[WANTED] else 'finds'} it four times in five"
