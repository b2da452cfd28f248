"""Characters of a text that a terminal, a page or a log would obey in place of showing them."""

import re

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
