"""The whole quick start compared with scikit-learn's `permutation_test_score` for permuted labels only.

python benchmarks/quickstart.py [--permutations 499] [--measured 5 25]

`sigstats run quickstart` makes two sets of permutations (of labels, and of features within classes), all pairs, the
summary and the report. scikit-learn has its data, classifiers, number of folds and permutations of labels, one process
for each processor by joblib. Both are measured in seconds of processors, all processes from start to end, which other
work on the machine changes little. scikit-learn is measured at two numbers of permutations, and scaled on the line
through them: its permutations all cost the same.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PEER = """
import sys
from joblib.externals.loky import get_reusable_executor
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
get_reusable_executor().shutdown(wait=True)
"""


def seconds(*command: str) -> float:
    """Seconds of processors that a program and its processes take, with one thread in each."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **threads}, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--permutations", type=int, default=499, metavar="N")
    parser.add_argument("--measured", type=int, nargs=2, default=(5, 25), metavar="N", help="of scikit-learn")
    options = parser.parse_args()
    asked, (few, more) = options.permutations, options.measured
    first, second = (seconds(sys.executable, "-W", "ignore", "-c", PEER, str(count)) for count in (few, more))
    with tempfile.TemporaryDirectory() as folder:
        study = ("run", "quickstart", "--set", f"permutation.resamples={asked}", "--output", str(Path(folder, "out")))
        own = seconds(sys.executable, "-m", "sigstats", *study, "--quiet")
    peer = first + (second - first) * (asked - few) / (more - few)
    print("| permutations | the quick start, s | `permutation_test_score`, s | ratio |\n|---:|---:|---:|---:|")
    print(f"| {asked} | {own:.0f} | {peer:.0f} (at {few}: {first:.1f}, at {more}: {second:.1f}) | {peer / own:.1f} |")


if __name__ == "__main__":
    main()
