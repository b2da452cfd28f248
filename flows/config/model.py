"""The models of tables in configuration files: strict models, tables of free options, and amounts of memory."""

import re
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sigstats._common.validation import shown
from sigstats.tasks.fingerprint import canonical


class Strict(BaseModel):
    """A table of a configuration file: unknown keys are refused, and values are not converted to other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _require_plain(options: dict[str, Any]) -> dict[str, Any]:
    try:
        canonical(options)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("values.")) from None
    return options


#: A table whose keys another part of the program checks: strings, finite numbers, booleans, lists and tables.
Options = Annotated[dict[str, Any], AfterValidator(_require_plain)]


_SIZE = r"([0-9]+[.])?[0-9]+ ?[KMGT]?i?B"


def bytes_of(text: str) -> int:
    """The bytes of an amount that is valid."""
    from dask.utils import parse_bytes  # slow to import

    return int(parse_bytes(text))


def _require(form: str, text: str) -> str:
    if not re.fullmatch(form, text):
        raise ValueError(f"{shown(text)} is not valid; expected an amount with its unit, as in '8 GiB'")
    if text != "auto" and bytes_of(text) < 1:
        raise ValueError(f"{shown(text)} is not valid; expected a byte or more")
    return text


#: An amount as Dask reads it.
Memory = Annotated[str, Field(json_schema_extra={"pattern": f"^{_SIZE}$"}), AfterValidator(partial(_require, _SIZE))]

#: An amount, or what Dask finds.
MemoryOrAuto = Annotated[
    str, Field(json_schema_extra={"pattern": f"^(auto|{_SIZE})$"}), AfterValidator(partial(_require, f"auto|{_SIZE}"))
]
