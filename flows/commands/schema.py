"""Print the JSON Schema of study files (or of cluster files), for editors that complete and check TOML."""

import argparse
import json
from typing import Annotated, Any, Union

from ..errors import DONE

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats schema``."""
    parser.add_argument(
        "what", nargs="?", choices=["study", "cluster"], default="study", help="kind of file (default: study)"
    )


def run(options: argparse.Namespace) -> int:
    """Print the schema."""
    print(json.dumps(schema_of(options.what), indent=2))  # noqa: T201
    return DONE


def schema_of(what: str) -> dict[str, Any]:
    """Return the JSON Schema of files of a `study` or of a `cluster`."""
    from pydantic import Field, TypeAdapter

    from .. import clusters
    from ..kinds import KINDS, kind_named

    of_studies = (kind_named(name).model for name in KINDS)
    of_clusters = (kind.model for kind in clusters.kinds().values())
    union: Any = Union[tuple(of_studies if what == "study" else of_clusters)]  # noqa: UP007
    schema: dict[str, Any] = TypeAdapter(Annotated[union, Field(discriminator="kind")]).json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"sigstats {what} file"
    if what == "study":  # the loader takes the name from that of the file, so an editor must not demand one
        for item in (schema, *schema.get("$defs", {}).values()):
            if {"kind", "name"} <= {*item.get("required", ())}:
                item["required"].remove("name")
    return schema
