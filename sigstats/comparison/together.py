"""Which inputs exclude each other, and which measures use an input: two tables, and the refusals that they give."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .._common.validation import shown
from ..measures.table import MEASURES, MeasureSpec

_ONE = "expected one of them"
#: The inputs that an input excludes, and the cure.
_EXCLUDED = {
    "order": (("several answers to an item", "groups", "group", "epoch", "run", "runs", "tasks", "weights"), _ONE),
    "weights": (("several answers to an item", "epoch", "run", "runs", "tasks", "fresh rows"), _ONE),
    "run": (("epoch", "group"), f"{_ONE}, since runs are the independent units"),
    "by_position": (("id", "labels that have ids", "groups by id"), _ONE),
    "probabilities": (("score",), _ONE),
    "ratio": (("score",), _ONE),
    "changed": (("run", "several candidates"), "expected the rows of two models"),
    "group": (("fresh rows",), "expected independent rows"),
}
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
    """Raise ValueError if two of the given inputs exclude each other; None and False stand for inputs not given."""
    there = {name: value for name, value in given.items() if value is not None and value is not False}
    for name, value in there.items():
        others, cure = _EXCLUDED.get(name, ((), ""))
        if other := next((other for other in others if other in there), None):
            text = f"{shown(value)} is" if isinstance(value, str) else "are" if name.endswith("s") else "is"
            beside = f"{other} {shown(there[other])}" if isinstance(there[other], str) else other
            raise ValueError(f"{name}: {text} not valid with {beside}; {cure}")


def check_used(measures: Collection[str], **given: Any) -> None:
    """Raise ValueError if none of the measures uses a given input; None stands for one that is not given."""
    for name, value in given.items():
        uses, cure = _USED_BY[name]
        if value is not None and not any(uses(MEASURES[measure]) for measure in measures):
            text = shown(value) if isinstance(value, str) else " to ".join(f"{end:g}" for end in value)
            raise ValueError(f"{name}: {text} is not used by {', '.join(measures)}; expected {cure}")
