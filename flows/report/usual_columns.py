"""Columns that the tables of several tests share, each made of a field of the rows and the format of its values."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from sigstats._common.numerals import both_ends, index_number, number, p_at_most, percent, percent_range, significant
from sigstats.tasks.schema import Hypothesis

from .evidence import ABSENT as ABSENT
from .evidence import Column
from .rows import at_smallest_p, is_proportion

#: A number of rows or test sets in words.
COUNT = "{:,}".format


def measured(row: Hypothesis, value: float | None) -> str:
    """Return a value of the row's measure: in percent if the measure is a proportion."""
    if value is None:
        return ABSENT
    if is_proportion(row):
        return percent(value, row.n)
    return number(value, 4)


def _p(row: Hypothesis, value: float | None, log10_p: float | None = None) -> str:
    return ABSENT if value is None else p_at_most(value, at_most=at_smallest_p(row), log10_p=log10_p)


def _p_sort(row: Hypothesis) -> float | None:
    if row.log10_p == -math.inf:
        return -sys.float_info.max
    if row.log10_p is not None or not row.p_value:
        return row.log10_p
    return math.log10(row.p_value)


def _monte_carlo(row: Hypothesis) -> str:
    if row.p_low is None or row.p_high is None or row.replicates is None:
        return ABSENT
    return "–".join(both_ends(row.p_low, row.p_high, significant, 2))


def _measured_range(row: Hypothesis, low: float, high: float) -> str:
    return percent_range(low, high, row.n) if is_proportion(row) else "–".join(both_ends(low, high, number, 4))


def interval_by(show: Callable[[Hypothesis, float, float], str], meaning: str) -> Column:
    """Format the interval of a row, its ends by `show`; a dash without an interval."""

    def text(row: Hypothesis) -> str:
        low, high = row.estimate_low, row.estimate_high
        return ABSENT if low is None or high is None else show(row, low, high)

    return Column("95% interval", text, lambda row: row.estimate_low, meaning)


def _column_of(field: str, show: Callable[[Hypothesis, Any], str], header: str, meaning: str = "") -> Column:
    of = attrgetter(field)
    return Column(header, lambda row: show(row, of(row)), of, meaning)


def value(header: str, field: str, show: Callable[[Any], str], meaning: str = "") -> Column:
    """Format a field of the rows by `show`; a dash for a missing value."""
    return _column_of(field, lambda _, result: ABSENT if result is None else show(result), header, meaning)


def where(row: Hypothesis) -> str:
    """Return the population of a row: ``10 classes, r = 3%``."""
    return ", ".join(part for part in (row.dataset, row.slice) if part)


_SHORT = {
    "p_value": "p", "null_mean": "permuted mean", "psd": "PSD", "nsd": "NSD", "pd": "PD", "estimate ": "",
}  # fmt: skip


def short(text: str) -> str:
    """Return names of columns as the report has them."""
    for name, shorter in _SHORT.items():
        text = text.replace(name, shorter)
    return text


