"""What the report says of each test. A new test is one new module of this folder.

A module has ``SECTION``, a `sigstats.flows.report.section.Section`: the question the test answers, its verdict in
plain words, the columns of its table, and a note on its method with the source. A test without a module gets a plain
section of its own.
"""

import importlib
import pkgutil
from dataclasses import replace

from ..evidence import Evidence
from ..section import Section
from ._general import GENERAL
from ._printed_numbers import printed_numbers

__all__ = ["known", "of", "printed_numbers"]


def known() -> list[Section]:
    """The sections of this folder, in their order."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found: list[Section] = [importlib.import_module(f"{__name__}.{name}").SECTION for name in names]
    return sorted(found, key=lambda section: section.order)


def of(evidence: Evidence) -> list[Section]:
    """The sections of a study: one for each of its tests."""
    sections = known()
    ready = [section for section in sections if section.test in evidence.tests]
    covered = {section.test for section in sections}
    others = [test for test in evidence.tests if test not in covered]
    return ready + [replace(GENERAL, test=test, name=test, question=test) for test in others]
