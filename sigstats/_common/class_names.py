"""Names of classes, groups and slices as text, and names that usually mean a missing value."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .class_spelling import DistinctNames, is_finite_number, list_notes, names_in
from .data_frames import as_texts, is_missing, require_same_index
from .messages import Note, shown, some_of
from .validation import IntArray, as_labels, refuse, same_kind_of_labels

#: The slice of the rows without a value in a column of slices.
MISSING = "(missing)"
#: The prediction in place of a missing one that counts as wrong.
NO_ANSWER = "(no prediction)"


def label_name(label: Any, name: str = "label") -> str:
    """Return the text of a string or number, as "1" for 1.0 and "true" for True, or raise ValueError."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, (str, int, float)):
        raise refuse(name, label, "a string or a number")
    if isinstance(value, str):
        return str.__str__(value)  # for a member of an enumeration of strings, its value
    whole = isinstance(value, float) and value.is_integer()
    return str(value).lower() if isinstance(value, bool) else str(int(value) if whole else value)


def coded(values: Any, name: str, rows: int, *, missing: str | None = None) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct values of a column as strings, and the position of each row's value among them.

    `missing`: the name for missing values; they raise ValueError if it is None.
    """
    values = as_texts(values)
    try:
        column = as_labels(values, name)
    except ValueError as error:
        try:
            texts = _texts(values)
        except Exception:  # other objects may raise anything
            raise error from None
        if None in texts and missing is None:
            raise ValueError(f"{name}: row {texts.index(None)} (from 0) is empty; expected a value") from None
        column = np.array([missing if text is None else text for text in texts])
    if len(column) != rows:
        raise refuse(name, len(column), f"{rows}, one for each row", quantity="length")
    names, codes = np.unique(column, return_inverse=True)
    return tuple(map(label_name, names.tolist())), codes.astype(np.int64)


def as_groups(values: Any, name: str, rows: int) -> tuple[IntArray, int]:
    """Return the group number of each of `rows` rows, from 0, and the number of groups.

    Raises ValueError if there are fewer than two groups.
    """
    names, codes = coded_groups(values, name, rows)
    if len(names) < 2:
        raise refuse(name, len(names), "two groups or more")
    return codes, len(names)


def coded_groups(
    values: Any, name: str, rows: int, classes: Collection[str] | None = None
) -> tuple[tuple[str, ...], IntArray]:
    """Return the names of groups and the position of each row's group. Refuse names that usually mean a missing value.

    `classes`: as for `as_class_labels`.
    """
    names, codes = coded(values, name, rows)
    DistinctNames(names, rows, name, "group")
    way = "rename {} if it is a group" if classes is None else "give classes=[{}] if it is a group"
    rows_of = dict(zip(names, np.bincount(codes).tolist(), strict=True))
    refuse_missing_texts(name, rows_of, f"leave out these rows, or {way}", classes=classes, what="values")
    return names, codes


def _texts(values: Any) -> list[str | None]:
    """Return each value as a file would contain it, None if missing. Raise an error for other types."""
    array = np.asarray(values, dtype=None if hasattr(values, "dtype") else object)
    if array.ndim != 1:
        raise ValueError("not a column")
    if array.dtype.kind == "M":
        return [None if text == "NaT" else text.replace("T", " ") for text in np.datetime_as_string(array).tolist()]
    return [_text(value) for value in array.tolist()]


def _text(value: Any) -> str | None:
    if is_missing(value) or type(value).__name__ == "NaTType":
        return None
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "microseconds").replace("+00:00", "Z")
    written = isinstance(value, dt.date) or type(value).__module__.startswith("pandas")
    return str(value) if written else label_name(value)


def as_predictions(
    y: Any, a: Any, b: Any, classes: Collection[str] | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the true labels and the predictions of two classifiers as arrays that ``==`` compares correctly.

    Raises ValueError for labels of different kinds or lengths.
    """
    require_same_index(y=y, a=a, b=b)
    truth = as_class_labels(y, "y", classes)
    assigned = []
    for name, value in (("a", a), ("b", b)):
        labels = as_class_labels(value, name, classes)
        same_kind_of_labels(truth, labels, name)
        broken = labels[labels != np.floor(labels)] if labels.dtype.kind == "f" else labels[:0]
        if broken.size and (truth.dtype.kind != "f" or (truth == np.floor(truth)).all()):
            wanted = "labels as in y (probabilities are scores, as auc_test takes)"
            raise refuse(name, broken[0], wanted)
        DistinctNames(names_in(truth), len(truth), "y").check(name, names_in(labels), wanted="classes of y")
        assigned.append(labels)
    same_kind_of_labels(assigned[0], assigned[1], "b")
    return truth, assigned[0], assigned[1]


#: Strings, in any case, that usually mean a missing value. The last line has failed formulas of spreadsheets.
_MISSING_TEXTS = {
    *("", "na", "n/a", "n.a.", "nan", "-nan", "nat", "none", "nil", "null", "?", ".", "#na", "#n/a", "<na>"),
    *("#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"),
}


