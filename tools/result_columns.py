"""Write the lists of columns in docs/results.md from the schemas of what is stored.

    python tools/result_columns.py

`tests/test_made_pages.py` holds that the page is what this writes.
"""

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from sigstats.tasks.engine.blocks import Failure, Receipt
from sigstats.tasks.fan_out import FAN_OUTS, fanout
from sigstats.tasks.results import PLAN
from sigstats.tasks.schema import SUMMARY

PAGE = Path(__file__).parents[1] / "docs" / "results.md"


def tables() -> dict[str, str]:
    """Each table of the page by the name in its marker."""
    shown = dict.fromkeys(rows(SUMMARY), "`summary.parquet`")
    cells = "\n\n".join(
        f"### `{name}`\n\n{fan_out.about}{of_cells(name, fan_out.schema, shown)}"
        for name, fan_out in zip(FAN_OUTS, map(fanout, FAN_OUTS), strict=True)
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
            above.setdefault(shown[row], []).append(row.split()[1])
    shown.update(dict.fromkeys(new, f"`{name}`"))
    text = "".join(f" As in {place}: {', '.join(columns)}." for place, columns in above.items())
    return text + (f"\n\n{of_rows(new)}" if new else "")


def rows(schema: pa.Schema) -> list[str]:
    """A line for each column, with its type and meaning; a type that may be null has a question mark."""
    types = [re.sub(r"list<element: (\w+).*>", r"list of \1", str(field.type)) for field in schema]
    return [
        f"- `{field.name}` ({kind}{'?' if field.nullable else ''}): {field.metadata[b'meaning'].decode()}"
        for kind, field in zip(types, schema, strict=True)
    ]


def of_rows(rows: list[str]) -> str:
    """The list of these columns; the eight joint outcomes share a line."""
    return re.sub(r"- `e1` (.*outcome e)1\n(?:- `e\d` .*\n?){7}", r"- `e1` to `e8` \g<1>1 to e8", "\n".join(rows))


def of_dataclass(kind: Any) -> str:
    """The fields of a record that are stored, those it shows, from the comments above them."""
    found = re.findall(r"((?: +#: .+\n)+) +(\w+): ", inspect.getsource(kind))
    about = {name: " ".join(comment.replace("#: ", "").split()).removesuffix(".") for comment, name in found}
    return "\n".join(f"- `{field.name}`: {about[field.name]}" for field in fields(kind) if field.repr)


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
