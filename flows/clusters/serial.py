"""A plain loop in this process: the reference that every other cluster must agree with."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from sigstats.tasks.engine.pools import Pool, Serial
from sigstats.tasks.plan import Needs

from ._workers import ClusterFile, Gpus
from .local import room_for


class Cluster(ClusterFile):
    """``kind = "serial"``."""

    kind: Literal["serial"] = "serial"
    gpus: Gpus = 0


@contextmanager
def open_pool(cluster: Cluster, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
    """The loop."""
    room_for(needs, gpus=cluster.gpus)
    yield Serial()
