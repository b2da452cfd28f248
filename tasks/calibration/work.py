"""The work of the fan-outs of calibration studies: everything that replicates depend on, except the seed."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, TypeAlias

from ..record import FLAT, Learner, Named, Permuted, Record, Scheme, Side, Split, TwoViews, Work


class Counted(Work):
    """Work of ``count``."""

    files: Named
    positive: int | str | None
    #: What changes when a file is written anew.
    written: str | None = None


class TrainingSet(Work):
    """The data that classifiers are trained on, one of the two, and how it is split."""

    dataset: Named | None = None
    documents: Named | None = None
    split: Split

    @property
    def n(self) -> int:
        """The number of rows that are trained on."""
        return self.split.train

    @property
    def data(self) -> Named:
        """The kind of the stored data."""
        named = self.dataset or self.documents
        assert named is not None
        return named


class TrainedPair(TrainingSet):
    """Two classifiers that are trained."""

    a: Learner
    b: Learner

    def side(self, side: Side) -> Learner:
        """One of the two."""
        return self.a if side == "a" else self.b


class Predicted(TrainedPair):
    """Work of ``predict``."""

    #: The labels that are positive together.
    positive: tuple[str, ...]


class Categorised(TrainedPair):
    """Work of ``categorise``."""

    categories: tuple[str, ...]
    #: What the categories are called, where parameters are chosen.
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


class Swappable(Record):
    """A population from which test sets are drawn."""

    #: Whether the outputs of A and B are exchanged in each row with probability 1/2, so that neither is better.
    swapped: bool


class Outcomes(Swappable):
    """The values of a `sigstats.tasks.calibration.populations.population.Population`."""

    outcomes: tuple[float, ...]
    endless: bool


class Computed(Swappable):
    """A population that another cell computes."""

    outcomes_of: Source


class Events(Swappable):
    """A population of joint events in the store."""

    events: Named
    endless: bool = False


class ScoredRows(Swappable):
    """A population of scored rows in the store."""

    scores: Named


class Described(Record):
    """A fully described population; `sigstats.tasks.calibration.subsample` names its module."""

    swapped: ClassVar[bool] = False


class JudgedRows(Described):
    """A population of rows that a judge sees, and people in part (`sigstats.tasks.calibration.populations.judged`)."""

    #: How many the judge sees.
    rows: int
    #: Of A and of B: the mean of what people say, and how often the judge calls right and wrong what they do.
    accuracy: tuple[float, ...]
    sensitivity: tuple[float, ...]
    specificity: tuple[float, ...]
    #: The rows of an item.
    answers: int = 1
    #: The highest mark.
    marks: int = 1
    #: The share of items to which both models give the same answer.
    same: float = 0.0


class Kinds(Described):
    """A population of a few kinds of rows (`calibration.populations.kinds`), with a value for each kind."""

    shares: tuple[float, ...]
    labels: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    #: The number of rows in a group, all of one kind; and by how many times the groups of each kind are larger.
    group: int = 1
    times: tuple[int, ...] = ()


class TaskRows(Described):
    """A population of rows of several tasks (`calibration.populations.task_rows`), with a value for each task."""

    #: Its share of all rows.
    shares: tuple[float, ...]
    #: The share of its rows that one model alone gets right.
    discordant: tuple[float, ...]
    #: How much worse B is on it, from -1 to 1.
    worse: tuple[float, ...]
    #: By how many standard errors B is worse on all rows of those tasks on which it is worse.
    errors: float = 3.0


class Votes(Described):
    """A population of votes between two models (`sigstats.tasks.calibration.populations.votes`)."""

    #: The strength of each model, in log odds.
    strengths: tuple[float, ...]
    voters: int
    items: int
    #: The standard deviations of what a voter, and what an item, adds to the strength of each model.
    voter_sd: float = 0.0
    item_sd: float = 0.0
    #: The share of ties.
    ties: float = 0.0
    #: The share of voters who nearly always vote for the later model, against the others' small preference.
    dissenters: float = 0.0


#: What test sets are drawn from.
DrawnFrom: TypeAlias = Outcomes | Computed | Events | ScoredRows | JudgedRows | Kinds | TaskRows | Votes


class AppliedTest(Record):
    """A test as it is applied to samples of a population."""

    #: Its name.
    test: str
    #: The measure that is compared, if it is one of several.
    measure: str | None = None
    #: What identifies the code of another package: that of the test, and that of the measure.
    code: Mapping[str, str] | None = None
    measure_code: Mapping[str, str] | None = None
    #: The arguments that it is called with besides.
    options: Mapping[str, Any] = field(default_factory=dict, metadata=FLAT)

    @property
    def compared(self) -> str:
        """The compared measure; by default that of right and wrong answers."""
        return self.measure or "accuracy"


class Tested(Work):
    """A test on samples of a population."""

    #: The rows of a sample.
    n: int
    test: AppliedTest
    #: The values of a grid that the population was made of.
    factors: Mapping[str, float] | None = None


class OnTestSets(Tested):
    """Work of ``subsample``, ``interval`` and ``own-test``."""

    population: DrawnFrom


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
