"""JSON within the limit: the objects that Python makes of a text may take many times its bytes."""

import json
from collections import Counter
from typing import Any

from .limit import Budget

#: The most that an element, an object and a list take beside their text, in bytes.
_ELEMENT, _OBJECT, _LIST = 100, 260, 80


class Twice(dict[str, Any]):
    """An object with keys that are there more than once."""

    keys_twice: frozenset[str]


def parse_json(text: bytes, budget: Budget, *, twice: bool = False) -> Any:
    """What a text means.

    Parameters
    ----------
    text : bytes
        In UTF-8.
    budget : Budget
        What its objects may take in memory.
    twice : bool, optional
        Whether an object with a key that is there more than once is a `Twice`.

    Raises
    ------
    ValueError
        The text is no JSON, or its objects take more than the limit.
    """
    require_objects(text, budget)
    try:
        return json.loads(text.decode(), object_pairs_hook=as_object if twice else None)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def require_objects(text: bytes, budget: Budget) -> None:
    """Refuse a text whose objects, beside what is held of the file, could take more than the limit."""
    elements = text.count(b",") + text.count(b":")
    strings = 2 * len(text) * (1 if text.isascii() else 4)  # of the text, and in the objects
    objects = _ELEMENT * elements + _OBJECT * text.count(b"{") + _LIST * text.count(b"[")
    budget.require(budget.spent + strings + objects)


def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values."""
    found = dict(pairs)
    if len(found) < len(pairs):
        found = Twice(found)
        found.keys_twice = frozenset(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return found
