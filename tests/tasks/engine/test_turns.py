"""The order of blocks of studies that share a cluster: those that keep workers busy go before those that wait."""

from types import SimpleNamespace

from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.plan import Plan
from sigstats.tasks.storage.store import Store

from ...cells import a_cell, retrained


class Client:
    """Records the priority of each block, and computes none."""

    status = "running"

    def __init__(self):
        self.priorities = []

    def nthreads(self):
        return {"a": 1, "b": 1}

    def run(self, *_, **__):
        pass

    def map(self, _, blocks, *more, priority, key, **options):
        self.priorities += [priority] * len(blocks)
        return [SimpleNamespace(add_done_callback=lambda done: None, cancel=lambda: None) for _ in blocks]


def test_the_first_blocks_of_a_study_go_before_what_waits_in_another():
    cell = a_cell(fanout="retrain", work=retrained(), replicates=90, lane_size=10)
    plan = Plan(study="s", kind="benchmark", cells=(cell,), analyses=(), alpha=0.05, adjust="holm")
    pool = DaskPool(client := Client())
    pool.prepare(plan, priority=2)
    cancels = [pool.submit(cell.block(lane, lane + 1), Store("/nowhere"), print) for lane in range(9)]
    # Two workers: two blocks in each turn, and an integer of the caller before every turn.
    assert client.priorities == [2, 2, 1.75, 1.75, 1.5, 1.5, 1.25, 1.25, 1.25]
    for cancel in cancels:
        cancel()
    pool.submit(cell.block(0, 1), Store("/nowhere"), print)
    assert client.priorities[-1] == 2
