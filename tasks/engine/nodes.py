"""Dask's scheduler and workers without their HTTP servers.

Each of these servers opens a port for a dashboard, metrics and a view of the tasks, even if no dashboard is requested,
and requires no authentication. Import this module only where Dask is imported anyway.
"""

from typing import Any

import distributed

from ..process import take_buffers

take_buffers()  # a worker imports this module when it starts


class Scheduler(distributed.Scheduler):
    """A scheduler that listens only for workers and clients."""

    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        """Open no port."""


class Worker(distributed.Worker):
    """A worker that listens only for its scheduler and other workers."""

    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        """Open no port."""
        self._dashboard = False  # if Bokeh is installed, Dask would add a dashboard to the server next
