"""The result of a run of a study, of any kind."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .progress import Display

if TYPE_CHECKING:
    import pandas as pd

#: At most this many lines of one kind are shown; the report has all.
_MOST_LINES = 20


def worst_first(lines: Sequence[str]) -> list[str]:
    """The first lines, and one that says how many more there are.

    `lines`: the worst first.

    >>> worst_first(["a", "b"]), worst_first([str(number) for number in range(30)])[-2:]
    (['a', 'b'], ['19', 'and 10 more'])
    """
    rest = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"and {rest:,} more"] if rest > 0 else [])]


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """What a run publishes on a server for those who follow it there."""

    #: The URL or path of each page.
    links: Mapping[str, str]
    #: The rows of each table.
    tables: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    #: Texts in Markdown.
    markdown: Mapping[str, str] = field(default_factory=dict)
    #: The URL or path of each data set that the run wrote.
    assets: Mapping[str, str] = field(default_factory=dict)


class StudyResult(Protocol):
    """The result of a run of a study."""

    @property
    def code(self) -> int:
        """The exit code of `sigstats.flows.errors`."""

    @property
    def title(self) -> str:
        """The result in a few words."""

    @property
    def subject(self) -> str:
        """What was computed or compared, in a few words."""

    @property
    def reasons(self) -> Sequence[str]:
        """Why the exit code is not 0, a line each."""

    @property
    def output(self) -> str:
        """The folder or the URL of the results."""

    @property
    def report(self) -> str:
        """The path or URL of the report."""

    @property
    def summary(self) -> "pd.DataFrame":
        """One row for each thing that was tested."""

    @property
    def since(self) -> dt.datetime | None:
        """When an earlier run found the same in the same files; None if none did."""

    @property
    def artifacts(self) -> Artifacts:
        """What is published on a server."""

    def tell(self, display: Display) -> None:
        """Show the result at the terminal."""
