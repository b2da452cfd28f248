"""JUnit's XML, as pytest and most runners of tests write it: a test case is an item, and right if it passed.

A case that was skipped has no score. Cases of one name (reruns) are answers to one item.
"""

import re
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from sigstats._common.validation import shown

from ...input_files.content import Content
from .._log import Answer, EvaluationLog, answered, numbered
from .._predictions import Columns

ORDER = 47
NAME = "JUnit's XML"
LOG = True

_BEGINNING = re.compile(rb"\s*+(<\?xml[^>]*+>\s*+)?+(<!--.*?-->\s*+)*+<testsuites?[\s>]", re.DOTALL)
_FAILED = ("failure", "error")


def reads(content: Content) -> bool:
    """XML whose first element is a suite of tests."""
    return _BEGINNING.match(content.start) is not None


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read which test cases passed."""
    cases: list[tuple[Mapping[str, str], list[str]]] = []
    inside: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            cases.append((attributes, []))
        elif inside and inside[-1] == "testcase":
            cases[-1][1].append(name)
        inside.append(name)

    def end(_name: str) -> None:
        inside.pop()

    def refuse_declarations(*_: Any) -> None:
        raise ValueError(f"{content.where}: declares a type of document; expected JUnit's XML without one")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse_declarations
    try:
        parser.Parse(content.whole(), True)
    except expat.ExpatError as error:
        raise ValueError(f"{content.where}: cannot be read as XML ({error})") from None
    return EvaluationLog(
        where=content.where,
        harness="JUnit",
        answers=numbered(_answer(content, *case, columns) for case in cases),
        kind="score",
    )


def _answer(content: Content, case: Mapping[str, str], said: list[str], columns: Columns) -> Answer:
    name = case.get("name")
    if not name:
        raise ValueError(f"{content.where}: name: {shown(name)} of a test case is not valid; expected its name")
    item = "::".join(filter(None, (case.get("classname"), name)))
    skipped = "skipped" in said
    values = {} if skipped else {"passed": not any(each in said for each in _FAILED)}
    return answered(item, values, case, columns, failed="skipped" if skipped else "")
