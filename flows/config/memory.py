"""An amount of memory in a study file or a cluster file."""

from typing import Annotated

from pydantic import AfterValidator, Field

from sigstats._common.validation import shown

_SIZE = r"([0-9]+[.])?[0-9]+ ?[KMGT]?i?B"


def bytes_of(text: str) -> int:
    """The bytes of an amount that is valid."""
    from dask.utils import parse_bytes  # slow to import

    return int(parse_bytes(text))


def _some(text: str) -> str:
    if text != "auto" and bytes_of(text) < 1:
        raise ValueError(f"{shown(text)} is not valid; expected a byte or more")
    return text


#: An amount as Dask reads it.
Memory = Annotated[str, Field(pattern=f"^{_SIZE}$"), AfterValidator(_some)]

#: An amount, or what Dask finds.
MemoryOrAuto = Annotated[str, Field(pattern=f"^(auto|{_SIZE})$"), AfterValidator(_some)]
