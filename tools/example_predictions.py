"""Two files of predictions to compare: a model of scikit-learn's digits, and the same behind a new preprocessing step.

The step takes every pixel below a threshold for noise, which costs most where strokes are faint.

python tools/example_predictions.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

THRESHOLD = 9


def predictions() -> dict[str, pd.DataFrame]:
    """What each model says of every image, by five-fold cross-validation."""
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


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, frame in predictions().items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        print(folder / f"{name}.csv")
