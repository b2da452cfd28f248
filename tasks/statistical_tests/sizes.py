"""Numbers of replicates, or of tables to list, that a test needs, by Nyssen; nothing is tested."""

from collections.abc import Mapping
from typing import Any

from sigstats.efficiency import monte_carlo_size
from sigstats.fixed_margins.distribution import number_of_terms
from sigstats.tables import as_confusion_table

from . import Data, Fields, OfTable, StatisticalTest


def _no_pvalue(data: Data, method: str) -> Fields:  # noqa: ARG001
    """Return the fields of a computed number without a test."""
    return {"method": method}


def _replicates(data: Mapping[str, Any]) -> dict[str, Any]:
    """``alpha``, the level of the test."""
    return {"alternative": "none", "measure": "replicates", "estimate": float(monte_carlo_size(data["alpha"]))}


MONTE_CARLO_SIZE = StatisticalTest(
    label="Monte-Carlo size",
    question="How many replicates does a Monte-Carlo test need?",
    null="none: a size is computed",
    words=(
        "The smallest number of replicates that reject a true p-value of nine tenths of the level with probability "
        "0.95, by a normal approximation. Nothing is tested."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency, table 1",
    order=80,
    table=OfTable(methods=("formula",), observed=_replicates, evaluate=_no_pvalue),
)


def _tables(data: Mapping[str, Any]) -> dict[str, Any]:
    """``table``: counts, true classes in rows."""
    table = as_confusion_table(data["table"])
    return {
        "alternative": "none",
        "measure": "tables",
        "n": int(table.sum()),
        "estimate": float(number_of_terms(table)),
    }


ENUMERATION_SIZE = StatisticalTest(
    label="Number of terms",
    question="How many tables would an enumeration list?",
    null="none: tables are counted",
    words=(
        "The number of tables with the same totals and at least as many right answers: the terms of Nyssen's equation "
        "(4). They are counted row by row; the exact test computes their sum without listing them. Nothing is tested."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency, fig. 2",
    order=75,
    table=OfTable(methods=("count",), observed=_tables, evaluate=_no_pvalue),
)
