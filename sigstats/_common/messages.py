"""Error messages: the value that is not valid, and a value that would be.

Without NumPy, so that a program can complain before it has loaded anything. Not part of the public names.
"""

import difflib
import re
import reprlib
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from .credentials import without_credentials

_repr = reprlib.Repr()
_repr.maxlist = _repr.maxtuple = 8
_repr.maxstring, _repr.maxother = 60, 80
#: The largest number of characters of a message of other code.
_LONGEST = 10_000
#: A longer text is no name that somebody meant.
_LONGEST_NAME = 200


def shown(value: object) -> str:
    """A short one-line form of a value for an error message."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    elif numpy is not None and isinstance(value, numpy.ndarray):
        value = value.tolist()
    try:
        text = _repr.repr(without_credentials(value) if isinstance(value, str) else value)
    except Exception:  # a user's object may raise anything from its repr
        text = f"<{type(value).__name__}>"
    return one_line(without_credentials(text))


def shown_name(name: object) -> str:
    """A name as a message holds it: as it is, unless it is empty, longer than a name, or not printable."""
    text = str(name)
    return text if text.isprintable() and 0 < len(text) <= _LONGEST_NAME else shown(name)


def one_line(message: object) -> str:
    """The message of an error of a user's function or a learner, without line breaks and control characters."""
    text = str(message)
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return printable(" ".join(cut.split()))


def refuse(name: str, value: object, wanted: str) -> ValueError:
    """The error for a value that is not valid, in one form: field, value, expected value."""
    return ValueError(f"{name}: {shown(value)} is not valid; expected {wanted}")


def nearest(value: object, options: Iterable[str]) -> str | None:
    """The option that a mistyped value most likely meant, if any is near."""
    found = difflib.get_close_matches(value[:200], list(options), n=1, cutoff=0.6) if isinstance(value, str) else []
    return found[0] if found else None


def did_you_mean(value: object, options: Iterable[str]) -> str:
    """The end of a message, if an option is near to a mistyped value; otherwise empty."""
    near = nearest(value, options)
    return f" (did you mean {near!r}?)" if near else ""


def hint(name: object, names: Iterable[str]) -> str:
    """A suggestion for an unknown name: the nearest known name, or all known names."""
    names = list(names)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"expected one of {', '.join(map(shown, names[:20]))}"


def join_words(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


#: C0 and C1 controls, marks without width or of direction (Unicode's "Trojan source"), separators of lines, halves of
#: pairs, tags. The joiners U+200C and U+200D stay: some scripts are not written without them.
_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with each such character, but those of `keep`, written as in a literal of Python.

    >>> print(printable("a\x1b[2Jb\u202e", keep="\n"))
    a\x1b[2Jb\u202e
    """
    return _OBEYED.sub(lambda found: found[0] if found[0] in keep else _literal(found[0]), text)


def _literal(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # as Python has a byte of a file's name that is no text
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
