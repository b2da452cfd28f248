"""Check this machine: the digits of the reference set, and whether a study gives the same bytes on local workers.

The reference set contains certified values, each computed by two independent methods; tools/reference_set makes it.
"""

import argparse
import hashlib
import importlib.resources
import json
import math
import platform
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any

import sigstats
from sigstats._common.extras import MissingExtra

from ..errors import DONE, FAILED
from ._files import refuse_overwriting, write_text

#: Significant digits that must be right in every test.
PROMISED = 11
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


def run(options: argparse.Namespace) -> int:
    """Run both checks, print a table of each, and return 3 if one fails.

    A check whose extra is not installed is skipped with a message.
    """
    refuse_overwriting(options, [], "json")
    stream = sys.stderr if options.json == "-" else sys.stdout
    about = {**machine(), "reference set": digest(tables())}
    content: dict[str, Any] = {"machine": about, "promised": PROMISED}
    problems: list[str] = []
    for part, check in (("digits", _digits), ("bytes", _bytes)):
        try:
            entries, lines, wrong = check()
        except MissingExtra as missing:
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


#: A double has at most this many significant digits.
MOST_DIGITS = 15.9
#: Below this, p-values are subnormal, so logarithms are compared.
_SMALLEST_NORMAL = Decimal("2.3e-308")
_CONTEXT = Context(prec=60, Emin=-(10**9), Emax=10**9)
#: The modules of tests that the package does not export.
_ELSEWHERE = {
    **dict.fromkeys(("dcf_test", "proportion_test"), "sigstats.proportions"),
    "rank_sets": "sigstats.ranking.rank_sets",
}


@dataclass(frozen=True)
class Checked:
    """A case of the reference set, and how many digits are right."""

    test: str
    case: str
    difficulty: str
    #: The smallest number of correct digits among its values; 0 if the test raised an exception.
    digits: float
    #: Error; empty if it gave an answer.
    problem: str = ""


def tables() -> dict[str, bytes]:
    """Return the files of the set by the names of their tests."""
    folder = importlib.resources.files(sigstats) / "reference_set"
    entries = {
        item.name.removesuffix(".json"): item.read_bytes() for item in folder.iterdir() if item.name.endswith(".json")
    }
    return {name: entries[name] for name in sorted(entries) if name != "schema"}


def lacking() -> list[str]:
    """List the files named on the page of the set that are missing or lack cases."""
    page = importlib.resources.files(sigstats) / "reference_set" / "README.md"
    if not page.is_file():
        return ["README.md of the reference set is missing, so missing files cannot be noticed"]
    stated = re.findall(r"^\| `([\w.]+)` \| (\d+) \|", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    by_name = {name: len({case["case"] for case in json.loads(content)["cases"]}) for name, content in tables().items()}
    return [
        f"{name}: {by_name.get(name, 0)} cases of the reference set are there; expected {count}"
        for name, count in stated
        if by_name.get(name, 0) != int(count)
    ]


def digest(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 digest of all files, in hexadecimal."""
    whole = hashlib.sha256()
    for name, content in files.items():
        whole.update(f"{name} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def correct_digits(value: float, certified: Decimal) -> float:
    """Return the number of correct significant digits of a value: the log relative error, from 0 to 15.9.

    Source: McCullough (1998), the log relative error of NIST's reference data sets.
    """
    if not math.isfinite(value):
        return 0.0
    if value == float(certified):  # the nearest double, if only 0
        return MOST_DIGITS
    error = abs(_CONTEXT.subtract(Decimal(value), certified))
    if not error:
        return MOST_DIGITS
    relative = error if not certified else _CONTEXT.divide(error, abs(certified))
    return min(MOST_DIGITS, max(0.0, -float(relative.log10(_CONTEXT))))


def correct_digits_of_logarithm(value: float, certified: Decimal) -> float:
    """Return the number of correct significant digits of a value given by its decimal logarithm."""
    apart = abs(_CONTEXT.subtract(Decimal(value), certified.log10(_CONTEXT)))
    relative = float(apart) * math.log(10)
    return MOST_DIGITS if not relative else min(MOST_DIGITS, max(0.0, -math.log10(relative)))


def check(content: bytes) -> Iterator[Checked]:
    """Run the cases of one test."""
    table = json.loads(content)
    test = attrgetter(table["test"])(import_module(_ELSEWHERE.get(table["test"], "sigstats")))
    for case in table["cases"]:
        try:
            answer = _answer(test, case["arguments"])
            digits = min(_digits_of(answer, name, Decimal(value["digits"])) for name, value in case["values"].items())
            problem = ""
        except Exception as error:  # an answer that is not given is a case with no digit right
            digits, problem = 0.0, f"{type(error).__name__}: {error}"
        yield Checked(table["test"], case["case"], case["difficulty"], digits, problem)


def _answer(test: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the answer of a test to a case, whose joint counts are given by name.

    A rule gets this many replicates ("drawn"), of which those numbered "exceeding", from 1, exceed.
    """
    given = dict(arguments)
    if "outcomes" in given:
        given["outcomes"] = sigstats.JointOutcomes(**given["outcomes"])
    if "drawn" not in given:
        return test(**given)
    flags = [False] * given.pop("drawn")
    for value in given.pop("exceeding"):
        flags[value - 1] = True
    return test(**given).test(flags)


def _digits_of(result: Any, name: str, certified: Decimal) -> float:
    if name == "pvalue" and 0 < certified < _SMALLEST_NORMAL and hasattr(result, "log10_pvalue"):
        return correct_digits_of_logarithm(result.log10_pvalue, certified)
    attribute, *places = name.replace("]", "").split("[")  # such as pvalues[0][1]
    value = result if attribute == "value" else getattr(result, attribute)
    for place in places:
        value = value[int(place)]
    return correct_digits(float(value), certified)


Part = tuple[dict[str, Any], list[str], list[str]]


def _digits() -> Part:
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
    """Return the versions, the processor and the BLAS libraries."""
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
