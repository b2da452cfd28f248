"""An amount of memory in a study file or a cluster file."""

import re
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from sigstats._common.validation import shown

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
