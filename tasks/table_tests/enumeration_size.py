"""How many tables would have to be listed for the exact p-value of a confusion matrix? (Nyssen, Figure 2)."""

from collections.abc import Mapping
from typing import Any

from sigstats.fixed_margins.enumeration import number_of_terms
from sigstats.tables import as_confusion_table

NULL = "none: tables are counted"
METHODS = ("count",)


def observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``table``: counts, true classes in rows."""
    table = as_confusion_table(data["table"])
    return {
        "alternative": "none",
        "measure": "tables",
        "n": int(table.sum()),
        "estimate": float(number_of_terms(table)),
    }


def evaluate(data: Mapping[str, Any], method: str) -> dict[str, Any]:  # noqa: ARG001
    """There is no p-value."""
    return {"method": "count"}
