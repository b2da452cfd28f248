"""How often rounding decides in a tree with ``class_weight="balanced"`` on permuted data.

Such weights are fractions, whose sums scikit-learn rounds in the order of its sort. Whole numbers in the same ratios
have exact sums, so that equal splits are equal. The table counts the folds with another prediction.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.tree import DecisionTreeClassifier

from sigstats.retraining.folds import stratified_folds

DATA = {"breast cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}


def main() -> None:
    print("| data | folds that differ | folds |\n|---|---|---|")
    for title, load in DATA.items():
        X, y = load(return_X_y=True)
        folds, rng, differ = stratified_folds(y, 10, 1), np.random.default_rng(0), 0
        for _ in range(3):
            moved = X[rng.permutation(len(y))]
            for train in (folds != fold for fold in range(10)):
                counts = np.bincount(y[train])
                whole = (np.lcm.reduce(counts) // counts)[y[train]].astype(float)
                balanced = DecisionTreeClassifier(class_weight="balanced", random_state=0)
                rounded = balanced.fit(moved[train], y[train]).predict(moved[~train])
                exact = DecisionTreeClassifier(random_state=0).fit(moved[train], y[train], sample_weight=whole)
                differ += (rounded != exact.predict(moved[~train])).any()
        print(f"| {title} | {differ} | 30 |")


if __name__ == "__main__":
    main()
