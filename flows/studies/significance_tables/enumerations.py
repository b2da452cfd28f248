"""``[[enumerations]]``: how many tables would have to be listed for an exact p-value."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from . import _entry


class Entry(_entry.Entry):
    """A confusion matrix, of which no p-value is found: only what listing the tables would take."""

    TEST: ClassVar[str] = "enumeration-size"
    ORDER: ClassVar[int] = 55

    methods: Annotated[tuple[str, ...], Field(strict=False, min_length=1, description="count")] = ("count",)
    counts: Annotated[list[_entry.Counts], Field(description="The matrix: true classes in rows, assigned in columns")]

    def cases(self, base: Path) -> Iterator[_entry.Case]:  # noqa: ARG002
        """The matrix."""
        yield self.case({"table": self.counts})
