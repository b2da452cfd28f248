"""Populations of rows: their predictions or scores are on disk, or the study trains the classifiers that predict them.

Rows on disk, in Parquet files, are drawn without replacement. Classifiers are trained as by Keller, Mariethoz and
Bengio.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from sigstats._common.validation import hint, refuse, shown
from sigstats.joint.events import JointEvents
from sigstats.tasks import record as records
from sigstats.tasks.calibration.population import EventPopulation, Population
from sigstats.tasks.calibration.populations.prediction_files import MANY, LabelFiles, scan_footers
from sigstats.tasks.calibration.populations.scored import read_scores
from sigstats.tasks.calibration.populations.tests import AnyPopulation
from sigstats.tasks.calibration.populations.trained import TrainingData, estimator, positives, split
from sigstats.tasks.calibration.work import Categorised, Computed, Counted, Predicted, ScoredRows, Source
from sigstats.tasks.datasets import readers as sources
from sigstats.tasks.datasets.documents import Documents, read_documents
from sigstats.tasks.record import Learner, Named, Split, digest

from ...config.model import Options, Strict, each_once
from ...config.settings import DatasetTable
from ...running.options import Progress
from . import LoadedSource, Name, PopulationSource, PopulationSpec, Tests, counted_population

#: Names of the rows as they are, and with swapped outputs.
_PARTS = {"as they are": False, "outputs swapped": True}
_SCORED_PARTS = {"as they are": False, "scores swapped": True}


class Parquet(PopulationSource):
    """Rows of a file, as they are and with the two outputs exchanged at random, so that neither is better."""

    source: Literal["parquet"]
    path: str = Field(min_length=1, description="File, folder, pattern or fsspec URL")
    label: str = Field("label", description="Column of true classes")
    a: str = Field("pred_a", description="Column of A's predictions")
    b: str = Field("pred_b", description="Column of B's predictions")
    classes: list[bool | int | str] | None = Field(None, min_length=2, description="All classes; others are refused")
    positive: bool | int | str | None = Field(None, description="Positive class, for measures other than accuracy")

    replacement: bool = Field(
        False,
        description="Draw with replacement, as from an infinite population; without it, test sets "
        "are parts of these rows and vary less the larger they are",
    )

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:
        """Return the rows as they are, then swapped.

        A large data set is counted by the workers, file by file, if its footers show that this is possible. Counts are
        by the eight joint outcomes of two classes, or of right and wrong answers. Rows with several labels, and
        measures that are averaged over classes, need all distinct events, unless `positive` names one class.
        """
        averaged = any(test.compared.startswith(("micro-", "macro-")) for test in tests)
        columns: dict[str, Any] = {"label": self.label, "a": self.a, "b": self.b}
        footers = partial(progress, f"footers of {self.name}")
        files = scan_footers(self.name, self.path, base, **columns, classes=self.classes, progress=footers)
        in_memory = self.path.startswith("memory://")  # a data frame, which other processes do not have
        if sum(files.rows) >= MANY and not in_memory and not (self.positive is None and (files.listed or averaged)):
            if self.replacement:
                raise refuse("replacement", "true", f"false with {sum(files.rows):,} rows, far more than a test set")
            return self._counted_by_workers(files, seed)
        counts = files.count_all(partial(progress, self.name))
        population: AnyPopulation
        data, detail = [], ""
        if self.positive is None and (counts.listed or averaged):
            population = events = counts.events(self.name)
            data.append(events)
            detail = f"; {len(events.joint.events):,} distinct events of {len(events.joint.categories):,} labels"
        else:
            population = counts.population(self.positive)
        only_a, only_b = population.discordant
        note = f"{self.name}: {counts.rows:,} rows; only A is right on {only_a:,}, only B on {only_b:,}{detail}"
        if self.replacement:
            population = population.endlessly()
        populations = [
            counted_population(part, replace(population, swapped=swapped)) for part, swapped in _PARTS.items()
        ]
        return LoadedSource(populations=populations, data=data, note=note)

    def _counted_by_workers(self, files: LabelFiles, seed: int) -> LoadedSource:
        stored = Named(name=self.name, digest=files.digest())
        counting = Source(
            fanout="count",
            subject={"dataset": self.name},
            work=Counted(files=stored, positive=self.positive, written=files.written),
            seed=seed,
            replicates=len(files.files),
        )
        rows = sum(files.rows)
        plausible = Population(outcomes=(1,) * 8 if self.positive is not None else (1,) * 4 + (0,) * 4)
        parts = {part: Computed(outcomes_of=counting, swapped=swapped) for part, swapped in _PARTS.items()}
        populations = [
            PopulationSpec(slice=part, values=values, rows=rows, population=plausible) for part, values in parts.items()
        ]
        note = f"{self.name}: {rows:,} rows in {len(files.files):,} files, which the workers count"
        return LoadedSource(populations=populations, data=[files], note=note)


class Scores(PopulationSource):
    """Scored rows of a file, for areas under the ROC curve and losses; as they are and with scores exchanged."""

    source: Literal["scores"]
    path: str = Field(min_length=1, description="File, folder, pattern or fsspec URL")
    label: str = Field("label", description="Column of true classes")
    a: str = Field("score_a", description="Column of A's scores; for a loss, probabilities of the positive class")
    b: str = Field("score_b", description="Column of B's scores")
    group: str | None = Field(None, description="Column of groups; rows of one group are dependent")
    positive: bool | int | str = Field(description="Positive class")

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """Return the rows as they are, then swapped."""
        columns = {"label": self.label, "a": self.a, "b": self.b}
        columns |= {} if self.group is None else {"group": self.group}
        measures = sorted({test.compared for test in tests if test.test == "scores"})
        reading = partial(progress, self.name)
        scores = read_scores(
            self.name, self.path, base, columns=columns, positive=self.positive, measures=measures, progress=reading
        )
        stored, grouped = Named(name=self.name, digest=scores.digest()), self.group is not None
        rows = {part: ScoredRows(scores=stored, swapped=swapped) for part, swapped in _SCORED_PARTS.items()}
        populations = [
            PopulationSpec(slice=part, values=values, rows=scores.rows, grouped=grouped)
            for part, values in rows.items()
        ]
        better = ", ".join(f"{measure} {scores.truth[measure]:+.4g}" for measure in measures)
        note = f"{self.name}: {scores.rows:,} rows; advantage of B: {better}"
        return LoadedSource(populations=populations, data=[scores], note=note)


class Tuning(Strict):
    """Parameters tuned by cross-validation on the training rows."""

    grid: dict[str, Annotated[list[float | int | str], Field(min_length=1)]] = Field(
        min_length=1, description="Values of each parameter; all combinations are tried"
    )
    folds: int = Field(5, ge=2, le=100, description="Folds of the training rows")
    measure: Literal["micro-f1", "macro-f1"] = Field(
        "micro-f1", description="F1 of all categories of a set, which is maximised"
    )


class Trainee(Strict):
    """A classifier that the study trains."""

    learner: str = Field(min_length=1, description="Ready learner, or import path of a scikit-learn classifier")
    params: Options = Field(default_factory=dict, description="Parameters of the classifier")
    tune: Tuning | None = Field(None, description="Parameters to tune, for sets of categories")

    @property
    def spec(self) -> Learner:
        """The description in a cell."""
        tune = None if self.tune is None else records.Tuning(**self.tune.model_dump())
        return Learner(learner=self.learner, params=self.params, tune=tune)


class Categories(Strict):
    """Labels that form the positive class, or categories with classifiers of their own."""

    name: Name
    positive: list[str] | None = Field(None, min_length=1, description="Labels of positive rows")
    categories: list[str] | None = Field(
        None, min_length=2, description="Categories with one classifier each, for micro- and macro- measures"
    )

    @model_validator(mode="after")
    def _one_way(self) -> "Categories":
        if (self.positive is None) == (self.categories is None):
            raise ValueError("positive, categories: give exactly one of them")
        if self.categories is not None and len(set(self.categories)) < len(self.categories):
            raise ValueError("categories: expected each label once")
        return self

    @property
    def labels(self) -> list[str]:
        """All labels that are named."""
        return self.positive or self.categories or []


class Texts(Strict):
    """Documents in a Parquet file."""

    path: str = Field(min_length=1, description="File or fsspec URL")
    text: list[str] = Field(min_length=1, description="Columns that are joined to a text")
    categories: str = Field(description="Column of categories: a string or a list of strings")
    stem: Literal["english", "porter"] | None = Field(None, description="Snowball stemmer; needs the extra `stem`")


class Trained(PopulationSource):
    """Predictions of two classifiers trained on other rows (Keller, Mariethoz and Bengio)."""

    source: Literal["trained"]
    dataset: str | DatasetTable | None = Field(
        None, description="Data set, as in a benchmark study; or use `documents`"
    )
    documents: Texts | None = Field(None, description="Texts with categories")
    train: int = Field(ge=2, description="Training rows of both classifiers")
    test: int = Field(ge=1, description="Rows of the one test set; the remaining rows are the population")
    a: Trainee = Field(description="Classifier A")
    b: Trainee = Field(description="Classifier B")
    sets: list[Categories] = Field(min_length=1, description="Definitions of positive, each a population of its own")

    @model_validator(mode="after")
    def _one_kind(self) -> "Trained":
        if (self.dataset is None) == (self.documents is None):
            raise ValueError("dataset, documents: give exactly one of them")
        each_once([categories.name for categories in self.sets], "name of sets")
        return self

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """For each set of labels, the remaining rows, as they are and with outputs swapped."""
        data = self._data(base)
        left = len(data) - self.train - self.test
        if left < 1:
            raise ValueError(
                f"train, test: {self.train} and {self.test} are not valid; expected less than {len(data)} together, "
                "the number of rows"
            )
        content = data.digest()
        seed_of_split = int(digest("split", data=content, seed=seed)[:12], 16)
        settings = Split(train=self.train, test=self.test, seed=seed_of_split)
        stem = None if self.documents is None else self.documents.stem
        pair = {side: replace(spec, stem=stem) for side, spec in (("a", self.a.spec), ("b", self.b.spec))}
        for side, spec in pair.items():
            _try(data, side, spec)
        parts = split(len(data), settings)
        kind = "dataset" if self.documents is None else "documents"
        shared: dict[str, Any] = {kind: Named(name=data.name, digest=content), "split": settings, **pair}
        populations: list[PopulationSpec] = []
        for categories in self.sets:
            self._check(categories, data)
            work: Predicted | Categorised
            if categories.positive is None:
                named = categories.name if self.a.tune or self.b.tune else None
                work = Categorised(**shared, categories=tuple(categories.labels), set=named)
            else:
                if self.a.tune or self.b.tune:
                    raise ValueError(f"sets: {categories.name}: positive is not valid with tune; expected categories")
                if len(set(positives(data, categories.labels)[parts.train])) < 2:
                    wanted = "labels that some of the training rows have, and some do not"
                    raise refuse(f"sets: {categories.name}", categories.positive, wanted)
                work = Predicted(**shared, positive=tuple(sorted(set(categories.labels))))
            subject = {"dataset": self.name, "slice": categories.name}
            fanout = "predict" if categories.positive else "categorise"
            source = Source(fanout=fanout, subject=subject, work=work, seed=seed, replicates=len(parts.chunks()))
            populations.extend(_populations_of(source, left))
        return LoadedSource(
            populations=populations,
            data=[data],
            note=f"{self.name}: {self.train:,} rows to train on, {self.test:,} to test, a population of {left:,}",
        )

    def _data(self, base: Path) -> TrainingData:
        if self.documents is None:
            named = {"name": self.dataset} if isinstance(self.dataset, str) else self.dataset or {}
            return sources.load({"name": self.name, **named}, base=base)
        texts = self.documents
        return read_documents(self.name, texts.path, base, text=texts.text, categories=texts.categories)

    def _check(self, categories: Categories, data: TrainingData) -> None:
        known = data.labels if isinstance(data, Documents) else frozenset(data.classes)
        for label in categories.labels:
            if label not in known:
                raise refuse(f"sets: {categories.name}", label, f"a label that occurs ({hint(label, sorted(known))})")


def _try(data: TrainingData, side: str, spec: Learner) -> None:
    """Refuse an unknown learner, and a parameter that it does not have."""
    from sigstats.learners.base import steps_of  # slow to import, for studies that train nothing too

    *_, classifier = steps_of(estimator(data, spec))
    for name in spec.tune.grid if spec.tune else ():
        known = sorted(classifier.get_params())
        if name not in known:
            raise ValueError(f"{side}: tune: {shown(name)} is not valid; {hint(name, known)}")


def _populations_of(source: Source, rows: int) -> Iterator[PopulationSpec]:
    name, likely = source.subject["slice"], None
    if isinstance(source.work, Categorised):  # tests are tried on it before the real one is known
        categories = source.work.categories
        events = tuple(((place,), (place,), ()) for place in range(len(categories)))
        likely = EventPopulation(name, JointEvents(categories, "categories", events, (1,) * len(events)))
    for part, swapped in ((name, False), (f"{name}, outputs swapped", True)):
        values = Computed(outcomes_of=source, swapped=swapped)
        yield PopulationSpec(slice=part, values=values, rows=rows, population=likely)
