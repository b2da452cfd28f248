"""The columns of a table under other names, which people know well."""

from collections.abc import Sequence
from dataclasses import replace

from sigstats._common.scores import is_lower_better

from ._predictions import Columns

#: Well-known other names of the columns.
_KNOWN = {
    "id": (
        *("example_id", "sample_id", "instance_id", "item_id", "row_id", "question_id", "qid", "uid"),
        *("image_id", "doc_id", "query_id", "case_id", "test_id", "record_id", "id_code", "passengerid"),
    ),
    "label": ("gold_label", "true_label", "y_true", "ground_truth", "gold", "target", "actual", "truth"),
    "prediction": ("pred_label", "predicted_label", "y_pred", "pred", "predicted", "guess"),
}


class OtherNamesError(Exception):
    """A table has well-known other names of the columns; `columns` has these."""

    def __init__(self, columns: Columns) -> None:
        super().__init__()
        self.columns = columns


def require_own_names(names: Sequence[str], columns: Columns) -> None:
    """Raise OtherNamesError where a table has one well-known name of a column that nobody has named."""
    # Beside marks no label is looked for: what is named so may be a text that was asked for.
    marks = columns.score is not None and is_lower_better(columns.score, lower=columns.lower, higher=columns.higher)
    found: dict[str, str] = {}
    for key, known in _KNOWN.items():
        if key != "id" and marks is not None and columns.score is not None:
            continue
        own = getattr(columns, key)
        if (
            key in columns.named
            or own in names
            or own != getattr(Columns, key)
            or (key == "label" and columns.truth is not None)
        ):
            continue
        there = [name for name in names if name.lower() in known and name != columns.score]
        if len(there) == 1:
            found[key] = there[0]
    if "label" in found and columns.label == columns.prediction:  # a file of labels
        found["prediction"] = found["label"]
    if found:
        raise OtherNamesError(replace(columns, **found, known=tuple(found.items())))  # type: ignore[arg-type]
