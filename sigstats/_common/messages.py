"""Error messages, suggestions for mistyped names, text that is safe to print, and notes.

`refuse` words an error: the field, the wrong value and a right one. Texts from data and file names are escaped for
terminals and logs (`printable`) and for Markdown (`for_markdown`), in addition to Jinja's escaping of HTML, so that no
program takes them for commands. `as_arguments` rewords messages that name command-line options for callers in Python.
NumPy is not imported, so that a program can report errors before it has loaded anything.
"""

import re
import reprlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

from .credentials import without_credentials

_repr = reprlib.Repr()
_repr.maxlist = _repr.maxtuple = 8
_repr.maxstring, _repr.maxother = 60, 80
#: The largest number of characters of a message of other code.
_LONGEST = 10_000
#: A longer text is not meant as a name.
_LONGEST_NAME = 200


def shown(value: object) -> str:
    """Return a short one-line form of a value for an error message."""
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
    """Return a name for a message: unchanged, unless it is empty, longer than a name, or not printable."""
    text = str(name)
    return text if text.isprintable() and 0 < len(text) <= _LONGEST_NAME else shown(name)


def one_line(message: object) -> str:
    """Return the message of an error of a user's function or a learner, without line breaks and control characters."""
    text = str(message)
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return printable(" ".join(cut.split()))


def raised(error: BaseException) -> str:
    """Return the type and the message of such an error, in one line: ``KeyError: 'p'``, or ``AssertionError``."""
    return f"{type(error).__name__}: {one_line(error)}".removesuffix(": ")


def refuse(name: str, value: object, wanted: str, *, quantity: str = "") -> ValueError:
    """Return the error for a value that is not valid, in one form: field, value, expected value.

    `quantity`: what the value measures, such as the length of the field.
    """
    problem = f"the {quantity} is {shown(value)}" if quantity else f"{shown(value)} is not valid"
    return ValueError(f"{name}: {problem}; expected {wanted}")


@contextmanager
def rephrased(
    words: str | Callable[[str], str], error: type[Exception] = ValueError, of: type[Exception] = ValueError
) -> Iterator[None]:
    """Raise exceptions of the block as `error`, with a prefix, or rewritten by a function."""
    try:
        yield
    except of as complaint:
        text = str(getattr(complaint, "strerror", None) or complaint)
        raise error(words(text) if callable(words) else words + text) from None


def nearest(value: object, options: Iterable[str]) -> str | None:
    """Return the option that a mistyped value most likely meant; None unless exactly one is close enough.

    If options begin with the value, only these count.

    >>> nearest("gpt-4o-m", ["gpt-4o", "gpt-4o-mini"])
    'gpt-4o-mini'
    """
    names = [*dict.fromkeys(options)] if isinstance(value, str) else []
    near = [name for name in names if _is_typo(str(value), name)]
    begun = [name for name in names if near and name.casefold().startswith(str(value).casefold())]
    likely = begun or near
    return likely[0] if len(likely) == 1 else None


def _is_typo(text: str, name: str) -> bool:
    """Return True if one letter is missing, added or replaced, or two are swapped; ``tpr`` and ``f2`` are no typos."""
    a, b = (re.sub(r"[\s_-]", "", value.casefold()) for value in (text, name))
    is_short = len(a) < 4
    same = next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[same:], b[same:]  # from the first difference on
    if any(map(str.isdigit, a[:1] + b[:1])):
        return False
    replaced, added, missing = a[1:] == b[1:] and not is_short, b == a[1:], a == b[1:]
    swapped = b == a[1:2] + a[:1] + a[2:]
    return replaced or added or missing or swapped


def did_you_mean(value: object, options: Iterable[str]) -> str:
    """Return a suggestion to append to a message if an option is close to a mistyped value; otherwise empty."""
    near = nearest(value, options)
    return f" (did you mean {near!r}?)" if near else ""


def hint(name: object, names: Iterable[str]) -> str:
    """Return a suggestion for an unknown name: the nearest known name, or all known names."""
    names = list(names)
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else f"expected one of {', '.join(map(shown, names[:20]))}"


