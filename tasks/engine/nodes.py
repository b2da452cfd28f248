"""Code in the processes of Dask: its scheduler and workers without their HTTP servers.

Each of these servers opens a port for a dashboard, metrics and a view of its tasks, even if no dashboard is requested,
and requires no authentication. Import this module only where Dask is imported anyway.
"""

from typing import Any

import distributed

from ..process import take_buffers

take_buffers()  # a worker has this module from its first moment


class Scheduler(distributed.Scheduler):
    """A scheduler that listens only for workers and clients."""

    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        """Open no port."""


class Worker(distributed.Worker):
    """A worker that listens only for its scheduler and other workers."""

    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        """Open no port."""
        self._dashboard = False  # which Dask would connect to the server next, where Bokeh is installed
