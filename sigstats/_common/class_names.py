"""Predictions that are the classes of the labels, or the same under other names.

Free answers, any of which may be wrong, are not classes: labels of which more than half differ are not examined.
"""

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data_frames import is_missing, require_same_index
from .messages import Note, shown, some_of
from .validation import IntArray, as_labels, refuse, require_comparable, same_kind_of_labels

#: The slice of the rows without a value in a column of slices.
MISSING = "(missing)"
_SEPARATOR = re.compile(r"\s*[|;,]\s*")
_BETWEEN_WORDS = re.compile(r"(?<=[^\W_])[_-](?=[^\W_])")
#: What may stand around a name: brackets, quotation marks, a full stop.
_AROUND = " .:()[]'\"`"
#: Pairs of numbers that stand for two classes.
_BINARY = ({0, 1}, {-1, 1}, {1, 2})


def label_name(label: Any, name: str = "label") -> str:
    """The text of a string or a number: "1" of 1.0, "true" of True; or ValueError."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, (str, int, float)):
        raise refuse(name, label, "a string or a number")
    if isinstance(value, str):
        return str.__str__(value)  # of a member of an enumeration of texts its value
    whole = isinstance(value, float) and value.is_integer()
    return str(value).lower() if isinstance(value, bool) else str(int(value) if whole else value)


def coded(values: Any, name: str, rows: int, *, missing: str | None = None) -> tuple[tuple[str, ...], IntArray]:
    """The distinct values of a column as text, and the number of each row's; `missing`: a name for absent ones."""
    if getattr(getattr(values, "dtype", None), "name", "") == "category":  # such as the intervals of `pandas.cut`
        values = np.asarray(values.astype(object if values.isna().any() else str))
    try:
        column = as_labels(values, name)
    except ValueError as error:
        try:
            texts = _texts(values)
        except Exception:  # an object that is no column may raise anything
            raise error from None
        if None in texts and missing is None:
            raise ValueError(f"{name}: row {texts.index(None)} (from 0) is empty; expected a value") from None
        column = np.array([missing if text is None else text for text in texts])
    if len(column) != rows:
        raise refuse(f"{name} (length)", len(column), f"{rows}, one for each row")
    names, codes = np.unique(column, return_inverse=True)
    return tuple(map(label_name, names.tolist())), codes.astype(np.int64)


def as_groups(values: Any, name: str, rows: int) -> tuple[IntArray, int]:
    """The group numbers of `rows` rows, from 0, and the number of groups; ValueError if there are fewer than two."""
    names, codes = coded_groups(values, name, rows)
    if len(names) < 2:
        raise refuse(name, len(names), "two groups or more")
    return codes, len(names)


def coded_groups(
    values: Any, name: str, rows: int, classes: Collection[str] | None = None
) -> tuple[tuple[str, ...], IntArray]:
    """The names of groups and the number of each row's, as `coded`; ValueError if a name usually means a missing value.

    `classes`: as for `as_class_labels`.
    """
    names, codes = coded(values, name, rows)
    way = "rename {} if it is a group" if classes is None else "give classes=[{}] if it is a group"
    rows_of = dict(zip(names, np.bincount(codes).tolist(), strict=True))
    refuse_missing_texts(name, rows_of, f"leave out these rows, or {way}", classes=classes, what="values")
    return names, codes


def _texts(values: Any) -> list[str | None]:
    """Each value as the text that a file of it has, None of a missing one; an error if one is of another kind."""
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
    """The true labels and those that two classifiers assigned, which may be compared with ``==``; or ValueError."""
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
        require_one_naming(truth, labels, ("y", name))
        assigned.append(labels)
    require_comparable(assigned[0], assigned[1], "b")
    return truth, assigned[0], assigned[1]


def refuse_two_spellings(labels: Sequence[str], n: int, who: str, what: str = "class") -> None:
    """Refuse classes (slices), each once, that look alike: of other white space, or other code points for a letter."""
    alike: dict[str, str] = {}
    for name in labels if _are_classes(labels, n) else ():
        other = alike.setdefault(" ".join(unicodedata.normalize("NFC", name).split()), name)
        if other != name:
            both = f"{shown(name)} and {shown(other)} look alike"
            raise ValueError(f"{who}: {both}; expected one spelling of each {what}")


def require_classes_spelled_once(**counts: Any) -> None:
    """Refuse pandas objects of counts if two classes in their index look alike."""
    for name, count in counts.items():
        index: Any = getattr(count, "index", None)
        if hasattr(index, "equals"):  # a list has a method of this name
            labels = {label for label in index if isinstance(label, str)}
            refuse_two_spellings(sorted(labels), 2**53, f"{name} (index)")


def require_one_naming(truth: NDArray[Any], labels: NDArray[Any], names: tuple[str, str]) -> None:
    """Refuse texts of true and assigned classes if a class has two names; `names` are the names of the arguments."""
    if truth.dtype.kind == "U":
        ours, theirs = (sorted(set(array.tolist())) for array in (truth, labels))
        refuse_two_spellings(ours, len(truth), names[0])
        require_class_names(ours, theirs, len(truth), names[1], wanted=f"classes of {names[0]}", common=False)


