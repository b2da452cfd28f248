"""Refuse inputs that exclude each other, and inputs that no measure uses, by two tables."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .._common.validation import shown
from ..measures.table import MEASURES, MeasureSpec

_ONE = "expected one of them"
#: Inputs, others that exclude each of them, and the cure.
_EXCLUDED = (
    (("order",), ("several answers to an item", "groups", "group", "epoch", "run", "runs", "tasks", "weights"), _ONE),
    (("weights",), ("several answers to an item", "epoch", "run", "runs", "tasks", "fresh rows"), _ONE),
    (("run",), ("epoch", "group"), f"{_ONE}, since runs are the independent units"),
    (("by_position",), ("id", "labels that have ids", "groups by id"), _ONE),
    (("probabilities", "ratio"), ("score",), _ONE),
    (("changed",), ("run", "several candidates"), "expected the rows of two models"),
    (("group",), ("fresh rows",), "expected independent rows"),
    (
        ("score", "ratio", "lower_is_better", "higher_is_better", "model", "epoch", "run", "task", "labels", "human"),
        ("arrays",),
        "expected data frames",
    ),
    (("by_position", "unmatched", "duplicates"), ("arrays",), "expected data frames"),
)
#: The measures that use an input, and the cure.
_USED_BY: dict[str, tuple[Callable[[MeasureSpec], bool], str]] = {
    "score": (
        lambda spec: spec.needs in ("scores", "probabilities", "marks"),
        "a measure of scores, such as mean-score or auc, or no score",
    ),
    "score_range": (
        lambda spec: spec.needs in ("marks", "numbers") or (spec.needs == "probabilities" and spec.span is None),
        "a measure of marks or numbers, neg-log-loss, or no limits",
    ),
    "prediction": (
        lambda spec: spec.needs not in ("scores", "probabilities", "marks"),
        "a measure of predictions, or no such column",
    ),
    "label": (lambda spec: spec.needs != "marks", "a measure of labels, or no such column"),
}


def check_together(given: Mapping[str, Any]) -> None:
    """Raise ValueError if two of the given inputs exclude each other.

    None, False, an empty sequence and ``"refuse"``, the default action, stand for inputs that are not given.
    """
    usual: tuple[Any, ...] = (None, False, "refuse", (), [])
    there = {name: v for name, v in given.items() if not any(type(v) is type(none) and v == none for none in usual)}
    for names, others, cure in _EXCLUDED:
        name = next((name for name in names if name in there), "")
        other = next((other for other in others if other in there), "")
        if name and other:
            value, beside = (f" {shown(v)}" if isinstance(v := there[key], str) else "" for key in (name, other))
            be = "are" if name.endswith("s") and not value else "is"
            raise ValueError(f"{name}:{value} {be} not valid with {other}{beside}; {cure}")


def check_used(measures: Collection[str], **given: Any) -> None:
    """Raise ValueError if none of the measures uses a given input; None stands for one that is not given."""
    for name, value in given.items():
        uses, cure = _USED_BY[name]
        if value is not None and not any(uses(MEASURES[measure]) for measure in measures):
            text = shown(value) if isinstance(value, str) else " to ".join(f"{end:g}" for end in value)
            raise ValueError(f"{name}: {text} is not used by {', '.join(measures)}; expected {cure}")
