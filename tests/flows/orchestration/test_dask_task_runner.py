"""Studies in tasks of Prefect's `DaskTaskRunner`: two of them on two workers of one thread."""

import pytest

from ..clusters.test_given import STUDY, reference, stored  # noqa: F401 (a fixture)
from ..conftest import python

pytest.importorskip("prefect_dask")

pytestmark = [pytest.mark.processes, pytest.mark.faults]

PROGRAM = f"""
from prefect import flow, task
from prefect_dask import DaskTaskRunner

@task
def study(output, how):
    import sigstats
    from distributed import get_client
    from sigstats.flows import study_flow
    if how == "flow":
        return len(study_flow(study={STUDY}, output=output).summary)
    return len(sigstats.run_study({STUDY}, output=output, cluster=get_client()).summary)

@flow(task_runner=DaskTaskRunner(cluster_kwargs={{"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}}))
def release():
    futures = [study.submit(f"{{how}}-{{number}}", how) for how in ("cluster", "flow") for number in range(2)]
    print([future.result() for future in futures])

if __name__ == "__main__":
    release()
"""


def test_they_all_end(server, reference, tmp_path):  # noqa: F811
    (tmp_path / "release.py").write_text(PROGRAM)
    done = python("release.py", env=server.environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "[5, 5, 5, 5]"
    assert {run["state_type"] for run in server.runs()} == {"COMPLETED"}
    for how in ("cluster", "flow"):
        assert [stored(tmp_path / f"{how}-{number}") for number in range(2)] == [reference] * 2