def join_words(words: Sequence[str]) -> str:
    """Join words to a list in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def some_of(names: Sequence[str], most: int = 4) -> str:
    """List the first names, and the number of the others.

    >>> some_of(["a", "b", "c"]), some_of(["a", "b", "c"], 1)
    ('a, b, c', 'a and 2 more')
    """
    rest, listed = len(names) - most, ", ".join(map(printable, names[:most]))
    return listed if rest <= 0 else f"{listed} and {rest:,} more"


#: C0 and C1 controls, marks without width or of direction (Unicode's "Trojan source"), separators of lines, halves of
#: pairs, tags. The joiners U+200C and U+200D stay: some scripts are not written without them.
_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str, *, keep: str = "") -> str:
    r"""Return the text with unprintable characters, except those in `keep`, written as in a literal of Python.

    >>> print(printable("a\x1b[2Jb\u202e", keep="\n"))
    a\x1b[2Jb\u202e
    """
    return _OBEYED.sub(lambda value: value[0] if value[0] in keep else _literal(value[0]), text)


def _literal(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # as Python has a byte of a file's name that is no text
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


#: A word that Markdown, or GitHub and GitLab beyond it, would turn into something else than text: a link, a mention, an
#: issue, a commit, an emoji, a formula, an entity, a tag.
_ACTIVE = re.compile(
    r"[@#~$`\\]|!(?=[\d\[])|&(?=[#\w])|<(?=[\w/!?])|:/|:[\w+-]+:|www\.|GH-\d|(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])",
    re.IGNORECASE,
)


def for_markdown(text: str) -> str:
    r"""Return one line of Markdown that shows the text unchanged; words that Markdown would interpret become code.

    >>> print(for_markdown("site=A_1 by @someone, see #12"))
    site=A\_1 by `@someone,` see `#12`
    """
    return " ".join(
        _code(word) if _ACTIVE.search(word) else re.sub(r"([*_<\[\]])", r"\\\1", word) for word in printable_words(text)
    )


def for_markdown_cell(text: str) -> str:
    """Escape for a cell of a Markdown table, which ends at a bar even in code."""
    return for_markdown(text).replace("|", "\\|")


def markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(map(for_markdown_cell, cells))} |"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    return [markdown_row(header), "|" + "---|" * len(header), *map(markdown_row, rows)]


def markdown_code(text: str) -> str:
    """Return the text as code in a line of Markdown, as for the name of a file."""
    return _code(" ".join(printable_words(text))) if text.strip() else ""


def printable_words(text: str) -> list[str]:
    """Return the words of a text, without characters that a terminal would interpret."""
    return [printable(word) for word in text.split()]


def _code(text: str) -> str:
    """Return the code between more backticks than it has in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    apart = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{apart}{text}{apart}{fence}"


class Note(str):
    """The text of a note, with a name such as ``"dropped-rows"`` that stays the same when the text is reworded.

    Examples
    --------
    >>> note = Note("duplicates", "3 of 60 rows equal others")
    >>> note, note.name
    ('3 of 60 rows equal others', 'duplicates')
    """

    __slots__ = ("doubt", "name")

    #: Lowercase words joined by hyphens.
    name: str
    #: Another verdict, if the rows are not independent: "INCONCLUSIVE in groups by 'patient'"; usually empty.
    doubt: str

    def __new__(cls, name: str, text: str, doubt: str = "") -> Self:
        note = super().__new__(cls, text)
        note.name, note.doubt = name, doubt
        return note

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]  # those of `__new__`
        return self.name, str(self), self.doubt

    def of(self, subject: str) -> "Note":
        """Return the note, preceded by the file or task that it is about."""
        return Note(self.name, f"{subject}: {self}", self.doubt)


def notes_as_objects(notes: Iterable[Note]) -> list[dict[str, str]]:
    """Return notes as objects of JSON."""
    return [{"name": note.name, "text": str(note)} for note in notes]


class RepeatedKeyError(ValueError):
    """A key appears more than once in a JSON object, so that its value is unknown."""


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object from its pairs; `RepeatedKeyError` if a key appears more than once."""
    if len(entries := dict(pairs)) < len(pairs):
        twice = min(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise RepeatedKeyError(f"key {shown(twice)} appears more than once")
    return entries


_OPTION = re.compile(r"--([a-z-]+) (?:'([^']*)'|([\w/@-]+(?:[.,]\w[\w-]*)*))")
#: The arguments of the options that have another name.
ARGUMENTS = {"group": "groups", "measure": "measures", "slice": "slices"}


def as_arguments() -> AbstractContextManager[None]:
    """Replace command-line options by arguments in the message of a ValueError."""
    return rephrased(lambda message: in_arguments(message).replace("this file", "this frame"))


def in_arguments(message: str) -> str:
    """Return a message in one line, with arguments in place of command-line options."""
    named = message.replace("--score-range LOW HIGH", "score_range=(LOW, HIGH)").replace("--classes", "classes=[...]")
    named = named.replace("--measure A/B", "ratio='A/B'")
    named = re.sub(r" \(--allow-different-tasks [^)]*\)", "", named.replace("--unpaired", "unpaired=True"))
    named = _OPTION.sub(
        lambda value: f"{ARGUMENTS.get(value[1], value[1]).replace('-', '_')}={(value[2] or value[3])!r}", named
    )
    named = named.replace("--by-position", "by_position=True")
    if cut := re.search(r"column '(.+)=(\d+)' was not found", named):
        return f"{named}; add the parts of {shown(cut[1])} as a column, by pandas.qcut(frame[{cut[1]!r}], {cut[2]})"
    if lacking := re.search(r"column ('.+') was not found, nor in", named):
        named += f"; read_predictions(..., slices=[{lacking[1]}]) reads it too"
    return " ".join(re.sub("='(COLUMN|NAME|FILE)'", r"=\1", named).split())
