"""The work of the fan-outs of calibration studies: everything that replicates depend on, except the seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from sigstats.measures.measure import Measure, as_measure
from sigstats.measures.own import is_path
from sigstats.measures.table import OwnMeasure

from ..own_code import allowed_measure
from ..record import FLAT, Learner, Named, Permuted, Record, Scheme, Side, Split, TwoViews, Work
from ..statistical_tests.joint_outcomes import of_two_classes
from .population import Population


class Counted(Work):
    """Work of ``count``."""

    files: Named
    positive: int | str | None
    #: Hash of properties that change if a file is written again.
    written: str | None = None


class TrainingSet(Work):
    """The data that classifiers are trained on, either a data set or documents, and its split."""

    dataset: Named | None = None
    documents: Named | None = None
    split: Split

    @property
    def n(self) -> int:
        """The number of training rows."""
        return self.split.train

    @property
    def data(self) -> Named:
        """The name and digest of the stored data."""
        named = self.dataset or self.documents
        assert named is not None
        return named


class TrainedPair(TrainingSet):
    """Work that trains two classifiers, ``a`` and ``b``."""

    a: Learner
    b: Learner

    def side(self, side: Side) -> Learner:
        """Return one of the two classifiers."""
        return self.a if side == "a" else self.b


class Predicted(TrainedPair):
    """Work of ``predict``."""

    #: The labels that form the positive class.
    positive: tuple[str, ...]


class Categorised(TrainedPair):
    """Work of ``categorise``."""

    categories: tuple[str, ...]
    #: Name of the set of categories, if parameters are chosen.
    set: str | None = None


class Tuned(TrainingSet):
    """Work of ``tune``."""

    categories: tuple[str, ...]
    side: Side
    classifier: Learner


class Source(Record):
    """A cell whose replicates are the outcomes of a population."""

    fanout: str
    subject: Mapping[str, str]
    work: Counted | Predicted | Categorised
    seed: int
    replicates: int


class Computed(Record):
    """A population that another cell computes."""

    #: True if the outputs of A and B are exchanged in each row with probability 1/2, so that neither is better.
    swapped: bool
    outcomes_of: Source


class Events(Record):
    """A population of joint events in the store."""

    swapped: bool
    events: Named
    endless: bool = False


class ScoredRows(Record):
    """A population of scored rows in the store."""

    swapped: bool
    scores: Named


class AppliedTest(Record):
    """A test that is applied to samples of a population."""

    #: The name of the test.
    test: str
    #: The compared measure, if the test can compare several.
    measure: str | None = None
    #: Identities of the code of a test, and of a measure, from another package.
    code: Mapping[str, str] | None = None
    measure_code: Mapping[str, str] | None = None
    #: The other arguments of the test.
    options: Mapping[str, Any] = field(default_factory=dict, metadata=FLAT)

    @property
    def compared(self) -> str:
        """The compared measure; accuracy by default."""
        return allowed_measure(self.measure or "accuracy")


def measure_of(test: AppliedTest) -> Measure:
    """Return the measure by which a test compares two classifiers."""
    if test.test == "dcf":
        return as_measure("dcf", **{key: test.options[key] for key in ("cost_fn", "cost_fp", "prior")})
    compared = test.compared
    return of_two_classes(compared) if isinstance(compared, OwnMeasure) else as_measure(compared)


def measure_name(test: AppliedTest) -> str:
    """Return the name of a test's measure, without importing other packages."""
    return str(test.measure) if is_path(test.measure) else measure_of(test).name


@dataclass(frozen=True)
class Estimate:
    """The interval of a method on one test set."""

    #: The ends are NaN if the method refuses the test set.
    estimate: float
    low: float
    high: float
    #: The standard error that the method states, or NaN if the ends are NaN.
    standard_error: float
    #: True if the measure is 0/0 on the test set, which is taken as 0.
    undefined: bool


class Described(Record):
    """A fully described population that draws test sets and applies its own test to them.

    Each subclass is in a file of `populations` that `sigstats.tasks.calibration.subsample` imports. If the test is an
    interval, implement `truth` and `run_interval`; otherwise implement `null_holds` and `run_test`.
    """

    swapped: ClassVar[bool] = False
    #: Name of the test, unit of sizes, and description of the hypothesis if it is not a measure of two classifiers.
    TEST: ClassVar[str]
    UNIT: ClassVar[str] = "row"
    ABOUT: ClassVar[str] = ""

    @property
    def in_words(self) -> str:
        """Description of the rows for reports."""
        return "endless, drawn independently"

    def fits(self, test: AppliedTest, /) -> bool:  # noqa: ARG002
        """Return True if the test can be applied to these rows."""
        return True

    def draw(self, n: int, rng: np.random.Generator, size: int, /) -> Any:
        """Draw `size` test sets of n rows."""
        return [self.sample(n, rng) for _ in range(size)]

    def sample(self, n: int, rng: np.random.Generator, /) -> Any:
        """Draw one test set."""
        raise NotImplementedError

    def rows_of(self, test_set: Any, /) -> dict[str, Any]:
        """Return the columns of the rows of one test set."""
        raise NotImplementedError

    def truth(self, measure: str, /) -> float:
        """Return the true difference B - A."""
        raise NotImplementedError

    def run_interval(self, test: AppliedTest, test_set: Any, rng: np.random.Generator, /) -> Estimate:
        """Return the interval on one test set."""
        raise NotImplementedError

    def null_holds(self, test: AppliedTest, /) -> bool:
        """Return True if the null hypothesis of a test is true."""
        raise NotImplementedError

    def run_test(self, test: AppliedTest, test_sets: Any, rng: np.random.Generator, /) -> Any:
        """Return the `Answers` of a test on all test sets of a lane."""
        raise NotImplementedError


#: Populations from which test sets are drawn.
DrawnFrom: TypeAlias = Population | Computed | Events | ScoredRows | Described


class Tested(Work):
    """A test on samples of a population."""

    #: The number of rows of a sample.
    n: int
    test: AppliedTest
    #: The values of the grid from which the population was made.
    factors: Mapping[str, float] | None = None


class OnTestSets(Tested):
    """Work of ``subsample``, ``interval`` and ``own-test``."""

    population: DrawnFrom

    @property
    def endless(self) -> bool:
        """True if test sets are drawn from the infinite population with the frequencies of the counted rows."""
        return isinstance(self.population, Population | Events) and self.population.endless


class Tallied(OnTestSets):
    """Work of ``tally``."""

    #: The level at which rejections are counted.
    alpha: float


class OnSamples(Work):
    """Work of ``cross-validate``."""

    population: TwoViews
    n: int
    learner: Learner
    scheme: Scheme
    permutation: Permuted | None = None


class Samples(Record):
    """The subject, seed and replicates of a cross-validation."""

    dataset: str
    slice: str
    seed: int
    replicates: int


class OfFolds(Tested):
    """Work of ``fold-test``."""

    population: TwoViews
    learner: Learner
    scheme: Scheme
    of: Samples
