"""List the ready studies, or print the file of one as a start for your own.

`sigstats run NAME` runs one. Relative paths of data start from the working folder: `sigstats studies --fetch NAME`
fetches the data of a study there, by scikit-learn's downloaders (OpenML, forest cover), and names the files that you
must get elsewhere.
"""

import argparse
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sigstats._common.messages import join_words

from ..config.toml_files import data_files_of, ready_studies, summary_of
from ..errors import DONE, BadInput
from ._files import write_whole
from ._options import as_options

GROUP = "studies"

#: The files of OpenML: the number of the data set, its rows, and the rows of its largest class.
OPENML = {
    "abalone": (183, 4177, 689), "anneal_orig": (2, 898, 684), "arrhythmia": (5, 452, 245), "audiology": (7, 226, 57),
    "autos": (9, 205, 67), "balance_scale": (11, 625, 288), "breast_cancer_ljubljana": (13, 286, 201),
    "breast_w": (15, 699, 458), "car": (40975, 1728, 1210), "cmc": (23, 1473, 629), "colic": (27, 368, 232),
    "credit_a": (29, 690, 383), "cylinder_bands": (6332, 540, 312), "dermatology": (35, 366, 112),
    "ecoli": (39, 336, 143), "german": (31, 1000, 700), "glass": (41, 214, 76), "haberman": (43, 306, 225),
    "heart_c": (49, 303, 165), "heart_h": (51, 294, 188), "heart_statlog": (53, 270, 150), "hepatitis": (55, 155, 123),
    "hypothyroid": (57, 3772, 3481), "ionosphere": (59, 351, 225), "iris": (61, 150, 50), "kr_vs_kp": (3, 3196, 1669),
    "labor": (4, 57, 37), "letter": (6, 20000, 813), "lymph": (10, 148, 81), "mushroom": (24, 8124, 4208),
    "nursery": (26, 12960, 4320), "optdigits": (28, 5620, 572), "page_blocks": (30, 5473, 4913),
    "pendigits": (32, 10992, 1144), "pima": (37, 768, 500), "postoperative": (34, 90, 64),
    "primary_tumor": (171, 339, 84), "promoters": (164, 106, 53), "seeds": (1499, 210, 70), "segment": (36, 2310, 330),
    "sick": (38, 3772, 3541), "sonar": (40, 208, 111), "soybean": (42, 683, 92), "spambase": (44, 4601, 2788),
    "spect": (336, 267, 212), "splice": (46, 3190, 1655), "tae": (48, 151, 52), "tic_tac_toe": (50, 958, 626),
    "vehicle": (54, 846, 218), "votes": (56, 435, 267), "vowel": (307, 990, 90), "waveform5000": (60, 5000, 1692),
    "wdbc": (1510, 569, 357), "wine": (187, 178, 71), "zoo": (62, 101, 41),
}  # fmt: skip

#: Pixels below it are taken for noise by the newer version of a model.
_FAINT = 9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats studies``."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this study file")
    parser.add_argument("--fetch", metavar="NAME", help="fetch the data of this study into the working folder")


def run(options: argparse.Namespace) -> int:
    """Print the list, or a file, or the data that were fetched."""
    from sigstats._common.validation import as_choice

    if options.fetch is not None and options.name is not None:
        raise BadInput(f"NAME: {options.name} is not valid with --fetch {options.fetch}; use one of them")
    if options.fetch is not None:
        for line in fetch(options.fetch):
            print(line, flush=True)  # noqa: T201
        return DONE
    ready = ready_studies()
    if options.name is None:
        width = max(map(len, ready))
        for name, path in ready.items():
            print(f"{name:{width}}  {summary_of(path)}")  # noqa: T201
        return DONE
    with as_options():
        path = ready[as_choice(options.name, "NAME", list(ready))]
    print(path.read_text(encoding="utf-8"), end="")  # noqa: T201
    return DONE


def fetch(name: str) -> Iterator[str]:
    """Fetch the files of a ready study that are missing in the working folder; yield a line for each.

    A data set is written only if its number of rows and the size of its largest class are those of the study's data.
    """
    if name not in ready_studies():
        raise BadInput(f"--fetch: {name!r} is not valid; expected one of {', '.join(ready_studies())}")
    wanted = [file.replace("*", "1") for file in data_files_of(tomllib.loads(ready_studies()[name].read_text("utf-8")))]
    if not wanted:
        yield f"{name} needs no files: sigstats run {name}"
    missing = []
    for target in dict.fromkeys(wanted):
        path = Path(target)
        if not path.exists():
            try:
                frame = _frame(path.stem)
            except (OSError, ValueError) as error:
                missing.append(f"{target} ({' '.join(str(error).split())[:200]})")
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(str(path), frame.to_parquet(index=False))
        yield str(path)
    if missing:
        raise BadInput(f"--fetch: {len(missing)} of {len(wanted)} files were not fetched: {join_words(missing)}")


def _frame(stem: str) -> Any:
    from sklearn import datasets

    if stem in ("production", "candidate-1"):
        return digits()["baseline" if stem == "production" else "candidate"]
    if stem == "covertype":
        value, rows, largest = datasets.fetch_covtype(as_frame=True), 581_012, 283_301
    elif stem in OPENML:
        number, rows, largest = OPENML[stem]
        value = datasets.fetch_openml(data_id=number, as_frame=True, parser="liac-arff")
    else:
        raise ValueError("no downloader has it in this form")
    target = value.target.astype(str)
    if (len(target), int(target.value_counts().max())) != (rows, largest):
        raise ValueError(f"other data were fetched: {len(target):,} rows, {target.value_counts().max():,} of one class")
    return value.data.assign(**{"class": target})


def digits() -> dict[str, Any]:
    """Return predictions of scikit-learn's digits by two versions of a model, the newer of which drops faint pixels.

    `stroke` states how faint an image is, `region` which half has more ink. Five-fold cross-validation.
    """
    import numpy as np
    import pandas as pd
    from sklearn.datasets import load_digits
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import SVC

    X, y = load_digits(return_X_y=True)
    ink = X.mean(axis=1)
    stroke = np.array(["faint", "medium", "bold"])[np.digitize(ink, np.quantile(ink, [1 / 3, 2 / 3]))]
    region = np.where(X[:, :32].sum(axis=1) > X[:, 32:].sum(axis=1), "upper", "lower")
    predictions = {"baseline": np.empty_like(y), "candidate": np.empty_like(y)}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = SVC().fit(X[train], y[train])
        predictions["baseline"][test] = model.predict(X[test])
        predictions["candidate"][test] = model.predict(np.where(X[test] < _FAINT, 0, X[test]))
    common = pd.DataFrame({"id": np.arange(len(y)), "label": y, "stroke": stroke, "region": region})
    return {name: common.assign(prediction=predicted) for name, predicted in predictions.items()}
