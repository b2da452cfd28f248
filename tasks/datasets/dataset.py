"""A data set as every study uses it: one matrix, codes for nominal features, NaN for what is missing.

Not for text, images or more than one class a row: a `Dataset` is a table of numbers and categories with one class each.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.validation import refuse, shown

from ..schema import column

#: What parts of the rows a data set may have, and what each is.
_PARTS = {"groups": "group", "folds": "fold"}

#: The key of the schema's metadata under which `Dataset.to_table` keeps what is no number.
_ABOUT = b"dataset"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with features and a class.

    Attributes
    ----------
    name : str
        What the study calls it; one line.
    X : float64 array of shape (n, d), C-contiguous, read-only
        Numeric features as they are, nominal ones as codes 0, 1, ...; NaN is missing in either kind.
    nominal : bool array of shape (d,), read-only
        Which features are nominal.
    y : int64 array of shape (n,), read-only
        The class of each row, a position in `classes`.
    classes : tuple of str
        Two or more; each has rows.
    features : tuple of str
        The names of the columns of `X`, each once.
    categories : tuple of tuple of str
        The categories of each nominal feature, in the order of its codes; empty for a numeric one.
    groups : int64 array of shape (n,) or None
        What rows have in common, such as a patient, as codes 0, 1, ...: rows of one group depend on each other.
    folds : int64 array of shape (n,) or None
        The fold in which each row is tested, where the data say so, likewise.

    Raises
    ------
    ValueError
        One line that names the data set, the column, the row where there is one (counted from 0), and what would be
        right: no rows, no features, one class alone, an infinite value, a code without a category ...

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.tasks.datasets.dataset import Dataset
    >>> weather = Dataset(
    ...     name="weather",
    ...     X=np.array([[21.5, 0], [np.nan, 1], [4, 1]]),
    ...     nominal=np.array([False, True]),
    ...     y=np.array([1, 0, 0]),
    ...     classes=("stay", "walk"),
    ...     features=("celsius", "sky"),
    ...     categories=((), ("blue", "grey")),
    ... )
    >>> Dataset.from_table(weather.to_table()).digest() == weather.digest()
    True
    >>> weather.constant_features()
    ()
    """

    name: str
    X: NDArray[np.float64]
    nominal: NDArray[np.bool_]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    features: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    groups: NDArray[np.int64] | None = None
    folds: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise refuse("data set: name", self.name, "a name in one line")
        where = f"data set {self.name}"
        for field in ("classes", "features"):
            names = _names(getattr(self, field), f"{where}: {field}")
            object.__setattr__(self, field, names)
        if not self.features:
            raise refuse(f"{where}: features", self.features, "one feature or more")
        X = _matrix(self.X, f"{where}: X", len(self.features))
        _require_finite(X, self.features, where)
        y = _codes_of_classes(self.y, len(X), self.classes, where)
        nominal = _flags(self.nominal, f"{where}: nominal", len(self.features))
        object.__setattr__(self, "categories", _categories(self.categories, X, nominal, self.features, where))
        parts = [(key, _parts(getattr(self, key), f"{where}: {key}", len(y))) for key in _PARTS]
        arrays = [("X", X), ("y", y), ("nominal", nominal), *((key, part) for key, part in parts if part is not None)]
        for field, array in arrays:
            # A view, so that the caller's own array stays writeable.
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, field, view)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def nbytes(self) -> int:
        """How much memory the features take, in bytes."""
        return self.X.nbytes

    def constant_features(self) -> tuple[str, ...]:
        """The features whose present values are all equal: no classifier can use them."""
        found = []
        for position, name in enumerate(self.features):
            values = self.X[:, position]
            values = values[~np.isnan(values)]
            if not values.size or (values == values[0]).all():
                found.append(name)
        return tuple(found)

    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the content, the same on every platform; the name is no part of it."""
        kept: str | None = self.__dict__.get("_digest")
        if kept is None:
            state = hashlib.sha256(
                json.dumps([self.classes, self.features, self.categories, self.nominal.tolist()]).encode()
            )
            state.update(np.where(np.isnan(self.X), np.nan, self.X).astype("<f8").tobytes())
            state.update(self.y.astype("<i8").tobytes())
            for key in _PARTS:
                part = getattr(self, key)
                if part is not None:
                    state.update(key.encode() + part.astype("<i8").tobytes())
            kept = state.hexdigest()
            object.__setattr__(self, "_digest", kept)
        return kept

    def to_table(self) -> pa.Table:
        """The data set as a table: one column a feature, then ``class``; what is no number is in the metadata."""
        about = {
            "name": self.name,
            "classes": self.classes,
            "features": self.features,
            "categories": self.categories,
            "nominal": self.nominal.tolist(),
        }
        fields = [
            column(
                f"x{position}",
                pa.float64(),
                "code" if nominal else "as in the source",
                f"feature {name}; NaN is missing" + ("; a position in its categories" if nominal else ""),
            )
            for position, (name, nominal) in enumerate(zip(self.features, self.nominal, strict=True))
        ]
        fields.append(column("class", pa.int64(), "code", "the class of the row, a position in classes"))
        parts = {key: getattr(self, key) for key in _PARTS if getattr(self, key) is not None}
        fields.extend(column(key, pa.int64(), "code", f"the {_PARTS[key]} of the row") for key in parts)
        schema = pa.schema(fields, metadata={_ABOUT: json.dumps(about).encode()})
        columns = [*self.X.T, self.y, *parts.values()]
        return pa.Table.from_arrays([pa.array(values) for values in columns], schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "Dataset":
        """The data set that `to_table` wrote, bit by bit.

        Raises
        ------
        ValueError
            If the table is none that `to_table` wrote.
        """
        try:
            about = json.loads((table.schema.metadata or {})[_ABOUT])
            columns = [table.column(f"x{position}").to_numpy() for position in range(len(about["features"]))]
            parts = {key: table.column(key).to_numpy() for key in _PARTS if key in table.schema.names}
            return cls(
                name=about["name"],
                X=np.column_stack(columns),
                nominal=np.array(about["nominal"], dtype=bool),
                y=table.column("class").to_numpy(),
                classes=tuple(about["classes"]),
                features=tuple(about["features"]),
                categories=tuple(tuple(names) for names in about["categories"]),
                **parts,
            )
        except (KeyError, TypeError, pa.ArrowException, json.JSONDecodeError) as error:
            raise ValueError(
                f"table: {shown(table.schema.names)} is not valid; expected a table that Dataset.to_table wrote "
                f"({type(error).__name__})"
            ) from None


def _names(value: Any, where: str) -> tuple[str, ...]:
    """A tuple of distinct strings that can be written as UTF-8, or ValueError."""
    wanted = "names, each a string and there once"
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise refuse(where, value, wanted)
    for name in value:
        if not isinstance(name, str):
            raise refuse(where, name, wanted)
        if not _is_unicode(name):
            raise refuse(where, name, "text without lone surrogates")
    if len(set(value)) < len(value):
        raise refuse(where, next(name for name in value if value.count(name) > 1), wanted)
    return tuple(value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _array(value: Any, where: str, wanted: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError):  # ragged, or an object that NumPy cannot read
        raise refuse(where, value, wanted) from None


def _matrix(value: Any, where: str, d: int) -> NDArray[np.float64]:
    wanted = f"numbers of shape (n, {d}), with one row or more"
    array = _array(value, where, wanted)
    if array.dtype.kind not in "iuf":
        raise refuse(where, value, wanted)
    if array.ndim != 2 or array.shape[1] != d or not len(array):
        raise refuse(f"{where} (shape)", array.shape, wanted)
    return np.ascontiguousarray(array, dtype=np.float64)


def _require_finite(X: NDArray[np.float64], features: tuple[str, ...], where: str) -> None:
    infinite = np.isinf(X)
    if infinite.any():
        row, position = (int(index[0]) for index in np.nonzero(infinite))
        raise refuse(f"{where}: {features[position]}, row {row}", X[row, position], "finite numbers")


def _codes_of_classes(value: Any, n: int, classes: tuple[str, ...], where: str) -> NDArray[np.int64]:
    wanted = f"{n} whole numbers, each a position in the {len(classes)} classes; no class may be missing"
    y = _array(value, f"{where}: y", wanted)
    if y.dtype.kind not in "iu":
        raise refuse(f"{where}: y", value, wanted)
    if y.shape != (n,):
        raise refuse(f"{where}: y (shape)", y.shape, wanted)
    outside = (y < 0) | (y >= len(classes))
    if outside.any():
        row = int(outside.argmax())
        raise refuse(f"{where}: y, row {row}", y[row], wanted)
    y = np.ascontiguousarray(y, dtype=np.int64)
    rows = np.bincount(y, minlength=len(classes))
    if len(classes) < 2:
        raise refuse(f"{where}: classes", classes, "two or more")
    if not rows.all():
        raise refuse(f"{where}: classes", classes[int(rows.argmin())], "classes that each have a row")
    return y


def _parts(value: Any, where: str, n: int) -> NDArray[np.int64] | None:
    """Codes of two parts of the rows or more, each with a row; None where there are none."""
    if value is None:
        return None
    wanted = f"{n} whole numbers, the codes 0, 1, ... of two or more, each of which has a row"
    codes = _array(value, where, wanted)
    if codes.dtype.kind not in "iu" or codes.shape != (n,) or codes.min() < 0 or codes.max() >= n:
        raise refuse(where, value, wanted)
    rows = np.bincount(codes)
    if len(rows) < 2 or not rows.all():
        raise refuse(where, value, wanted)
    return np.ascontiguousarray(codes, dtype=np.int64)


def _flags(value: Any, where: str, d: int) -> NDArray[np.bool_]:
    wanted = f"{d} booleans, one a feature"
    flags = _array(value, where, wanted)
    if flags.dtype != np.bool_ or flags.shape != (d,):
        raise refuse(where, value, wanted)
    return flags


def _categories(
    value: Any, X: NDArray[np.float64], nominal: NDArray[np.bool_], features: tuple[str, ...], where: str
) -> tuple[tuple[str, ...], ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != len(features):
        raise refuse(f"{where}: categories", value, f"{len(features)} tuples of names, one a feature")
    checked = tuple(
        _names(names, f"{where}: categories of {name}") for name, names in zip(features, value, strict=True)
    )
    for position, (name, names) in enumerate(zip(features, checked, strict=True)):
        if not nominal[position]:
            if names:
                raise refuse(f"{where}: categories of {name}", names, "none, since the feature is numeric")
            continue
        codes = X[:, position]
        wrong = ~(np.isnan(codes) | ((codes >= 0) & (codes < len(names)) & (codes == np.floor(codes))))
        if wrong.any():
            row = int(wrong.argmax())
            raise refuse(f"{where}: {name}, row {row}", codes[row], f"NaN or a position in its {len(names)} categories")
    return checked
