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

from sigstats.tasks.engine.run_block import Failure, Receipt
from sigstats.tasks.fan_out import FAN_OUTS, fanout
from sigstats.tasks.results import PLAN
from sigstats.tasks.schema import SUMMARY

PAGE = Path(__file__).parents[1] / "docs" / "results.md"


def tables() -> dict[str, str]:
    """Each table of the page by the name in its marker."""
    shown = dict.fromkeys(rows(SUMMARY), "`summary.parquet`")
    modules = {name: fanout(name) for name in FAN_OUTS}
    cells = "\n\n".join(
        f"### `{name}`\n\n{first_sentence(module)}{of_cells(name, module.SCHEMA, shown)}"
        for name, module in modules.items()
    )
    schemas = {"summary.parquet": of_rows(rows(SUMMARY)), "plan.parquet": of_rows(rows(PLAN)), "replicates": cells}
    return {**schemas, "receipts": of_dataclass(Receipt), "failures": of_dataclass(Failure)}


def of_cells(name: str, schema: pa.Schema, shown: dict[str, str]) -> str:
    """The columns of a fan-out; those that a table above (`shown`: which) explains are only named."""
    own = [row for row in rows(schema) if "`replicate`" not in row]
    new = [row for row in own if row not in shown]
    above: dict[str, list[str]] = {}
    for row in own:
        if row in shown:
            above.setdefault(shown[row], []).append(row.split("|")[1].strip())
    shown.update(dict.fromkeys(new, f"`{name}`"))
    text = "".join(f" As in {place}: {', '.join(columns)}." for place, columns in above.items())
    return text + (f"\n\n{of_rows(new)}" if new else "")


def first_sentence(module: Any) -> str:
    """The first line of a module's docstring."""
    return inspect.getdoc(module).partition("\n")[0]


def rows(schema: pa.Schema) -> list[str]:
    """A row for each column, with its type and meaning; a type that may be null has a question mark."""
    return [
        f"| `{field.name}` | {str(field.type).replace(' not null', '')}{'?' if field.nullable else ''} | "
        f"{field.metadata[b'meaning'].decode()} |"
        for field in schema
    ]


def of_rows(rows: list[str]) -> str:
    """The table of these rows; the eight joint outcomes share one."""
    text = "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])
    return re.sub(r"\| `e1` (.*outcome e)1 \|\n(?:\| `e\d` .*\n?){7}", r"| `e1` to `e8` \g<1>1 to e8 |", text)


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