DATASET = Column("Data set", lambda row: row.dataset or ABSENT)
CLASSIFIER = Column("Classifier", lambda row: row.classifier or ABSENT)
A = Column("A", lambda row: row.a or ABSENT)
B = Column("B", lambda row: row.b or ABSENT)
SLICE = Column("Slice", lambda row: row.slice or "all", needed=lambda rows: any(row.slice for row in rows))
MEASURE = Column("Measure", lambda row: row.measure or ABSENT)
ROWS = value("Rows", "n", COUNT, "rows of the data set")
OBJECTS = ROWS.named("Objects", "objects that were counted")
METHOD = Column("Method", lambda row: row.method)
INTERVAL = interval_by(_measured_range, "95% interval of the value before (Clopper and Pearson)")
EXCEEDANCES = Column(
    "As extreme",
    lambda row: ABSENT if row.exceedances is None else f"{row.exceedances:,} of {row.replicates or 0:,}",
    lambda row: row.exceedances,
    "random replicates at least as extreme as observed",
)
P = Column("p", lambda row: _p(row, row.p_value, row.log10_p), _p_sort, "p-value of the null hypothesis")
MONTE_CARLO = Column(
    "Monte-Carlo 99%",
    _monte_carlo,
    lambda row: row.p_high if row.replicates is not None else None,
    "where the p-value of infinitely many replicates lies, with 99% confidence",
)
_HOLM = _column_of("p_holm", _p, "p, Holm", "adjusted by Holm")
_BY = _column_of("p_by", _p, "p, BY", "adjusted by Benjamini and Yekutieli")
ADJUSTED = _column_of("p_adjusted", _p, "p, adjusted", "as the decision uses it")
DECISION = Column(
    "Null hypothesis", lambda row: {"reject": "rejected", "keep": "not rejected"}.get(row.decision, row.decision)
)
PRINTED = Column("Printed", lambda row: short(row.printed), None, "what a publication prints")
DISAGREES = Column(
    "Does not agree", lambda row: short(row.disagrees), meaning="printed numbers that disagree; see below", note=True
)
NOTE = Column("Note", lambda row: row.note, meaning="see below", note=True)


PD = value("Possible (PD)", "pd", index_number, "possibility of dominance of the null hypothesis")
PSD = value("Possible (PSD)", "psd", index_number, "possibility of strict dominance of the null hypothesis")
NSD = value("Certain (NSD)", "nsd", index_number, "necessity of strict dominance of the null hypothesis")
PSD_NSD = NSD.named("Certain (PSD, NSD)", "possibility and necessity of strict dominance of the null hypothesis")


def _is_adjusted(rows: Sequence[Hypothesis]) -> bool:
    return any(row.p_adjusted != row.p_value for row in rows)


def _are_equal(rows: Sequence[Hypothesis]) -> bool:
    return all(row.psd == row.nsd for row in rows)


#: The adjusted p-value, where it differs from the p-value.
IF_ADJUSTED = replace(ADJUSTED, needed=_is_adjusted)
#: The numbers that a publication printed, and those that disagree with it.
OF_PUBLICATION = (PRINTED, DISAGREES)
#: The subjects of the rows, and the methods if there are several.
SUBJECT = (DATASET, CLASSIFIER, A, B, replace(METHOD, needed=lambda rows: len({row.method for row in rows}) > 1))
#: The last columns of every table: p-values, indices, decision, printed numbers and notes.
CLOSING = (
    EXCEEDANCES,
    replace(P, needed=lambda rows: not _is_adjusted(rows)),
    replace(P, header="p, unadjusted", needed=_is_adjusted),
    MONTE_CARLO,
    replace(_HOLM, needed=_is_adjusted),
    replace(_BY, needed=_is_adjusted),
    replace(ADJUSTED, needed=lambda rows: any(r.p_adjusted not in (r.p_value, r.p_holm, r.p_by) for r in rows)),
    PD,
    replace(PSD_NSD, needed=_are_equal),
    *(replace(column, needed=lambda rows: not _are_equal(rows)) for column in (PSD, NSD)),
    DECISION,
    *OF_PUBLICATION,
    NOTE,
)

#: The observed value of the measure, and its mean under the null hypothesis.
estimate, null_mean = partial(_column_of, "estimate", measured), partial(_column_of, "null_mean", measured)


def difference(header: str) -> list[Column]:
    """Return the difference of two measures, and its interval."""
    return [estimate("A − B", "measure of A minus measure of B"), interval(header)]


def case_columns(value: Column, expected: Column) -> tuple[Column, ...]:
    """Return the columns of a classifier on a data set: the observed value, and that expected under the null."""
    return (*SUBJECT, ROWS, value, INTERVAL, expected, *CLOSING)


def interval(meaning: str) -> Column:
    """Return the column `INTERVAL` with another meaning."""
    return INTERVAL.named(INTERVAL.header, meaning)
