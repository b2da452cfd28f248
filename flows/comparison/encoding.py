"""Text for a terminal or a file whose encoding lacks some characters."""

#: What stands for a character that cannot be written.
_PLAIN = str.maketrans(
    {"−": "-", "–": "-", "×": "x", "≤": "<=", "…": "...", "\N{NO-BREAK SPACE}": " ", "⁻": "^-"}
    | {digit: str(value) for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
)


def for_encoding(text: str, encoding: str | None) -> str:
    """The text with signs that the encoding has: a hyphen for the minus sign where it must be.

    Examples
    --------
    >>> from sigstats.flows.comparison.encoding import for_encoding
    >>> for_encoding("−0.5", "utf-8"), for_encoding("−0.5 ≤ 10⁻⁴", "ascii")
    ('−0.5', '-0.5 <= 10^-4')
    """
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return text.translate(_PLAIN).encode(encoding or "ascii", "replace").decode(encoding or "ascii")
    return text
