"""Checks for addresses with a password or key. They are refused, and never shown.

Studies, addresses and arguments are stored with the results, shown in pages and kept by shells. Passwords and keys
belong in the environment or in the configuration of their service.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

#: Schemes whose addresses have a user or container before the host. In other schemes, text in this place is a secret.
_NAMED = ("sftp", "ssh", "ftp", "smb", "hdfs", "postgresql", "abfs", "abfss", "wasb", "wasbs")
_PARAMETER = re.compile(r"(?<=[?&;#])[^=?&;#\s'\"]*+(?:=['\"]?[^&;#\s'\"]*+)?")
_SET = re.compile("[=:]")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
#: Words and endings in names of secrets, which may have any length.
_ENDS = ("token", "secret", "password", "passwd", "signature", "credential", "credentials", "apikey", "accesskey")
_SECRET = {"key", "pwd", "pw", "pass", "passphrase", "pin", "otp", "sig", "auth", "session", *_ENDS}
#: Names of parameters that select data. Values of other parameters may be secrets, except numbers and short words.
_PUBLIC = set(
    """branch config dataset download export file filename format gid id limit name offset output page path
    persistentid q query ref revision sheet split subset table type version""".split()  # noqa: SIM905
)
_SHORT = re.compile(r"\d{0,13}|[^\W_]{0,5}")
#: A part of a word of a language, of a number or of an identifier. Keys contain no such part.
_PLAIN = re.compile(r"\d{0,13}|[A-Z]?[a-z]{0,15}|[A-Z]{0,15}|.{0,7}")
_BETWEEN = re.compile(r"[\W_]+")
_QUOTES = str.maketrans("", "", "'\"")
#: Characters that may follow an address in a sentence.
_MARKS = ".,:;!)"
_AFTER_HOST = re.compile("[/?#]")
#: Recognisable keys of AWS, GitHub, GitLab, Hugging Face, OpenAI and similar services, Slack and Google.
_MARKED = re.compile(
    r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|(?:gh[opsur]_|github_pat_|glpat-|hf_|sk-|xox[a-z]-|AIza)[\w-]{16,}+)"
)


def without_credentials(text: str) -> str:
    """Return the text with every password, token and key in an address replaced."""
    return re.sub(r"\S++", lambda word: _masked(word[0]) if "://" in word[0] else word[0], text)


def _masked(address: str) -> str:
    """Mask secrets in a word, in linear time: the part before its hosts, secret parameters and keys."""
    kept, end = [], 0
    at = address.find("@")
    place = address.find("://")
    while place >= 0:
        host = place + 3
        if 0 <= at < host:
            at = address.find("@", host)
        after = _AFTER_HOST.search(address, host)
        path = after.start() if after else len(address)
        last = max(at, address.rfind("@", host, path))
        password = at > host and address.find(":", host, min(path, last)) >= 0
        if password or (host < at < path and not address[:place].lower().endswith(_NAMED)):
            kept += [address[end:host], "***"]
            end = last
        place = address.find("://", max(host, end))
    text = "".join([*kept, address[end:]])
    return _MARKED.sub("***", _PARAMETER.sub(_parameter, text))


def _parameter(match: re.Match[str]) -> str:
    name, *values = _SET.split(unquote(match[0]), 1)
    if not values:  # a name alone, a place in a page, or what follows the mark of a pattern
        return match[0] if _is_plain(name) else "***"
    value, words = values[0].rstrip(_MARKS), [word.lower() for word in _WORD.findall(name[:200])]
    if any(word in _SECRET or word.endswith(_ENDS) for word in words):
        plain = not value
    else:
        plain = _SHORT.fullmatch(value) is not None or (name.lower() in _PUBLIC and _is_plain(value))
    return match[0] if plain else f"{name}=***"


def _is_plain(value: str) -> bool:
    return all(map(_PLAIN.fullmatch, _BETWEEN.split(value)))


def refuse_credentials(values: Mapping[str, Any], *, source: str = "", error: type[Exception] = ValueError) -> None:
    """Refuse values that contain an address with credentials. The message names the key, without the credentials."""
    for name, text in _texts(values.items()):
        if "://" not in text:
            continue
        read = unicodedata.normalize("NFKC", text.translate(_QUOTES))  # as hosts and names are read
        if (word := without_credentials(read)) != read:
            where = f"{source}: {name}" if source else name
            beginning, mark, rest = word.partition("***")  # a secret may have spaces
            raise error(
                f"{where}: {beginning + mark + ('...' if ' ' in rest else rest)!r} is not valid; expected an address "
                "without passwords and keys, which belong in the environment or the service's own configuration, and "
                "without parameters that may contain any"
            )


def _texts(items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    for name, value in items:
        if isinstance(value, str):
            yield str(name), value
        elif isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _texts(value.items()))
        elif isinstance(value, list | tuple):
            yield from _texts((name, item) for item in value)
