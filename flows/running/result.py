"""What came of a run of a study, whatever its kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .progress import Display

#: So many lines of one kind a person reads; the report has all.
_MOST_LINES = 20


def worst_first(lines: Sequence[str]) -> list[str]:
    """As many of the lines, the worst ones first, as a person reads, and how many there are besides.

    Examples
    --------
    >>> from sigstats.flows.running.result import worst_first
    >>> worst_first(["a", "b"]), worst_first([str(number) for number in range(30)])[-2:]
    (['a', 'b'], ['19', 'and 10 more'])
    """
    rest = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"and {rest:,} more"] if rest > 0 else [])]


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """What a run leaves for people who follow it on a server.

    Attributes
    ----------
    links : mapping of str to str
        The place of each page.
    tables : mapping of str to sequence of dict
        A dict a row.
    markdown : mapping of str to str
    """

    links: Mapping[str, str]
    tables: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    markdown: Mapping[str, str] = field(default_factory=dict)


class StudyResult(Protocol):
    """What came of a run of a study."""

    @property
    def code(self) -> int:
        """The exit code of `sigstats.flows.errors`."""

    @property
    def title(self) -> str:
        """What came of it, in a few words."""

    @property
    def subject(self) -> str:
        """What was computed or compared, in a few words."""

    @property
    def reasons(self) -> Sequence[str]:
        """Why the exit code is not 0, a line each."""

    @property
    def repeated(self) -> bool:
        """Whether the same was found before, of the same files."""

    @property
    def artifacts(self) -> Artifacts:
        """What a server keeps of it."""

    def tell(self, display: Display) -> None:
        """Tell the person at the terminal what came of it."""
