"""The model of a study file of ``kind = "regression"``."""

import re
from dataclasses import MISSING, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    create_model,
    field_validator,
    model_validator,
)

from sigstats._common.messages import rephrased
from sigstats._common.scores import of_named_scores
from sigstats.comparison.margins import StatedShare, as_bar, as_margin, as_share
from sigstats.comparison.measure_names import as_compared_measures
from sigstats.comparison.rule import ComparisonRule, key_of
from sigstats.measures.own import is_path
from sigstats.multiplicity import Spending

from ..config.model import Strict, Study, only


def _thresholds() -> type[Strict]:
    """Return the fields of the rule as keys, except those at the top level of a study file."""
    keys: dict[str, Any] = {}
    for field in fields(ComparisonRule):
        key = key_of(field)
        if key in Study.model_fields:
            continue
        limits = {name: value for name, value in field.metadata.items() if name != "key"}
        kind: Any = field.type
        if limits.pop("share", False):
            share = Annotated[float, BeforeValidator(partial(as_share, name=key)), AfterValidator(StatedShare)]
            margin = Annotated[Any, PlainValidator(partial(as_margin, name=key), json_schema_input_type=float | str)]
            kind = share if field.default_factory is MISSING else dict[str, margin]
        default = field.default if field.default_factory is MISSING else field.default_factory()
        keys[key] = (kind, Field(default=default, **limits))
    return create_model("Thresholds", __base__=Strict, __doc__="What counts as a regression.", **keys)


if TYPE_CHECKING:
    Thresholds = Strict
else:
    Thresholds = _thresholds()


class ColumnNames(Strict):
    """Names of the columns."""

    id: str = Field("id", min_length=1, description="Column by which rows are joined")
    label: str = Field("label", min_length=1, description="Column of true classes")
    prediction: str = Field("prediction", min_length=1, description="Column of predicted classes")
    score: str | list[str] | None = Field(
        None, min_length=1, description="Columns of scores, or scorers of a log, or all; each is a measure of its own"
    )
    filter: str | None = Field(None, min_length=1, description="Filter of lm-evaluation-harness whose answers are read")
    model: str | None = Field(None, min_length=1, description="Model whose answers are read from a log of several")
    candidate_model: str | None = Field(
        None, min_length=1, description="Model of the candidates, if it differs from `model`"
    )
    epoch: str | None = Field(None, min_length=1, description="Column that numbers several answers to one id")
    missing: list[str] = Field(
        default_factory=list, description="Texts that mean a missing value, such as NA; empty always does"
    )
    classes: list[str] = Field(default_factory=list, description="All classes, if NA, None or the like is one of them")
    rows: str | None = Field(None, min_length=1, description="Key of the list of rows in a JSON object")
    lower_is_better: list[str] = Field(default_factory=list, description="Scores such as costs; the default of `score`")
    higher_is_better: list[str] = Field(
        default_factory=list, description="Scores of which higher is better; the default of `score`"
    )

    @model_validator(mode="after")
    def _one_direction(self) -> Self:
        if both := set(self.lower_is_better).intersection(self.higher_is_better):
            raise ValueError(f"lower_is_better: {min(both)!r} is in higher_is_better too; name it in one of them")
        named = [score for score in self.scores if score is not None]
        for name in ("lower_is_better", "higher_is_better"):
            of_named_scores(getattr(self, name), named, name)
        return self

    @property
    def scores(self) -> list[str | None]:
        """The named scores, in any form; None if there are none."""
        if self.score is None:
            return [*dict.fromkeys([*self.lower_is_better, *self.higher_is_better])] or [None]
        return [*self.score] if isinstance(self.score, list) else [self.score]


