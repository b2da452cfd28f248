"""Objects of JSON in which each key appears once."""

from collections import Counter
from typing import Any

from .messages import shown


class RepeatedKeyError(ValueError):
    """A key appears more than once in an object of JSON, so that its value is unknown."""


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values; `RepeatedKeyError` if a key appears more than once."""
    if len(entries := dict(pairs)) < len(pairs):
        twice = min(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise RepeatedKeyError(f"key {shown(twice)} appears more than once")
    return entries