def require_class_names(
    labels: Sequence[str],
    said: Sequence[str],
    n: int,
    who: str,
    *,
    wanted: str = "classes of the labels",
    spell: bool = True,
    common: bool = True,
) -> None:
    """Refuse predictions without any class of the labels, if `common`; and differently spelled classes, if `spell`.

    Such names differ in case, form of a number, white space, brackets, quotation marks or the order of parts
    (``"cat|dog"``); are whole numbers shifted from those of the labels, or another usual pair for two classes; or are
    fractions where the classes are whole numbers (probabilities).

    `labels` and `said`: the distinct classes of the `n` labels, and of the predictions; a single class for all rows is
    accepted. `who`: the name of the model in messages. `wanted`: the remedy for other names.
    """
    if common and _are_classes(labels, n) and 2 <= len(said) <= n / 2 and not set(said).intersection(labels):
        raise ValueError(
            f"prediction: {_named(said)} of {who} are not valid; expected classes of the labels: {_named(labels)}"
        )
    strange = sorted(set(said).difference(labels))
    if not spell or not strange or not _are_classes(labels, n):
        return
    spelled = {_spelling(name): name for name in labels}
    for name in strange:
        if (same := spelled.get(_spelling(name))) is not None:
            raise ValueError(
                f"prediction: {shown(name)} of {who} is {shown(same)} of the labels in another spelling; "
                f"expected {wanted}"
            )
    broken = next((name for name in strange if _is_broken(name)), None)
    if broken is not None and all(map(is_number, said)) and not any(map(_is_broken, labels)):
        raise ValueError(
            f"prediction: {shown(broken)} of {who} is not a class of the labels: {_named(labels)}; expected {wanted} "
            "(probabilities are scores, and measurements have the measures neg-mae and neg-mse)"
        )
    if _are_shifted(labels, said):
        raise ValueError(
            f"prediction: the classes {_named(said)} of {who} are not those of the labels, {_named(labels)}; "
            f"expected {wanted}"
        )


def _are_classes(labels: Sequence[str], n: int) -> bool:
    return 2 <= len(labels) <= n / 2


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(shown, sorted(names)[:3]))


def _spelling(name: str) -> str:
    """The spelling that a name has in common with others that stand for the same class."""
    if is_number(name):  # 01, +1, 1.0
        return str(Decimal(name).normalize() + 0)
    folded = " ".join(_BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", name)).casefold().split())
    return "|".join(sorted(part.strip(_AROUND) or part for part in _SEPARATOR.split(folded)))


def _are_shifted(labels: Sequence[str], said: Sequence[str]) -> bool:
    """True if whole numbers are those of the labels plus a constant, or name two classes in another usual way."""
    try:
        ours, theirs = ({int(name) for name in names} for names in (labels, said))
    except ValueError:
        return False
    if len(theirs) < 2 or ours == theirs:
        return False
    by = min(theirs) - min(ours)
    return theirs == {our + by for our in ours} or (ours in _BINARY and theirs in _BINARY)


def is_number(name: str) -> bool:
    """True if a name is a finite number."""
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


def _is_broken(name: str) -> bool:
    return is_number(name) and not float(name).is_integer()


#: Texts, in any case, that usually mean a missing value; the last line is for failed formulas of spreadsheets.
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
    """Refuse labels that usually mean a missing value; the same rule for arrays, files, data sets and populations.

    `where`: the argument, or the file and the column. `rows_of`: the number of rows of each label, of `n` rows; all
    of them by default. `remedy`: an imperative in which ``{}`` is the text. `classes`: the texts that are classes.
    """
    for text, rows in rows_of.items():
        if isinstance(text, str) and text.strip().casefold() in _MISSING_TEXTS and text not in (classes or ()):
            told = f"{rows:,} of {sum(rows_of.values()) if n is None else n:,} {what} are {shown(text)}"
            raise ValueError(f"{where}: {told}; {remedy.replace('{}', shown(text))}")


def as_class_labels(
    value: Any, name: str, classes: Collection[str] | None = None, cure: str = "leave out rows without a label"
) -> NDArray[Any]:
    """Labels as returned by `as_labels`; ValueError if one is a text that usually means a missing value.

    `classes`: the listed classes, which may be such texts; None for functions without this option.
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


def counts_of(classes: Sequence[str], codes: IntArray) -> dict[str, int]:
    """The number of rows of each class that occurs."""
    return {classes[code]: rows for code, rows in enumerate(np.bincount(codes).tolist()) if rows}


def class_notes(labels: Mapping[str, int], said: Sequence[tuple[str, Mapping[str, int]]]) -> list[Note]:
    """Notes on classes that only labels have, or only predictions, most frequent first, all with their rows."""
    predicted = {name for _, classes in said for name in classes}
    if len(labels) == 1 and len(predicted.union(labels)) == 2:  # right and wrong answers, such as 1 and 0
        return []
    none_has = "predictions of classes that no row has"
    items = [("class-without-rows", f"{where}: {none_has}", _without(rows, labels)) for where, rows in said]
    if 2 * len(labels) <= sum(labels.values()):
        items.append((NEVER_PREDICTED, "labels of classes that no model predicts", _without(labels, predicted)))
    return [Note(name, f"{told}: {some_of(odd, 3)}") for name, told, odd in items if odd]


def _without(rows: Mapping[str, int], others: Collection[str]) -> list[str]:
    odd = sorted({*rows}.difference(others), key=lambda name: (-rows[name], name))
    return [f"{shown(name)} ({rows[name]:,} rows)" for name in odd]
