"""What workers of Dask log, told where the run is."""

import contextlib
import logging
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from distributed import WorkerPlugin


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
