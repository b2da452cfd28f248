"""The tests that a calibration study applies to each test set, as its file describes them."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from sigstats._common.registry import GIVEN
from sigstats._common.validation import Alternative, as_choice, refuse
from sigstats.comparison.measure_names import as_compared_measures
from sigstats.measures.measure import as_measure
from sigstats.measures.own import is_path
from sigstats.measures.table import MEASURES, SCORE_MEASURES
from sigstats.tasks import statistical_tests
from sigstats.tasks.calibration import own_tests
from sigstats.tasks.calibration.populations.series import OfOrder
from sigstats.tasks.record import Null
from sigstats.tasks.statistical_tests import SIDE, Option

from ..config.model import Options, Strict, only
from ..config.settings import Limited

#: The tests that are computed from the counts of a test set, with the names and options of `statistical_tests`.
_OF_RECORDS = {name: test for name in statistical_tests.TESTS if (test := statistical_tests.of_sets(name)) is not None}
#: The name of each test in a report; empty if its method is the name.
_NAMES = {
    **{name: test.name for name, test in _OF_RECORDS.items()},
    "bootstrap": "bootstrap",
    "corrected-t": "corrected t",
    "five-by-two": "5x2cv F",
    "efficiency": "efficiency",
    "homogeneity": "homogeneity",
    "permutation": "permutation",
    "scores": "test of scores",
    "f1-interval": "difference of F1",
    "judged-interval": "",
    "difference-interval": "difference",
    "joint-tasks": "",
    "votes": "preferences",
    "time-series": "equal means",
}

INTERVALS = ("f1-interval", "judged-interval", "difference-interval")

#: Tests that only cross-validated learners can have.
OF_FOLDS = ("corrected-t", "five-by-two", "efficiency", "homogeneity", "permutation")

_TRAINED = "Null hypothesis: trained models have equal expected errors."
#: Descriptions and options of tests that need no check of their own.
_PLAIN: dict[str, tuple[str, dict[str, Option]]] = {
    "bootstrap": (
        "The bootstrap, with an interval of confidence 1 - alpha. Null hypothesis: the measures of A and B are equal.",
        {
            "measure": Option(str, "f1", "Measure of two classes, such as f1, or MODULE:FUNCTION"),
            "method": Option(Literal["percentile", "centred", "bca"], "percentile", "Method of the interval"),
            "resamples": Option(int, 10_000, "Bootstrap replicates per test set", {"ge": 1, "le": 10**6}),
            "alternative": SIDE,
        },
    ),
    "corrected-t": (f"Nadeau and Bengio's t of all folds. {_TRAINED}", {"alternative": SIDE}),
    "five-by-two": (f"Alpaydin's combined 5x2cv F, with its own folds. {_TRAINED}", {}),
    "efficiency": ("Nyssen's test, pooled predictions. Null hypothesis: A predicts independently of the labels.", {}),
    "homogeneity": ("Exact test, pooled predictions. Null hypothesis: A and B predict classes equally often.", {}),
    "permutation": (
        "Ojala and Garriga's tests of A. Null hypothesis: labels are independent of rows, or features within a class.",
        {
            "null": Option(Null, "labels", "labels (PermClass) or features (PermFeats)"),
            "resamples": Option(int, 99, "Permutations per sample", {"ge": 1, "le": 10**6}),
        },
    ),
    "time-series": (
        "Two-sided test of rows ordered in time. Null hypothesis: the mean scores are equal.",
        {"method": Option(OfOrder, "ordered", "mean_score_test with or without order, or compare with order")},
    ),
}


class F1Interval(Strict):
    """An interval of F1 with confidence 1 - alpha, of A or of a difference. Null hypothesis: F1 is the true one."""

    test: Literal["f1-interval"]
    of: Literal["difference", "a"] = Field("difference", description="F1 of B minus F1 of A, or F1 of A")
    method: Literal["wilson", "exact", "mid-p", "jeffreys", "bayesian", "percentile", "centred", "bca"] = Field(
        "wilson", description="Method of the interval; exact, mid-p and jeffreys only for F1 of A"
    )
    resamples: Annotated[
        int,
        Field(ge=1, le=10**6, description="Bootstrap replicates or posterior draws per test set"),
        only("method", "bayesian", "percentile", "centred", "bca"),
    ] = 1_000

    @model_validator(mode="after")
    def _fits_method(self) -> "F1Interval":
        if self.of == "difference" and self.method in ("exact", "mid-p", "jeffreys"):
            raise refuse("method", self.method, "another one for a difference, or of = 'a'")
        return self


class JudgedInterval(Strict):
    """An interval with confidence 1 - alpha of B - A. Null hypothesis: people find this difference of accuracies."""

    test: Literal["judged-interval"]
    method: Literal["judged-test", "labels-alone", "ppi++", "rogan-gladen", "judge-alone"] = Field(
        "judged-test", description="judged_test, people's labels only, the judge only, or a correction of the judge"
    )
    resamples: Annotated[
        int,
        Field(ge=999, le=10**6, description="Random weightings of each test set"),
        only("method", "judged-test", "labels-alone"),
    ] = 2_000


class DifferenceInterval(Strict):
    """An interval with confidence 1 - alpha, on rows of a few kinds. Null hypothesis: B - A is the true difference."""

    test: Literal["difference-interval"]
    measure: Annotated[
        str,
        Field(description="Measure, such as macro-recall, or MODULE:FUNCTION of an allowed package"),
        AfterValidator(lambda name: name if is_path(name) else as_compared_measures(name)[0]),
    ] = "accuracy"
    method: Literal["compare", "usual"] = Field(
        "compare", description="compare: as in a comparison; usual: Student's t, DeLong or bootstrap percentiles"
    )
    resamples: int = Field(1_000, ge=99, le=10**6, description="Random weightings, or bootstrap replicates")

    @field_validator("resamples", mode="after")
    @classmethod
    def _check_resamples(cls, resamples: int, info: ValidationInfo) -> int:
        measure = info.data.get("measure", "ratio")  # missing if it was refused
        default = cls.model_fields["resamples"].default
        if resamples != default and not is_path(measure) and MEASURES[measure].test not in ("counts", "ratios"):
            raise ValueError(f"{resamples} is not valid; no interval of {measure} draws, expected a measure of counts")
        return resamples


class JointTasks(Strict):
    """joint_tasks_test, or a test of Kuebler et al. (2026). Null hypothesis: B is worse than A on no task."""

    test: Literal["joint-tasks"]
    method: Literal[
        "joint-tasks-test", "mean-over-tasks", "any-task", "all-rows", "largest-drop", "fisher", "three-at-a-third"
    ] = Field(
        "joint-tasks-test",
        description="joint_tasks_test, one of its questions, or a test of Kuebler et al. (the last three)",
    )
    resamples: Annotated[
        int,
        Field(ge=99, le=10**6, description="Random draws of each test set"),
        only("method", "joint-tasks-test", "mean-over-tasks", "largest-drop", "three-at-a-third"),
    ] = 999


def _as_text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


class VotesTest(Strict):
    """All preferences by votes. Null hypothesis: of an ordered pair, the first is not expected to win more votes."""

    test: Literal["votes"]
    method: Literal["votes", "voters", "voters-and-items", "overlap"] = Field(
        "votes", description="Votes that rank_votes treats as dependent; or overlapping intervals of scores"
    )
    preference: Annotated[
        Literal["false", "true"],
        BeforeValidator(_as_text, json_schema_input_type=Literal["false", "true", False, True]),
        Field(description="false: rate of false preferences; true: power for the best model over the next"),
    ] = "false"


class Scored(Strict):
    """DeLong's test of areas or Student's t, interval 1 - alpha. Null hypothesis: areas, or mean losses, are equal."""

    test: Literal["scores"]
    measure: Annotated[str, AfterValidator(lambda name: as_choice(name, "measure", list(SCORE_MEASURES)))] = Field(
        "auc", description="Measure", json_schema_extra={"enum": list(SCORE_MEASURES)}
    )
    alternative: Alternative = Field("two-sided", description="greater: A has the greater value; less: B has")


class OwnTest(Limited):
    """A function of labels and two predictions. Null hypothesis: `measure` is equal for A and B."""

    test: str = Field(
        min_length=1,
        description="Import path or entry point of a function of an allowed package",
        json_schema_extra={"not": {"enum": list(_NAMES)}},
    )
    params: Options = Field(default_factory=dict, description="Keyword arguments of the function")
    vectorised: bool = Field(
        False, description="Whether one call takes many test sets, one per row, and returns a p-value for each"
    )
    measure: Annotated[str, AfterValidator(lambda name: name if is_path(name) else as_measure(name).name)] = Field(
        "accuracy", description="Measure that is equal for A and B under the null hypothesis"
    )


def _tag(value: Any) -> str:
    """Return the tag of a table of a study file: ``Own`` if it names a test of another package, otherwise ``Ready``."""
    name = value.get("test") if isinstance(value, dict) else getattr(value, "test", None)
    imported = isinstance(name, str) and name not in _NAMES and ({".", ":"} & set(name) or name in own_tests.named())
    return "Own" if imported else "Ready"


def _model(name: str, title: str, about: str, options: Mapping[str, Option]) -> type[Strict]:
    """Return the table of a test in a study file."""
    fields: dict[str, Any] = {
        key: (Annotated[option.kind, Field(description=option.meaning, **option.bounds)], option.default)
        for key, option in options.items()
    }
    kind: Any = Literal[name]
    return create_model(title, __base__=Strict, __doc__=about, test=(kind, ...), **fields)


def _of_record(name: str, test: statistical_tests.OfSets) -> type[Strict]:
    about = f"{test.title} Null hypothesis: {statistical_tests.named(name).null}."
    return _model(name, test.name[0].upper() + test.name[1:], about, test.options)


_MODELS = (
    *(_of_record(name, test) for name, test in _OF_RECORDS.items()),
    *(_model(name, name.title().replace("-", ""), *described) for name, described in _PLAIN.items()),
    *(Scored, F1Interval, JudgedInterval, DifferenceInterval, JointTasks, VotesTest),
)
if TYPE_CHECKING:
    Test = Strict
else:
    _Ready = Annotated[reduce(or_, _MODELS), Field(discriminator="test")]
    Test = Annotated[Annotated[_Ready, Tag("Ready")] | Annotated[OwnTest, Tag("Own")], Discriminator(_tag)]


def options_of(test: Any, alpha: float) -> dict[str, Any]:
    """Return the options of a test in the work of a cell."""
    options: dict[str, Any] = test.model_dump()
    return options | ({"confidence": 1 - alpha} if options["test"] in ("bootstrap", "scores", *INTERVALS) else {})


def label_of(test: Any) -> str:
    """Return the label of a test in reports: its name and, in brackets, its method and non-default options."""
    if isinstance(test, OwnTest):
        words = [f"{key} = {value}" for key, value in test.params.items()]
        name = test.test.partition(":")[2] if test.test.startswith(GIVEN) else test.test
        return f"{name} ({', '.join(words)})" if words else name
    # Measure, method and null are always shown, other options only if they are not the default.
    options = {key: getattr(test, key) for key in ("measure", "method", "null") if hasattr(test, key)}
    options |= test.model_dump(exclude_defaults=True, exclude={"test", "of"})
    words = [value if isinstance(value, str) else f"{key} = {value}" for key, value in options.items()]
    name = "F1 of A" if getattr(test, "of", "") == "a" else _NAMES[test.test]
    name = name or words.pop(0)
    return f"{name} ({', '.join(words)})" if words else name
