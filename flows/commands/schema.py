"""Print the JSON Schema of study files (or of cluster files), for editors that complete and check TOML."""

import argparse
import json

from ..errors import DONE

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats schema``."""
    parser.add_argument(
        "what", nargs="?", choices=["study", "cluster"], default="study", help="the kind of file (default: study)"
    )


def run(options: argparse.Namespace) -> int:
    """Print the schema."""
    from functools import reduce
    from operator import or_
    from typing import Annotated, Any

    from pydantic import BaseModel, Field, TypeAdapter

    from .. import clusters, studies

    models: list[type[BaseModel]]
    if options.what == "study":
        models = [module.KIND.model for module in studies.REGISTRY.modules().values()]
    else:
        models = [module.Cluster for module in clusters.REGISTRY.modules().values()]
    union: Any = reduce(or_, models)
    kind: Any = Annotated[union, Field(discriminator="kind")] if len(models) > 1 else union
    adapter = TypeAdapter(kind)
    schema = adapter.json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"sigstats {options.what} file"
    if options.what == "study":
        _allow_default_name(schema)
    print(json.dumps(schema, indent=2))  # noqa: T201
    return DONE


def _allow_default_name(schema: dict[str, object]) -> None:
    # The loader takes the name from that of the file, so an editor must not demand one.
    definitions = schema.get("$defs")
    candidates = [schema, *(definitions.values() if isinstance(definitions, dict) else [])]
    for item in candidates:
        required = item.get("required") if isinstance(item, dict) else None
        if isinstance(required, list) and "kind" in required and "name" in required:
            required.remove("name")
