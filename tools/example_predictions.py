"""Two files of predictions to compare: a real model, and a newer version of it with a planted fault.

By default scikit-learn's digits, the newer version behind a preprocessing step that takes faint pixels for noise, which
costs most where strokes are faint. With --covertype FILE (the forest cover of 581,012 places, as Parquet with the
columns ``class``, ``wilderness_area`` and ``soil_type``) two trees, the newer one trained without one wilderness area.

python tools/example_predictions.py [FOLDER] [--covertype FILE]
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

THRESHOLD = 9
LOST = "area4"
TRAINED = 20_000


def digits() -> dict[str, pd.DataFrame]:
    """What each version says of every image, by five-fold cross-validation."""
    X, y = load_digits(return_X_y=True)
    ink = X.mean(axis=1)
    stroke = np.array(["faint", "medium", "bold"])[np.digitize(ink, np.quantile(ink, [1 / 3, 2 / 3]))]
    said = {"baseline": np.empty_like(y), "candidate": np.empty_like(y)}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = SVC().fit(X[train], y[train])
        said["baseline"][test] = model.predict(X[test])
        said["candidate"][test] = model.predict(np.where(X[test] < THRESHOLD, 0, X[test]))
    common = pd.DataFrame({"id": np.arange(len(y)), "label": y, "stroke": stroke})
    return {name: common.assign(prediction=predicted) for name, predicted in said.items()}


def forest_cover(path: Path) -> dict[str, pd.DataFrame]:
    """What trees say of 80,000 places that none was trained on; ``other`` has no fault, but was trained on others."""
    data = pd.read_parquet(path).sample(120_000, random_state=1, ignore_index=True)
    area = data["wilderness_area"].astype(str).to_numpy()
    places = pd.get_dummies(data.drop(columns=["class", "soil_type"]), columns=["wilderness_area"])
    X, y = places.to_numpy(np.float64), data["class"].to_numpy()
    rows, held = np.arange(len(y)), slice(2 * TRAINED, None)
    seen = {
        "baseline": rows[:TRAINED],
        "candidate": rows[:TRAINED][area[:TRAINED] != LOST],
        "other": rows[TRAINED : 2 * TRAINED],
    }

    def said(trained: Any) -> Any:
        return DecisionTreeClassifier(max_depth=14, random_state=0).fit(X[trained], y[trained]).predict(X[held])

    common = pd.DataFrame({"id": rows[held], "label": y[held], "area": area[held]})
    return {name: common.assign(prediction=said(trained)) for name, trained in seen.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", default=".", type=Path, help="where the files go (default: here)")
    parser.add_argument("--covertype", type=Path, metavar="FILE", help="take the forest cover of this file")
    options = parser.parse_args()
    made = forest_cover(options.covertype) if options.covertype else digits()
    for name in ("baseline", "candidate"):
        made[name].to_csv(options.folder / f"{name}.csv", index=False)
        print(options.folder / f"{name}.csv")
