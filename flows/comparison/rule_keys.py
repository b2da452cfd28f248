"""The rule of a comparison as keys of a study file, from its own fields."""

from collections.abc import Container
from dataclasses import fields
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from sigstats.comparison.rule import ComparisonRule, as_share, key_of

from ..config.model import Strict


def rule_keys(name: str, *, without: Container[str] = ()) -> type[Strict]:
    """A table of a study file with the fields of the rule, `without` those that stand elsewhere."""
    keys: dict[str, Any] = {}
    for each in fields(ComparisonRule):
        key = key_of(each)
        if key in without:
            continue
        limits = {name: value for name, value in each.metadata.items() if name != "key"}
        kind = each.type
        if limits.pop("share", False):
            kind = Annotated[float, BeforeValidator(partial(as_share, name=key))]
        keys[key] = (kind, Field(default=each.default, **limits))
    return create_model(name, __base__=Strict, __doc__="What counts as a regression.", **keys)
