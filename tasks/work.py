"""The work of each fan-out: everything that its replicates depend on but the seed, as the JSON that a plan stores."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, final

Null: TypeAlias = Literal["labels", "features"]
Side: TypeAlias = Literal["a", "b"]

#: The two classifiers that are compared.
SIDES: tuple[Side, Side] = ("a", "b")

#: The options of a test, and its name as ``test``.
TestOptions: TypeAlias = Mapping[str, Any]


class Named(TypedDict):
    """Data in the store: a data set, documents, files, or a population."""

    name: str
    digest: str
    #: There if the rows come in groups.
    grouped: NotRequired[bool]


class Learner(TypedDict):
    """A classifier as a study names it."""

    learner: str
    params: Mapping[str, Any]
    #: What identifies the code of another package.
    code: NotRequired[Mapping[str, str]]
    #: The language whose words are stemmed.
    stem: NotRequired[str]
    #: The ``grid`` of parameters to choose from, the ``folds`` and the ``measure``.
    tune: NotRequired[Mapping[str, Any]]


class Folds(TypedDict):
    """A cross-validation; ``folds`` is a number, or what `sigstats.tasks.datasets.folds` has in place of it."""

    folds: Any
    seed: int
    rare_classes: NotRequired[str]
    transforms: NotRequired[Literal["fold", "all"]]


class CrossValidated(TypedDict):
    """Of ``crossval``, ``scores`` and ``repetition``; that of retrains has it too."""

    dataset: Named
    classifier: Learner
    cross_validation: Folds


class Measured(CrossValidated):
    """Of ``measured``."""

    measure: str
    #: The positive class; the second where it is not said.
    positive: NotRequired[int]


class Retrained(CrossValidated):
    """Of ``retrain``."""

    null: Null


class MeasuredRetrain(Measured):
    """Of ``measured-retrain``."""

    null: Null


class TableTested(TypedDict):
    """Of ``replicate`` and ``evaluate``."""

    test: str
    data: Mapping[str, Any]
    #: Of ``evaluate`` alone.
    method: NotRequired[str]


class Counted(TypedDict):
    """Of ``count``."""

    files: Named
    positive: int | str | None
    written: NotRequired[Any]


class Split(TypedDict):
    """How many rows are trained on and tested, and the seed of the order."""

    train: int
    test: int
    seed: int


class TrainingSet(TypedDict):
    """The data that classifiers are trained on, of which there is one, and how it is split."""

    dataset: NotRequired[Named]
    documents: NotRequired[Named]
    split: Split


@final
class Predicted(TrainingSet):
    """Of ``predict``."""

    a: Learner
    b: Learner
    #: The labels that are positive together.
    positive: list[str]


@final
class Categorised(TrainingSet):
    """Of ``categorise``."""

    a: Learner
    b: Learner
    categories: list[str]
    #: What the categories are called, where parameters are chosen.
    set: NotRequired[str]


class Tuned(TrainingSet):
    """Of ``tune``."""

    categories: list[str]
    side: str
    classifier: Learner


class OnTestSets(TypedDict):
    """Of ``subsample``, ``interval`` and ``own-test``."""

    #: What `sigstats.tasks.replicates.subsample.population` makes a population of.
    population: Mapping[str, Any]
    #: The rows of a test set.
    n: int
    test: TestOptions
    #: The values of a grid that the population was made of.
    factors: NotRequired[Mapping[str, float]]


class Scheme(TypedDict):
    """A repeated cross-validation."""

    folds: int
    repeats: int


class Permuted(TypedDict):
    """The permutations of a sample."""

    null: Null
    resamples: int


class OnSamples(TypedDict):
    """Of ``cross-validate``."""

    population: Mapping[str, Any]
    n: int
    learner: Learner
    scheme: Scheme
    permutation: NotRequired[Permuted]


class OfFolds(OnTestSets):
    """Of ``fold-test``."""

    learner: Learner
    scheme: Scheme
    #: The subject, seed and replicates of the cross-validation.
    of: Mapping[str, Any]
