"""Fingerprints: hashes of named values, which identify what is computed.

A fingerprint depends on *what* is computed, never on where, how fast or with how many workers. Equal values in any
order give equal fingerprints, on every platform and in every version of Python.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from sigstats._common.messages import shown

#: Raised when the form of the fingerprints themselves changes, so that no old result is taken for a new one.
IDENTITY_VERSION = 1
#: Most values are of these types, which JSON has.
_AS_THEY_ARE = {type(None), bool, int, str}


def canonical(values: Any) -> str:
    """The canonical text of named values: JSON with sorted keys, no white space, and floats in shortest exact form."""
    return json.dumps(plain(values), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(what: str, **values: Any) -> str:
    """SHA-256 (hexadecimal) of named values; equal values of different kinds, `what`, have different digests."""
    text = canonical({"identity": IDENTITY_VERSION, "what": what, "values": values})
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def slug(*parts: object) -> str:
    """A readable name that is safe in a path and a URL."""
    cleaned = (re.sub(r"[^a-z0-9_+-]+", "-", str(part).lower()).strip("-") for part in parts if part is not None)
    return ".".join(part[:40] for part in cleaned if part)


def plain(value: Any, where: str = "values") -> Any:
    """Values as JSON has them; of a dataclass a field that has its default is left out."""
    if type(value) in _AS_THEY_ARE:
        return value
    if type(value) is list and _AS_THEY_ARE.issuperset(map(type, value)):
        return list(value)
    if is_dataclass(value):
        of = [(each, getattr(value, each.name)) for each in fields(value)]
        value = {each.name: item for each, item in of if not each.metadata and item != each.default}
        value |= {name: item for each, flat in of if each.metadata for name, item in flat.items()}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}: {value} is not valid; expected a finite number")
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError(f"{where}: the keys {list(value)!r} are not valid; expected strings")
        return {key: plain(item, f"{where}.{key if key.isprintable() else shown(key)}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    raise ValueError(
        f"{where}: a {type(value).__name__} is not valid; expected a string, number, boolean, list or table"
    )
