"""The rule of a comparison as keys of a study file, from its own fields."""

from collections.abc import Container
from dataclasses import fields
from typing import Any

from pydantic import Field, create_model

from sigstats.comparison.rule import ComparisonRule

from ..config.model import Strict


def rule_keys(name: str, *, without: Container[str] = ()) -> type[Strict]:
    """A table of a study file with the fields of the rule, `without` those that stand elsewhere."""
    keys: dict[str, Any] = {
        each.name: (each.type, Field(default=each.default, **each.metadata))
        for each in fields(ComparisonRule)
        if each.name not in without
    }
    return create_model(name, __base__=Strict, __doc__="What counts as a regression.", **keys)
