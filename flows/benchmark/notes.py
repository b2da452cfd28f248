"""The notes that the plan of a benchmark study shows before it runs: on each data set, settings and permutations."""

from collections.abc import Iterator, Sequence

from sigstats._common.class_spelling import DistinctNames
from sigstats._common.column_names import TELLTALE
from sigstats._common.messages import some_of
from sigstats.multiplicity import IN_WORDS, fewest_resamples
from sigstats.retraining.rows import copies_note
from sigstats.tasks.datasets.dataset import Dataset, cross_validation_folds

from ..config.settings import note_on_unused
from .model import BenchmarkStudy, named, nulls_of, read_by, seed_of_folds


def notes_of(study: BenchmarkStudy, datasets: Sequence[Dataset], able: Sequence[str]) -> Iterator[str]:
    """Yield the notes on a study; `able`: the null hypothesis of each permutation test that can reject."""
    for dataset in datasets:
        yield from _on_columns(dataset)
        yield from DistinctNames(dataset.classes, len(dataset), dataset.name).notes
        if dataset.groups is None and (note := _on_copies(study, dataset)):
            yield f"{dataset.name}: {note}"
    yield from _on_folds(study, datasets)
    yield from _on_permutations(study, able)


def _on_columns(dataset: Dataset) -> Iterator[str]:
    """Yield notes on features without use, and on columns whose values seem to name the unit of several rows."""
    for names, why in (
        (dataset.constant_features(), "constant feature, ignored"),
        (dataset.identifiers(), "different in every row, so it identifies the row (drop = [...] leaves it out)"),
        (
            [name for name in dataset.features if name.lower() in TELLTALE],
            "used as a feature, although named like a label, prediction, fold or weight (drop = [...] leaves it out)",
        ),
    ):
        if names:
            yield f"{dataset.name}: {why}: {some_of(names, 5)}"
    for name, text in dataset.units().items() if dataset.groups is None else ():
        yield f'{dataset.name}: {text}: groups = "{name}" keeps its rows together'


def _on_copies(study: BenchmarkStudy, dataset: Dataset) -> str:
    """Return the note on copies of rows in different folds; empty if there are none."""
    rare = study.cross_validation.rare_classes
    seed = seed_of_folds(study, dataset)
    folds = cross_validation_folds(dataset, study.cross_validation.folds, seed, rare_classes=rare)
    return copies_note(dataset.X, dataset.y, folds, "features" if "features" in nulls_of(study) else "labels")


def _on_folds(study: BenchmarkStudy, datasets: Sequence[Dataset]) -> Iterator[str]:
    """Yield notes on settings of the cross-validation that nothing uses."""
    settings = study.cross_validation
    if all(dataset.folds is not None for dataset in datasets):
        given = ["cross_validation.folds"] if "folds" in settings.model_fields_set else []
        yield from note_on_unused(given, "each data set names the fold of each row")
    if (repeats := settings.repeats) > 1 and not read_by(study.tests, "repetition"):
        yield f"the cross-validation is not repeated {repeats} times: no test of the study uses repetitions"


def _on_permutations(study: BenchmarkStudy, able: Sequence[str]) -> Iterator[str]:
    """Yield notes on settings of the permutations that nothing uses, and on too few permutations."""
    settings = study.permutation
    if nulls_of(study):
        rules = {settings.stopping, *(named(item).stopping for item in study.classifiers)}
        unused = (f"permutation.{key}" for key in settings.unused(rules))
        yield from note_on_unused(unused, "no test of the study stops by this rule")
    else:
        given = (f"permutation.{key}" for key in settings.model_fields_set)
        yield from note_on_unused(given, "no permutation test is among the tests of the study")
    # The tests of a null hypothesis are a family.
    fewest = min((tests for null in nulls_of(study) if (tests := able.count(null))), default=0)
    needed = fewest_resamples(fewest, [], method=study.adjust, alpha=study.alpha) if fewest else 0
    if settings.resamples < needed:
        yield (
            f"no permutation test can be rejected: {fewest} tests {IN_WORDS[study.adjust]} need "
            f"permutation.resamples = {needed:,} or more"
        )
