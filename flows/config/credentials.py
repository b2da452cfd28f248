"""Addresses that hold a password or a key: refused, and not shown.

The content of studies, addresses and arguments is stored with the results, shown in pages and kept by shells. Passwords
and keys belong in the environment or in the configuration of the service that they are for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import BadInput

_NAMES = (
    r"(?:access_?|api_?|auth_?|secret_?|private_?|session_?)?(?:key|token|secret|password|passwd|pwd)|sig|signature|"
    r"credentials?|auth|x-amz-(?:signature|credential|security-token)|awsaccesskeyid"
)

#: A password before the host, a token there in a web address, a parameter that is a secret, the key of an AWS account.
_HELD = (
    re.compile(r"(?P<before>://)[^\s/?#@:]*:[^\s@]+(?=@)"),
    re.compile(r"(?P<before>https?://)[^\s/?#@]+(?=@)", re.IGNORECASE),
    re.compile(rf"(?P<before>[?&;#](?:{_NAMES})=)[^&;#\s'\"]+", re.IGNORECASE),
    re.compile(r"(?P<before>)\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
)


def without_credentials(text: str) -> str:
    """The text with each password, token and key in an address replaced.

    Examples
    --------
    >>> from sigstats.flows.config.credentials import without_credentials
    >>> without_credentials("s3://key:secret@bucket/x is not valid")
    's3://***@bucket/x is not valid'
    """
    return re.sub(r"[\w+.:-]*://\S+", _masked, text)


def _masked(address: re.Match[str]) -> str:
    text = address[0]
    for held in _HELD:
        text = held.sub(r"\g<before>***", text)
    return text


def refuse_credentials(values: Mapping[str, Any], *, source: str = "") -> None:
    """Refuse values that contain an address with credentials.

    Raises
    ------
    BadInput
        One line that names the key, and does not show the credentials.
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
