"""How many tables are there to list for the exact p-value of a confusion matrix? (Nyssen, Figure 2)."""

from collections.abc import Mapping
from typing import Any

from sigstats.fixed_margins.distribution import number_of_terms
from sigstats.tables import as_confusion_table

from . import OfTable, StatisticalTest, no_pvalue


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``table``: counts, true classes in rows."""
    table = as_confusion_table(data["table"])
    return {
        "alternative": "none",
        "measure": "tables",
        "n": int(table.sum()),
        "estimate": float(number_of_terms(table)),
    }


TEST = StatisticalTest(
    label="Number of terms",
    question="How many tables would an enumeration list?",
    null="none: tables are counted",
    words=(
        "All tables of the same row and column totals with at least as many right: the terms that Nyssen's equation "
        "(4) adds up. They are counted row by row, and the exact test finds their sum without them. Nothing is tested."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency, fig. 2",
    order=75,
    table=OfTable(methods=("count",), observed=_observed, evaluate=no_pvalue),
)
