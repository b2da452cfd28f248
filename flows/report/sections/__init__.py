"""The sections of the report, one for each test. What a test needs beside the words of its record is a module here."""

import importlib

from sigstats.tasks import statistical_tests

from ..evidence import Evidence
from ..performance import over_data_sets, over_data_sets_method
from ..section import Section, Verdict
from . import _methods
from ._methods import printed_numbers
from ._tables import section_without_module

__all__ = ["approximations", "known", "of", "over_data_sets", "over_data_sets_method", "printed_numbers"]


#: The modules whose `SECTIONS` have question, verdict, columns, method and source of some tests.
MODULES = (
    "sigstats.flows.report.sections.calibration",
    "sigstats.flows.report.sections.measures",
    "sigstats.flows.report.sections.performance",
    "sigstats.flows.report.sections.retrained",
    "sigstats.flows.report.sections.significance_tables",
)


def known() -> list[Section]:
    """The sections of this folder, and of all tests that need none, in their order."""
    ready = [section for module in map(importlib.import_module, MODULES) for section in module.SECTIONS]
    covered = {section.test for section in ready}
    told = [section_without_module(name) for name in statistical_tests.TESTS if name not in covered]
    return sorted([*ready, *told], key=lambda section: section.order)


def of(evidence: Evidence) -> list[Section]:
    """The sections of a study: one for each of its tests."""
    sections = known()
    covered = {section.test for section in sections}
    others = [section_without_module(test) for test in evidence.tests if test not in covered]
    return [*(section for section in sections if section.test in evidence.tests), *others]


def approximations(evidence: Evidence) -> Verdict | None:
    """Whether approximate methods agree with the exact ones; None if no table has both."""
    return _methods.approximations(evidence, {section.test: section.name for section in of(evidence)})
