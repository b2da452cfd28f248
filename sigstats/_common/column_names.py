"""Usual names of columns, for files, data frames and tables of models."""

import re

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
_FOLD = rf"(?:fold|split|rep|repeat|repetition|cv|{_SEED})"
#: Names of a column of folds or runs on one data set, and of a column for one of them, as `split0_test_score`.
FOLDS = re.compile(rf"(?i)((k|cv|inner|outer)[_ -]?)?{_FOLD}s?{_NUMBER}")
FOLD = re.compile(rf"(?i)(?:^|[_. -]|k){_FOLD}[_. #=:-]*\d+(?:$|[_. -])")
#: Names of a column of runs or models. (Columns of features may repeat labels by design.)
RUN_OR_MODEL = re.compile(
    r"(?i)(random_|train_|training_)?(seed|run|fold|epoch|trial|model|checkpoint|system|classifier|algorithm|method|"
    r"estimator|learner|llm|engine|provider|variant|version|experiment|arm|prompt|config|temperature)(_?(name|id|nr))?"
)
#: Other usual names of columns that are not models.
_NO_MODEL = re.compile(
    r"index|item|unnamed: 0|row|groups?|task|weights?|count|n([_ ](rows|samples|features|classes))?|"
    rf"(random[_ ]|train(ing)?[_ ])?(seed|run|fold|split|epoch|iteration|trial){_NUMBER}"
)
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
#: Names of a column of units with several rows each.
UNIT = re.compile(rf"(?i)(^|[_. -])(patient|subject|participant|person|user|speaker|session|doc|document){_NUMBER}$")
#: Names of a column that may count the rows of a cell.
COUNTS = frozenset(
    {"count", "counts", "n", "n_rows", "num_rows", "num", "n_cases", "freq", "frequency", "cases", "anzahl"}
    | {"n_votes", "num_votes", "votes", "vote_count", "wins", "times", "total"}
)
#: Last parts of names of columns of standard deviations or errors.
_SPREAD = re.compile(r"(?i)[_. -](std|stdev|std[_ ]?dev|sd|std[_ ]?err|stderr|sem|se)$")


def is_no_model(name: str, names: list[str]) -> bool:
    """Return True for the usual name of a column that is not a model: ids, labels, seeds, folds."""
    if _SPREAD.search(name) and _SPREAD.sub("", name) in names:
        return True
    name = name.strip().lower()
    usual = {"id", *KNOWN["id"], "label", *KNOWN["label"], *DOUBTFUL["label"]}
    return (name in usual and not (name == "y" and "x" in names)) or _NO_MODEL.fullmatch(name) is not None
