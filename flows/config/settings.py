"""Settings of several kinds of study: limits of other packages' code, stopping rules, data sets, printed numbers.

The JSON schema of the table of a data set is made from the readers.
"""

import contextlib
from collections.abc import Container, Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sigstats._common.messages import join_words
from sigstats._common.numerals import significant
from sigstats._common.validation import refuse
from sigstats.multiplicity import adjust_family
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.precision_rules import PrecisePRule
from sigstats.sequential.rules import deciding_exceedances
from sigstats.tasks.datasets.options import Kinds
from sigstats.tasks.datasets.readers import REGISTRY
from sigstats.tasks.plan import Adjustment, Plan

from .model import Memory, Options, Strict, bytes_of


def _number(text: str) -> str:
    try:
        finite = Decimal(text).is_finite()
    except InvalidOperation:
        finite = False
    if not finite:
        raise ValueError(f"{text[:60]!r} is not valid; expected a number in quotes, with the digits that are printed")
    return text


PrintedNumber = Annotated[str, AfterValidator(_number)]


class Needs(Strict):
    """Resources of a worker for code of another package."""

    memory: Memory | None = Field(None, description='Memory limit of the process, as in "8 GiB"')
    threads: int | None = Field(None, ge=1, le=1024, description="Threads of numerical libraries; one by default")
    gpu: int | None = Field(None, ge=1, le=64, description="GPUs of the worker")


class Limited(Strict):
    """A table of a study file that may name code of another package."""

    time_limit: float | None = Field(
        None,
        gt=0,
        exclude=True,
        description="Time limit in seconds of one fit, or one call of a test, of another package",
    )
    resources: Needs = Field(Needs(), exclude=True, description="Resources of a worker for code of another package")

    def limits(self, where: str, *, imported: bool) -> dict[str, float] | None:
        """Return the limits, as `sigstats.tasks.plan.Cell` states them."""
        needs = self.resources
        memory = None if needs.memory is None else bytes_of(needs.memory)
        asked = {"time_limit": self.time_limit, "memory": memory, "threads": needs.threads, "gpu": needs.gpu}
        by_name = {name: float(value) for name, value in asked.items() if value is not None}
        if by_name and not imported:
            wanted = "none: they are for code of other packages, which runs in processes of its own"
            raise refuse(f"{where}: limits", ", ".join(by_name), wanted)
        return by_name or None


Stopping = Literal["none", "besag-clifford", "gandy", "precision", "joint"]


class StoppingSettings(Strict):
    """The stopping rule of a study file, and its parameters."""

    stopping: Stopping = Field(
        "none",
        description="When a test ends early: once p cannot reach alpha (besag-clifford), the decision is certain up "
        "to risk (gandy), p is precise (precision), or, for all tests of a benchmark together, it is rejected (joint)",
    )
    certain: Literal["adjusted", "unadjusted"] = Field(
        "adjusted",
        description="The decision of gandy: on the adjusted p, for any outcome of the other tests, or on p itself",
    )
    risk: float = Field(
        1e-3,
        gt=0,
        le=0.25,
        description="Bound on the probability that gandy decides differently from infinitely many replicates",
    )

    precision: float = Field(
        0.01, ge=0.002, le=0.25, description="Monte-Carlo standard error of p at which precision ends a test"
    )

    def stopping_of(
        self, *, alpha: float, adjust: Adjustment, tests: int, replicates: int, rule: Stopping | None = None
    ) -> dict[str, Any] | None:
        """Return the stopping rule of a cell, as in `sigstats.tasks.plan.Cell`; None if all replicates are drawn."""
        rule = rule or self.stopping
        if rule == "none":
            return None
        if rule == "joint":
            return {"rule": rule, "alpha": alpha, "adjust": adjust}
        if rule == "besag-clifford":
            return {"rule": rule, "exceedances": deciding_exceedances(alpha, replicates)}
        if rule == "precision":
            return {"rule": PrecisePRule.method, "error": self.precision}
        factor = 1.0
        if adjust != "none" and self.certain == "adjusted":
            # What adjusting multiplies p by where every other test has p = 1: whatever they have, it is no more.
            smallest = 2.0**-40
            factor = adjust_family([smallest, *[1.0] * (tests - 1)], adjust)[0] / smallest
        return {"rule": rule, "alpha": alpha, "reject_at": alpha / factor, "risk": self.risk}

    def unused(self, rules: Container[Stopping | None]) -> list[str]:
        """Return the given parameters that belong to none of the study's stopping rules."""
        of = {"certain": "gandy", "risk": "gandy", "precision": "precision"}
        return [key for key, rule in of.items() if key in self.model_fields_set and rule not in rules]


