"""Processor seconds of the commands of a study of many cells that cost nothing, and the exponent between two sizes.

python benchmarks/many_cells.py [500 2000 5000]

A cell is 200 replicates of the efficiency test of a table of 3 x 3: a millisecond. All else is what a cell costs. Where
PREFECT_API_URL names a server, one more run is recorded there.
"""

import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RUN, REPORT = ("run", "{study}", "--output", "{output}", "--quiet"), ("report", "{output}")
RECORDED = "run, recorded by Prefect"
COMMANDS = {
    "plan": ("plan", "{study}"),
    "run": RUN,
    "run again": RUN,
    "report": REPORT,
    RECORDED: (*RUN[:3], "{output}-recorded", "--quiet"),
    "run, 2 workers": ("run", "{study}", "--output", "{output}-local", "--quiet", "--workers", "2"),
}


def study(cells: int) -> str:
    """A study file of so many cells."""
    tables = np.random.default_rng(1).integers(1, 30, size=(cells, 3, 3)).tolist()
    entries = [
        f'[[tables]]\nname = "t{at}"\ncounts = {counts}\nmethods = ["monte-carlo"]\n'
        for at, counts in enumerate(tables)
    ]
    return "\n".join(['kind = "significance"\nresamples = 200\n', *entries])


def seconds(*command: str, server: str | None = None) -> float:
    """Processor seconds of a command and its processes, recorded by a Prefect server if there is one."""
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    environment |= {} if server is None else {"PREFECT_API_URL": server}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "sigstats", *command], env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print the table."""
    sizes, server = [int(text) for text in sys.argv[1:]] or [500, 2000, 5000], os.environ.get("PREFECT_API_URL")
    if server is None:
        del COMMANDS[RECORDED]
    print(f"| cells | {' | '.join(COMMANDS)} |\n|---:|{'---:|' * len(COMMANDS)}", flush=True)
    before: list[float] = []
    for number, cells in enumerate(sizes):
        with tempfile.TemporaryDirectory() as folder:
            places = {"study": str(Path(folder, "study.toml")), "output": str(Path(folder, "out"))}
            Path(places["study"]).write_text(study(cells))
            took = [
                seconds(*(part.format(**places) for part in words), server=server if name == RECORDED else None)
                for name, words in COMMANDS.items()
            ]
        step = math.log(cells / sizes[number - 1]) if number else 0.0
        grown = (
            [f" ({math.log(now / then) / step:.2f})" for now, then in zip(took, before, strict=True)] if number else []
        )
        shown = [f"{one:.1f}{more}" for one, more in zip(took, grown or [""] * len(took), strict=True)]
        print(f"| {cells:,} | {' | '.join(shown)} |", flush=True)
        before = took


if __name__ == "__main__":
    main()
