"""The cheap study of many blocks that the tests of faults have, run on other clusters."""

from ..faults.conftest import many, record

__all__ = ["many", "record"]
