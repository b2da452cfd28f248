"""What a calibration study draws its test sets from: the sources that a study file may name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator

from sigstats.checks import shown
from tasks import sources
from tasks.documents import Documents, read_documents
from tasks.fanouts import cell
from tasks.identity import digest
from tasks.label_files import LabelFiles, look, read_counts
from tasks.plan import Cell
from tasks.populations import Population, random_classifiers
from tasks.score_populations import read_scores
from tasks.sources import hint
from tasks.store import Data
from tasks.trained import Learned, estimator, positives, split
from tasks.trials import AnyPopulation

from ..config import Options, Strict

#: A Parquet data set of no more rows is counted before a study starts: it takes a second or two.
COUNTED_AT_ONCE = 50_000_000

Name = Annotated[str, Field(min_length=1, max_length=40, description="Its name in the results")]


#: The options of each test of a study.
Tests: TypeAlias = Collection[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A population as cells draw from it.

    Attributes
    ----------
    slice : str or None
        Its name among those of one source.
    values : mapping
        What the work of a cell says of it.
    rows : int or None
        How many rows there are; None where it is endless.
    population : Population or None
        None where it is not known before classifiers are trained, or of scores.
    scored : bool
        Whether it is of scores, not of predictions.
    """

    slice: str | None
    values: Mapping[str, Any]
    rows: int | None
    population: AnyPopulation | None = None
    scored: bool = False


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a source gives: populations, the cells that compute them, the data that these need, and a note."""

    drawn: Sequence[Drawn]
    cells: Sequence[Cell] = ()
    data: Sequence[Data] = ()
    note: str = ""


def _known(slice_: str | None, population: Population) -> Drawn:
    values = asdict(population) | {"outcomes": list(population.outcomes)}
    return Drawn(slice=slice_, values=values, rows=population.rows, population=population)


class Sturm(Strict):
    """Two simulated systems: I assigns random classes, II is right for a part of the rows and random otherwise."""

    source: Literal["sturm"]
    name: Name
    classes: Annotated[int, Field(ge=2, le=10**6, description="The number of classes, equally likely")] = 10
    right: Annotated[
        list[Annotated[float, Field(ge=0, le=1)]],
        Field(min_length=1, description="For which parts of the rows system II is made to be right, r"),
    ]

    def read(self, base: Path, seed: int, *, tests: Tests) -> Read:  # noqa: ARG002
        """One population for each r."""
        return Read(drawn=[_known(f"r = {100 * r:g}%", random_classifiers(self.classes, r)) for r in self.right])


class Parquet(Strict):
    """Rows on disk, as they are and with the outputs of the two exchanged at random, so that neither is better."""

    source: Literal["parquet"]
    name: Name
    path: Annotated[str, Field(min_length=1, description="A file, a folder, a pattern or an fsspec URL")]
    label: Annotated[str, Field(description="The column of the true classes")] = "label"
    a: Annotated[str, Field(description="The column of A's predictions")] = "pred_a"
    b: Annotated[str, Field(description="The column of B's predictions")] = "pred_b"
    classes: Annotated[
        list[bool | int | str] | None, Field(min_length=2, description="All classes there are; any other is refused")
    ] = None
    positive: Annotated[
        bool | int | str | None, Field(description="The positive class, for measures other than accuracy")
    ] = None

    def read(self, base: Path, seed: int, *, tests: Tests) -> Read:
        """The rows as they are, then swapped.

        A large data set is counted by the workers, file by file, once it is known from the footers that it can be. With
        several labels a row, or where a measure is averaged over classes, all distinct events are kept, unless one
        class is named as the positive one.
        """
        averaged = any(test.get("measure", "").startswith(("micro-", "macro-")) for test in tests)
        options: dict[str, Any] = {"label": self.label, "a": self.a, "b": self.b, "classes": self.classes}
        files = look(self.name, self.path, base, **options)
        if sum(files.rows) > COUNTED_AT_ONCE and not (self.positive is None and (files.listed or averaged)):
            return self._counted_by_workers(files, seed)
        counts = read_counts(self.path, base, **options)
        if self.positive is None and (counts.listed or averaged):
            events = counts.events(self.name)
            about = {"name": self.name, "digest": events.digest()}
            drawn = [
                Drawn(
                    slice=part, values={"events": about, "swapped": found.swapped}, rows=counts.rows, population=found
                )
                for part, found in (("as they are", events), ("outputs swapped", events.exchanged()))
            ]
            kept = f"; {len(events.joint.events):,} distinct events of {len(events.joint.categories):,} labels"
            return Read(drawn=drawn, data=[events], note=self._note(counts.rows, events) + kept)
        found = counts.population(self.positive)
        swapped = counts.population(self.positive, swapped=True)
        return Read(
            drawn=[_known("as they are", found), _known("outputs swapped", swapped)],
            note=self._note(counts.rows, found),
        )

    def _counted_by_workers(self, files: LabelFiles, seed: int) -> Read:
        work = {"files": {"name": self.name, "digest": files.digest()}, "positive": self.positive}
        subject = {"dataset": self.name}
        counting = cell("count", subject=subject, work=work, seed=seed, replicates=len(files.files))
        rows = sum(files.rows)
        likely = Population(outcomes=(1,) * 8 if self.positive is not None else (1,) * 4 + (0,) * 4)
        drawn = [
            Drawn(
                slice=part, values={"outcomes_of": _about(counting), "swapped": swapped}, rows=rows, population=likely
            )
            for part, swapped in (("as they are", False), ("outputs swapped", True))
        ]
        note = f"{self.name}: {rows:,} rows in {len(files.files):,} files, which the workers count"
        return Read(drawn=drawn, cells=[counting], data=[files], note=note)

    def _note(self, rows: int, found: AnyPopulation) -> str:
        only_a, only_b = found.discordant
        return f"{self.name}: {rows:,} rows; only A is right on {only_a:,}, only B on {only_b:,}"


class Scores(Strict):
    """Scored rows on disk, for areas under the ROC curve and losses: as they are, and with scores exchanged."""

    source: Literal["scores"]
    name: Name
    path: Annotated[str, Field(min_length=1, description="A file, a folder, a pattern or an fsspec URL")]
    label: Annotated[str, Field(description="The column of the true classes")] = "label"
    a: Annotated[
        str, Field(description="The column of A's scores: for a loss, probabilities of the positive class")
    ] = "score_a"
    b: Annotated[str, Field(description="The column of B's scores")] = "score_b"
    group: Annotated[str | None, Field(description="The column of groups, where rows of one are not independent")] = (
        None
    )
    positive: Annotated[bool | int | str, Field(description="The positive class")]

    def read(self, base: Path, seed: int, *, tests: Tests) -> Read:  # noqa: ARG002
        """The rows as they are, then swapped."""
        columns = {"label": self.label, "a": self.a, "b": self.b}
        columns |= {} if self.group is None else {"group": self.group}
        measures = sorted({test["measure"] for test in tests if test["test"] == "scores"})
        found = read_scores(self.name, self.path, base, columns=columns, positive=self.positive, measures=measures)
        about = {"name": self.name, "digest": found.digest()}
        drawn = [
            Drawn(slice=part, values={"scores": about, "swapped": swapped}, rows=found.rows, scored=True)
            for part, swapped in (("as they are", False), ("scores swapped", True))
        ]
        better = ", ".join(f"{measure} {found.truth[measure]:+.4g}" for measure in measures)
        return Read(
            drawn=drawn, data=[found], note=f"{self.name}: {found.rows:,} rows; by so much B is better: {better}"
        )


class Trainee(Strict):
    """A classifier that the study trains."""

    learner: Annotated[
        str, Field(min_length=1, description="A ready learner, or the import path of a scikit-learn classifier")
    ]
    params: Annotated[Options, Field(default_factory=dict, description="The parameters of the classifier")]


class Categories(Strict):
    """Labels that together are the positive class, one against the others."""

    name: Name
    positive: Annotated[list[str], Field(min_length=1, description="A row with one of these labels is positive")]


class Texts(Strict):
    """Documents in a Parquet file."""

    path: Annotated[str, Field(min_length=1, description="A file or an fsspec URL")]
    text: Annotated[list[str], Field(min_length=1, description="The columns that make up a text, one after another")]
    categories: Annotated[str, Field(description="The column of the categories: a list of strings, or one string")]


class Trained(Strict):
    """Rows that two classifiers predict which the study trains on some of the others (Keller, Mariethoz and Bengio)."""

    source: Literal["trained"]
    name: Name
    dataset: Annotated[
        Options | None, Field(description="A data set as a benchmark study names one; or documents instead")
    ] = None
    documents: Annotated[Texts | None, Field(description="Texts with categories")] = None
    train: Annotated[int, Field(ge=2, description="Rows that both classifiers are trained on")]
    test: Annotated[int, Field(ge=1, description="Rows of the one test set; all that are left are the population")]
    a: Annotated[Trainee, Field(description="Classifier A")]
    b: Annotated[Trainee, Field(description="Classifier B")]
    sets: Annotated[list[Categories], Field(min_length=1, description="What is positive, each a population of its own")]

    @model_validator(mode="after")
    def _one_kind(self) -> "Trained":
        if (self.dataset is None) == (self.documents is None):
            raise ValueError("dataset, documents: expected one of the two")
        names = [each.name for each in self.sets]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"sets: the name {twice!r} is there twice; expected everything to be named once")
        return self

    def read(self, base: Path, seed: int, *, tests: Tests) -> Read:  # noqa: ARG002
        """For each set of labels the rest of the rows, as they are and with outputs swapped."""
        data = self._data(base)
        left = len(data) - self.train - self.test
        if left < 1:
            raise ValueError(
                f"train, test: {self.train} and {self.test} are not valid; expected less than {len(data)} together, "
                "the number of rows"
            )
        content = data.digest()
        settings = {
            "train": self.train,
            "test": self.test,
            "seed": int(digest("split", data=content, seed=seed)[:12], 16),
        }
        pair = {side: {"learner": each.learner, "params": each.params} for side, each in (("a", self.a), ("b", self.b))}
        for spec in pair.values():
            estimator(data, spec)  # refuses an unknown learner or parameter
        parts = split(len(data), settings)
        kind = "dataset" if self.documents is None else "documents"
        cells = []
        for each in self.sets:
            self._check(each, data)
            if len(set(positives(data, each.positive)[parts.train])) < 2:
                wanted = "labels that some of the training rows have, and some do not"
                raise ValueError(f"sets: {each.name}: {shown(each.positive)} is not valid; expected {wanted}")
            work = {
                kind: {"name": data.name, "digest": content},
                "split": settings,
                "positive": sorted(set(each.positive)),
                **pair,
            }
            subject = {"dataset": self.name, "slice": each.name}
            cells.append(cell("predict", subject=subject, work=work, seed=seed, replicates=len(parts.chunks())))
        return Read(
            drawn=[drawn for found in cells for drawn in _predicted(found, left)],
            cells=cells,
            data=[data],
            note=f"{self.name}: {self.train:,} rows to train on, {self.test:,} to test, a population of {left:,}",
        )

    def _data(self, base: Path) -> Learned:
        if self.documents is None:
            return sources.load({"name": self.name, **(self.dataset or {})}, base=base)
        texts = self.documents
        return read_documents(self.name, texts.path, base, text=texts.text, categories=texts.categories)

    def _check(self, each: Categories, data: Learned) -> None:
        known = data.labels if isinstance(data, Documents) else frozenset(data.classes)
        for label in each.positive:
            if label not in known:
                raise ValueError(
                    f"sets: {each.name}: {shown(label)} is not valid; expected a label that occurs "
                    f"({hint(label, sorted(known))})"
                )


def _predicted(source: Cell, rows: int) -> Iterator[Drawn]:
    name = source.subject["slice"]
    for swapped in (False, True):
        part = f"{name}, outputs swapped" if swapped else name
        yield Drawn(slice=part, values={"outcomes_of": _about(source), "swapped": swapped}, rows=rows)


def _about(source: Cell) -> dict[str, Any]:
    """What the work of a cell says of another that it reads."""
    return {
        "fanout": source.fanout,
        "subject": dict(source.subject),
        "work": dict(source.work),
        "seed": source.seed,
        "replicates": source.replicates,
    }


Source: TypeAlias = Annotated[Sturm | Parquet | Scores | Trained, Field(discriminator="source")]
