"""The data set of every study: one matrix, codes for nominal features, NaN for missing values; and its folds.

Not for text, images or more than one class a row: a `Dataset` is a table of numbers and categories with one class each.
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
from .options import as_categories, as_class_codes, as_flags, as_matrix, as_names, as_parts

#: Optional parts of the rows of a data set, with their meanings.
_PARTS = {"groups": "group", "folds": "fold"}

#: Categories of fewer rows may all differ by chance.
_FEWEST_NAMED = 20
#: The end of a name that says that a number is no measurement.
_SAYS_NAME = re.compile(
    r"(?i:(?:^|[^a-z])(?:id|identifier|index|key|no|nr|number|uid|uuid))$|[a-z](?:Id|ID|Key|No|Nr|Number)$"
)

#: The most values of a number that are slices of their own; and the number of bins if there are more.
_MOST_SLICES, _BINS = 8, 4

#: The key of the schema's metadata under which `Dataset.to_table` keeps what is no number.
_ABOUT = b"dataset"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with features and a class."""

    #: Name in the study; one line.
    name: str
    #: Numeric features as they are, nominal ones as codes 0, 1, ...; NaN is missing in either kind; float64 array of
    #: shape (n, d), C-contiguous, read-only.
    X: NDArray[np.float64]
    #: Mask of nominal features; bool array of shape (d,), read-only.
    nominal: NDArray[np.bool_]
    #: The class of each row, a position in `classes`; int64 array of shape (n,), read-only.
    y: NDArray[np.int64]
    #: Two or more; each has rows.
    classes: tuple[str, ...]
    #: The names of the columns of `X`, each once.
    features: tuple[str, ...]
    #: The categories of each nominal feature, in the order of its codes; empty for a numeric one.
    categories: tuple[tuple[str, ...], ...]
    #: Groups of dependent rows, such as those of a patient, as codes 0, 1, ...; int64
    #: array of shape (n,) or None.
    groups: NDArray[np.int64] | None = None
    #: The fold in which each row is tested, where the data say so, likewise; int64 array of shape (n,) or None.
    folds: NDArray[np.int64] | None = None

    @property
    def described(self) -> dict[str, Any]:
        """What a learner needs to know: the nominal features, the categories of each by name, and the classes."""
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
        parts = [(key, as_parts(getattr(self, key), f"{where}: {key}", len(y))) for key in _PARTS]
        arrays = [("X", X), ("y", y), ("nominal", nominal), *((key, part) for key, part in parts if part is not None)]
        for field, array in arrays:
            # A view, so that the caller's own array stays writeable.
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, field, view)

    @classmethod
    def of_numbers(
        cls, name: str, X: NDArray[Any], y: NDArray[np.int64], *, classes: Sequence[str], features: Sequence[str]
    ) -> Self:
        """A data set whose features are all numeric."""
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
        """The features whose present values are all equal: no classifier can use them."""
        names = []
        for name, values in zip(self.features, self.X.T, strict=True):
            present = values[~np.isnan(values)]
            if not present.size or (present == present[0]).all():
                names.append(name)
        return tuple(names)

    def identifiers(self) -> tuple[str, ...]:
        """The features that name rows: with another category, or another whole number, in every row.

        Whole numbers name rows if they are consecutive, if they grow from row to row, or if their name says so.
        """
        if len(self) < _FEWEST_NAMED:
            return ()
        columns = zip(self.features, self.X.T, self.nominal, strict=True)
        return tuple(name for name, values, nominal in columns if _names_rows(name, values, nominal))

    def units(self) -> dict[str, int]:
        """The features that name units of several rows and one class each, with their numbers of values.

        Their name says so, or they have many categories; the values have one class by chance with p below 0.01.
        """
        shares, counts = np.bincount(self.y) / len(self), dict[str, int]()
        for name, values, nominal in zip(self.features, self.X.T, self.nominal, strict=True):
            says_unit = UNIT.search(name) or ID.search(name)
            if not says_unit and not nominal:  # most features, whose values need no sorting
                continue
            codes, rows = np.unique(values, return_inverse=True, return_counts=True)[1:]
            many = len(rows) > 3 * len(shares) and (says_unit or len(rows) >= _FEWEST_NAMED)
            if not many or rows.min() < 2 or len(np.unique(codes * len(shares) + self.y)) > len(rows):
                continue
            if (shares[:, None] ** rows).sum(axis=0).prod() < 0.01:
                counts[name] = len(rows)
        return counts

    def slices(self, feature: str) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """The rows of each value of a feature, with their name; for a number with many values, of four bins."""
        position = self.features.index(feature)
        values, known, nominal = self.X[:, position], self.categories[position], self.nominal[position]
        present = np.flatnonzero(~np.isnan(values))
        result, codes = np.unique(values[present], return_inverse=True)
        names = tuple(known[int(value)] if nominal else f"{value:.12g}" for value in result)
        if not nominal and len(names) > _MOST_SLICES:
            from sigstats.comparison.units import in_bins  # most studies have no slices

            names, codes = in_bins({feature: (names, codes)}, {feature: _BINS})[feature]
        for code, name in enumerate(names):
            yield f"{feature} = {name}", present[codes == code]
        if len(present) < len(values):
            yield f"{feature} is missing", np.flatnonzero(np.isnan(values))

    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the content without the name, the same on every platform."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        about = [self.classes, self.features, self.categories, self.nominal.tolist()]
        state = hashlib.sha256(json.dumps(about).encode())
        state.update(np.where(np.isnan(self.X), np.nan, self.X).astype("<f8").tobytes())
        state.update(self.y.astype("<i8").tobytes())
        for key in _PARTS:
            part = getattr(self, key)
            if part is not None:
                state.update(key.encode() + part.astype("<i8").tobytes())
        return state.hexdigest()

    def to_table(self) -> pa.Table:
        """The data set as a table: a column per feature, then ``class``; names and categories are metadata."""
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
        """The data set that `to_table` wrote, bit by bit."""
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
            wanted = f"a table that Dataset.to_table wrote ({type(error).__name__})"
            raise refuse("table", table.schema.names, wanted) from None


def _names_rows(name: str, values: FloatArray, nominal: bool) -> bool:
    steps = np.diff(np.sort(values))
    if not (steps > 0).all():  # also where a value is missing
        return False
    whole = not nominal and not (values % 1).any()
    in_turn = (steps == 1).all() or (np.diff(values) > 0).all()
    return nominal or bool(whole and (in_turn or _SAYS_NAME.search(name)))


#: Value in a study file in place of a number of folds.
LEAVE_ONE_OUT = "leave-one-out"

#: Value in a cell in place of a number if the data set names the folds.
GIVEN = "given"


def cross_validation_folds(dataset: Dataset, folds: int | str, rng: Any, *, rare_classes: str) -> IntArray:
    """The test fold of every row: from the data set if it has folds; otherwise without splitting groups.

    `folds`: a number, or `LEAVE_ONE_OUT`.
    `rng`: source of the folds; leaving out one row at a time draws nothing.
    `rare_classes`: as for `stratified_folds`.
    """
    if dataset.folds is not None:
        require_trained(dataset.y, dataset.folds, rare_classes, dataset.groups)
        return dataset.folds
    if isinstance(folds, str):
        return leave_one_out_folds(dataset.y, dataset.groups, rare_classes=rare_classes)
    return stratified_folds(dataset.y, folds, rng, groups=dataset.groups, rare_classes=rare_classes)
