"""The columns of stored tables with types, units and meanings, and the conversion of NumPy arrays to Arrow.

The Parquet files contain the meaning and the unit of each field as metadata, so that a file can be understood without
this package.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

#: Version of the stored schemas, which is increased when the meaning of a column changes.
SCHEMA_VERSION = 1


def column(name: str, kind: pa.DataType, unit: str, meaning: str, *, nullable: bool = False) -> "pa.Field[Any]":
    """Return a field with its unit and meaning in the metadata."""
    return pa.field(name, kind, nullable=nullable, metadata={"unit": unit, "meaning": meaning})


REPLICATE = column("replicate", pa.int64(), "number", "the replicate's number in its cell, from 0")
#: A column of tables in which a row stands for several replicates. `REPLICATE` is the first of these replicates.
SPAN = column("span", pa.int64(), "number", "replicates that the row stands for, from this one on")

#: Measure if the number of all objects is unknown. The statistic is the number of the `n` objects only a got right.
DISCORDANT = "discordant objects"


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """One row of ``summary.parquet``: a hypothesis and its test on the data.

    The fields are the columns, each with its type, unit and meaning.
    """

    study: Annotated[str, "name", "the study"]
    cell: Annotated[str, "name", "the cell of replicates behind the row; several are joined by a space"]
    test: Annotated[str, "name", "the test: permutation-labels, permutation-features, efficiency, mcnemar ..."]
    method: Annotated[str, "name", "how the p-value was found: exact, permutation, monte-carlo ..."]
    alternative: Annotated[str, "name", "the alternative: two-sided, greater or less"]
    null_hypothesis: Annotated[str, "text", "the null hypothesis in plain words"]
    dataset: Annotated[str | None, "name", "the data set"] = None
    classifier: Annotated[str | None, "name", "the classifier, where one is tested"] = None
    a: Annotated[str | None, "name", "the first of two classifiers that are compared"] = None
    b: Annotated[str | None, "name", "the second of two classifiers that are compared"] = None
    slice: Annotated[str | None, "name", "the part of the rows, null for all"] = None
    measure: Annotated[str | None, "name", "what is estimated: error, accuracy, difference of accuracies ..."] = None
    n: Annotated[int | None, "rows", "the number of rows the test rests on"] = None
    statistic: Annotated[float | None, "of the test", "the test statistic"] = None
    estimate: Annotated[float | None, "of the measure", "the observed value of the measure"] = None
    estimate_low: Annotated[float | None, "of the measure", "lower end of its 95 % interval"] = None
    estimate_high: Annotated[float | None, "of the measure", "upper end of its 95 % interval"] = None
    null_mean: Annotated[float | None, "of the measure", "its mean under the null hypothesis"] = None
    replicates: Annotated[int | None, "number", "random replicates; null where the test draws none"] = None
    exceedances: Annotated[int | None, "number", "replicates at least as extreme as observed"] = None
    unanswered: Annotated[
        int | None,
        "number",
        "test sets on which a test gave no p-value or a method no interval; null where no test sets are drawn",
    ] = None
    without_class: Annotated[
        int | None, "number", "test sets without a row of a class that counts; null where that is not asked"
    ] = None
    truth: Annotated[
        float | None,
        "of the measure",
        "what is true in the population: by how much B is better than A, or what an interval estimates; "
        "null where that is not computed",
    ] = None
    rows_half: Annotated[
        int | None,
        "rows",
        "rows of an infinite population of the same answers with which the test rejects half of the time; "
        "null where no formula says",
    ] = None
    rows_four_fifths: Annotated[int | None, "rows", "the same for four times in five"] = None
    p_value: Annotated[float | None, "probability", "p-value of the null hypothesis"] = None
    log10_p: Annotated[float | None, "decimal logarithm", "log10 of the p-value, also where it underflows"] = None
    p_low: Annotated[float | None, "probability", "lower end of the 99 % Monte-Carlo interval of p; p where exact"] = (
        None
    )
    p_high: Annotated[float | None, "probability", "upper end of that interval; p where exact"] = None
    p_holm: Annotated[float | None, "probability", "p adjusted by Holm over the rows of the same test and method"] = (
        None
    )
    p_by: Annotated[float | None, "probability", "p adjusted by Benjamini and Yekutieli over the same rows"] = None
    p_adjusted: Annotated[float | None, "probability", "the adjusted p that the decision uses"] = None
    pd: Annotated[float | None, "possibility", "possibility of dominance of the null over its alternative"] = None
    psd: Annotated[float | None, "possibility", "possibility of strict dominance of the null"] = None
    nsd: Annotated[float | None, "necessity", "necessity of strict dominance of the null"] = None
    decision: Annotated[
        str, "name", "reject, keep, none where no claim is tested, or missing where replicates are missing"
    ] = "missing"
    printed: Annotated[str, "text", "what a publication prints for this row; empty where the study names none"] = ""
    disagrees: Annotated[str, "text", "the printed numbers that disagree; empty if all agree"] = ""
    note: Annotated[str, "text", "warnings and reasons; empty where there is nothing to say"] = ""
    resampled: Annotated[
        str | None,
        "JSON",
        "the bootstrap replicates behind a stated confidence: number, mean, share above 0, half-width of "
        "95 % of them, difference on the test set, histogram",
    ] = None

    def with_(self, **values: Any) -> "Hypothesis":
        """Return the row with some fields replaced."""
        return replace(self, **values)


_KINDS: dict[type, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64()}


def schema_of(row: type) -> pa.Schema:
    """Return the schema of a dataclass in which each field is annotated with a type, a unit and a meaning."""
    attributes = []
    for name, hint in get_type_hints(row, include_extras=True).items():
        kind, unit, meaning = get_args(hint)
        kinds = get_args(kind) or (kind,)
        attributes.append(column(name, _KINDS[kinds[0]], unit, meaning, nullable=len(kinds) > 1))
    return pa.schema(attributes)


SUMMARY = schema_of(Hypothesis)
#: Measure of rows with rejection rates, which are not hypotheses.
POWER = "power"


#: Names of columns in files of earlier versions that are reserved words in SQL, and the present names.
RENAMED = {"null": "null_hypothesis", "true": "true_categories", "column": "name", "within": "tolerance"}


def renamed(stored: pa.Table) -> pa.Table:
    """Return a stored table with the present names of its columns."""
    return stored.rename_columns([RENAMED.get(name, name) for name in stored.column_names])


def as_summary(stored: pa.Table) -> pa.Table:
    """Return a stored summary with the columns of `SUMMARY`. Columns that an older version lacked are null."""
    stored = renamed(stored)
    for field in SUMMARY:
        if field.name not in stored.column_names:
            stored = stored.append_column(field.with_nullable(True), pa.nulls(stored.num_rows, field.type))
    return stored.select(SUMMARY.names).cast(SUMMARY)


def summary_table(rows: Iterable[Hypothesis]) -> pa.Table:
    """Return the summary table of `rows`, in order."""
    values: dict[str, list[Any]] = {name: [] for name in SUMMARY.names}
    for row in rows:
        for name in SUMMARY.names:
            values[name].append(getattr(row, name))
    return pa.table(values, schema=SUMMARY)


# Arrow's own conversions import pandas, which takes a quarter of a second, to check for pandas objects.


def from_numpy(values: Any, kind: pa.DataType) -> Any:
    """Convert an array of numbers to Arrow; return anything else unchanged."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf" or values.ndim != 1:
        return values
    stored = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    result = pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(stored.data)])
    return result.cast(kind)


def to_numpy(column: "pa.ChunkedArray[Any]") -> NDArray[Any]:
    """Convert a column of integers or booleans without missing values to NumPy."""
    flags = pa.types.is_boolean(column.type)
    values: NDArray[Any] = np.from_dlpack((column.cast(pa.uint8()) if flags else column).combine_chunks())
    return values.view(np.bool_) if flags else values
