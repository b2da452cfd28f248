"""The models of tables in configuration files: strict models, and tables of free options."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

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
