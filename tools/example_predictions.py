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
from sklearn.tree import DecisionTreeClassifier

from sigstats.flows.commands.studies import digits

LOST = "area4"
TRAINED = 20_000


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
        made[name].drop(columns="region", errors="ignore").to_csv(options.folder / f"{name}.csv", index=False)
        print(options.folder / f"{name}.csv")
