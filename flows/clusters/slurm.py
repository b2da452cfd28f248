"""Workers as jobs of Slurm."""

from typing import Literal

from ._jobqueue import JobQueue, open_pool

__all__ = ["Cluster", "open_pool"]


class Cluster(JobQueue):
    """``kind = "slurm"``."""

    kind: Literal["slurm"] = "slurm"
