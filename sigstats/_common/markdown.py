"""Escaping of texts from data and file names in Markdown, so that none of it is interpreted.

For a terminal and a log `sigstats._common.messages` is enough; pages have it beside Jinja's escaping of HTML.
"""

import re
from collections.abc import Iterable, Sequence

from .messages import printable

#: A word that Markdown, or GitHub and GitLab beyond it, would turn into something else than text: a link, a mention, an
#: issue, a commit, an emoji, a formula, an entity, a tag.
_ACTIVE = re.compile(
    r"[@#~$`\\]|!(?=[\d\[])|&(?=[#\w])|<(?=[\w/!?])|:/|:[\w+-]+:|www\.|GH-\d|(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])",
    re.IGNORECASE,
)


def for_markdown(text: str) -> str:
    r"""The text in one line of Markdown that shows it as it is: words that would become more than text are code.

    >>> print(for_markdown("site=A_1 by @someone, see #12"))
    site=A\_1 by `@someone,` see `#12`
    """
    return " ".join(_code(word) if _ACTIVE.search(word) else _plain(word) for word in printable_words(text))


def for_markdown_cell(text: str) -> str:
    """The same within a table, whose cells end at a bar even in code."""
    return for_markdown(text).replace("|", "\\|")


def markdown_row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(for_markdown_cell, cells))} |"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [markdown_row(header), "|" + "---|" * len(header), *map(markdown_row, rows)]


def markdown_code(text: str) -> str:
    """The text as code in a line of Markdown, as for the name of a file."""
    return _code(" ".join(printable_words(text))) if text.strip() else ""


def printable_words(text: str) -> list[str]:
    """The words of a text, without what a terminal would obey."""
    return [printable(word) for word in text.split()]


def _plain(word: str) -> str:
    return re.sub(r"([*_<\[\]])", r"\\\1", word)


def _code(text: str) -> str:
    """Code between more backticks than it has in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    apart = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{apart}{text}{apart}{fence}"
