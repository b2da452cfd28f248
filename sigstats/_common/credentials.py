"""Addresses that hold a password or a key: refused, and not shown.

The content of studies, addresses and arguments is stored with the results, shown in pages and kept by shells. Passwords
and keys belong in the environment or in the configuration of the service that they are for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import BadInput

#: Schemes whose addresses name who logs in; a word before the host is a secret in the others.
_LOGINS = ("sftp", "ssh", "ftp", "smb", "hdfs", "postgresql")
_PARAMETER = re.compile(r"(?<=[?&;#])(?P<name>[^=?&;#\s'\"]*+)=(?P<value>[^&;#\s'\"]++)")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
#: What names of secrets end with, and what stands among their words.
_ENDS = ("token", "secret", "password", "passwd", "signature", "credential", "credentials", "apikey", "accesskey")
_WORDS = {"key", "pwd", "pass", "sig", "auth", "awsaccesskeyid", *_ENDS}
#: Values that are made, not written: both letters and digits, and no mark that a name of a file has.
_MADE = re.compile(r"(?=[^0-9]*+[0-9])(?=[^A-Za-z]*+[A-Za-z])[\w%+/=~-]{16,}")
_AFTER_HOST = re.compile("[/?#]")
_AWS_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")


def without_credentials(text: str) -> str:
    """The text with each password, token and key in an address replaced.

    >>> without_credentials("s3://key:secret@bucket/x is not valid")
    's3://***@bucket/x is not valid'
    """
    return re.sub(r"\S++", lambda word: _masked(word[0]) if "://" in word[0] else word[0], text)


def _masked(address: str) -> str:
    """One word with what stands before its hosts, secret parameters and keys replaced, in time linear in its length."""
    kept, end = [], 0
    at = address.find("@")
    place = address.find("://")
    while place >= 0:
        host = place + 3
        if 0 <= at < host:
            at = address.find("@", host)
        after = _AFTER_HOST.search(address, host)
        path = after.start() if after else len(address)
        password = at > host and address.find(":", host, min(path, at)) >= 0
        if password or (host < at < path and not address[:place].lower().endswith(_LOGINS)):
            kept += [address[end:host], "***"]
            end = at
        place = address.find("://", max(host, end))
    text = "".join([*kept, address[end:]])
    return _AWS_KEY.sub("***", _PARAMETER.sub(_parameter, text))


def _parameter(found: re.Match[str]) -> str:
    words = [word.lower() for word in _WORD.findall(found["name"][:200])]
    secret = any(word in _WORDS or word.endswith(_ENDS) for word in words) or _MADE.fullmatch(found["value"])
    return f"{found['name']}=***" if secret else found[0]


def refuse_credentials(values: Mapping[str, Any], *, source: str = "") -> None:
    """Refuse values that contain an address with credentials.

    Raises BadInput, one line that names the key, and does not show the credentials.
    """
    for name, text in _texts(values.items()):
        if "://" in text and (shown := without_credentials(text)) != text:
            where = f"{source}: {name}" if source else name
            raise BadInput(
                f"{where}: {shown!r} is not valid; expected an address without passwords and keys, which belong in "
                "the environment or the service's own configuration"
            )


def _texts(items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    for name, value in items:
        if isinstance(value, str):
            yield str(name), value
        elif isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _texts(value.items()))
        elif isinstance(value, list | tuple):
            yield from _texts((name, each) for each in value)
