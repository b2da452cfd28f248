"""JUnit's XML, as pytest and most runners of tests write it: a test case is an item, and right if it passed.

A case that was skipped, or ended in an error rather than a failed assertion, has no score.
"""

import re
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from sigstats._common.validation import shown

from ...inputs.content import Content
from .._columns import Columns
from .._log import Answer, EvaluationLog, answered, graded

ORDER = 47
NAME = "JUnit's XML"
LOG = True

BEGINS = re.compile(rb"\s*+(<\?xml[^>]*+>\s*+)?+(<!--.*?-->\s*+)*+<testsuites?[\s>]", re.DOTALL)


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read which test cases passed."""
    cases: list[tuple[Mapping[str, str], dict[str, str]]] = []
    inside: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            cases.append((attributes, {}))
        elif inside and inside[-1] == "testcase":
            cases[-1][1][name] = attributes.get("message") or name
        inside.append(name)

    def end(_name: str) -> None:
        inside.pop()

    def declared(*_: Any) -> None:
        raise ValueError(f"{content.where}: declares a type of document; expected JUnit's XML without one")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(content.whole(), True)
    except expat.ExpatError as error:
        raise ValueError(f"{content.where}: cannot be read as XML ({error})") from None
    return EvaluationLog(
        where=content.where,
        harness="JUnit",
        answers=[_answer(content, *case, columns) for case in cases],
        kind="score",
        **graded("passed"),
    )


def _answer(content: Content, case: Mapping[str, str], said: Mapping[str, str], columns: Columns) -> Answer:
    name = case.get("name")
    if not name:
        raise ValueError(f"{content.where}: name: {shown(name)} of a test case is not valid; expected its name")
    item = "::".join(filter(None, (case.get("classname"), name)))
    failed = "" if "failure" in said else said.get("skipped") or said.get("error", "")
    return answered(item, {} if failed else {"passed": "failure" not in said}, case, columns, failed=failed)
