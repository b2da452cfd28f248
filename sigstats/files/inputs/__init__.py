"""Input files: where they are, which of them a folder or a pattern names, and their content.

`place` decides what a study may read, `files_of` lists files, and `read_bytes` returns the unpacked content of one.
"""

import codecs
import filecmp
import glob
import ipaddress
import os
import re
import socket
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from sigstats._common.credentials import refuse_credentials
from sigstats._common.messages import printable

from .content import open_content
from .opening import reading, reason

__all__ = ["FilesRead", "as_text", "as_utf8", "in_silence", "place"]
__all__ += ["read_bytes", "reading", "reason", "size_of_fields"]

#: Memory of a field in addition to its text, in bytes: a code of it, and a number.
_FIELD = 24

_VISIBLE = re.compile(rb"\S")

#: Called with the number of files that have been read and their total. It may raise an exception to stop.
FilesRead: TypeAlias = Callable[[int, int], None]


def in_silence(done: int, total: int) -> None:
    """Report nothing."""


def place(path: str, base: Path) -> str:
    """Return the path or URL that a study names, relative to its folder. Raise ValueError as `allowed_place` does."""
    return allowed_place(path if "://" in path else str(base / path))


def read_bytes(where: str, encoding: str | None = None) -> bytes:
    """Return the content of a data file, unpacked; its text is in UTF-8, without a byte order mark.

    `where`: a path or an fsspec URL, as `place` gives it. `encoding`: the encoding of the text, which then stays as it
    is; by default what a byte order mark says, or UTF-8.
    """
    with open_content(where, encoding=encoding) as content:
        whole = content.whole()
        if not _VISIBLE.search(whole):
            raise ValueError(f"{content.where}: is empty; expected a table")
        return whole


def size_of_fields(content: bytes, separators: bytes) -> int:
    """Return the most bytes that the text of a table and its fields may need as Python objects."""
    fields = sum(content.count(bytes([separator])) for separator in separators)
    return 2 * len(content) + _FIELD * fields


def as_text(content: bytes, where: str, encoding: str = "utf-8") -> str:
    """Return the text of a file, with ends of lines as they are and without a byte order mark."""
    try:
        return content.decode(encoding).removeprefix("\N{BYTE ORDER MARK}")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{where}, line {line}: is not text in {encoding}; name its encoding") from None
    except (LookupError, ValueError):
        raise ValueError(f"{where}: encoding: {encoding!r} is not valid; expected a name such as 'latin-1'") from None


def as_utf8(content: bytes, where: str, encoding: str = "utf-8") -> bytes:
    """Return the text of a file in UTF-8; text that is UTF-8 already is not decoded."""
    try:
        if codecs.lookup(encoding).name == "utf-8":
            return content
    except LookupError:
        pass  # `as_text` names it
    return as_text(content, where, encoding).encode()


#: A path that matches more files than this is a mistake.
_MOST = 10_000
#: The characters that make a path a pattern.
_WILDCARDS = "*?["


def files_of(path: str) -> list[str] | None:
    """Return the files in a folder and its subfolders, or those that match a pattern, sorted; None for one file.

    Files and folders whose names begin with a dot are left out.
    """
    scheme, separator, rest = path.partition("://")
    is_remote = separator and scheme not in ("file", "local")
    names = _remote_files(path) if is_remote else _local_files(rest if separator else path)
    if names is None:
        return None
    if not names:
        raise ValueError(f"{printable(path)}: no file matches this folder or pattern")
    if len(names) > _MOST:
        raise ValueError(f"{printable(path)}: matches {len(names):,} files; expected at most {_MOST:,}")
    return names


def same_content(one: str, other: str) -> bool:
    """Return True if two files, folders or patterns of this machine have the same bytes; False if that is unknown."""
    if "://" in one or "://" in other:
        return False
    try:
        first, second = (files_of(path) or [path] for path in (one, other))
        return len(first) == len(second) and all(
            filecmp.cmp(a, b, shallow=False) for a, b in zip(first, second, strict=True)
        )
    except (OSError, ValueError):
        return False


def _local_files(path: str) -> list[str] | None:
    folder = Path(path)
    try:
        if folder.is_dir():
            names = (str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
            return sorted(str(folder / name) for name in visible(names))
        if not any(sign in path for sign in _WILDCARDS) or folder.exists():
            return None
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - the pattern may be absolute
        return sorted(match for match in matches if Path(match).is_file())
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return None


def _remote_files(path: str) -> list[str] | None:
    is_pattern = any(sign in path.partition("://")[2] for sign in _WILDCARDS)
    if not is_pattern and not path.endswith("/") and "." in path.rpartition("/")[2]:
        return None  # a name with an ending is that of a file, and each question to a store takes a while
    import fsspec

    refuse_credentials({"path": path})
    with reading(printable(path)):
        system, root = fsspec.core.url_to_fs(path)
        if is_pattern:
            names = [str(name) for name in system.glob(root)]
        elif system.isdir(root):
            start = root.rstrip("/") + "/"
            names = [start + name for name in visible(str(file)[len(start) :] for file in system.find(root))]
        else:
            return None
        return sorted(str(system.unstrip_protocol(name)) for name in names)


def visible(names: Iterable[str], signs: str = ".") -> list[str]:
    """Return the relative names without hidden parts: those that begin with one of `signs`, except as ``_day=1``."""

    def is_hidden(part: str) -> bool:
        return part.startswith(tuple(signs)) and "=" not in part

    return [name for name in names if not any(map(is_hidden, PurePosixPath(name).parts))]


#: The environment variable that allows web addresses of this machine and of its link.
VARIABLE = "SIGSTATS_ALLOW_LOCAL_ADDRESSES"

#: The host of a web address.
_WEB = re.compile(r"(?:https?|s?ftp|ssh|smb|hdfs)://([^/?#]*+)", re.IGNORECASE)
_LOCAL = re.compile(r"(?:file|local)://")
#: A shell hands a pipe as /dev/fd/63, which leads to a file of the process itself.
_KERNEL = re.compile(r"/(?:proc(?!/[^/]++/fd/)|sys)(?:/|\Z)")


def allowed_place(where: str) -> str:
    """Return a path or an fsspec URL, or raise ValueError if a study may not read it.

    A study file may come from someone else, and is read with your rights. Files of the kernel contain the environment
    of processes, with its secrets. A web address of this machine, or of its link, reaches servers that trust local
    clients, such as those that give a cloud machine its credentials.
    """
    if any(_is_near(match[1]) for match in _WEB.finditer(where)) and not os.environ.get(VARIABLE):
        raise ValueError(f"{where}: is an address of this machine or its link; set {VARIABLE}=1 if it may be read")
    for part in where.split("::"):  # fsspec's chains, as in simplecache::file:///path
        path = _LOCAL.sub("", part)
        if "://" not in path and "\0" not in path and _KERNEL.match(os.path.realpath(path)):
            raise ValueError(f"{where}: is a file of the kernel; expected a file of data")
    return where


def _is_near(authority: str) -> bool:
    """Return True if a host is, or resolves to, a loopback or link-local address."""
    try:
        # As clients do, decode percent signs, and drop the zone of an IPv6 address.
        host = unquote(urlsplit(f"//{authority}").hostname or "").partition("%")[0].rstrip(".")
        addresses = {str(answer[4][0]).partition("%")[0] for answer in socket.getaddrinfo(host, None)}
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return False
    parsed = map(ipaddress.ip_address, addresses)
    plain = [getattr(address, "ipv4_mapped", None) or address for address in parsed]
    return any(address.is_loopback or address.is_link_local or address.is_unspecified for address in plain)
