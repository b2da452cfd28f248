"""The model of a calibration study's file."""

import math
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, ValidationInfo, field_validator, model_validator

from sigstats._common.validation import refuse
from sigstats.tasks.calibration.rejections import LANE_SIZE

from ..config.model import DataStudy, Strict, each_once
from ..config.settings import PrintedNumber
from .populations.described import CrossValidated, Judged, Kinds, Simulated, Sturm, Tasks, TimeSeries, Votes
from .populations.rows import Parquet, Scores, Trained
from .tests import Test, label_of

#: Any source of populations, as a study file describes it.
Source: TypeAlias = Annotated[
    CrossValidated | Judged | Kinds | Parquet | Scores | Simulated | Sturm | Tasks | TimeSeries | Trained | Votes,
    Field(discriminator="source"),
]
#: The largest number of test sets that are stored with one row per test set.
_MOST_ROWS = 10**8


class PublishedSize(Strict):
    """Published number of rows from which a test rejects more often than not."""

    population: str = Field(description="Name of the population")
    slice: str | None = Field(None, description="Slice of the population, as in the results")
    test: str = Field(description="Name of the McNemar test in the results")
    rows: PrintedNumber = Field(description="Printed number of rows, as text")
    remark: str = Field("", description="Remark, shown if the numbers disagree")


class CalibrationStudy(DataStudy):
    """A study file of ``kind = "calibration"``."""

    question: ClassVar[str] = "can these tests be trusted at this sample size?"

    kind: Literal["calibration"]
    populations: list[Source] = Field(min_length=1, description="Populations from which test sets are drawn")
    tests: list[Test] = Field(min_length=1, description="Tests applied to each test set: names or tables")
    sizes: list[Annotated[int, Field(ge=1, le=10**7)]] = Field(min_length=1, description="Sizes of test sets, in rows")
    trials: int = Field(1000, ge=1, le=10**10, description="Test sets per size and population")
    rates_only: bool = Field(
        False, description="Store counts of rejections and no p-values; needed above 100,000,000 trials"
    )
    precision: float | None = Field(
        None,
        ge=1e-4,
        le=0.25,
        description="Draw test sets until the Monte-Carlo standard error of each rate is at most "
        "this; `trials` is then the maximum",
    )
    max_errors: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="End a cell after this many rejections, or misses of an interval; `trials` is then the maximum",
    )
    performance: bool | None = Field(
        None,
        description="Whether to report size-adjusted power and the coverage and width of intervals; "
        "by default if there are intervals or retrained learners",
    )
    published: list[PublishedSize] = Field(
        default_factory=list, description="Published numbers of rows, shown next to the exact ones"
    )

    @property
    def most_trials(self) -> int:
        """The number of test sets; if a precision is given, the largest number."""
        if self.precision is None or "trials" in self.model_fields_set:
            return self.trials
        return math.ceil(0.25 / self.precision**2 - 1e-9)

    @property
    def stopping(self) -> dict[str, Any] | None:
        """The rule by which a cell ends before all of its test sets are drawn."""
        ends = {"error": self.precision, "exceedances": self.max_errors}
        given = {name: value for name, value in ends.items() if value is not None}
        looks = {"every": LANE_SIZE} if self.rates_only else {}
        return {"rule": "precision", "alpha": self.alpha, **given, **looks} if given else None

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.trials > _MOST_ROWS and not self.rates_only:
            raise refuse("trials", self.trials, f"at most {_MOST_ROWS:,} without rates_only = true")
        if self.max_errors is not None and self.precision is None and "trials" not in self.model_fields_set:
            raise ValueError("trials: is missing; max_errors needs the greatest number of test sets")
        if self.performance and self.rates_only:
            raise ValueError("performance: true is not valid; rates_only stores no p-values")
        return self

    @field_validator("tests", mode="before")
    @classmethod
    def _named(cls, tests: Any) -> Any:
        if not isinstance(tests, list):
            return tests
        return [{"test": test} if isinstance(test, str) else test for test in tests]

    @field_validator("sizes", "tests", "populations", mode="after")
    @classmethod
    def _once(cls, items: list[Any], info: ValidationInfo) -> list[Any]:
        names = [label_of(item) if info.field_name == "tests" else getattr(item, "name", item) for item in items]
        each_once(names, str(info.field_name)[:-1])
        return items
