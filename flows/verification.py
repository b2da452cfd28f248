"""The reference set, and the number of its digits that a test reproduces.

The set is a folder of JSON with one file per test, which `tools/reference_set` makes without this package.
"""

import hashlib
import importlib.resources
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from importlib import import_module
from operator import attrgetter
from typing import Any

import sigstats

#: Doubles have no more; a value that is exact to the last bit has all of them.
MOST_DIGITS = 15.9
#: Below it a p-value is no normal double, and its logarithm is compared.
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
    #: The fewest over its values; 0 where the test raised an exception.
    digits: float
    #: Error; empty if it gave an answer.
    problem: str = ""


def tables() -> dict[str, bytes]:
    """The files of the set by the names of their tests."""
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
    """SHA-256 (hexadecimal) of the whole set."""
    whole = hashlib.sha256()
    for name, content in files.items():
        whole.update(f"{name} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def correct_digits(value: float, certified: Decimal) -> float:
    """The number of correct significant digits of a value: the log relative error, from 0 to 15.9.

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
    """The same for a value that is known by its decimal logarithm."""
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
            digits = min(_digits(answer, name, Decimal(value["digits"])) for name, value in case["values"].items())
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


def _digits(result: Any, name: str, certified: Decimal) -> float:
    if name == "pvalue" and 0 < certified < _SMALLEST_NORMAL and hasattr(result, "log10_pvalue"):
        return correct_digits_of_logarithm(result.log10_pvalue, certified)
    attribute, *places = name.replace("]", "").split("[")  # such as pvalues[0][1]
    value = result if attribute == "value" else getattr(result, attribute)
    for place in places:
        value = value[int(place)]
    return correct_digits(float(value), certified)
