"""A self-contained page of HTML: an answer first, templates, one style, one script, and a glossary."""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sigstats._common.messages import printable

_NONE = Markup("")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The summary at the beginning of every page, for readers with half a minute."""

    headline: str
    #: "fail", "inconclusive" or "pass"; empty where nothing is decided.
    verdict: str = ""
    #: Numbers, each with its name above and its interval below.
    numbers: Sequence[tuple[str, str, str]] = ()
    #: Findings and open questions: a few words, then the rest of the sentence.
    shown: Sequence[tuple[str, str]] = ()
    to_do: str = ""
    figure: Markup = _NONE
    caption: str = ""

    @property
    def title(self) -> str:
        """The headline with the verdict before it, as text."""
        return f"{self.verdict.upper()}: {self.headline}" if self.verdict else self.headline


def page(template: str, *, answer: Answer, title: str = "", **values: Any) -> str:
    """Return a page of a template of this package, with the style and the script that all pages share."""
    script = source("report.js")
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            answer=answer,
            title=title or answer.title,
            words_of=words_of,
            style=Markup(source("report.css")),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: object) -> object:
    """Return the output of a template without control characters, which HTML cannot escape."""
    if not isinstance(value, str):
        return value
    text = printable(value, keep="\n\t")
    return Markup(text) if isinstance(value, Markup) else text  # noqa: S704 - it was Markup


def source(name: str) -> str:
    """Return the text of a template, the style or the script."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


@cache
def glossary() -> dict[str, str]:
    """Return the terms of pages and their meanings."""
    entries = re.findall(r"^(\S.*):\n((?:    .*\n)+)", source("glossary.txt"), re.MULTILINE)
    return {term: " ".join(meaning.split()) for term, meaning in entries}


_HIDDEN = re.compile(r"<(style|script|desc|title|dl)\b.*?</\1>|<[^>]+>", re.DOTALL)


def words_of(html: str) -> Iterator[tuple[str, str]]:
    """Yield the terms in the text of a page, with their meanings."""
    text = _HIDDEN.sub(" ", html)
    folded = text.lower()
    for term, meaning in sorted(glossary().items(), key=lambda value: value[0].lower()):
        symbol = term[:2].isupper()
        if (term not in text) if symbol else (term.lower() not in folded):
            continue  # regular expressions are slow on large pages
        flags = re.NOFLAG if symbol else re.IGNORECASE
        if re.search(rf"\b{re.escape(term).replace('p-value', 'p-values?')}(s|es|ping)?\b", text, flags):
            yield term, meaning
