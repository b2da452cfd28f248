"""Nyssen's f_min: how many replicates a Monte-Carlo test should have."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import join_words
from ..evidence import Evidence
from ..section import Column, Verdict, section_of
from . import _columns


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """The sizes."""
    sizes = [f"{row.estimate:,.0f} replicates at {row.dataset}" for row in rows if row.estimate is not None]
    return Verdict(f"A Monte-Carlo test should have at least {join_words(sizes)}." if sizes else "There is no result.")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The level's name and the size."""
    size = Column(
        "Replicates",
        lambda row: _columns.ABSENT if row.estimate is None else f"{row.estimate:,.0f}",
        lambda row: row.estimate,
    )
    return [Column("Level", _columns.DATASET.text), size, *_columns.printed_columns(rows)]


SECTION = section_of("monte-carlo-size", verdict=verdict, columns=columns)
