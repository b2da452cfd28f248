"""``[[alternatives]]``: which of several known algorithms is a new one like."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from sigstats._common.messages import shown
from sigstats.tasks.analyses.significance import LIKENESS

from . import _entry


class Known(_entry.Printed):
    """A known algorithm."""

    name: Annotated[_entry.Name, Field(description="Its name in the results")]
    probabilities: Annotated[list[float], Field(min_length=2, description="Its probability of each class")]


class Entry(_entry.Entry):
    """The class counts of a new algorithm, and the class probabilities of known ones."""

    TEST: ClassVar[str] = "goodness-of-fit"
    ORDER: ClassVar[int] = 50

    counts: Annotated[_entry.Counts, Field(min_length=2, description="The new algorithm's count of each class")]
    known: Annotated[list[Known], Field(min_length=2, description="The known algorithms")]

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        names = [known.name for known in self.known]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"known: {shown(name)} is not valid; expected each name once")
        if self.printed:
            raise ValueError("printed: is not valid here; expected with each known algorithm")
        return self

    def cases(self, base: Path) -> Iterator[_entry.Case]:  # noqa: ARG002
        """One for each known algorithm."""
        for known in self.known:
            yield _entry.Case(
                subject={"dataset": self.name, "a": known.name},
                test=self.TEST,
                data={"counts": self.counts, "probabilities": known.probabilities, "ordering": "probability"},
                printed=known,
                shown_as=LIKENESS,
            )
