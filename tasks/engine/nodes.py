"""What runs in the processes of Dask: its scheduler and workers without their HTTP servers, and what tells their logs.

Each of these servers opens a port for a dashboard, metrics and a view of its tasks, even if no dashboard is asked for,
and requires no authentication. Import this module only where Dask is imported anyway.
"""

import contextlib
import logging
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import distributed
from distributed import WorkerPlugin

from .process_memory import take_buffers

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


class _ToTopic(logging.Handler):
    """Sends each record to the scheduler, which hands it on to those who subscribed."""

    def __init__(self, worker: Any, topic: str, level: str) -> None:
        super().__init__(level)
        self._worker, self._topic = worker, topic

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):  # the worker ends
            text = f"{self._worker.address}: {record.levelname} {record.name}: {self.format(record)}"
            self._worker.log_event(self._topic, text)


class _SendLogs(WorkerPlugin):
    def __init__(self, topic: str, level: str) -> None:
        self.name, self._level = topic, level

    def setup(self, worker: Any) -> None:
        self._handler = _ToTopic(worker, self.name, self._level)
        places: list[logging.Logger | logging.Handler] = [*_loggers()]
        places += [handler for logger in _loggers() for handler in logger.handlers]
        self._before = [(place, place.level) for place in places]
        for logger in _loggers():
            for other in logger.handlers:
                other.setLevel(max(other.level, logger.level))  # it shows what it showed before
            logger.addHandler(self._handler)
            logger.setLevel(min(logger.level, self._handler.level))

    def teardown(self, worker: Any) -> None:  # noqa: ARG002
        for logger in _loggers():
            logger.removeHandler(self._handler)
        for place, level in self._before:
            place.setLevel(level)


def _loggers() -> list[logging.Logger]:
    """The root's, and Dask's own, which hands nothing on to it."""
    return [logging.getLogger(), logging.getLogger("distributed")]


@contextlib.contextmanager
def logs_told(client: Any, level: str, say: Callable[[str], None]) -> Iterator[None]:
    """Call `say` with each record of this level or above, of all workers and of those that join."""
    topic = f"sigstats-logs-{uuid.uuid4().hex}"
    client.subscribe_topic(topic, lambda event: say(f"worker {event[1]}"))
    client.register_plugin(_SendLogs(topic, level))
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # the scheduler is gone
            client.unregister_worker_plugin(topic)
            client.unsubscribe_topic(topic)
