"""Populations that a study file describes fully.

Two classifiers, Sturm's two systems, and two views of normal classes, all with known parameters; rows by kinds, in
time, judged, or of tasks; and votes.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from sigstats._common.validation import refuse
from sigstats.tasks.calibration import work
from sigstats.tasks.calibration.population import Population, random_classifiers
from sigstats.tasks.calibration.populations import judged, series, task_rows, votes
from sigstats.tasks.calibration.populations import kinds as row_kinds
from sigstats.tasks.record import Learner, Scheme, TwoViews, record

from ...config.model import Options, Strict
from . import PopulationSource, PopulationSpec, Retrained, counted_population

Share = Annotated[float, Field(gt=0, lt=1)]
Probability = Annotated[float, Field(gt=0, le=1)]

#: Factors, from the outside of a nested-loop plot to its inside.
FACTORS = ("recall", "precision", "dependence", "difference", "prevalence")


class Simulated(PopulationSource):
    """Two classifiers of two classes with given joint probabilities; lists are combined."""

    source: Literal["simulated"]
    prevalence: list[Share] = Field(min_length=1, description="Shares of truly positive rows")
    recall: list[Probability] = Field(min_length=1, description="Recall of A")
    precision: list[Probability] = Field(min_length=1, description="Precision of A")
    difference: list[Annotated[float, Field(gt=-1, lt=1)]] = Field(
        min_length=1, default=[0.0], description="Advantage of B in recall and precision"
    )
    dependence: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        min_length=1, default=[0.5], description="Dependence of their errors: 0 independent, 1 as dependent as possible"
    )

    def populations(self) -> Iterator[PopulationSpec]:
        """Yield one population for each combination."""
        lists = {name: getattr(self, name) for name in FACTORS}
        varied = [name for name in FACTORS if len(lists[name]) > 1]
        for values in product(*lists.values()):
            factors = dict(zip(lists, values, strict=True))
            label = ", ".join(f"{name} = {factors[name]:g}" for name in varied) or None
            spec = counted_population(label, two_classifiers(**factors))
            yield replace(spec, factors=factors)


def two_classifiers(
    *, prevalence: float, recall: float, precision: float, difference: float, dependence: float
) -> Population:
    """Return the infinite population of two classifiers.

    `prevalence`: the share of rows that are truly positive.
    `recall` and `precision`: those of A.
    `difference`: the increase of both for B; the difference of F1 if recall and precision are equal.
    `dependence`: the coincidence of the errors in each class: from 0, independent, to 1, where the rarer error of the
    two never occurs without the other.
    """
    recalls, precisions = (recall, recall + difference), (precision, precision + difference)
    for name, values in (("recall", recalls), ("precision", precisions)):
        if not (0 < values[0] <= 1 and 0 < values[1] <= 1):
            raise refuse(f"{name}, difference", values, "both above 0 and at most 1")
    alarms = [prevalence * r * (1 / p - 1) / (1 - prevalence) for r, p in zip(recalls, precisions, strict=True)]
    if max(alarms) > 1:
        negatives = 1 - prevalence
        wanted = f"at most {negatives:g} of all rows as false positives, not {max(alarms) * negatives:g}"
        raise refuse("prevalence, recall, precision", (prevalence, recall, precision), wanted)
    right, b_alone, a_alone, wrong = _joint(1 - recalls[0], 1 - recalls[1], dependence)
    clear, b_clear, a_clear, alarm = _joint(alarms[0], alarms[1], dependence)
    positive = (prevalence * value for value in (right, b_alone, a_alone, wrong))
    negative = ((1 - prevalence) * value for value in (alarm, a_clear, b_clear, clear))
    return Population(outcomes=(*positive, *negative), endless=True)


def _joint(a: float, b: float, dependence: float) -> tuple[float, float, float, float]:
    """Return the probabilities that both, only B, only A and neither are right, for errors of probability a and b."""
    both = (1 - dependence) * a * b + dependence * min(a, b)
    return 1 - a - b + both, a - both, b - both, both


class Sturm(PopulationSource):
    """Two simulated systems: I is random; II is right on a share of rows and random elsewhere."""

    source: Literal["sturm"]
    classes: int = Field(10, ge=2, le=10**6, description="Number of equally likely classes")
    right: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        min_length=1, description="Shares r of rows on which system II is right by design"
    )

    def populations(self) -> Iterator[PopulationSpec]:
        """Yield one population for each r."""
        for r in self.right:
            yield counted_population(f"r = {100 * r:g}%", random_classifiers(self.classes, r))


Distance = Annotated[float, Field(ge=0, le=100)]


class CrossValidated(PopulationSource):
    """One learner on two disjoint sets of features of two normal classes, cross-validated on each sample."""

    source: Literal["cross-validated"]
    learner: str = Field(
        "naive-bayes", min_length=1, description="Ready learner, or import path of a scikit-learn classifier"
    )
    params: Options = Field(default_factory=dict, description="Parameters of the classifier")
    features: int = Field(5, ge=1, le=1000, description="Features of A; B sees as many others")
    separation: list[Distance] = Field(
        min_length=1,
        description="Distance of the class means for A in standard deviations; the best accuracy is "
        "Phi(separation / 2)",
    )
    difference: list[Distance] = Field(min_length=1, default=[0.0], description="Additional distance for B")
    folds: int = Field(10, ge=2, le=1000, description="Number of stratified folds")
    repeats: list[Annotated[int, Field(ge=1, le=1000)]] = Field(
        min_length=1, default=[1], description="Repetitions of the cross-validation"
    )

    def populations(self) -> Iterator[PopulationSpec]:
        """Yield one population for each separation, difference and number of repetitions."""
        from sigstats.learners import build  # slow to import, for studies that train nothing too

        build(self.learner, params=self.params, missing=False)  # refuses an unknown learner or parameter
        learner = Learner(learner=self.learner, params=self.params)
        for separation, difference, repeats in product(self.separation, self.difference, self.repeats):
            rows = f"separation = {separation:g}, difference = {difference:g}"
            yield PopulationSpec(
                slice=f"{rows}, {repeats} x {self.folds} folds",
                values=TwoViews(features=self.features, separation=separation, difference=difference),
                rows=None,
                factors={"separation": separation, "difference": difference, "repeats": repeats},
                retrained=Retrained(rows=rows, learner=learner, scheme=Scheme(folds=self.folds, repeats=repeats)),
            )


Output = str | int | float


class Described(PopulationSource):
    """A source of one population, which its options describe."""

    WORK: ClassVar[type[work.Described]]

    def populations(self) -> list[PopulationSpec]:
        """Return one population."""
        values = self.values()
        rows = values.rows if isinstance(values, judged.JudgedRows) else None
        return [PopulationSpec(slice=None, values=values, rows=rows)]

    def values(self) -> work.Described:
        """Return the description in the work of a cell."""
        return record(self.WORK, self.model_dump(exclude={"source", "name"}))


class Kind(Strict):
    """A kind of row: the truth and the outputs of A and B."""

    share: float = Field(gt=0, le=1, description="Share of the rows, or of the groups")
    label: str | int = Field("", description="True class (0 or 1 if there are two); none for marks")
    a: Output = Field(description="Output of A: class, probability of class 1, or mark from 0 to 1")
    b: Output = Field(description="Output of B")
    times: int = Field(1, ge=1, le=10**6, description="Size of such a group as a multiple of `group`")


class Kinds(Described):
    """Independent rows of a few kinds, with classes, probabilities of class 1, or marks from 0 to 1."""

    source: Literal["kinds"]
    kinds: list[Kind] = Field(min_length=2, description="Kinds of rows; shares add up to 1")
    group: int = Field(1, ge=1, le=10**6, description="Rows per group, all of one kind; sizes are multiples of it")

    @model_validator(mode="after")
    def _whole(self) -> "Kinds":
        total = math.fsum(kind.share for kind in self.kinds)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"kinds: shares of {total:.9g} in all are not valid; expected 1")
        return self

    def values(self) -> row_kinds.Kinds:
        """Return the kinds as columns of values."""
        times = tuple(kind.times for kind in self.kinds)
        return row_kinds.Kinds(
            shares=tuple(kind.share for kind in self.kinds),
            labels=tuple(str(kind.label) for kind in self.kinds),
            a=tuple(str(kind.a) for kind in self.kinds),
            b=tuple(str(kind.b) for kind in self.kinds),
            group=self.group,
            times=() if {*times} == {1} else times,
        )


#: A value for A and one for B, both between 0 and 1.
OnePerModel: TypeAlias = Annotated[list[Annotated[float, Field(gt=0, lt=1)]], Field(min_length=2, max_length=2)]


class Judged(Described):
    """Two models, judged on all rows; people label as many rows as `sizes` states."""

    WORK: ClassVar[type[work.Described]] = judged.JudgedRows

    source: Literal["judged"]
    rows: int = Field(2000, ge=2, le=10**6, description="Rows that the judge sees")
    accuracy: OnePerModel = Field(description="Accuracies of A and B as people see them; means of marks")
    sensitivity: OnePerModel = Field(description="Share of right answers of A and B that the judge calls right")
    specificity: OnePerModel = Field(description="Share of wrong answers of A and B that the judge calls wrong")
    answers: int = Field(1, ge=1, le=1000, description="Dependent answers per item")
    marks: int = Field(1, ge=1, le=1000, description="Highest mark (the lowest is 0); 1 means right or wrong")
    same: float = Field(0.0, ge=0, lt=1, description="Share of items on which B gives the answer of A")


Shares = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=1000)]


class Tasks(Described):
    """Two models on several tasks, on some of which B is worse."""

    WORK: ClassVar[type[work.Described]] = task_rows.TaskRows

    source: Literal["tasks"]
    shares: Shares = Field(description="Relative numbers of rows of the tasks")
    discordant: list[Annotated[float, Field(ge=0, le=1)]] = Field(description="Share of discordant rows of each task")
    worse: list[Annotated[float, Field(ge=-1, le=1)]] = Field(
        description="Relative loss of B on each task; negative if it is better"
    )
    errors: float = Field(
        3.0, gt=0, le=100, description="Size of the loss in standard errors, on all rows of the tasks where B is worse"
    )

    @model_validator(mode="after")
    def _of_each(self) -> "Tasks":
        for name in ("discordant", "worse"):
            if len(getattr(self, name)) != len(self.shares):
                raise ValueError(
                    f"{name}: {len(getattr(self, name))} values are not valid; expected {len(self.shares)}, as shares"
                )
        return self


class TimeSeries(Described):
    """Scores of two models, ordered in time; the differences of rows have variance 1."""

    WORK: ClassVar[type[work.Described]] = series.Series

    source: Literal["time-series"]
    correlation: float = Field(gt=-1, lt=1, description="Autocorrelation of the differences of neighbouring rows")
    difference: float = Field(0.0, ge=-10, le=10, description="Mean score of B minus that of A")


Spread = Annotated[float, Field(ge=0, le=10)]


class Votes(Described):
    """Votes between two of several models of known strengths; `sizes` counts votes."""

    WORK: ClassVar[type[work.Described]] = votes.Votes

    source: Literal["votes"]
    strengths: list[Annotated[float, Field(ge=-20, le=20)]] = Field(
        min_length=2, max_length=1000, description="Strength of each model; differences are log odds"
    )
    voters: int = Field(40, ge=2, le=10**6, description="Number of voters")
    items: int = Field(80, ge=2, le=10**6, description="Number of items")
    voter_sd: Spread = Field(0.0, description="Standard deviation of voters' effects on strengths")
    item_sd: Spread = Field(0.0, description="Standard deviation of items' effects on strengths")
    ties: float = Field(0.0, ge=0, lt=1, description="Share of ties")
    dissenters: float = Field(
        0.0, ge=0, le=0.5, description="Share of voters who prefer the later model with 95%; the others balance them"
    )
