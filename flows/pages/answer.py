"""The first screen of a page: the verdict and its size, three numbers, what was shown, what to do, a figure."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

#: A statement names at most this many places.
_NAMED = 4
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


def some_of(names: Sequence[str], most: int = _NAMED) -> str:
    """The first names, and how many there are besides.

    >>> some_of(["a", "b", "c"]), some_of(["a", "b", "c"], 1)
    ('a, b, c', 'a and 2 more')
    """
    rest = len(names) - most
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:most])} and {rest:,} more"
