"""Write the tables of columns in docs/results.md from the schemas of what is stored.

    python tools/result_columns.py

`tests/test_results_page.py` holds that the page is what this writes.
"""

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from sigstats.tasks import replicates
from sigstats.tasks.engine.run_block import Failure, Receipt
from sigstats.tasks.results import PLAN
from sigstats.tasks.schema import SUMMARY

PAGE = Path(__file__).parents[1] / "docs" / "results.md"


def tables() -> dict[str, str]:
    """Each table of the page by the name in its marker."""
    cells = "\n\n".join(
        f"### `{name}`\n\n{first_sentence(module)}\n\n{of_schema(module.SCHEMA, without=('replicate',))}"
        for name, module in replicates.REGISTRY.modules().items()
    )
    schemas = {"summary.parquet": of_schema(SUMMARY), "plan.parquet": of_schema(PLAN), "replicates": cells}
    return {**schemas, "receipts": of_dataclass(Receipt), "failures": of_dataclass(Failure)}


def first_sentence(module: Any) -> str:
    """The first line of a module's docstring."""
    return inspect.getdoc(module).partition("\n")[0]


def of_schema(schema: pa.Schema, without: tuple[str, ...] = ()) -> str:
    """The columns with their types, units and meanings; those that may be null have a question mark."""
    lines = ["| column | type | unit | meaning |", "|---|---|---|---|"]
    for field in (field for field in schema if field.name not in without):
        about = {key.decode(): value.decode() for key, value in field.metadata.items()}
        kind = f"{field.type}{'?' if field.nullable else ''}"
        lines.append(f"| `{field.name}` | {kind} | {about['unit']} | {about['meaning']} |")
    return "\n".join(lines)


def of_dataclass(kind: Any) -> str:
    """The fields of a record, from the comments above them."""
    found = re.findall(r"((?: +#: .+\n)+) +(\w+): ", inspect.getsource(kind))
    about = {name: " ".join(comment.replace("#: ", "").split()).removesuffix(".") for comment, name in found}
    lines = ["| key | meaning |", "|---|---|"]
    lines += [f"| `{each.name}` | {about[each.name]} |" for each in fields(kind)]
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with each table between its markers made anew."""
    for name, table in tables().items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if begin not in page or end not in page:
            raise SystemExit(f"docs/results.md: {begin} is missing; expected it and {end}")
        before, after = page[: page.index(begin) + len(begin)], page[page.index(end) :]
        page = f"{before}\n\n{table}\n\n{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
