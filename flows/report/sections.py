"""The sections of the report, one for each test; a test that needs more than the words of its record has a module."""

import importlib
from collections.abc import Collection
from itertools import chain

from sigstats.tasks import statistical_tests

from . import printed_numbers as _methods
from .evidence import Evidence
from .performance import over_data_sets, over_data_sets_method
from .printed_numbers import printed_numbers
from .record_sections import section_without_module
from .section import Section, Verdict

__all__ = ["approximations", "known", "of", "over_data_sets", "over_data_sets_method", "printed_numbers"]


#: The modules whose `SECTIONS` have question, verdict, columns, method and source of these tests.
MODULES = {
    "sigstats.flows.calibration.report.rates": ("calibration",),
    "sigstats.flows.benchmark.report.measures":
        ("measures", "measured-pairs", "resampled-measures", "resampled-pairs", "slices", "sliced-pairs"),
    "sigstats.flows.calibration.report.performance": ("confidence", "performance", "sample-size", "trained"),
    "sigstats.flows.benchmark.report.retrained": ("corrected-resampled", "permutation-features", "permutation-labels"),
    "sigstats.flows.report.efficiency": ("efficiency",),
    "sigstats.flows.significance.report.tables":
        ("enumeration-size", "friedman", "joint-outcomes", "likeness", "monte-carlo-size", "signed-rank"),
}  # fmt: skip


def known(tests: Collection[str] = (*statistical_tests.TESTS, *chain(*MODULES.values()))) -> list[Section]:
    """The sections of some tests and of related ones, in their order; all by default."""
    wanted = [name for name, of in MODULES.items() if not set(of).isdisjoint(tests)]
    ready = [section for module in map(importlib.import_module, wanted) for section in module.SECTIONS]
    covered = {section.test for section in ready}
    plain = [section_without_module(name) for name in tests if name not in covered]
    return sorted([*ready, *plain], key=lambda section: section.order)


def of(evidence: Evidence) -> list[Section]:
    """The sections of a study: one for each of its tests."""
    return [section for section in known(evidence.tests) if section.test in evidence.tests]


def approximations(evidence: Evidence) -> Verdict | None:
    """The agreement of approximate methods with the exact ones; None if no table has both."""
    return _methods.approximations(evidence, {section.test: section.name for section in of(evidence)})
