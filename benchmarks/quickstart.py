"""The whole quick start beside scikit-learn's `permutation_test_score` for its permutations of labels alone.

python benchmarks/quickstart.py [--permutations 499]

`sigstats run quickstart` makes two sets of permutations (of labels, and of features within classes), all pairs, the
summary and the report. scikit-learn has its data, classifiers, number of folds and permutations of labels, one process
for each processor by joblib. Both are measured by the clock, from a process's start to its end, one after the other.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PEER = """
import sys
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, permutation_test_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

folds = StratifiedKFold(10, shuffle=True, random_state=0)
for load in (load_iris, load_wine, load_breast_cancer, load_digits):
    X, y = load(return_X_y=True)
    for estimator in (KNeighborsClassifier(1), GaussianNB(), LinearDiscriminantAnalysis(), DecisionTreeClassifier()):
        permutation_test_score(estimator, X, y, cv=folds, n_permutations=int(sys.argv[1]), n_jobs=-1)
"""


def seconds(*command: str) -> float:
    """How long a program takes, with one thread in each process."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    began = time.perf_counter()
    subprocess.run(command, env={**os.environ, **threads}, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--permutations", type=int, default=499, metavar="N")
    asked = parser.parse_args().permutations
    with tempfile.TemporaryDirectory() as folder:
        study = ("run", "quickstart", "--set", f"permutation.resamples={asked}", "--output", str(Path(folder, "out")))
        own = seconds(sys.executable, "-m", "sigstats", *study, "--quiet")
    peer = seconds(sys.executable, "-W", "ignore", "-c", PEER, str(asked))
    print("| permutations | the quick start, s | `permutation_test_score`, s | ratio |\n|---:|---:|---:|---:|")
    print(f"| {asked} | {own:.0f} | {peer:.0f} | {peer / own:.1f} |")


if __name__ == "__main__":
    main()
