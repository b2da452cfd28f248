"""Workers as jobs of Grid Engine."""

from typing import Literal

from ._jobqueue import JobQueue, open_pool

__all__ = ["Cluster", "open_pool"]


class Cluster(JobQueue):
    """``kind = "sge"``."""

    kind: Literal["sge"] = "sge"
