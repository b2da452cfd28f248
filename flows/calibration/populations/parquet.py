"""Rows on disk: predictions or scores of two classifiers in Parquet files, drawn without replacement."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from sigstats._common.validation import refuse
from sigstats.tasks.calibration.population import Population
from sigstats.tasks.calibration.populations.prediction_files import MANY, LabelFiles, scan_footers
from sigstats.tasks.calibration.populations.scored import read_scores
from sigstats.tasks.calibration.populations.tests import AnyPopulation
from sigstats.tasks.calibration.work import Computed, Counted, ScoredRows, Source
from sigstats.tasks.record import Named

from ...running.options import Progress
from . import LoadedSource, PopulationSource, PopulationSpec, Tests, counted_population

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
        """The rows as they are, then swapped.

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
        """The rows as they are, then swapped."""
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
