"""The columns of stored tables: the type, unit and meaning of each.

The Parquet files hold the meaning and the unit as metadata of each field, so that a file can be understood without this
program.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

#: Raised when a stored schema changes its meaning.
SCHEMA_VERSION = 1


def column(name: str, kind: pa.DataType, unit: str, meaning: str, *, nullable: bool = False) -> "pa.Field[Any]":
    """A field whose metadata hold its unit and its meaning."""
    return pa.field(name, kind, nullable=nullable, metadata={"unit": unit, "meaning": meaning})


REPLICATE = column("replicate", pa.int64(), "number", "the replicate's number in its cell, from 0")


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """One row of ``summary.parquet``: a hypothesis and its test on the data.

    The fields are the columns; `SUMMARY` states the type, unit and meaning of each.
    """

    study: str
    cell: str
    test: str
    method: str
    alternative: str
    null: str
    dataset: str | None = None
    classifier: str | None = None
    a: str | None = None
    b: str | None = None
    slice: str | None = None
    measure: str | None = None
    n: int | None = None
    statistic: float | None = None
    estimate: float | None = None
    estimate_low: float | None = None
    estimate_high: float | None = None
    null_mean: float | None = None
    replicates: int | None = None
    exceedances: int | None = None
    unanswered: int | None = None
    without_class: int | None = None
    truth: float | None = None
    rows_half: int | None = None
    rows_four_fifths: int | None = None
    p_value: float | None = None
    log10_p: float | None = None
    p_low: float | None = None
    p_high: float | None = None
    p_holm: float | None = None
    p_by: float | None = None
    p_adjusted: float | None = None
    pd: float | None = None
    psd: float | None = None
    nsd: float | None = None
    decision: str = "missing"
    printed: str = ""
    disagrees: str = ""
    note: str = ""
    resampled: str | None = None

    def with_(self, **values: Any) -> "Hypothesis":
        """This row with other values in some fields."""
        return replace(self, **values)


SUMMARY = pa.schema(
    [
        column("study", pa.string(), "name", "the study"),
        column("cell", pa.string(), "name", "the cell of replicates behind the row; several are joined by a space"),
        column(
            "test", pa.string(), "name", "the test: permutation-labels, permutation-features, efficiency, mcnemar ..."
        ),
        column("method", pa.string(), "name", "how the p-value was found: exact, permutation, monte-carlo ..."),
        column("alternative", pa.string(), "name", "the alternative: two-sided, greater or less"),
        column("null", pa.string(), "text", "the null hypothesis in plain words"),
        column("dataset", pa.string(), "name", "the data set", nullable=True),
        column("classifier", pa.string(), "name", "the classifier, where one is tested", nullable=True),
        column("a", pa.string(), "name", "the first of two classifiers that are compared", nullable=True),
        column("b", pa.string(), "name", "the second of two classifiers that are compared", nullable=True),
        column("slice", pa.string(), "name", "the part of the rows, null for all", nullable=True),
        column(
            "measure",
            pa.string(),
            "name",
            "what is estimated: error, accuracy, difference of accuracies ...",
            nullable=True,
        ),
        column("n", pa.int64(), "rows", "the number of rows the test rests on", nullable=True),
        column("statistic", pa.float64(), "of the test", "the test statistic", nullable=True),
        column("estimate", pa.float64(), "of the measure", "the observed value of the measure", nullable=True),
        column("estimate_low", pa.float64(), "of the measure", "lower end of its 95 % interval", nullable=True),
        column("estimate_high", pa.float64(), "of the measure", "upper end of its 95 % interval", nullable=True),
        column("null_mean", pa.float64(), "of the measure", "its mean under the null hypothesis", nullable=True),
        column("replicates", pa.int64(), "number", "random replicates; null where the test draws none", nullable=True),
        column("exceedances", pa.int64(), "number", "replicates at least as extreme as observed", nullable=True),
        column(
            "unanswered",
            pa.int64(),
            "number",
            "test sets on which a test gave no p-value or a method no interval; null where no test sets are drawn",
            nullable=True,
        ),
        column(
            "without_class",
            pa.int64(),
            "number",
            "test sets in which a class that counts has no row; null where that is not asked",
            nullable=True,
        ),
        column(
            "truth",
            pa.float64(),
            "of the measure",
            "what is true in the population: by how much B is better than A, or what an interval estimates; null where "
            "that is not computed",
            nullable=True,
        ),
        column(
            "rows_half",
            pa.int64(),
            "rows",
            "rows of an endless population of the same answers with which the test rejects half of the time; null "
            "where no formula says",
            nullable=True,
        ),
        column("rows_four_fifths", pa.int64(), "rows", "the same for four times in five", nullable=True),
        column("p_value", pa.float64(), "probability", "p-value of the null hypothesis", nullable=True),
        column(
            "log10_p",
            pa.float64(),
            "decimal logarithm",
            "log10 of the p-value, also where it underflows",
            nullable=True,
        ),
        column(
            "p_low",
            pa.float64(),
            "probability",
            "lower end of the 99 % Monte-Carlo interval of p; p where exact",
            nullable=True,
        ),
        column("p_high", pa.float64(), "probability", "upper end of that interval; p where exact", nullable=True),
        column(
            "p_holm",
            pa.float64(),
            "probability",
            "p adjusted by Holm over the rows of the same test and method",
            nullable=True,
        ),
        column(
            "p_by",
            pa.float64(),
            "probability",
            "p adjusted by Benjamini and Yekutieli over the same rows",
            nullable=True,
        ),
        column("p_adjusted", pa.float64(), "probability", "the adjusted p that the decision uses", nullable=True),
        column(
            "pd",
            pa.float64(),
            "possibility",
            "possibility of dominance of the null over its alternative",
            nullable=True,
        ),
        column("psd", pa.float64(), "possibility", "possibility of strict dominance of the null", nullable=True),
        column("nsd", pa.float64(), "necessity", "necessity of strict dominance of the null", nullable=True),
        column(
            "decision",
            pa.string(),
            "name",
            "reject, keep, none where nothing is tested, or missing where replicates are missing",
        ),
        column(
            "printed", pa.string(), "text", "what a publication prints for this row; empty where the study names none"
        ),
        column("disagrees", pa.string(), "text", "what of it the results do not agree with; empty where all agrees"),
        column("note", pa.string(), "text", "warnings and reasons; empty where there is nothing to say"),
        column(
            "resampled",
            pa.string(),
            "JSON",
            "the bootstrap replicates behind a stated confidence: number, mean, share above 0, half-width of 95 % of "
            "them, difference on the test set, histogram",
            nullable=True,
        ),
    ]
)


def as_summary(stored: pa.Table) -> pa.Table:
    """A stored summary with the columns of `SUMMARY`: null where the version that wrote it did not have one.

    Raises ValueError if it lacks a column that may not be null, or has one of another type.
    """
    for field in SUMMARY:
        if field.name not in stored.column_names:
            stored = stored.append_column(field.with_nullable(True), pa.nulls(stored.num_rows, field.type))
    return stored.select(SUMMARY.names).cast(SUMMARY)


def summary_table(rows: Iterable[Hypothesis]) -> pa.Table:
    """The summary of `rows`, in their order."""
    values: dict[str, list[Any]] = {name: [] for name in SUMMARY.names}
    for row in rows:
        for name in SUMMARY.names:
            values[name].append(getattr(row, name))
    return pa.table(values, schema=SUMMARY)
