"""Check this machine's answers against the reference set: how many digits of each test are right.

The set holds certified values, each found by two unlike methods; tools/reference_set makes it.
"""

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import DONE, FAILED

if TYPE_CHECKING:
    from ..verification.reference_set import Checked

#: Significant digits that every test is to have right.
PROMISED = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``sigstats verify``."""
    parser.add_argument("--json", metavar="FILE", help="every case with its digits; - for standard output")


def run(options: argparse.Namespace) -> int:
    """Run every case, print a line a test, and end with 3 where a digit that is promised is wrong."""
    import json
    import sys
    from pathlib import Path

    from ..verification.machine import machine
    from ..verification.reference_set import check, digest, tables

    files = tables()
    cases = [case for content in files.values() for case in check(content)]
    about = {**machine(), "reference set": digest(files)}
    said = sys.stderr if options.json == "-" else sys.stdout
    print("\n".join([*_lines(cases), *(f"{name}: {value}" for name, value in about.items())]), file=said)
    if options.json:
        content = json.dumps(
            {"machine": about, "promised": PROMISED, "cases": [vars(case) for case in cases]}, indent=1
        )
        if options.json == "-":
            print(content)  # noqa: T201
        else:
            Path(options.json).write_text(content + "\n", encoding="utf-8")
    short = [case for case in cases if case.digits < PROMISED]
    for case in short:
        why = f" ({case.problem})" if case.problem else ""
        line = f"sigstats: {case.case}: {case.digits:.1f} digits are right, {PROMISED} are promised{why}"
        print(line, file=sys.stderr)  # noqa: T201
    return FAILED if short else DONE


def _lines(cases: "list[Checked]") -> list[str]:
    """A table: the cases, the fewest and the median digits of each test."""
    from statistics import median

    rows: list[tuple[Any, ...]] = [("test", "cases", "fewest digits", "median")]
    for test in dict.fromkeys(case.test for case in cases):
        digits = [case.digits for case in cases if case.test == test]
        rows.append((test, len(digits), f"{min(digits):.1f}", f"{median(digits):.1f}"))
    return [f"{row[0]:24}{row[1]!s:>7}{row[2]:>15}{row[3]:>9}" for row in rows]
