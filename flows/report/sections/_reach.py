"""What a test finds with how many rows: for who plans the next evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

from sigstats.measures.measure import Measure
from sigstats.measures.table import MEASURES
from sigstats.tasks.analyses.sample_size import rows_needed
from sigstats.tasks.populations.population import EventPopulation, Population
from sigstats.tasks.populations.tests import measure_of
from sigstats.tasks.replicates.subsample import population
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
    drawn_from = population(cell.work, evidence.results.store) if cell.fanout == "subsample" else None
    known = drawn_from if isinstance(drawn_from, (Population, EventPopulation)) else None
    difference = "the difference" if known is None else _difference(known, cell.work["test"])
    rate = most.estimate if most.statistic is None else most.statistic
    found = f"{count_of(most.n or 0, 'row')} find {difference} {_often(rate or 0)} by {most.method}"
    half, wanted = (_exactly(share, known, cell.work["test"], evidence.alpha) for share in (0.5, WANTED))
    needed = f"{half} rows are needed for {_IN_WORDS[0.5]}, {wanted} for {_IN_WORDS[WANTED]}"
    return f"{found}; {needed if half and wanted else _among_sizes(rows)}."


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


def _difference(known: Population | EventPopulation, test: Mapping[str, Any]) -> str:
    measure: Measure = measure_of(test)
    only_a, only_b = known.discordant
    if measure.name == "accuracy":  # of right and wrong answers alone, also where a row has several labels
        value = abs(only_b - only_a) / (known.rows or 1)
    else:
        value = abs(float(known.difference(measure)))
    spec = MEASURES.get(measure.name)
    if spec is not None and spec.in_points:
        return f"a difference in {measure.name} of {number(100 * value, 1 if value >= 0.001 else 3)} points"
    return f"a difference in {measure.name} of {significant(value, 3)}"


def _exactly(share: float, known: Population | EventPopulation | None, test: Mapping[str, Any], alpha: float) -> str:
    """From how many rows on the difference is found so often; empty where no formula says."""
    needed = None if known is None or test["test"] != "mcnemar" else rows_needed(known, test, share, alpha)
    if known is None or needed is None:
        return ""
    return f"{'' if known.rows is None else 'about '}{needed:,}"


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
