"""Draw the gallery of docs/gallery.md: small studies, and their figures by Matplotlib.

python -m tools.gallery
"""

import tempfile
from pathlib import Path
from typing import Any

import sigstats

FOLDER = Path(__file__).parents[1] / "docs" / "gallery"
BENCHMARK = {
    "kind": "benchmark",
    "seed": 1,
    "datasets": ["iris", "wine", "breast-cancer", "digits"],
    "classifiers": ["1-nn", "naive-bayes", "lda", "decision-tree"],
    "permutation": {"resamples": 99},
}
GROWING = {
    "kind": "benchmark",
    "seed": 2,
    "tests": ["permutation"],
    "classifiers": ["decision-tree", "naive-bayes"],
    "permutation": {"resamples": 99},
    "datasets": [
        {"name": f"correlation = {share:.2f}", "source": "generated", "generator": "correlated", "correlation": share}
        for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    ],
}
CALIBRATION = {
    "kind": "calibration",
    "seed": 1,
    "sizes": [50, 100, 200, 400, 700, 1000],
    "trials": 400,
    "populations": [{"name": "10 classes", "source": "sturm", "classes": 10, "right": [0.0, 0.03, 0.05, 0.1]}],
    "tests": [{"test": "mcnemar", "alternative": "less"}],
}
INTERVALS = {
    "kind": "calibration",
    "seed": 1,
    "sizes": [50, 200, 1000],
    "trials": 200,
    "populations": [
        {
            "name": "two versions",
            "source": "simulated",
            "prevalence": [0.5, 0.1],
            "recall": [0.8],
            "precision": [0.8],
            "difference": [0.0, 0.05],
            "dependence": [0.9],
        }
    ],
    "tests": [{"test": "f1-interval", "of": "difference", "method": name} for name in ("wilson", "percentile", "bca")],
}
TRAINED = {
    "kind": "calibration",
    "seed": 1,
    "sizes": [50, 100, 400],
    "trials": 400,
    "populations": [
        {
            "name": "digits",
            "source": "trained",
            "dataset": "digits",
            "train": 400,
            "test": 400,
            "a": {"learner": "linear-svm"},
            "b": {"learner": "svm"},
            "sets": [{"name": "3, 5 and 8", "positive": ["3", "5", "8"]}],
        }
    ],
    "tests": [{"test": "bootstrap", "measure": "f1", "resamples": 2_000}, {"test": "mcnemar"}],
}
#: The figures that are taken from each study, with the options that choose one.
FIGURES: list[tuple[dict[str, Any], dict[str, dict[str, Any]]]] = [
    (
        BENCHMARK,
        {
            "critical_difference": {},
            "over_data_sets": {},
            "forest": {"test": "mcnemar", "dataset": "breast-cancer"},
            "null": {"dataset": "breast-cancer", "classifier": "lda", "test": "permutation-features"},
        },
    ),
    (GROWING, {"trends": {"classifier": "decision-tree", "test": "permutation-features"}}),
    (CALIBRATION, {"power": {}, "calibration_curves": {"n": 200}}),
    (INTERVALS, {"nested_loops": {}, "zips": {"method": "difference of F1 (percentile)"}}),
    (
        TRAINED,
        {
            "law_of_p": {"method": "bootstrap (f1, percentile)"},
            "reliability": {"method": "bootstrap (f1, percentile)", "n": 50},
            "resampled_differences": {},
        },
    ),
]


def main() -> None:
    """Run the studies and write the drawings."""
    FOLDER.mkdir(exist_ok=True)
    for study, figures in FIGURES:
        with tempfile.TemporaryDirectory() as output:
            plot = sigstats.run_study(study, output=output).plot
            print(study["kind"], plot.names, flush=True)
            for name, options in figures.items():
                ax = getattr(plot, name)(**options)
                ax.figure.savefig(FOLDER / f"{name}.png", dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
