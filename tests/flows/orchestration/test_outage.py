"""A Prefect server that goes and comes back is a line each, and none of Prefect's tracebacks."""

import pytest

from ..conftest import python

CODE = """
import asyncio, httpx
from sigstats.flows import orchestration
orchestration.set_up()
from sigstats.flows.orchestration import deployment

answers = iter([None, "refused", "refused", None, None, "silent", None])
watch = deployment.OutageWatch(lambda: next(answers), print, address="http://here/api")
for _ in range(7):
    watch.look()

async def gone():
    raise httpx.ConnectError("gone")

deployment._EVERY = 1e6
before = deployment.critical_service_loop.__defaults__
with deployment.outages_reported(print):
    silent, backoff = deployment.critical_service_loop.__defaults__[3], deployment.critical_service_loop.__defaults__[2]
    assert silent is deployment._silent and backoff == deployment._BACKOFF
    try:
        asyncio.run(deployment.critical_service_loop(gone, 0.0, backoff=1))
    except RuntimeError as error:
        print("ended:", error)
assert deployment.critical_service_loop.__defaults__ == before
"""


@pytest.mark.long
def test_an_outage_is_two_lines_and_no_traceback():
    done = python("-c", CODE, check=True)
    assert done.stdout.splitlines() == [
        "note: no Prefect server answers at http://here/api (refused); runs that fall due wait for it",
        "note: the Prefect server answers again",
        "note: no Prefect server answers at http://here/api (silent); runs that fall due wait for it",
        "note: the Prefect server answers again",
        "ended: Service exceeded error threshold.",
    ]
    assert done.stderr == ""
