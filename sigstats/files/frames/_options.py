"""The options of `compare` and of `check`, for functions that pass them on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeAlias, TypedDict

from sigstats._common.validation import did_you_mean
from sigstats.comparison.rule import ComparisonRule
from sigstats.measures.measure import Measure

Measures: TypeAlias = str | Measure | Callable[..., Any] | Sequence[str | Measure | Callable[..., Any]] | None


class CommonOptions(TypedDict, total=False):
    """The options of `compare` and of `check`."""

    id: str
    label: str
    ratio: str | None
    lower_is_better: str | Sequence[str]
    higher_is_better: str | Sequence[str]
    run: str | None
    groups: Any
    slices: Any
    task: str | None
    measures: Measures
    costs: Any
    positive: Any
    classes: Sequence[Any] | None
    missing: str | Sequence[str]
    score_range: Sequence[float] | None
    unscored: Literal["refuse", "drop", "wrong"]
    duplicates: Literal["refuse", "first", "last", "all"] | None
    rule: ComparisonRule | None


class CompareOptions(CommonOptions, total=False):
    """The options of `compare`."""

    prediction: str | Sequence[str]
    model: Sequence[str] | None
    score: str | Sequence[str] | None
    labels: Any
    by_position: bool
    epoch: str | None
    scores: Sequence[Any] | None
    order: Any
    weights: Any
    unmatched: Literal["refuse", "drop"]
    unpaired: bool


def refuse_unknown(unknown: Mapping[str, Any]) -> None:
    """Raise TypeError for an option that `compare` does not have."""
    for name in unknown:
        of_rule = name in {field.name for field in fields(ComparisonRule)}
        near = (
            f"; it is one of the rule: rule=ComparisonRule({name}=...)"
            if of_rule
            else did_you_mean(name, CompareOptions.__annotations__)
        )
        raise TypeError(f"compare() has no option {name!r}{near}")
