"""The benchmark study: which classifiers learn which data sets, and which use the joint structure of features.

Every classifier is cross-validated on every data set; it is retrained on permuted labels (PermClass) and on features
permuted inside classes (PermFeats); every pair is compared (McNemar). Predictions pooled from folds are not
independent, so Nyssen's test and tests of two samples are applied to them only if a study names these tests.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sigstats._common.class_columns import positive_place
from sigstats._common.messages import rephrased, some_of
from sigstats._common.validation import did_you_mean, refuse
from sigstats.measures.own import is_path
from sigstats.measures.table import MEASURES, needs_positive
from sigstats.retraining.measured import Statistic
from sigstats.tasks.benchmark.runs import count_permutation_tests, few_arrangements
from sigstats.tasks.benchmark.work import CrossValidated, MeasuredRetrain, Retrained
from sigstats.tasks.datasets import readers as sources
from sigstats.tasks.datasets.dataset import GIVEN, Dataset, cross_validation_folds
from sigstats.tasks.fan_out import cell_of, observed_cell
from sigstats.tasks.own_code import allow_measures, allowed_measure, code_of, with_measure_code
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.record import Folds, Learner, Named
from sigstats.tasks.statistical_tests import FEWEST_DATA_SETS, OF_RUNS

from ..config.settings import stopping_notes
from ..running.kind import Kind
from ..running.options import Prepared, Progress
from . import model
from .model import BenchmarkStudy, Classifier, named, seed_of_folds
from .notes import notes_of
from .published import published_notes, published_references

#: The fan-outs, in the order of the plan.
_ORDER = ("crossval", "repetition", "scores", "measured", "retrain", "measured-retrain")


def _layout(study: BenchmarkStudy, base: Path, progress: Progress, allow: Sequence[str]) -> Prepared:
    from sigstats.learners import build

    allowed = ("sklearn", *allow)
    codes = allow_measures((*study.measures, study.permutation.measure), allow)
    _check_files(study, base / study.folder)
    datasets: list[Dataset] = []
    cells: list[Cell] = []
    for number, spec in enumerate(study.datasets):
        progress("data sets", number, len(study.datasets))
        source = {"source": "scikit-learn", "name": spec} if isinstance(spec, str) else spec
        dataset = sources.load(source, base=base / study.folder)
        datasets.append(dataset)
        with rephrased(partial(_by_the_keys, study, dataset)):
            _check_folds(study, dataset)
        for item in study.classifiers:
            classifier = named(item)
            made = build(classifier.learner, params=classifier.params, **dataset.described, allowed=allowed)
            cells.extend(_cells(study, dataset, classifier, made, code_of(classifier.learner, allowed)))
    _check_names(study, datasets)
    plan = study.plan_of(
        sorted(cells, key=lambda cell: _ORDER.index(cell.fanout)),
        _analyses(study),
        measures=study.measures,
        measure_code={name: codes[name] for name in study.measures if name in codes},
        slices=study.slices,
        positive={value.name: _positive_class(study, value) for value in datasets if _has_positive(study, value)},
    )
    able, unable = _permutation_tests(plan, datasets)
    notes = (
        *notes_of(study, datasets, able),
        *unable,
        *published_notes(study.published, plan.cells),
        *stopping_notes(plan),
    )
    references = tuple(published_references(study.published, plan.cells))
    return Prepared(plan, tuple(datasets), notes=notes, references=references)


def _check_files(study: BenchmarkStudy, folder: Path) -> None:
    """Refuse a folder if several files of the study are missing; a reader reports a single missing file."""
    paths = [spec["path"] for spec in study.datasets if isinstance(spec, dict) and isinstance(spec.get("path"), str)]
    missing = [path for path in paths if "://" not in path and not (folder / path).exists()]
    if len(missing) > 1:
        raise ValueError(
            f"datasets: {len(missing)} of {len(paths)} files are missing: {some_of(missing, 5)}; expected them in "
            f"{folder.resolve()} (--set folder=DIR if they are elsewhere)"
        )


def _check_names(study: BenchmarkStudy, datasets: Sequence[Dataset]) -> None:
    """Refuse names of data sets in ``positive``, and of features in ``slices``, that the data sets do not have."""
    names = [dataset.name for dataset in datasets]
    for name in study.positive if isinstance(study.positive, dict) else ():
        if name not in names:
            raise refuse("positive", name, f"one of the data sets {', '.join(names)}{did_you_mean(name, names)}")
    features = list(dict.fromkeys(name for dataset in datasets for name in dataset.features))
    for name in study.slices:
        if name not in features:
            known = f"a feature of a data set, such as {some_of(features, 5)}"
            raise refuse("slices", name, known + did_you_mean(name, features))


def _permutation_tests(plan: Plan, datasets: Sequence[Dataset]) -> tuple[list[str], list[str]]:
    """Return the null hypothesis of each permutation test that can reject, and a note on each that cannot."""
    grouped = {dataset.name: dataset for dataset in datasets if dataset.groups is not None}
    tests = count_permutation_tests(plan)
    able, unable = [], []
    for cell in plan.cells:
        if (null := cell.subject.get("null")) is None:
            continue
        dataset = grouped.get(cell.subject["dataset"])
        if dataset is not None and (why := few_arrangements(plan, tests, cell, dataset)):
            unable.append(f"{dataset.name}: the permutation test of {null} cannot reject: {why}")
        else:
            able.append(null)
    return able, list(dict.fromkeys(unable))


def _analyses(study: BenchmarkStudy) -> tuple[str, ...]:
    """Return the tests of a study, and the analyses implied by its other keys."""
    more = [model.MEASURES_ANALYSIS] if study.measures or study.slices else []
    if study.measures and study.cross_validation.repeats > 1 and model.OVER_FOLDS in study.tests:
        more.append(model.MEASURES_OVER_FOLDS)
    if len(study.datasets) >= FEWEST_DATA_SETS and len(study.classifiers) > 1:
        more.append("over-data-sets")
    return (*study.tests, *more)


def _check_folds(study: BenchmarkStudy, dataset: Dataset) -> None:
    """Refuse folds that cannot be made, and tests that are not valid for rows in groups."""
    from sigstats.retraining.folds import LabelExchange, rows_to_permute

    settings = study.cross_validation
    cross_validation_folds(dataset, settings.folds, 0, rare_classes=settings.rare_classes)
    if dataset.folds is not None and settings.repeats > 1:
        raise refuse("cross_validation.repeats", settings.repeats, "1, since the data set names the fold of each row")
    if dataset.groups is None:
        return
    for test in study.tests:
        if not model.takes_groups(test):
            raise refuse("tests", test, "others, since it assumes independent rows, and the data set has groups")
    if "labels" in model.nulls_of(study):
        LabelExchange(dataset.y, dataset.groups)
    if "features" in model.nulls_of(study):
        rows_to_permute(dataset.y, dataset.groups)


def _by_the_keys(study: BenchmarkStudy, dataset: Dataset, message: str) -> str:
    """Rephrase an error in the folds of a data set by the keys of the study file and the names of classes."""
    option, _, complaint = message.partition(":")
    key = {"n_splits": "cross_validation.folds", "rare_classes": "cross_validation.rare_classes"}.get(option, option)
    named = re.sub(r"(?<=class )\d+$", lambda code: repr(dataset.classes[int(code[0])]), complaint)
    few = "rows of class" in complaint and study.cross_validation.rare_classes == "refuse"
    cure = "; or cross_validation.rare_classes = 'allow', if folds may miss it" if few else ""
    return f"data set {dataset.name}: {key}:{named}{cure}"


def _cells(
    study: BenchmarkStudy, dataset: Dataset, classifier: Classifier, made: Any, code: Mapping[str, str] | None
) -> list[Cell]:
    work = _cross_validated_work(study, dataset, classifier, code)
    subject = {"dataset": dataset.name, "classifier": classifier.name}
    rules = {study.permutation.stopping, classifier.stopping or study.permutation.stopping}
    if len(rules) > 1 and "joint" in rules:
        wanted = "that of permutation.stopping, since 'joint' is for all classifiers together"
        raise refuse(f"classifiers: {classifier.name}: stopping", classifier.stopping, wanted)
    stopping = study.permutation.stopping_of(
        alpha=study.alpha,
        adjust=study.adjust,
        tests=study.cases,
        replicates=study.permutation.resamples,
        rule=classifier.stopping,
    )
    imported = code is not None or is_path(study.permutation.measure)
    limits = classifier.limits(f"classifiers: {classifier.name}", imported=imported)
    on_true_labels = partial(cell_of, subject=subject, work=work, seed=study.seed, limits=limits)
    cells = [on_true_labels("crossval", replicates=1)]
    if study.cross_validation.repeats > 1 and model.read_by(study.tests, "repetition"):
        cells.append(on_true_labels("repetition", replicates=study.cross_validation.repeats - 1))
    if any(MEASURES[allowed_measure(name)].needs_scores for name in study.measures):
        cells.append(on_true_labels("scores", replicates=1))
    by_error = study.permutation.measure == model.ERROR
    of_measure = {} if by_error or not model.nulls_of(study) else _measured_work(study, dataset, classifier, made)
    permuted = Retrained if by_error else MeasuredRetrain
    retrains = [
        cell_of(
            "retrain" if by_error else "measured-retrain",
            subject={**subject, "null": null, **({} if by_error else {"measure": study.permutation.measure})},
            work=permuted(**vars(work), null=null, **of_measure),
            seed=study.seed,
            replicates=study.permutation.resamples,
            stopping=stopping,
            limits=limits,
        )
        for null in model.nulls_of(study)
    ]
    if retrains and not by_error and (measured := observed_cell(retrains[0])) is not None:
        cells.append(measured)
    return [*cells, *retrains]


def _cross_validated_work(
    study: BenchmarkStudy, dataset: Dataset, classifier: Classifier, code: Mapping[str, str] | None
) -> CrossValidated:
    settings = study.cross_validation
    return CrossValidated(
        dataset=Named(name=dataset.name, digest=dataset.digest(), grouped=dataset.groups is not None),
        classifier=Learner(learner=classifier.learner, params=classifier.params, code=code),
        # The folds of a data set are the same for all classifiers, so that they can be compared row by row.
        cross_validation=Folds(
            folds=settings.folds if dataset.folds is None else GIVEN,
            seed=seed_of_folds(study, dataset),
            rare_classes=settings.rare_classes,
            transforms=settings.transforms,
        ),
    )


def _has_positive(study: BenchmarkStudy, dataset: Dataset) -> bool:
    if isinstance(study.positive, dict) and dataset.name in study.positive:
        return True
    of_one = any(needs_positive(allowed_measure(name)) for name in (*study.measures, study.permutation.measure))
    return (isinstance(study.positive, str) or of_one) and len(dataset.classes) == 2


def _positive_class(study: BenchmarkStudy, dataset: Dataset) -> int:
    """Return the code of the positive class; the second one for measures that are equal for both."""
    if not _has_positive(study, dataset):
        return 1
    name = study.positive.get(dataset.name) if isinstance(study.positive, dict) else study.positive
    if len(dataset.classes) != 2:
        raise refuse(f"positive: {dataset.name}", name, f"none, since the data set has {len(dataset.classes)} classes")
    return positive_place(dataset.classes, name, option=f"positive: {dataset.name}")


def _measured_work(study: BenchmarkStudy, dataset: Dataset, classifier: Classifier, made: Any) -> dict[str, Any]:
    measure, known = study.permutation.measure, (allowed_measure(study.permutation.measure), dataset.classes)
    with rephrased(lambda text: f"permutation.{text} in {dataset.name}"):
        statistic = Statistic(*known)
    with rephrased(f"classifiers: {classifier.name}: permutation."):
        Statistic(*known, classifier=made)
    work = {"measure": measure, "positive": _positive_class(study, dataset) if statistic.of_one_class else 1}
    # A user's measure is stored with its direction, so that a report does not need the code.
    return with_measure_code({**work, "lower_is_better": statistic.sign < 0} if is_path(measure) else work)


KIND = Kind(
    model=BenchmarkStudy,
    layout=_layout,
    fits="sigstats.tasks.benchmark.fan_outs",
    analyses={
        **dict.fromkeys(OF_RUNS, "sigstats.tasks.benchmark.runs:tested"),
        "corrected-resampled": "sigstats.tasks.benchmark.resampled:accuracies",
        "measures": "sigstats.tasks.benchmark.measures:rows",
        "over-data-sets": "sigstats.tasks.benchmark.runs:over_data_sets",
        "permutation": "sigstats.tasks.benchmark.runs:permutations",
        "resampled-measures": "sigstats.tasks.benchmark.resampled:measures",
    },
    page="sigstats.flows.benchmark.report.page",
)
