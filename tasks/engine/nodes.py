"""Dask's scheduler and worker without their HTTP servers.

Each of them opens a port for a dashboard, metrics and a view of its tasks, whether or not a dashboard is asked for, and
asks nobody who comes to it who they are. Import this module only where Dask is imported anyway.
"""

from typing import Any

import distributed


class Scheduler(distributed.Scheduler):
    """A scheduler that listens for workers and clients alone."""

    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        """Open no port."""


class Worker(distributed.Worker):
    """A worker that listens for its scheduler and other workers alone."""

    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        """Open no port."""
