"""Input files: their places (a path relative to the study file, an fsspec URL) and their contents."""

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from .content import open_content
from .opening import reading, reason
from .places import allowed_place

__all__ = ["FilesRead", "as_text", "as_utf8", "in_silence", "place"]
__all__ += ["read_bytes", "reading", "reason", "size_of_fields"]

#: Memory of a field in addition to its text, in bytes: a code of it, and a number.
_FIELD = 24

_VISIBLE = re.compile(rb"\S")

#: Is told how many files of a data set are read, and how many there are; it may raise, to stop.
FilesRead: TypeAlias = Callable[[int, int], None]


def in_silence(done: int, total: int) -> None:
    """Report nothing."""


def place(path: str, base: Path) -> str:
    """The path or URL that a study names; a relative path starts at its folder. ValueError as `allowed_place`."""
    return allowed_place(path if "://" in path else str(base / path))


def read_bytes(where: str, encoding: str | None = None) -> bytes:
    """The content of a data file, unpacked; its text is in UTF-8, without a byte order mark.

    `where`: a path or an fsspec URL, as `place` gives it. `encoding`: the encoding of the text, which then stays as it
    is; by default what a byte order mark says, or UTF-8.
    """
    with open_content(where, encoding=encoding) as content:
        whole = content.whole()
        if not _VISIBLE.search(whole):
            raise ValueError(f"{content.where}: is empty; expected a table")
        return whole


def size_of_fields(content: bytes, separators: bytes) -> int:
    """The largest number of bytes that the text and the fields of a table may need as Python objects."""
    fields = sum(content.count(bytes([separator])) for separator in separators)
    return 2 * len(content) + _FIELD * fields


def as_text(content: bytes, where: str, encoding: str = "utf-8") -> str:
    """The text of a file, with ends of lines as they are and without a byte order mark."""
    try:
        return content.decode(encoding).removeprefix("\N{BYTE ORDER MARK}")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{where}, line {line}: is not text in {encoding}; name its encoding") from None
    except (LookupError, ValueError):
        raise ValueError(f"{where}: encoding: {encoding!r} is not valid; expected a name such as 'latin-1'") from None


def as_utf8(content: bytes, where: str, encoding: str = "utf-8") -> bytes:
    """The text of a file in UTF-8; text that is UTF-8 already is not decoded."""
    try:
        if codecs.lookup(encoding).name == "utf-8":
            return content
    except LookupError:
        pass  # `as_text` names it
    return as_text(content, where, encoding).encode()
