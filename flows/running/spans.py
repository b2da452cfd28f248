"""Spans of OpenTelemetry for cells and blocks, where its API is installed; nothing otherwise."""

import contextlib
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from sigstats.tasks.engine.run_block import Receipt
from sigstats.tasks.plan import Cell


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("sigstats")


@contextlib.contextmanager
def cell_span(cell: Cell) -> Iterator[None]:
    """A span around the computation of a cell; its attributes are the fan-out and the subject."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    attributes = {f"sigstats.{key}": value for key, value in (("fanout", cell.fanout), *cell.subject.items())}
    with tracer.start_as_current_span(cell.name, attributes=attributes):
        yield


def record_block(receipt: Receipt) -> None:
    """Record a block that has been computed, as a span of the seconds before now."""
    tracer = _tracer()
    if tracer is None:
        return
    ended = time.time_ns()
    attributes = {"sigstats.host": receipt.host, "sigstats.engine": receipt.engine, "sigstats.bytes": receipt.bytes}
    began = ended - round(1e9 * (receipt.seconds + receipt.overhead))
    span = tracer.start_span(f"block {receipt.first}-{receipt.last}", start_time=began, attributes=attributes)
    span.end(ended)
