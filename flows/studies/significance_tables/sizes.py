"""``[[sizes]]``: how many replicates a Monte-Carlo test at a level should have."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from . import _entry


class Entry(_entry.Entry):
    """A level; nothing is tested."""

    TEST: ClassVar[str] = "monte-carlo-size"
    ORDER: ClassVar[int] = 60

    methods: Annotated[tuple[str, ...], Field(strict=False, min_length=1, description="formula")] = ("formula",)
    alpha: Annotated[float, Field(gt=0, lt=1, description="The level of the test")]

    def cases(self, base: Path) -> Iterator[_entry.Case]:  # noqa: ARG002
        """The level."""
        yield self.case({"alpha": self.alpha})
