"""The studies that the tests of runs and of faults have, run on other clusters."""

from ...faults.conftest import many, record
from ..conftest import quick

__all__ = ["many", "quick", "record"]
