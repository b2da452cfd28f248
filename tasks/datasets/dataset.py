"""The data sets of studies: a matrix with codes for nominal features and NaN for missing values, classes, and folds.

Not for texts, images or several classes per row: a `Dataset` is a table of numbers and categories, with one class each.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.column_names import ID, UNIT
from sigstats._common.validation import FloatArray, IntArray, refuse
from sigstats.retraining.folds import leave_one_out_folds, require_trained, stratified_folds

from ..schema import column
from .options import as_categories, as_class_codes, as_flags, as_matrix, as_names, as_partition

#: The optional columns that partition the rows of a data set, with the word for a set of rows.
_PARTITIONS = {"groups": "group", "folds": "fold"}

#: With fewer rows or units, categories may all differ by chance.
_FEWEST_NAMED = 20
#: The least share of units that have one class each; in the others a row may have a wrong one.
_OF_ONE_CLASS = 0.9
#: The end of the name of a feature whose numbers identify rows instead of measuring something.
_NAME_OF_IDENTIFIER = re.compile(
    r"(?i:(?:^|[^a-z])(?:id|identifier|index|key|no|nr|number|uid|uuid))$|[a-z](?:Id|ID|Key|No|Nr|Number)$"
)

#: The maximum number of values of a numeric feature for one slice per value, and the number of bins otherwise.
_MOST_SLICES, _BINS = 8, 4

#: The key of the schema's metadata under which `Dataset.to_table` stores everything that is not a number.
_ABOUT = b"dataset"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with features and a class."""

    #: Name in the study, in one line.
    name: str
    #: Numeric features as numbers, nominal features as codes 0, 1, ...; missing values are NaN. C-contiguous, read-only
    #: float64 array of shape (n, d).
    X: NDArray[np.float64]
    #: Mask of nominal features; read-only bool array of shape (d,).
    nominal: NDArray[np.bool_]
    #: The class of each row as a position in `classes`; read-only int64 array of shape (n,).
    y: NDArray[np.int64]
    #: The names of the classes. There are at least two, and each has rows.
    classes: tuple[str, ...]
    #: The distinct names of the columns of `X`.
    features: tuple[str, ...]
    #: The categories of each nominal feature, in the order of its codes, or empty for numeric features.
    categories: tuple[tuple[str, ...], ...]
    #: The group of each row as a code 0, 1, ...; rows of a group, such as a patient, are dependent. int64 array of
    #: shape (n,), or None if there are no groups.
    groups: NDArray[np.int64] | None = None
    #: The fold in which each row is tested; int64 array of shape (n,), or None if the data do not contain folds.
    folds: NDArray[np.int64] | None = None

    @property
    def described(self) -> dict[str, Any]:
        """The information that learners need: nominal features, categories by feature name, and classes."""
        named = dict(zip(self.features, self.categories, strict=True))
        return {"nominal": self.nominal, "named": named, "classes": self.classes}

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise refuse("data set: name", self.name, "a name in one line")
        where = f"data set {self.name}"
        for field in ("classes", "features"):
            names = as_names(getattr(self, field), f"{where}: {field}")
            object.__setattr__(self, field, names)
        if not self.features:
            raise refuse(f"{where}: features", self.features, "one feature or more")
        X = as_matrix(self.X, f"{where}: X", len(self.features))
        if (infinite := np.argwhere(np.isinf(X))).size:
            row, feature = infinite[0].tolist()
            raise refuse(f"{where}: {self.features[feature]}, row {row}", X[row, feature], "finite numbers")
        y = as_class_codes(self.y, len(X), self.classes, where)
        nominal = as_flags(self.nominal, f"{where}: nominal", len(self.features))
        object.__setattr__(self, "categories", as_categories(self.categories, X, nominal, self.features, where))
        arrays: dict[str, NDArray[Any]] = {"X": X, "y": y, "nominal": nominal}
        for key in _PARTITIONS:
            codes = as_partition(getattr(self, key), f"{where}: {key}", len(y))
            if codes is not None:
                arrays[key] = codes
        for field, array in arrays.items():
            # A view, so that the caller's array stays writeable.
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, field, view)

    @classmethod
    def of_numbers(
        cls, name: str, X: NDArray[Any], y: NDArray[np.int64], *, classes: Sequence[str], features: Sequence[str]
    ) -> Self:
        """Return a data set of numeric features."""
        d = X.shape[1]
        return cls(name, X, np.zeros(d, dtype=bool), y, tuple(classes), tuple(features), ((),) * d)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def nbytes(self) -> int:
        """The memory of the features in bytes."""
        return self.X.nbytes

    @property
    def sizes(self) -> tuple[float, float, float]:
        """The numbers of rows, features and classes."""
        return len(self), self.X.shape[1], len(self.classes)

    def constant_features(self) -> tuple[str, ...]:
        """Return the features whose non-missing values are all equal. No classifier can use them."""
        names = []
        for name, values in zip(self.features, self.X.T, strict=True):
            present = values[~np.isnan(values)]
            if not present.size or (present == present[0]).all():
                names.append(name)
        return tuple(names)

    def identifiers(self) -> tuple[str, ...]:
        """Return the features that identify rows: they have a different category or whole number in every row.

        Whole numbers identify rows if they are consecutive, increase from row to row, or have a name such as "id".
        """
        if len(self) < _FEWEST_NAMED:
            return ()
        columns = zip(self.features, self.X.T, self.nominal, strict=True)
        return tuple(name for name, values, nominal in columns if _identifies_rows(name, values, nominal))

    def units(self) -> dict[str, str]:
        """Return a sentence for each feature that identifies units, such as patients, of several rows and one class."""
        sentences = {}
        for name, values, nominal in zip(self.features, self.X.T, self.nominal, strict=True):
            has_name = bool(UNIT.search(name) or ID.search(name))
            if has_name or nominal:  # skips the sorting of values for most features
                sentences[name] = self._units_in_words(name, values, fewest=0 if has_name else _FEWEST_NAMED)
        return {name: sentence for name, sentence in sentences.items() if sentence}

    def _units_in_words(self, name: str, values: FloatArray, fewest: int) -> str:
        """Return a sentence if the values of a feature identify units of several rows and one class, otherwise "".

        More than three values per class, and at least `fewest`, have several rows each. These are most rows of the data
        set, and nearly all of these values have one class. By chance this happens with p below 0.001 (the binomial
        distribution bounds that of unequal chances).
        """
        from scipy.special import betainc  # few commands need it

        codes, rows = np.unique(values, return_inverse=True, return_counts=True)[1:]
        shares = np.bincount(self.y) / len(self)
        classes = np.bincount(np.unique(codes * len(shares) + self.y) // len(shares))[rows > 1]
        units, pure, repeated = len(classes), int((classes == 1).sum()), rows[rows > 1]
        if self.folds is not None and len({*zip(codes, self.folds, strict=True)}) == len(rows):
            return ""  # each unit is in one fold
        if units <= 3 * len(shares) or units < fewest or repeated.sum() < len(self) / 2 or pure < _OF_ONE_CLASS * units:
            return ""
        chance = float((shares[:, None] ** repeated).sum(axis=0).mean())
        if betainc(pure, units - pure + 1, chance) >= 0.001:
            return ""
        several = "" if units == len(rows) else "repeated "
        if pure == units:
            return f"each of the {units:,} {several}values of {name} has one class"
        return f"{pure:,} of the {units:,} {several}values of {name} have one class"

    def slices(self, feature: str) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Yield the name and rows of each slice: the values of a feature, or four bins of a number with many values."""
        position = self.features.index(feature)
        values, categories, nominal = self.X[:, position], self.categories[position], self.nominal[position]
        present = np.flatnonzero(~np.isnan(values))
        distinct, codes = np.unique(values[present], return_inverse=True)
        names = tuple(categories[int(value)] if nominal else f"{value:.12g}" for value in distinct)
        if not nominal and len(names) > _MOST_SLICES:
            from sigstats.comparison.units import in_bins  # most studies have no slices

            names, codes = in_bins({feature: (names, codes)}, {feature: _BINS})[feature]
        for code, name in enumerate(names):
            yield f"{feature} = {name}", present[codes == code]
        if len(present) < len(values):
            yield f"{feature} is missing", np.flatnonzero(np.isnan(values))

    def digest(self) -> str:
        """Return the SHA-256 of the content, without the name, in hexadecimal. It is the same on every platform."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        about = [self.classes, self.features, self.categories, self.nominal.tolist()]
        state = hashlib.sha256(json.dumps(about).encode())
        state.update(np.where(np.isnan(self.X), np.nan, self.X).astype("<f8").tobytes())
        state.update(self.y.astype("<i8").tobytes())
        for key in _PARTITIONS:
            codes = getattr(self, key)
            if codes is not None:
                state.update(key.encode() + codes.astype("<i8").tobytes())
        return state.hexdigest()

    def to_table(self) -> pa.Table:
        """Return a table with a column per feature, then ``class``. Names and categories are in the metadata."""
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
        partitions = {key: getattr(self, key) for key in _PARTITIONS if getattr(self, key) is not None}
        fields.extend(column(key, pa.int64(), "code", f"the {_PARTITIONS[key]} of the row") for key in partitions)
        schema = pa.schema(fields, metadata={_ABOUT: json.dumps(about).encode()})
        columns = [*self.X.T, self.y, *partitions.values()]
        return pa.Table.from_arrays([pa.array(values) for values in columns], schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "Dataset":
        """Return the data set that `to_table` wrote, bit by bit."""
        try:
            about = json.loads((table.schema.metadata or {})[_ABOUT])
            columns = [table.column(f"x{position}").to_numpy() for position in range(len(about["features"]))]
            partitions = {key: table.column(key).to_numpy() for key in _PARTITIONS if key in table.schema.names}
            return cls(
                name=about["name"],
                X=np.column_stack(columns),
                nominal=np.array(about["nominal"], dtype=bool),
                y=table.column("class").to_numpy(),
                classes=tuple(about["classes"]),
                features=tuple(about["features"]),
                categories=tuple(tuple(names) for names in about["categories"]),
                **partitions,
            )
        except (KeyError, TypeError, pa.ArrowException, json.JSONDecodeError) as error:
            wanted = f"a table that Dataset.to_table wrote ({type(error).__name__})"
            raise refuse("table", table.schema.names, wanted) from None


def _identifies_rows(name: str, values: FloatArray, nominal: bool) -> bool:
    """Return True if a feature identifies rows, as in `Dataset.identifiers`."""
    steps = np.diff(np.sort(values))
    if not (steps > 0).all():  # also if a value is missing
        return False
    if nominal:
        return True
    in_order = (steps == 1).all() or (np.diff(values) > 0).all()
    return not (values % 1).any() and bool(in_order or _NAME_OF_IDENTIFIER.search(name))


#: The value in a study file that replaces a number of folds.
LEAVE_ONE_OUT = "leave-one-out"

#: The value in a cell that replaces a number of folds if the data set contains folds.
GIVEN = "given"


def cross_validation_folds(dataset: Dataset, folds: int | str, rng: Any, *, rare_classes: str) -> IntArray:
    """Return the test fold of each row: the folds of the data set if it has any, or drawn folds that keep groups whole.

    `folds`: a number, or `LEAVE_ONE_OUT`.
    `rng`: random generator, which `LEAVE_ONE_OUT` does not use.
    `rare_classes`: as in `stratified_folds`.
    """
    if dataset.folds is not None:
        require_trained(dataset.y, dataset.folds, rare_classes, dataset.groups)
        return dataset.folds
    if isinstance(folds, str):
        return leave_one_out_folds(dataset.y, dataset.groups, rare_classes=rare_classes)
    return stratified_folds(dataset.y, folds, rng, groups=dataset.groups, rare_classes=rare_classes)