class Looks(Strict):
    """Division of the level among looks at the same rows, or the level kept at every look at fresh rows."""

    rows: Literal["same", "fresh"] = Field(
        "same", description="same: one test set for all looks; fresh: new rows at each look, which accumulate"
    )
    spending: Spending = Field(
        "series",
        description="series: all looks share the level, however many; each: every look has the whole level, so that "
        "false alarms add up; others: `planned` looks share it",
    )
    planned: Annotated[int | None, only("spending", "linear", "pocock", "obrien-fleming")] = Field(
        None, ge=1, le=10**6, description="Number of planned looks"
    )
    run_length: Annotated[float | None, only("rows", "fresh")] = Field(
        None,
        gt=1,
        le=10**9,
        description="Average looks until a false alarm, at least, in place of alpha; for fresh rows",
    )
    reset: str | None = Field(
        None, description="Any text, such as the name of the baseline; a change restarts evidence and episodes"
    )

    @property
    def rows_in_words(self) -> str:
        """The rows of a look, in words."""
        return "fresh rows" if self.rows == "fresh" else "these rows"

    def promise(self, alpha: float) -> str:
        """Return the allowed probability of false alarms, or their allowed rate."""
        if self.run_length:
            return f"without a fault, a false alarm comes after at least {self.run_length:,.12g} looks on average"
        most = f"raises a false alarm with a probability of at most {100 * alpha:.3g}%"
        if self.rows == "same" and self.spending == "each":
            return f"each look {most}, and false alarms add up"
        looks = f"{self.planned:,} looks" if self.planned else "all looks, however many,"
        return f"the series of {looks} {most}"

    @model_validator(mode="before")
    @classmethod
    def _whole_level_for_fresh_rows(cls, given: Any) -> Any:
        return {"spending": "each", **given} if isinstance(given, dict) and given.get("rows") == "fresh" else given

    @model_validator(mode="after")
    def _planned_where_needed(self) -> Self:
        if self.rows == "fresh" and self.spending != "each":
            raise ValueError(
                f"spending: {self.spending!r} is not valid with rows = 'fresh', whose level needs no sharing; use one "
                "of them"
            )
        if self.planned is None and self.spending not in ("each", "series"):
            raise ValueError(f"planned is missing; give the number of looks for the spending {self.spending}")
        return self


class Newest(Strict):
    """Choice of the newest file that matches a pattern."""

    by: Literal["name", "time", "column"] = Field(
        "name", description="name: last in natural order; time: latest time in the name; column: largest value"
    )
    column: str | None = Field(None, min_length=1, description="Column for by = column")
    max_age: str | None = Field(
        None,
        pattern=r"^\d+(\.\d+)? ?[hd]$",
        description="Greatest age of the newest candidate by its date, such as 36h or 2d",
    )

    @model_validator(mode="after")
    def _column_where_needed(self) -> Self:
        if (self.column is None) == (self.by == "column"):
            raise ValueError(f"column: {self.column!r} is not valid; expected it with by = 'column', and only then")
        return self


_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: [A-Z]+)*(?![\w-])")
_DIRECTION = re.compile(r"--(higher|lower)-is-better (?!NAME)('[^']*'|\S+?)(?=[,;.]? |$)")


def in_keys(message: str) -> str:
    """Replace the options in a reader's message by the keys of a study file.

    >>> in_keys("expected --higher-is-better NAME, or --unscored drop")
    'expected columns.higher_is_better, or unscored drop'
    """
    message = _DIRECTION.sub(lambda value: f"columns.{value[1]}_is_better = [{value[2].strip(chr(39))!r}]", message)
    tables: dict[str, type[Strict]] = {"": RegressionStudy, "columns.": ColumnNames, "rule.": Thresholds}

    def key(option: re.Match[str]) -> str:
        name = {"measure": "measures", "slice": "slices"}.get(option[1], option[1].replace("-", "_"))
        return next((table + name for table, model in tables.items() if name in model.model_fields), option[0])

    return _OPTION.sub(key, message)


def _bar(name: str) -> PlainValidator:
    return PlainValidator(
        lambda value: None if value is None else as_bar(value, name, units=False),
        json_schema_input_type=float | str | None,
    )


