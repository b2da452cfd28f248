"""Usual names of columns, for files, data frames and tables of models."""

import re
from typing import Any

from .messages import shown

#: Common alternative names of the columns.
KNOWN = {
    "id": (
        *("example_id", "sample_id", "instance_id", "item_id", "row_id", "question_id", "qid", "uid"),
        *("image_id", "doc_id", "query_id", "case_id", "test_id", "record_id", "id_code", "passengerid"),
    ),
    "label": ("gold_label", "true_label", "y_true", "ground_truth", "gold", "target", "actual", "truth"),
    "prediction": ("pred_label", "predicted_label", "y_pred", "pred", "predicted", "guess"),
}
#: Names that are read only on request. Each makes another column of its kind ambiguous (except `y` next to `x`).
DOUBTFUL = {
    "id": (),
    "label": (
        *("y", "y_test", "labels", "class", "true_class", "corrected_label", "label_corrected"),
        *("gt", "gt_label", "label_gt"),
    ),
    "prediction": ("y_hat", "yhat", "predictions", "predicted_class", "prediction_calibrated", "final_prediction"),
}
_RUN, _NUMBER = r"(?i)(^|[_. -])(seed|run)", r"([_. -]?(id|nr|no|number|index))?"
#: Names of a column of runs of a recipe, and of a file with one of the runs.
RUN, RUN_FILE = re.compile(rf"{_RUN}{_NUMBER}$"), re.compile(rf"{_RUN}[_. -]?\d+$")
_SEED = r"(?P<run>(?:random|train|training)?[_ ]?(?:seed|run|trial|epoch|iteration)|random[_ ]?state)"
_FOLD = rf"(?:fold|split|rep|repeat|repetition|replicate|replication|resample|bootstrap|cv|{_SEED})"
#: Names of a column of folds or runs on one data set, and of a column for one of them, as `split0_test_score`.
FOLDS = re.compile(rf"(?i)((k|cv|inner|outer)[_ -]?)?{_FOLD}s?{_NUMBER}")
FOLD = re.compile(rf"(?i)(?:^|[\W_]|k){_FOLD}[\W_]*\d+(?:$|[\W_])")
#: Names of a column of runs or models. (Columns of features may repeat labels by design.)
RUN_OR_MODEL = re.compile(
    r"(?i)(random_|train_|training_)?(seed|run|fold|epoch|trial|model|checkpoint|system|classifier|algorithm|method|"
    r"estimator|learner|llm|engine|provider|variant|version|experiment|arm|prompt|config|temperature)(_?(name|id|nr))?"
)
#: Other usual names of columns that are not models.
_NO_MODEL = re.compile(
    r"index|item|unnamed: 0|row|groups?|task|weights?|count|n([_ ](features|classes))?|"
    rf"(random[_ ]|train(ing)?[_ ])?(seed|run|fold|split|epoch|iteration|trial){_NUMBER}"
)
#: Names of a first column of the settings or the training history of one model.
HISTORY = re.compile(r"(?i)(?:^|[_ ./-])(?:epoch|step|iteration|iter|threshold)s?$")
#: Names of columns of row weights. `weight` is not among them, since it may be a measurement.
WEIGHTS = frozenset(
    {f"{kind}_weight{end}" for kind in ("sample", "sampling", "survey", "design") for end in ("", "s")}
    | {"stands_for", "pweight", "pweights", "wgt"}
)
#: Names that suggest a label, prediction, fold, part or weight; `y` is excluded, since it may be a coordinate.
TELLTALE = frozenset({"label", "prediction", "fold", "split", "train", "is_train"}) | WEIGHTS
TELLTALE |= {name for names in (KNOWN, DOUBTFUL) for key in ("label", "prediction") for name in names[key]} - {"y"}
#: Names of a column that may contain ids.
ID = re.compile(r"(?:^|[^A-Za-z])(?i:ids?|idx)(?:[^A-Za-z]|$)|[a-z]I[dD]$")
#: Names of a column of people or programs that judge the same items; a column `item` next to it has ids.
RATER = re.compile(rf"(?i)(annotator|rater|judge|grader|labell?er|reviewer|coder|worker|evaluator){_NUMBER}")
#: Names of a column of units with several rows each.
UNIT = re.compile(rf"(?i)(^|[_. -])(patient|subject|participant|person|user|speaker|session|doc|document){_NUMBER}$")
_COUNTED = ("rows", "samples", "examples", "items", "images", "instances", "cases", "observations", "questions")
#: Names of a column that counts the rows behind a score. Other numbers, such as `n_tokens`, describe an item.
ROWS_BEHIND = frozenset({"support"} | {f"{kind}_{rows}" for kind in ("n", "num") for rows in _COUNTED})
#: Names of a column that may count the rows of a cell.
COUNTS = ROWS_BEHIND | {"count", "counts", "n", "num", "freq", "frequency", "cases", "anzahl"}
COUNTS |= {"n_votes", "num_votes", "votes", "vote_count", "wins", "times", "total"}
#: Words that mean errors or refused answers in a name such as `a_failed`.
ERRORS = (
    r"wrong\w*|incorrect\w*|err(?:or)?s?|mistakes?|miss(?:e[ds])?|misclass\w*|mispred\w*|fail\w*|halluc\w*|not|neq|f[pn]|"
    r"bad|invalid|unsafe|toxic|harmful|refus\w*|reject\w*|flagged|crash\w*|time(?:d[\W_]?)?outs?|bugs?|buggy|violat\w*|"
    r"loss(?:es)?|lost|un(?:re)?solved|defect\w*"
)
#: Last parts of names of columns of standard deviations or errors.
_SPREAD = re.compile(r"(?i)[_. -](std|stdev|std[_ ]?dev|sd|std[_ ]?err|stderr|sem|se)$")

#: Names of a model in use, and of its possible replacement.
IN_USE, REPLACEMENT = (
    re.compile(rf"(?:^|[\W_])(?:{words})(?:$|[\W\d_])", re.IGNORECASE)
    for words in ("baseline|old|before|previous", "candidate|new|after|proposed")
)


def are_exchanged(baseline: str, candidate: str) -> bool:
    """Return True if the name of the baseline suggests a candidate, and that of the candidate a baseline."""
    in_use, replacement = (
        [bool(role.search(name)) for name in (baseline, candidate)] for role in (IN_USE, REPLACEMENT)
    )
    return in_use == [False, True] and replacement == [True, False]


def refuse_exchanged(**pairs: Any) -> None:
    """Refuse a pair of names, or of named Series, if the first suggests a candidate and the second a baseline."""
    for argument, pair in pairs.items():
        values = pair if isinstance(pair, (list, tuple)) else ()
        labels = [value if isinstance(value, str) else getattr(value, "name", None) for value in values]
        names = [label for label in labels if isinstance(label, str)]
        if len(labels) == len(names) == 2 and are_exchanged(*names):
            problem = f"{shown(names[0])} is given as the baseline, and {shown(names[1])} as the candidate"
            raise ValueError(f"{argument}: {problem}; exchange them, or rename them")


def is_no_model(name: str, names: list[str]) -> bool:
    """Return True for the usual name of a column that is not a model: ids, labels, seeds, folds."""
    if _SPREAD.search(name) and _SPREAD.sub("", name) in names:
        return True
    name = name.strip().lower()
    usual = {"id", *KNOWN["id"], "label", *KNOWN["label"], *DOUBTFUL["label"]}
    if name.replace(" ", "_") in ROWS_BEHIND:
        return True
    return (name in usual and not (name == "y" and "x" in names)) or _NO_MODEL.fullmatch(name) is not None
