"""A plain loop in this process: the reference that every other cluster must agree with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from sigstats.tasks.engine.pools import Pool, Serial

from ._file import ClusterFile


class Cluster(ClusterFile):
    """``kind = "serial"``: nothing to set."""

    kind: Literal["serial"] = "serial"


@contextmanager
def open_pool(cluster: Cluster) -> Iterator[Pool]:  # noqa: ARG001
    """The loop."""
    yield Serial()
