"""The work of the fan-outs of significance studies: everything that replicates depend on, except the seed."""

from collections.abc import Mapping
from typing import Any

from ..record import Work


class TableTested(Work):
    """Work of ``replicate``."""

    test: str
    data: Mapping[str, Any]


class Evaluated(TableTested):
    """Work of ``evaluate``."""

    method: str
