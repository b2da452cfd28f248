"""The joint outcomes of the parts of a population, which some cells count and others draw from."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..schema import column

#: The joint outcomes, in the order of `sigstats.joint.outcomes.JointOutcomes`.
_NAMES = tuple(f"e{number}" for number in range(1, 9))


def fields(of: str) -> list["pa.Field[Any]"]:
    """The columns of the counts; `of` names a part, such as a file."""
    return [column(name, pa.int64(), "rows", f"rows of the {of} with the joint outcome {name}") for name in _NAMES]


def columns(counts: Iterable[Sequence[int]]) -> dict[str, Any]:
    """The columns, from the eight counts of each part."""
    return dict(zip(_NAMES, np.array(list(counts), dtype=np.int64).T, strict=True))


def total(table: pa.Table) -> tuple[int, ...]:
    """The eight counts of all parts together."""
    return tuple(int(table.column(name).to_numpy().sum()) for name in _NAMES)