class RegressionStudy(Study):
    """A study file of ``kind = "regression"``."""

    question: ClassVar[str] = "is the newest candidate worse than the baseline, anywhere?"

    kind: Literal["regression"]
    baseline: str = Field("", description="File of predictions, or a pattern whose newest match is used")
    at_least: Annotated[float | None, _bar("at_least")] = Field(
        None, description="Lowest acceptable value (0.9 or 90%), in place of a baseline"
    )
    at_most: Annotated[float | None, _bar("at_most")] = Field(
        None, description="Highest acceptable cost or error, in place of a baseline"
    )
    candidate: str = Field(min_length=1, description="File of predictions, or a pattern whose newest match is used")
    measures: list[str] | None = Field(
        min_length=1,
        default_factory=lambda: ["accuracy"],
        description="Measures, or MODULE:FUNCTION of an allowed package",
    )
    slices: list[str] = Field(default_factory=list, description="Columns whose values are slices")
    group: str | None = Field(None, description="Column of groups; rows of one group are dependent")
    weights: str | None = Field(None, description="Column of weights: the population rows that each row represents")
    positive: str | None = Field(None, description="Class whose probability the scores are")
    score_range: list[float] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="Lowest and highest possible score, if neither log nor name states them",
    )
    unmatched: Literal["refuse", "drop"] = Field("refuse", description="Action for rows that only one file contains")
    unscored: Literal["refuse", "drop", "wrong"] = Field("refuse", description="Action for failed or unscored answers")
    duplicates: Literal["refuse", "first", "last", "all"] | None = Field(
        None, description="Action for repeated ids; all: several answers to one item"
    )
    allow_different_tasks: bool = Field(False, description="Whether tasks, scores or questions of logs may differ")
    fail_on: Literal["fail", "inconclusive"] = Field("fail", description="Mildest verdict with exit code 1")
    columns: ColumnNames = Field(default_factory=ColumnNames, description="Names of the columns")
    newest: Newest = Field(Newest(), description="How the newest match of a pattern is chosen")
    rule: Thresholds = Field(Thresholds(), description="What counts as a regression")
    looks: Looks = Field(Looks(), description="How the level is shared among looks")

    @field_validator("measures", mode="after")
    @classmethod
    def _known_once(cls, measures: list[str] | None) -> list[str] | None:
        with rephrased(lambda text: text.removeprefix("measures: ")):
            as_compared_measures([name for name in measures or () if not is_path(name)] or "accuracy")
        return measures

    @property
    def bar(self) -> float | None:
        """The value that a single model has to reach; None with a baseline."""
        return self.at_most if self.at_least is None else self.at_least

    @model_validator(mode="after")
    def _keys_that_go_together(self) -> Self:
        if self.looks.run_length is not None and self.adjust not in ("holm", "none"):
            raise ValueError(f"adjust: {self.adjust!r} is not valid with looks.run_length; use holm or none")
        given = [name for name in ("baseline", "at_least", "at_most") if getattr(self, name) not in ("", None)]
        if len(given) != 1:
            raise ValueError(f"baseline: give one of baseline, at_least, at_most, not {' and '.join(given) or 'none'}")
        used = {"confidence", "smallest_slice", "unseen_group"}
        rule, usual = (table.model_dump(exclude=used) for table in (self.rule, Thresholds()))
        if self.looks.rows == "fresh" and rule["gaps"]:
            raise ValueError("rule.gaps: is not valid with looks.rows = 'fresh'; remove one of them")
        unused = [f"rule.{key}" for key in rule if rule[key] != usual[key]]
        unused += ["columns.score, of several,"] * (len(self.columns.scores) > 1)
        if self.bar is not None and unused:
            raise ValueError(f"{min(unused)} is not valid with {given[0]}; remove it, or give a baseline")
        return self

    def rule_at(self, level: float) -> ComparisonRule:
        """Return the rule of a look that has `level`."""
        settings = {**self.rule.model_dump(), "alpha": level, "adjust": self.adjust, "seed": self.seed}
        if self.bar is not None:
            settings |= dict.fromkeys(("minimum_effect", "margin", "relative_effect", "relative_margin"), 0.0)
        return ComparisonRule(**{field.name: settings[key_of(field)] for field in fields(ComparisonRule)})
