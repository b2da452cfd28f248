"""Programs that some tests drive for real, and the Debian packages that bring them.

A test whose program is missing is skipped and names the package. `.ci/run` installs the packages and says so by
SIGSTATS_TEST_PROGRAMS=installed: the same test fails there.
"""

import os
from typing import NoReturn

import pytest

_WANTED = "what the Debian package"
INSTALLED = os.environ.get("SIGSTATS_TEST_PROGRAMS") == "installed"


def missing(package: str) -> NoReturn:
    """Skip the test that runs, which is one of faults, or fail it where the package should be installed."""
    (pytest.fail if INSTALLED else pytest.skip)(_reason(package))


def needs(found: object, package: str) -> pytest.MarkDecorator:
    """Mark a test that is skipped where a program was not found; where it should be installed the test runs."""
    return pytest.mark.skipif(not found and not INSTALLED, reason=_reason(package))


def is_of_program(mark: pytest.Mark) -> bool:
    """True if `needs` made the mark: the test is marked ``programs``."""
    return str(mark.kwargs.get("reason", "")).startswith(_WANTED)


def _reason(package: str) -> str:
    return f"{_WANTED} {package} brings is not on this machine"
