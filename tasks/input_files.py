"""Where a data file is: a path beside the study file, or an fsspec URL."""

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

_VISIBLE = re.compile(rb"\S")

#: Is told how many files of a data set are read, and how many there are; it may raise, to stop.
FilesRead: TypeAlias = Callable[[int, int], None]


def in_silence(done: int, total: int) -> None:
    """Tell nobody."""


def place(path: str, base: Path) -> str:
    """The path or URL to open; a relative path starts at the study file's folder."""
    return path if "://" in path else str(base / path)


def read_bytes(path: str, base: Path) -> bytes:
    """The content of a data file.

    Raises
    ------
    ValueError
        One line that names it, where it is missing, empty or cannot be read.
    """
    where = place(path, base)
    try:
        if "://" in where:
            import fsspec

            with fsspec.open(where, "rb") as handle:
                content = bytes(handle.read())
        else:
            content = Path(where).read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except Exception as error:  # a remote file system may raise anything
        raise ValueError(f"{where}: cannot be read ({reason(error)})") from None
    if not _VISIBLE.search(content):
        raise ValueError(f"{where}: is empty; expected a table")
    return content


def as_text(content: bytes, where: str, encoding: str = "utf-8") -> str:
    """The text of a file, with ends of lines as they are and without a byte order mark."""
    try:
        return content.decode(encoding).removeprefix("\N{BYTE ORDER MARK}")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{where}, line {line}: is no text in {encoding}; expected that, or its encoding named"
        ) from None
    except (LookupError, ValueError):
        raise ValueError(f"{where}: encoding: {encoding!r} is not valid; expected a name such as 'latin-1'") from None


def as_utf8(content: bytes, where: str, encoding: str = "utf-8") -> bytes:
    """The text of a file in UTF-8; what is UTF-8 already is not looked at."""
    try:
        if codecs.lookup(encoding).name == "utf-8":
            return content
    except LookupError:
        pass  # `as_text` names it
    return as_text(content, where, encoding).encode()


def reason(error: Exception) -> str:
    """What an error of another library says, in one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".removesuffix(": ")
