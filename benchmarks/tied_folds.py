"""How often a permutation test rejects on noise, with folds that move with the labels and with folds tied to rows.

One normal feature, two classes of 20 rows, 10 stratified folds, linear discriminants, 99 permutations.
"""

from typing import Any

import numpy as np

DATA_SETS, PERMUTATIONS, ROWS, FOLDS = 2000, 99, 40, 10


def wrong(x: Any, y: Any, folds: Any) -> Any:
    """Wrong rows of linear discriminants in cross-validation: labels and folds of shape (sets, n)."""
    inside = (folds[:, None] == np.arange(FOLDS)[:, None]).astype(float)
    of_class = (y[:, None] == np.arange(2)[:, None]).astype(float)
    count = of_class.sum(axis=2)[:, None] - inside @ of_class.swapaxes(1, 2)
    sums = (of_class @ x)[:, None] - inside @ (of_class * x).swapaxes(1, 2)
    squares = x @ x - inside @ x**2 - (sums**2 / count).sum(axis=2)
    mean, variance = sums / count, squares / (count.sum(axis=2) - 2)
    slope = (mean[..., 1] - mean[..., 0]) / variance
    level = np.log(count[..., 1] / count[..., 0]) - 0.5 * (mean[..., 1] ** 2 - mean[..., 0] ** 2) / variance
    scores = np.take_along_axis(slope, folds, axis=1) * x + np.take_along_axis(level, folds, axis=1)
    return ((scores > 0) != (y == 1)).sum(axis=1)


def main() -> None:
    label, fold = np.arange(ROWS) % 2, np.arange(ROWS) // 2 % FOLDS
    for name, tied in (("moved with the labels", False), ("tied to rows", True)):
        rng, rejected, observed, permuted = np.random.default_rng(1), 0, 0.0, 0.0
        for _ in range(DATA_SETS):
            x = rng.normal(size=ROWS)
            draws = np.array([np.arange(ROWS), *(rng.permutation(ROWS) for _ in range(PERMUTATIONS))])
            counts = wrong(x, label[draws], np.broadcast_to(fold, draws.shape) if tied else fold[draws])
            rejected += (1 + (counts[1:] <= counts[0]).sum()) / (1 + PERMUTATIONS) <= 0.05
            observed, permuted = observed + counts[0], permuted + counts[1:].mean()
        total = DATA_SETS * ROWS
        print(
            f"folds {name}: p at most 0.05 in {rejected / DATA_SETS:.1%} of {DATA_SETS} data sets; "
            f"wrong rows {observed / total:.1%} as observed, {permuted / total:.1%} as permuted"
        )


if __name__ == "__main__":
    main()