def refuse_missing_texts(
    where: str,
    rows_of: Mapping[Any, int],
    remedy: str,
    *,
    classes: Collection[str] | None = (),
    n: int | None = None,
    what: str = "labels",
) -> None:
    """Refuse labels that usually mean a missing value. Arrays, files, data sets and populations share this rule.

    `where`: the argument, or the file and column. `rows_of`: the number of rows of each label, out of `n` rows; by
    default all of them. `remedy`: an imperative in which ``{}`` stands for the label. `classes`: labels that are
    classes.
    """
    for text, rows in rows_of.items():
        if isinstance(text, str) and text.strip().casefold() in _MISSING_TEXTS and text not in (classes or ()):
            problem = f"{rows:,} of {sum(rows_of.values()) if n is None else n:,} {what} are {shown(text)}"
            raise ValueError(f"{where}: {problem}; {remedy.replace('{}', shown(text))}")


def refuse_unlisted(where: str, labels: Iterable[str], classes: Collection[str], option: str = "--classes") -> None:
    """Refuse labels that are not in a list of all classes. A list of only names like "none" states exceptions."""
    if all(name.strip().casefold() in _MISSING_TEXTS for name in classes):
        return
    if odd := next((label for label in labels if label not in classes), None):
        raise ValueError(f"{where}: {shown(odd)} is not one of {some_of([*classes], 10)}; list all classes in {option}")


def as_class_labels(
    value: Any, name: str, classes: Collection[str] | None = None, cure: str = "leave out rows without a label"
) -> NDArray[Any]:
    """Return labels as `as_labels` does. Refuse labels that usually mean a missing value.

    `classes`: the listed classes, which may be such labels; None for functions without this option.
    """
    labels = as_labels(value, name)
    if labels.dtype.kind == "U":
        way = "another name" if classes is None else "classes=[{}]"
        texts, rows = (label.tolist() for label in np.unique(labels, return_counts=True))
        rows_of = dict(zip(texts, rows, strict=True))
        refuse_missing_texts(name, rows_of, f"{cure}, or give {way} if it is a class", classes=classes)
    return labels


#: The name of a note.
NEVER_PREDICTED = "class-never-predicted"


def counts_of(classes: Sequence[str], codes: IntArray, times: IntArray | None = None) -> dict[str, int]:
    """Return the number of rows of each class that occurs.

    `times`: how many rows each row of a file represents.
    """
    return {classes[code]: int(rows) for code, rows in enumerate(np.bincount(codes, times).tolist()) if rows}


def class_notes(
    models: Sequence[tuple[str, Sequence[str], IntArray, IntArray]],
    times: IntArray | None = None,
    *,
    answers: bool = False,
) -> list[Note]:
    """Return notes on classes that only labels or only predictions contain, most frequent first, with numbers of rows.

    `models`: for each model its name, the classes, and the codes of labels and predictions. With `answers`, the notes
    of `answer_notes` are included.
    """
    notes = [*answer_notes(models)] if answers else []
    labels = counts_of(*models[0][1:3], times)
    classes_by_model = [(model, counts_of(classes, codes, times)) for model, classes, _, codes in models]
    predicted = {name for _, classes in classes_by_model for name in classes}
    if len(labels) == 1 and len(predicted.union(labels)) == 2:  # right and wrong answers, such as 1 and 0
        return notes
    none_has, items = "predictions of classes that no row has", list[tuple[str, str, list[str]]]()
    few = 2 * len(labels) <= sum(labels.values())  # otherwise labels are free texts or measurements
    if few or not all(map(is_finite_number, labels)):
        items += [("class-without-rows", f"{at}: {none_has}", _without(rows, labels)) for at, rows in classes_by_model]
    if few:
        items.append((NEVER_PREDICTED, "labels of classes that no model predicts", _without(labels, predicted)))
    of_classes = [Note(name, f"{problem}: {some_of(odd, 3)}") for name, problem, odd in items if odd]
    spellings = DistinctNames([*labels], sum(labels.values())).notes
    return [*spellings, *(list_notes(predicted.union(labels)) if few else ()), *of_classes, *notes]


def answer_notes(models: Iterable[tuple[str, Sequence[str], IntArray, IntArray]]) -> Iterator[Note]:
    """Yield a note for each model that is always right, predicts one class only, or is right less often than by chance.

    `models`: as in `class_notes`.
    """
    for model, classes, label, prediction in models:
        if np.array_equal(prediction, label):
            yield Note("perfect-predictions", f"{model} equals the label in all {len(label):,} rows; check for a leak")
        elif prediction.min() == prediction.max() and label.min() < label.max():
            only = shown(classes[prediction[0]])
            yield Note("constant-predictions", f"{model} predicts {only} in all {len(label):,} rows")
        elif _deviations(label, prediction) < -4:
            right = (
                f"{model} is right in only {np.mean(label == prediction):.1%} of the rows, less often than by chance"
            )
            yield Note("below-chance", f"{right}: its two classes may be exchanged")


def _deviations(label: IntArray, prediction: IntArray) -> float:
    """Return the excess of right rows over chance, in standard deviations, for two classes; otherwise 0.

    By chance the number of rows with the last class in both columns has the hypergeometric law of their totals.
    """
    last, first = max(label.max(), prediction.max()), min(label.min(), prediction.min())
    actual, predicted = label == last, prediction == last
    two = (actual | (label == first)).all() and (predicted | (prediction == first)).all()
    variance = np.var(actual) * np.var(predicted) / max(len(label) - 1, 1)
    if not two or not variance:
        return 0.0
    return float((np.mean(actual & predicted) - np.mean(actual) * np.mean(predicted)) / np.sqrt(variance))


def _without(rows: Mapping[str, int], others: Collection[str]) -> list[str]:
    odd = sorted({*rows}.difference(others), key=lambda name: (-rows[name], name))
    return [f"{shown(name)} ({rows[name]:,} rows)" for name in odd]
