"""Programs that some tests drive for real, and the Debian packages that bring them.

A test whose program is missing is skipped and names the package. `.ci/run` installs the packages and says so by
SIGSTATS_TEST_PROGRAMS=installed: the same test fails there.
"""

import os
from typing import NoReturn

import pytest

INSTALLED = os.environ.get("SIGSTATS_TEST_PROGRAMS") == "installed"


def missing(package: str) -> NoReturn:
    """Skip the test that runs, or fail it where the package should be installed."""
    (pytest.fail if INSTALLED else pytest.skip)(_reason(package))


def needs(found: object, package: str) -> pytest.MarkDecorator:
    """Mark a test that is skipped where a program was not found; where it should be installed the test runs."""
    return pytest.mark.skipif(not found and not INSTALLED, reason=_reason(package))


def _reason(package: str) -> str:
    return f"what the Debian package {package} brings is not on this machine"
