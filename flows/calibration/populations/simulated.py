"""Infinite populations with known parameters: two classifiers, Sturm's two systems, and two views of normal classes."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Annotated, Literal

from pydantic import Field

from sigstats._common.validation import refuse
from sigstats.tasks.calibration.population import Population, random_classifiers
from sigstats.tasks.record import Learner, Scheme, TwoViews

from ...config.model import Options
from ._source import KnownSource, PopulationSpec, Retrained, counted_population

Share = Annotated[float, Field(gt=0, lt=1)]
Probability = Annotated[float, Field(gt=0, le=1)]

#: Factors, from the outside of a nested-loop plot to its inside.
FACTORS = ("recall", "precision", "dependence", "difference", "prevalence")


class Simulated(KnownSource):
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
        """One population for each combination."""
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
    """The infinite population of two classifiers.

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


class Sturm(KnownSource):
    """Two simulated systems: I is random; II is right on a share of rows and random elsewhere."""

    source: Literal["sturm"]
    classes: int = Field(10, ge=2, le=10**6, description="Number of equally likely classes")
    right: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        min_length=1, description="Shares r of rows on which system II is right by design"
    )

    def populations(self) -> Iterator[PopulationSpec]:
        """One population for each r."""
        for r in self.right:
            yield counted_population(f"r = {100 * r:g}%", random_classifiers(self.classes, r))


Distance = Annotated[float, Field(ge=0, le=100)]


class CrossValidated(KnownSource):
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
        """One population for each separation, difference and number of repetitions."""
        from sigstats.learners import build  # slow to import, for studies that train nothing too

        build(self.learner, params=self.params, missing=False)  # refuses an unknown learner or parameter
        for separation, difference, repeats in product(self.separation, self.difference, self.repeats):
            rows = f"separation = {separation:g}, difference = {difference:g}"
            yield PopulationSpec(
                slice=f"{rows}, {repeats} x {self.folds} folds",
                values=TwoViews(features=self.features, separation=separation, difference=difference),
                rows=None,
                factors={"separation": separation, "difference": difference, "repeats": repeats},
                retrained=Retrained(
                    rows=rows,
                    learner=Learner(learner=self.learner, params=self.params),
                    scheme=Scheme(folds=self.folds, repeats=repeats),
                ),
            )
