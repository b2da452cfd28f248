"""Workers as jobs of LSF."""

from typing import Literal

from ._jobqueue import JobQueue, open_pool

__all__ = ["Cluster", "open_pool"]


class Cluster(JobQueue):
    """``kind = "lsf"``."""

    kind: Literal["lsf"] = "lsf"
