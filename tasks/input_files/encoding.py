"""Text as it is read: the encoding that a byte order mark names, and JSON, whose objects count towards the limit."""

import codecs
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from .limit import Budget

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}


def marked_encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark tells; None if there is no mark."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def in_utf8(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Text in UTF-8, without its mark."""
    if encoding == "utf-8-sig":  # what follows the mark is checked where it is read
        for number, piece in enumerate(pieces):
            yield piece[len(codecs.BOM_UTF8) :] if number == 0 else piece
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        raise ValueError(f"is no text in {encoding.upper()}, as its byte order mark says") from None


#: The most that an element, an object and a list take beside their text, in bytes.
_ELEMENT, _OBJECT, _LIST = 100, 260, 80


class Twice(dict[str, Any]):
    """An object with keys that are there more than once."""

    keys_twice: frozenset[str]


def parse_json(text: bytes, budget: Budget, *, twice: bool = False) -> Any:
    """What a text means."""
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
