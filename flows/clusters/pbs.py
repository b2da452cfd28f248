"""Workers as jobs of PBS."""

from typing import Literal

from ._jobqueue import JobQueue, open_pool

__all__ = ["Cluster", "open_pool"]


class Cluster(JobQueue):
    """``kind = "pbs"``."""

    kind: Literal["pbs"] = "pbs"
