"""The details that lighteval saves of a task (``--save-details``): Parquet with the metrics of each document.

An item is identified by the id of the document, or else by its row. Early versions have the columns ``example``,
``gold`` and ``metrics``; later ones have ``doc``, ``metric`` and ``model_response``. Objects that have no single Arrow
type are written as Python prints them.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

from ...inputs import reading
from ...inputs.content import Content
from .._columns import Columns
from .._log import Answer, EvaluationLog, make_answer, mapping, to_texts

ORDER = 5
NAME = "lighteval's details (Parquet)"

BEGINS = re.compile(b"PAR1")

#: The column of metrics, and those of the question in the same file.
_METRICS = {"metric": ("doc",), "metrics": ("example", "gold", "gold_index", "specifics")}
#: Prints of NumPy's numbers, and of values that are not numbers.
_OF_NUMPY = re.compile(r"\bnp\.\w+\(([^()]*)\)")
_FILE = re.compile(r"details_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.:-]+\d\.parquet")


def reads(content: Content) -> bool:
    """Return True for a Parquet file that has the columns."""
    return _columns(content.parquet_names) is not None


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the metrics of every document."""
    from ...tables.arrow_files import read_parquet  # slow to import, for other formats too

    metrics, questions = _columns(content.parquet_names) or ("", ())
    with reading(content.where, fault="cannot be read as Parquet"):  # a damaged file may raise anything
        _, table = read_parquet(content.by_place(), content.budget, (metrics, *questions))
        rows = table.to_pylist()
    documents = [mapping(_object(row.get("doc"))) or row for row in rows]
    ids = [document.get("id") for document in documents]
    known = not {None, ""}.intersection(ids)
    named = _FILE.fullmatch(content.name)
    tasks = {str(document.get("task_name") or "") for document in documents}
    return EvaluationLog(
        where=content.where,
        harness="lighteval",
        answers=[
            _answer(str(ids[number] if known else number), row[metrics], document, columns)
            for number, (row, document) in enumerate(zip(rows, documents, strict=True))
        ],
        task=named["task"] if named else tasks.pop() if len(tasks) == 1 else "",
    )


def _columns(names: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    for metrics, questions in _METRICS.items():
        if metrics in names and questions[0] in names:
            return metrics, tuple(name for name in questions if name in names)
    return None


def _answer(item: str, metrics: Any, document: Mapping[str, Any], columns: Columns) -> Answer:
    specific = mapping(_object(document.get("specific", document.get("specifics"))))
    identity = {
        "input": document.get("query", document.get("example")),
        "target": document.get("gold_index", document.get("gold")),
    }
    values = _object(metrics)
    if not isinstance(values, dict):
        raise ValueError("the metrics of a document are not names with numbers")
    return make_answer(item, values, {**document, **specific}, columns, identity=to_texts(identity))


def _object(value: Any) -> Any:
    """Return an object, also if it was written as Python prints it; None if it is not a literal of Python."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(_OF_NUMPY.sub(r"\1", value))
    except (SyntaxError, TypeError, ValueError):
        return None
