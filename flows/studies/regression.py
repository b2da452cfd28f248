"""The regression study: whether the newest candidate is worse than the baseline, on any measure or slice.

Run again and again, by hand or on a schedule, it keeps a history. It has no cells: `sigstats.flows.regression.evaluate`
evaluates it in this process, in about the time that reading the two files takes.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, create_model, field_validator, model_validator

from sigstats.sequential.alpha_spending import Spending

from ..comparison.compare import MEASURES, SCORE_MEASURES, Rule
from ..config.study import Strict, Study

if TYPE_CHECKING:
    Thresholds = Rule
else:
    # Seed, level and adjustment stand at the top of a study file.
    Thresholds = create_model(
        "Thresholds",
        __base__=Strict,
        __doc__="What counts as a regression.",
        **{
            name: (field.annotation, field)
            for name, field in Rule.model_fields.items()
            if name not in Study.model_fields
        },
    )


class ColumnNames(Strict):
    """What the columns of the files are called."""

    id: Annotated[str, Field(min_length=1, description="What the rows are joined by")] = "id"
    label: Annotated[str, Field(min_length=1, description="The true class")] = "label"
    prediction: Annotated[str, Field(min_length=1, description="The predicted class")] = "prediction"
    score: Annotated[
        str | None, Field(min_length=1, description="A number a row: the probability of the positive class, a mark ...")
    ] = None


class Looks(Strict):
    """How the level is shared among the candidates that the same rows judge."""

    spending: Annotated[
        Spending,
        Field(description="each: every look has the whole level; series: it lasts for ever; others: `planned`"),
    ] = "each"
    planned: Annotated[int | None, Field(ge=1, le=10**6, description="How many looks there will be")] = None

    @model_validator(mode="after")
    def _planned_where_needed(self) -> Self:
        if self.planned is None and self.spending not in ("each", "series"):
            raise ValueError(
                f"planned is missing; expected how many looks there will be, for the spending {self.spending}"
            )
        return self


class RegressionStudy(Study):
    """What a study file of ``kind = "regression"`` may say."""

    question: ClassVar[str] = "is the newest candidate worse than the baseline, anywhere?"

    kind: Literal["regression"]
    baseline: Annotated[str, Field(min_length=1, description="A file of predictions, or a pattern: its newest match")]
    candidate: Annotated[str, Field(min_length=1, description="A file of predictions, or a pattern: its newest match")]
    measures: Annotated[
        list[str], Field(min_length=1, default_factory=lambda: ["accuracy"], description="What is compared")
    ]
    slices: Annotated[
        list[str], Field(default_factory=list, description="Columns of which each value is compared on its own")
    ]
    group: Annotated[str | None, Field(description="A column: rows of one group are not independent")] = None
    positive: Annotated[str | None, Field(description="The class whose probability the scores are")] = None
    unmatched: Annotated[
        Literal["refuse", "drop"], Field(description="What becomes of rows that one file alone has")
    ] = "refuse"
    columns: Annotated[ColumnNames, Field(description="The names of the columns")] = ColumnNames()
    rule: Annotated[Thresholds, Field(description="What counts as a regression")] = Thresholds()
    looks: Annotated[Looks, Field(description="How the level is shared among candidates")] = Looks()

    @field_validator("measures", mode="after")
    @classmethod
    def _known_once(cls, measures: list[str]) -> list[str]:
        for name in measures:
            if name not in (*MEASURES, *SCORE_MEASURES):
                known = ", ".join((*MEASURES, *SCORE_MEASURES))
                raise ValueError(f"{name!r} is not valid; expected one of {known}")
            if measures.count(name) > 1:
                raise ValueError(f"{name!r} is there twice; expected each measure once")
        return measures

    def rule_at(self, level: float) -> Rule:
        """The rule of a look that has `level`."""
        return Rule(**{**self.rule.model_dump(), "alpha": level, "adjust": self.adjust, "seed": self.seed})
