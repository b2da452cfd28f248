"""What `sigstats plan` says a study costs, and what it then takes.

Each study is planned in one process and run in another, on a plain loop; both count processor seconds of its blocks, so
that other work on the machine does not matter.

python benchmarks/plan.py [--data ../shared/data] [--only quickstart]
python benchmarks/plan.py --own
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import psutil

from sigstats.flows.config.toml_files import place_of
from sigstats.flows.running.kind import kind_of, load_study, parse_study

#: The study, and what is set otherwise so that it takes minutes at most.
STUDIES: dict[str, tuple[str, ...]] = {
    "quickstart": ("permutation.resamples=99",),
    "hryniewicz": (),
    "nyssen": (),
    "sturm": ("trials=20000",),
    "f1-intervals": ("trials=200",),
    "cross-validation": ("trials=50",),
    "keller-sets": ("trials=200",),
    "keller": ("trials=200",),
    "ojala-garriga": ("permutation.resamples=19",),
}
#: Functions of `own_tests`, with numbers of rows and of trials.
OWN: dict[str, tuple[tuple[int, int], ...]] = {
    "by_scipy": ((50, 300), (50, 5_000), (5_000, 2_000)),
    "by_sign_flips": ((50, 300), (500, 1_000), (5_000, 50)),
    "by_a_loop": ((50, 1_000), (50, 5_000), (5_000, 1_000)),
    "vectorised": ((50, 20_000), (5_000, 3_000)),
    "by_scipy_with_imports": ((50, 300), (500, 1_000)),
}
ALLOW = ("own_tests",)


def _processor_seconds() -> float:
    """The processor time of this process and of its children, in which tests of other packages run."""
    found = time.process_time() + sum(os.times()[2:4])
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            found += sum(child.cpu_times()[:2])
    return found


def _in_processor_time() -> None:
    """Count the seconds of a block in processor time."""
    from sigstats.flows.running import timing
    from sigstats.tasks.engine import run_block

    timing.time = SimpleNamespace(monotonic=_processor_seconds)  # type: ignore[attr-defined]
    run_block.time = SimpleNamespace(perf_counter=_processor_seconds)  # type: ignore[attr-defined]


def _study(name: str, changes: list[str], data: str):  # type: ignore[no-untyped-def]
    if ":" in name:
        function, rows, trials = name.split(":")
        two = {
            "source": "simulated",
            "prevalence": [0.5],
            "recall": [0.7],
            "precision": [0.7],
            "difference": [0.0, 0.1],
        }
        test = {"test": f"own_tests:{function}", **({"vectorised": True} if function == "vectorised" else {})}
        study = {"kind": "calibration", "name": "own", "sizes": [int(rows)], "trials": int(trials), "tests": [test]}
        return parse_study({**study, "populations": [{"name": "two", **two}]}, source="own"), Path()
    place = place_of(name)
    study = load_study(place.path, changes)
    if hasattr(study, "folder") and Path(data).exists():
        study = load_study(place.path, [*changes, f"folder={Path(data).resolve()}"])
    return study, place.base


def planned(name: str, changes: list[str], data: str) -> dict[str, float]:
    """The seconds of work that the plan says, and how long it took to say so."""
    from sigstats.flows.running.estimate import count
    from sigstats.flows.running.timing import estimate
    from sigstats.tasks.storage.store import Store

    study, base = _study(name, changes, data)
    kind = kind_of(study)
    started = time.perf_counter()
    prepared = kind.prepare(study, base, allow=ALLOW)
    with tempfile.TemporaryDirectory() as folder:
        found = estimate(prepared, count(prepared.plan, folder + "/output"), scratch=Store(folder + "/scratch"))
    cells = {"/".join([one.cell.fanout, *one.cell.subject.values()]): one.expected or 0.0 for one in found}
    return {
        "seconds": sum(cells.values()),
        "spoke": time.perf_counter() - started,
        "cells": len(found),
        "timed": sum(one.timed for one in found),
        "each": cells,
    }


def taken(name: str, changes: list[str], data: str) -> dict[str, float]:
    """The seconds in the blocks of a run."""
    from sigstats.flows.clusters import load_cluster
    from sigstats.flows.running import study as running
    from sigstats.flows.running.options import RunOptions
    from sigstats.flows.running.progress import Display
    from sigstats.tasks.engine.execute import Outcome

    study, base = _study(name, changes, data)
    seconds: dict[str, float] = {}
    add = Outcome.add

    def counted(self, receipt):  # type: ignore[no-untyped-def]
        key = "/".join([self.cell.fanout, *self.cell.subject.values()])
        seconds[key] = seconds.get(key, 0.0) + receipt.seconds
        add(self, receipt)

    Outcome.add = counted  # type: ignore[method-assign]
    vars(running)["write_report"] = lambda store: ""
    with tempfile.TemporaryDirectory() as folder:
        options = RunOptions(
            base=base,
            output=folder + "/output",
            cluster=load_cluster("serial", None),
            display=Display(quiet=True),
            allow=ALLOW,
        )
        kind_of(study).run(study, options)
    return {"seconds": sum(seconds.values()), "each": seconds}


def _apart(step: str, name: str, data: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--step", step, "--name", name, "--data", data]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--only", choices=STUDIES, action="append")
    parser.add_argument("--own", action="store_true", help="calibrations by the tests of own_tests.py")
    parser.add_argument("--name", help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=("planned", "taken"), help=argparse.SUPPRESS)
    parser.add_argument("--cells", metavar="FILE", help="write the seconds of each cell, planned and taken, as JSON")
    options = parser.parse_args()
    if options.step:
        _in_processor_time()
        name = options.name
        print(json.dumps(globals()[options.step](name, list(STUDIES.get(name, ())), options.data)))
        return
    print("| study | cells | timed | planned, s | taken, s | planned / taken |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    each = {}
    own = [f"{function}:{rows}:{trials}" for function, of in OWN.items() for rows, trials in of]
    for name in own if options.own else options.only or STUDIES:
        said, took = (_apart(step, name, options.data) for step in ("planned", "taken"))
        changed = ", ".join((name, *STUDIES.get(name, ())))
        print(
            f"| {changed} | {said['cells']:,} | {said['timed']:,} | {said['seconds']:.1f} | {took['seconds']:.1f} | "
            f"{said['seconds'] / took['seconds']:.2f} |",
            flush=True,
        )
        each[name] = {"planned": said, "taken": took}
        if options.cells:
            Path(options.cells).write_text(json.dumps(each))


if __name__ == "__main__":
    main()
