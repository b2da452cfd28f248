"""A number as a publication prints it: a text, since its digits show its precision."""

from decimal import Decimal, InvalidOperation
from typing import Annotated

from pydantic import AfterValidator


def _number(text: str) -> str:
    try:
        finite = Decimal(text).is_finite()
    except InvalidOperation:
        finite = False
    if not finite:
        raise ValueError(f"{text!r} is not valid; expected a number in quotes, with the digits that are printed")
    return text


PrintedNumber = Annotated[str, AfterValidator(_number)]