def note_on_unused(keys: Iterable[str], why: str) -> Iterator[str]:
    """Yield a note of unused keys of a study file, if there are any."""
    if ordered := sorted(keys):
        yield f"{join_words(ordered)} {'is' if len(ordered) == 1 else 'are'} not used: {why}"


def stopping_notes(plan: Plan) -> Iterator[str]:
    """Yield notes on the stopping rules, for the person who starts the study."""
    for rule in {one.rule for one in plan.cells if one.stopping is not None}:
        if isinstance(rule, GandyRule) and not rule.can_reject:
            yield (
                "gandy can never reject a test: rejection is certain only at "
                f"p <= {significant(rule.rejection_level, 2)}, and {rule.maximum:,} replicates "
                "cannot show that (certain = 'unadjusted' requires less)"
            )


#: The description of each option of a source; an option without a description has only its name.
DESCRIPTIONS = {
    "name": "Name in the study; that of the file by default",
    "source": "The kind of source",
    "path": "File or fsspec URL, possibly compressed",
    "target": "Column of classes",
    "columns": "Features; all columns except the class by default",
    "drop": "Columns to omit",
    "nominal": "Numeric columns of category codes",
    "missing": "Texts that mean a missing value; empty always does",
    "names": "Names of the columns, if there is no header",
    "separator": "Separator of fields; detected by default",
    "encoding": "Encoding; UTF-8 by default",
    "id": "Number on OpenML",
    "dataset": "Name on OpenML; needs `version`",
    "version": "Version on OpenML",
    "cache": "Folder for downloads; scikit-learn's by default",
    "rows": "Rows as strings, fields separated by white space; or their number",
    "generator": "correlated or noise",
    "seed": "Seed of generated data",
    "correlation": "Correlation of the two features within each class, from -1 to 1",
    "separation": "Distance between the classes",
    "features": "Number of features",
    "classes": "Classes that look like missing values, such as none; or their number",
    "groups": "Column of groups; rows of one group stay in one fold",
    "folds": "Column of fold numbers",
}
_TYPES: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    list: {"type": "array", "items": {"type": "string"}},
}


class _OfReaders:
    """The JSON schema of a table: one alternative for each source."""

    @staticmethod
    def __get_pydantic_json_schema__(schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        forms = []
        for source in REGISTRY.names():
            with contextlib.suppress(ValueError):  # a missing package is reported when a study needs it
                forms.append(table_schema(source))
        return {"type": "object", "anyOf": forms}


#: A table whose keys a reader of `sigstats.tasks.datasets.readers` checks, when the data are read.
DatasetTable = Annotated[Options, _OfReaders]


def table_schema(source: str) -> dict[str, Any]:
    """Return the JSON schema of the tables of one source."""
    reader = REGISTRY.module(source)
    properties = {
        "name": _property("name", str),
        "source": {"const": source, "description": DESCRIPTIONS["source"]},
        **{name: _property(name, kinds) for name, kinds in reader.OPTIONS.items()},
    }
    # What says nothing but a name is of scikit-learn; a population gives the data set that it trains on its own name.
    required = ["name"] if not reader.OPTIONS else ["source", *(name for name in reader.REQUIRED if name != "name")]
    return {
        "title": source,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _property(name: str, kinds: Kinds) -> dict[str, Any]:
    forms = [_TYPES[kind] for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
    entries = forms[0] if len(forms) == 1 else {"anyOf": forms}
    return {**entries, "description": DESCRIPTIONS[name]} if name in DESCRIPTIONS else dict(entries)
