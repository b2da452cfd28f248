"""The sections of the report, one for each test. A new test is one new module of this folder.

A test without a module gets a plain section of its own.
"""

from dataclasses import replace
from typing import Protocol

from sigstats._common.registry import Registry

from ..evidence import Evidence
from ..section import Section, Verdict
from . import _methods
from ._general import GENERAL
from ._over_data_sets import over_data_sets, over_data_sets_method
from ._printed_numbers import printed_numbers

__all__ = ["approximations", "known", "of", "over_data_sets", "over_data_sets_method", "printed_numbers"]


class SectionModule(Protocol):
    """The members that a module of this folder must have."""

    @property
    def SECTION(self) -> Section:  # noqa: N802
        """Question, verdict, columns, method and source of a test."""


REGISTRY = Registry(__name__, SectionModule, what="section of the report")


def known() -> list[Section]:
    """The sections of this folder, in their order."""
    return sorted((module.SECTION for module in REGISTRY.modules().values()), key=lambda section: section.order)


def of(evidence: Evidence) -> list[Section]:
    """The sections of a study: one for each of its tests."""
    sections = known()
    ready = [section for section in sections if section.test in evidence.tests]
    covered = {section.test for section in sections}
    others = [test for test in evidence.tests if test not in covered]
    return ready + [replace(GENERAL, test=test, name=test, question=test) for test in others]


def approximations(evidence: Evidence) -> Verdict | None:
    """Whether approximate methods agree with the exact ones; None if no table has both."""
    return _methods.approximations(evidence, {section.test: section.name for section in of(evidence)})
