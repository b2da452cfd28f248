"""The progress of a study among the bars of a scheduler's dashboard."""

import contextlib
import uuid
from typing import Any, Self

#: The tasks of a study: a percent each.
_TASKS = 100

#: Seconds to wait for a worker where there is none: the data is sent again later.
_NO_WORKER = 1


class DaskProgress:
    """A hundred tasks with the name of a study, of which as many are in memory as percent of the study are done.

    A bar of the dashboard counts the tasks of one name, and those that are in memory as done. Of a study it would only
    show the few blocks that are under way. These tasks are never computed: one asks for what no worker has, the others
    wait for it. Each in turn gives its place to a piece of data.
    """

    def __init__(self, client: Any, study: str) -> None:
        self._client = client
        self._group = f"{study}-0{uuid.uuid4().hex[:9]}"
        self._data: dict[int, Any] = {}
        never = client.submit(int, key=(self._group, 0), resources={self._group: 1})
        keys = [(self._group, number) for number in range(1, _TASKS)]
        self._waiting = [never, *client.map(int, [never] * len(keys), key=keys)]

    @classmethod
    def of(cls, client: Any, study: str) -> Self | None:
        """Such tasks; None where the scheduler would end them, with an error in its log, since no worker takes them."""
        import dask

        limit = client.run_on_scheduler(dask.config.get, "distributed.scheduler.no-workers-timeout", None)
        return cls(client, study) if limit is None else None

    def show(self, fraction: float) -> None:
        """Let this part of the tasks be done; data that was lost with its worker is sent again."""
        done = int(_TASKS * fraction)
        lost = [number for number in range(done) if not self._is_there(number)]
        while len(self._waiting) > max(_TASKS - done, 0):
            self._waiting.pop().release()
        if lost:
            data = {(self._group, -1 - number): 0 for number in lost}
            sent = self._client.scatter(data, direct=False, timeout=_NO_WORKER)
            self._data.update(zip(lost, sent.values(), strict=True))

    def _is_there(self, number: int) -> bool:
        return number in self._data and self._data[number].status == "finished"

    def close(self) -> None:
        """Leave none of these tasks with the scheduler."""
        for future in [*self._waiting, *self._data.values()]:
            with contextlib.suppress(Exception):  # the client is closed
                future.release()
