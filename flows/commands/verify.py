"""Check this machine: digits of the reference set, and the bytes of a study.

The reference set contains certified values, each computed by two independent methods; tools/reference_set makes it.
"""

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sigstats._common.extras import MissingExtra

from ..errors import DONE, FAILED
from ._files import refuse_overwriting, write_text

#: Significant digits that must be right in every test.
PROMISED = 11
PARTS = ("digits", "bytes")
#: The study that both engines run: two ways of retraining, a stopping rule, and tests of counts.
STUDY = {
    "kind": "benchmark",
    "datasets": ["iris"],
    "classifiers": ["naive-bayes", "1-nn"],
    "permutation": {"resamples": 99},
}

GROUP = "this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats verify``."""
    parser.add_argument("--json", metavar="FILE", help="write all results as JSON; - for standard output")
    parser.add_argument("--only", choices=PARTS, action="append", help="run only this part (repeatable)")


def run(options: argparse.Namespace) -> int:
    """Run the parts, print a table of each, and return 3 if one fails.

    A part whose extra is not installed is named and left out, unless it was requested.
    """
    import json
    import sys

    from ..verification import digest, tables

    refuse_overwriting(options, [], "json")
    parts = options.only or PARTS
    stream = sys.stderr if options.json == "-" else sys.stdout
    about = {**machine(), "reference set": digest(tables())}
    content: dict[str, Any] = {"machine": about, "promised": PROMISED}
    problems: list[str] = []
    for part, check in (("digits", _digits), ("bytes", _bytes)):
        if part in parts:
            try:
                entries, lines, wrong = check()
            except MissingExtra as missing:
                if options.only:
                    raise
                entries, lines, wrong = {}, [f"{part}: not checked: {missing}"], []
            content.update(entries)
            problems += wrong
            print("\n".join([*lines, ""]), file=stream, flush=True)
    print("\n".join(f"{name}: {value}" for name, value in about.items()), file=stream)
    text = json.dumps(content, indent=1)
    if options.json:
        write_text(options.json, text)
    for line in problems:
        print(f"sigstats: {line}", file=sys.stderr)  # noqa: T201
    return FAILED if problems else DONE


Part = tuple[dict[str, Any], list[str], list[str]]


def _digits() -> Part:
    from statistics import median

    from ..verification import check, lacking, tables

    cases = [case for content in tables().values() for case in check(content)]
    wrong = lacking() + [
        f"{case.case}: {case.digits:.1f} digits are right, {PROMISED} are promised"
        + (f" ({case.problem})" if case.problem else "")
        for case in cases
        if case.digits < PROMISED
    ]
    rows: list[tuple[Any, ...]] = [("test", "cases", "fewest digits", "median")]
    for test in dict.fromkeys(case.test for case in cases):
        digits = [case.digits for case in cases if case.test == test]
        rows.append((test, len(digits), f"{min(digits):.1f}", f"{median(digits):.1f}"))
    lines = [f"{row[0]:30}{row[1]!s:>7}{row[2]:>15}{row[3]:>9}" for row in rows]
    return {"cases": [vars(case) for case in cases]}, lines, wrong


def _bytes() -> Part:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="sigstats-verify-") as folder:
        serial, local = Path(folder) / "serial", Path(folder) / "local"
        run_study(serial, "serial")
        run_study(local, "local", workers=2)
        files = differing(serial, local)
    wrong = [f"{name} of a study differs between a plain loop and local workers" for name in files]
    outcome = f"{len(files)} files differ" if files else "the same bytes"
    return {"differing": files}, [f"a study on a plain loop and on two local workers: {outcome}"], wrong


def run_study(output: Path, cluster: str, workers: int | None = None) -> None:
    """Run `STUDY` on a cluster."""
    from ..clusters import load_cluster
    from ..running.kind import kind_of, parse_study
    from ..running.options import RunOptions
    from ..running.progress import Display

    study = parse_study(STUDY, source="study")
    display = Display(quiet=True, study=study.name)
    how = RunOptions(base=Path(), output=str(output), cluster=load_cluster(cluster, workers), display=display)
    kind_of(study).run(study, how)


def differing(first: Path, second: Path) -> list[str]:
    """List the files of replicates and summaries that differ, or that one output lacks.

    >>> import tempfile
    >>> folders = [Path(tempfile.mkdtemp()) for _ in range(2)]
    >>> for folder, content in zip(folders, (b"1", b"2")):
    ...     _ = (folder / "summary.parquet").write_bytes(content)
    >>> differing(*folders), differing(folders[0], folders[0])
    (['summary.parquet'], [])
    """
    one, other = (
        {path.relative_to(output).as_posix(): path.read_bytes() for path in output.rglob("*.parquet")}
        for output in (first, second)
    )
    kept = [name for name in one.keys() | other.keys() if name.startswith(("replicates/", "summary."))]
    return sorted(name for name in kept if one.get(name) != other.get(name))


def machine() -> dict[str, str]:
    """The versions, the processor and the BLAS libraries."""
    by_name = {"sigstats": version("sigstats"), "Python": platform.python_version()}
    for name in ("numpy", "scipy", "python-flint", "numba"):
        try:
            by_name[name] = version(name)
        except PackageNotFoundError:
            by_name[name] = "absent"
    import scipy.linalg  # noqa: F401 - loads the BLAS library that is asked about

    try:
        from threadpoolctl import threadpool_info
    except ImportError:  # the light installation
        libraries = set()
    else:
        libraries = {f"{value['internal_api']} {value['version']}" for value in threadpool_info()}
    return {
        **by_name,
        "BLAS": ", ".join(sorted(libraries)) or "unknown",
        "processor": _processor(),
        "system": platform.platform(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
