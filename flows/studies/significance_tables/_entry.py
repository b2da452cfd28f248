"""What every table of a significance study has: a name, methods, and the numbers that a publication prints for it."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator

from sigstats._common.messages import shown
from sigstats.flows.config.model import Strict
from sigstats.tasks.statistical_tests import MONTE_CARLO, methods
from sigstats.tasks.summary.published import PRINTABLE

from .._published import PrintedNumber

Name = Annotated[str, Field(min_length=1, max_length=80)]
Counts = list[Annotated[int, Field(ge=0)]]


class Printed(Strict):
    """What a publication prints of a table, by method."""

    printed: Annotated[
        dict[str, PrintedNumber | dict[str, PrintedNumber]],
        Field(
            default_factory=dict,
            description="for each method the printed p-value, in quotes, or a table of printed columns of the summary",
        ),
    ]
    remarks: Annotated[
        dict[str, str],
        Field(
            default_factory=dict,
            description="for each method what is to be said where the printed number does not agree",
        ),
    ]

    @field_validator("printed", mode="after")
    @classmethod
    def _printable(cls, printed: dict[str, str | dict[str, str]]) -> dict[str, str | dict[str, str]]:
        for found in printed.values():
            for column in found if isinstance(found, dict) else ():
                if column not in PRINTABLE:
                    raise ValueError(f"{shown(column)} is not valid; expected one of {', '.join(PRINTABLE)}")
        return printed

    def printed_by(self, method: str) -> dict[str, str]:
        """The printed numbers of a method, by column of the summary."""
        found = self.printed.get(method, {})
        return {"p_value": found} if isinstance(found, str) else dict(found)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One table that is tested."""

    #: What it is about: ``dataset``, and ``a`` and ``b`` where two are compared.
    subject: Mapping[str, str]
    #: The test of `sigstats.tasks.statistical_tests`.
    test: str
    #: What the test needs.
    data: Mapping[str, Any]
    #: What a publication prints of it.
    printed: Printed = field(default_factory=lambda: Printed.model_validate({}))
    #: The test's name in the summary, where it is another.
    shown_as: str = ""
    #: The methods, where they are not those of the entry.
    methods: tuple[str, ...] = ()


class Entry(Printed):
    """One table of a significance study, or all tables of a file."""

    #: The test of `sigstats.tasks.statistical_tests`.
    TEST: ClassVar[str]
    #: Where its results stand among those of the other kinds.
    ORDER: ClassVar[int]
    #: Whether a study has one at most.
    ALONE: ClassVar[bool] = False

    name: Annotated[Name, Field(description="Its name in the results")]
    methods: Annotated[
        tuple[str, ...], Field(strict=False, min_length=1, description="The methods of the test, in order")
    ] = ("exact",)
    resamples: Annotated[
        int | None, Field(ge=1, le=10**10, description="Monte-Carlo replicates, where not as many as the study's")
    ] = None

    @field_validator("methods", mode="after")
    @classmethod
    def _known_methods(cls, wanted: tuple[str, ...]) -> tuple[str, ...]:
        known = methods(cls.TEST)
        for method in wanted:
            if method not in known:
                raise ValueError(f"{shown(method)} is not valid; expected one of {', '.join(known)}")
            if wanted.count(method) > 1:
                raise ValueError(f"{shown(method)} is not valid; expected each method once")
        return wanted

    @property
    def draws(self) -> bool:
        """True if it needs Monte-Carlo replicates."""
        return MONTE_CARLO in self.methods

    @abstractmethod
    def cases(self, base: Path) -> Iterator[Case]:
        """The tables, read from their file where they are in one; ValueError names what is wrong."""

    def require_exactly_one(self, **ways: bool) -> None:
        """Refuse an entry that gives its counts in no way or in two ways."""
        given = [way for way, there in ways.items() if there]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"{found} is not valid; expected one of {', '.join(ways)}")
