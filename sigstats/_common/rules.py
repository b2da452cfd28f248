"""Rules on inputs: those that data must meet, as a list, and the inputs that exclude each other, as a table."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from .validation import shown

Subject = TypeVar("Subject")
#: The errors of what breaks a rule.
Errors: TypeAlias = Iterator[ValueError]

_ONE = "expected one of them"
#: Inputs that select what is read from files, except groups.
_READ = (
    *("id", "label", "epoch", "task", "labels", "unmatched", "unscored", "duplicates"),
    *("prediction", "score", "slice", "model", "probabilities"),
    *("lower_is_better", "higher_is_better", "by_position", "missing", "classes", "allow_different_tasks"),
)
_OF_MEASURES = ("measure", "positive", "score_range")
#: Inputs, other inputs that exclude them, and the remedy.
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
    (("changed", "run", "positive", "order", "weights", "ratio", "measure", "costs"), ("human",), _ONE),
    (("changed", "run", "human", "order", "weights", "task", "unmatched", "bins"), ("unpaired",), _ONE),
    ((*_READ, *_OF_MEASURES, "cost", "run", "human", "power"), ("votes",), _ONE),
    (("power",), ("several candidates", "several scores"), "expected one candidate, and one score"),
    (("power",), ("unpaired", "human", "order", "weights"), _ONE),
)


def check_rules(subject: Subject, rules: Iterable[Callable[[Subject], Iterator[Exception]]]) -> None:
    """Raise the first error of the first rule that the subject breaks; later rules are not examined."""
    for rule in rules:
        for error in rule(subject):
            raise error


def check_together(given: Mapping[str, Any]) -> None:
    """Raise ValueError if two of the given inputs exclude each other.

    None, False, an empty sequence and ``"refuse"`` (the default action) mean that an input is not given.
    """
    usual: tuple[Any, ...] = (None, False, "refuse", (), [])
    present = {name: v for name, v in given.items() if not any(type(v) is type(none) and v == none for none in usual)}
    for names, others, cure in _EXCLUDED:
        name = next((name for name in names if name in present), "")
        other = next((other for other in others if other in present), "")
        if name and other:
            first, second = (f" {shown(v)}" if isinstance(v := present[key], str) else "" for key in (name, other))
            be = "are" if name.endswith("s") and not first else "is"
            raise ValueError(f"{name}:{first} {be} not valid with {other}{second}; {cure}")
