"""A data set as every study uses it: one matrix, codes for nominal features, NaN for what is missing."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats.checks import refuse


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with features and a class.

    Attributes
    ----------
    name : str
    X : float64 array of shape (n, d)
        Numeric features as they are, nominal ones as codes 0, 1, ...; NaN is missing in either kind.
    nominal : bool array of shape (d,)
        Which features are nominal.
    y : int64 array of shape (n,)
        The class of each row, a position in `classes`.
    classes : tuple of str
    features : tuple of str
    categories : tuple of tuple of str
        The categories of each nominal feature, in the order of its codes; empty for a numeric one.
    """

    name: str
    X: NDArray[np.float64]
    nominal: NDArray[np.bool_]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    features: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        where = f"data set {self.name}"
        n = len(self.y)
        if n == 0 or self.X.shape != (n, len(self.features)) or not self.features:
            raise refuse(f"{where}: rows and features", self.X.shape, "at least one of each")
        if len(self.classes) < 2 or len(np.unique(self.y)) < 2:
            raise refuse(f"{where}: classes", self.classes, "two or more, each with rows")
        infinite = np.isinf(self.X).any(axis=0)
        if infinite.any():
            raise refuse(f"{where}: {self.features[int(infinite.argmax())]}", float("inf"), "finite numbers")

    def constant_features(self) -> tuple[str, ...]:
        """The features whose present values are all equal: no classifier can use them."""
        found = []
        for position, name in enumerate(self.features):
            values = self.X[:, position]
            if len(np.unique(values[~np.isnan(values)])) < 2:
                found.append(name)
        return tuple(found)

    def digest(self) -> str:
        """SHA-256 of the content, the same on every platform; the name is no part of it."""
        kept: str | None = self.__dict__.get("_digest")
        if kept is None:
            state = hashlib.sha256(
                json.dumps([self.classes, self.features, self.categories, self.nominal.tolist()]).encode()
            )
            state.update(np.where(np.isnan(self.X), np.nan, self.X).astype("<f8").tobytes())
            state.update(self.y.astype("<i8").tobytes())
            kept = state.hexdigest()
            object.__setattr__(self, "_digest", kept)
        return kept

    def to_table(self) -> pa.Table:
        """The data set as a table: one column a feature, then ``class``; what is no number is in the metadata."""
        columns = [pa.array(column) for column in self.X.T]
        about = {
            "name": self.name,
            "classes": self.classes,
            "features": self.features,
            "categories": self.categories,
            "nominal": self.nominal.tolist(),
        }
        fields: list[Any] = [pa.field(f"x{position}", pa.float64(), nullable=False) for position in range(len(columns))]
        fields.append(pa.field("class", pa.int64(), nullable=False))
        schema = pa.schema(fields, metadata={"dataset": json.dumps(about)})
        return pa.Table.from_arrays([*columns, pa.array(self.y)], schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "Dataset":
        """The data set that `to_table` wrote."""
        about = json.loads(table.schema.metadata[b"dataset"])
        columns = [table.column(position).to_numpy() for position in range(table.num_columns - 1)]
        return cls(
            name=about["name"],
            X=np.ascontiguousarray(np.column_stack(columns)),
            nominal=np.array(about["nominal"], dtype=bool),
            y=table.column("class").to_numpy().astype(np.int64),
            classes=tuple(about["classes"]),
            features=tuple(about["features"]),
            categories=tuple(tuple(names) for names in about["categories"]),
        )
