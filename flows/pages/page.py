"""A page of HTML that holds everything it needs: an answer first, templates, one style, one script."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sigstats._common.messages import printable

from .glossary import words_of

_NONE = Markup("")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a page says to who has half a minute; every page begins with it."""

    headline: str
    #: "fail", "inconclusive" or "pass"; empty where nothing is decided.
    verdict: str = ""
    #: Numbers, each with its name above and its interval below.
    numbers: Sequence[tuple[str, str, str]] = ()
    #: What was shown and what was not: a few words, then the rest of the sentence.
    shown: Sequence[tuple[str, str]] = ()
    #: What to do now.
    to_do: str = ""
    figure: Markup = _NONE
    caption: str = ""

    @property
    def title(self) -> str:
        """The headline with the verdict before it, as text."""
        return f"{self.verdict.upper()}: {self.headline}" if self.verdict else self.headline


def page(template: str, *, answer: Answer, title: str = "", **values: Any) -> str:
    """A page of a template of this package, with the style and the script that all pages share."""
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
    """What a template writes, without controls, which HTML has no way to escape and a browser may obey."""
    if not isinstance(value, str):
        return value
    text = printable(value, keep="\n\t")
    return Markup(text) if isinstance(value, Markup) else text  # noqa: S704 - it was Markup


def source(name: str) -> str:
    """The text of a template, the style or the script."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]
