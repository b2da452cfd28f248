"""What `sigstats plan` says a study costs, and what it then takes.

Each study is planned in one process and run in another, on a plain loop; both count processor seconds of its blocks, so
that other work on the machine does not matter.

python benchmarks/plan.py [--data ../shared/data] [--only quickstart] [--tries 3] [--keep FOLDER]
"""

import argparse
import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
    "keller-sets": ("trials=200", "populations.0.train=2000"),
    "keller": ("trials=200",),
    "ojala-garriga": ("permutation.resamples=19",),
}
#: Only cells that take more seconds are counted.
LEAST = 0.1
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
    """Count the seconds of a block in processor time, also in the processes of code of other packages."""
    from sigstats.flows.running import timing
    from sigstats.tasks.engine import blocks

    clock = SimpleNamespace(monotonic=_processor_seconds, process_time=time.process_time)
    timing.time = clock  # type: ignore[attr-defined]
    blocks.time = SimpleNamespace(perf_counter=time.process_time)  # type: ignore[attr-defined]
    # Other processes have the same path, on which Python looks for this module when it starts.
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    Path(folder, "sitecustomize.py").write_text("import time\ntime.perf_counter = time.process_time\n")
    sys.path.insert(1, folder)


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


def _name(cell: Any) -> str:
    return "/".join([cell.fanout, *cell.subject.values()])


def planned(name: str, changes: list[str], data: str) -> dict[str, Any]:
    """The seconds of work that the plan states, and the seconds that the plan takes itself."""
    from sigstats.flows.running.costs import kind_of_cell
    from sigstats.flows.running.estimate import count
    from sigstats.flows.running.timing import estimate
    from sigstats.tasks.storage.store import Store

    study, base = _study(name, changes, data)
    kind = kind_of(study)
    started = _processor_seconds()
    prepared = kind.prepare(study, base, allow=ALLOW)
    with tempfile.TemporaryDirectory() as folder:
        found = estimate(prepared, count(prepared.plan, folder + "/output"), scratch=Store(folder + "/scratch"))
    cells = {_name(one.cell): one.expected or 0.0 for one in found}
    return {
        "seconds": sum(cells.values()),
        "spoke": _processor_seconds() - started,
        "cells": len(found),
        "timed": sum(one.timed for one in found),
        "each": cells,
        "kinds": {_name(one.cell): ", ".join(kind_of_cell(one.cell)) for one in found},
        "guessed": [_name(one.cell) for one in found if not one.timed],
    }


def taken(name: str, changes: list[str], data: str) -> dict[str, Any]:
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
        key = _name(self.cell)
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


def _apart(step: str, name: str, options: argparse.Namespace, number: int) -> dict[str, Any]:
    """The result of a step in a process of its own; one that was kept is not computed again."""
    kept = Path(options.keep, f"{name}.{step}.{number}.json")
    if not kept.exists():
        command = [sys.executable, __file__, "--step", step, "--name", name, "--data", options.data]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        kept.write_text(done.stdout.splitlines()[-1])
    return json.loads(kept.read_text())


def _row(label: str, names: list[str], options: argparse.Namespace, kinds: dict[str, list[float]]) -> str:
    """The row of one or several studies: sums over the studies, and means over the tries.

    The ratios of the cells that are counted are added to those of their `kinds`.
    """
    numbers = range(1, options.tries + 1)
    plans, runs = ([_apart(step, name, options, n) for name in names for n in numbers] for step in ("planned", "taken"))
    near = []
    for plan, run in zip(plans, runs, strict=True):
        for cell, seconds in run["each"].items():
            if seconds > LEAST:
                near.append(plan["each"][cell] / seconds)
                kinds.setdefault(plan["kinds"][cell], []).append(near[-1])
    ratios = [f"{plan['seconds'] / run['seconds']:.2f}" for plan, run in zip(plans, runs, strict=True)]
    cells, timed, spoke, planned, taken = (
        sum(side[key] for side in sides) / options.tries
        for sides, key in ((plans, "cells"), (plans, "timed"), (plans, "spoke"), (plans, "seconds"), (runs, "seconds"))
    )
    extremes = " to ".join(dict.fromkeys((min(ratios), max(ratios))))
    return (
        f"| {label} | {cells:,.0f} | {timed:,.0f} | {spoke:.1f} | {planned:.1f} | {taken:.1f} | {extremes} | "
        f"{_within(near)} |"
    )


def _within(ratios: list[float]) -> str:
    return f"{sum(1 / 2 <= ratio <= 2 for ratio in ratios)} of {len(ratios)}"


def main() -> None:
    """Print the tables: by study, and by kind of cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--only", choices=(*STUDIES, *OWN), action="append")
    parser.add_argument("--tries", type=int, default=1, help="plans and runs of each study")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the seconds of each cell there, and read those it has")
    parser.add_argument("--name", help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=("planned", "taken"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        _in_processor_time()
        name = options.name
        print(json.dumps(globals()[options.step](name, list(STUDIES.get(name, ())), options.data)))
        return
    print("| study | cells | timed | planning, s | planned, s | taken, s | planned / taken | cells within 2 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    kinds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        options.keep = options.keep or folder
        Path(options.keep).mkdir(parents=True, exist_ok=True)
        for name in options.only or [*STUDIES, *OWN]:
            names = [f"{name}:{rows}:{trials}" for rows, trials in OWN.get(name, ())]
            label = f"own tests, {name}" if names else ", ".join((name, *STUDIES[name]))
            print(_row(label, names or [name], options, kinds), flush=True)
    print("\n| kind of cell | planned / taken | cells within 2 |\n|---|---:|---:|")
    for kind, near in sorted(kinds.items()):
        print(f"| {kind} | {min(near):.2f} to {max(near):.2f} | {_within(near)} |")


if __name__ == "__main__":
    main()
