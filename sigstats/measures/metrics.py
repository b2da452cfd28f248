"""The table of metrics: names, synonyms, better direction, limits and unit of scores and measures.

Only whole names are recognised. Case does not matter; words are separated by spaces, ``_``, ``-`` or ``.``, or all
joined (``score_s`` is not ``scores``). A stage may precede it (``val_loss``: train, val, valid, validation, dev, eval,
test), and a cut-off (``recall@10``) or a unit as the last word (``latency_ms``) may follow it.
"""

import re
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from .._common.messages import Note
from .._common.validation import Limits, refuse

#: Direction: greater or lower is better; for the score of a class it depends on the row's class.
Direction: TypeAlias = Literal["higher", "lower", "class"]


class Metric(NamedTuple):
    """A metric: its first name in the table, the better direction, and the limits of every value, if there are any."""

    name: str
    direction: Direction
    limits: Limits = None


#: The metrics by their direction and limits, separated by semicolons: of each its name, then synonyms.
_TABLE = """
higher 0 1: accuracy acc accuracy-score accuracy-rate; acc-norm; acc-bytes; prompt-level-strict-acc;
prompt-level-loose-acc; math-verify; extractive-match; qem; pem; pqem; balanced-accuracy balanced-acc
balanced-accuracy-score bac uar; precision precision-score ppv positive-predictive-value; recall recall-score
sensitivity tpr true-positive-rate hit-rate; specificity specificity-score tnr true-negative-rate selectivity; f1
f1-score dice dice-score dice-coefficient; f-beta fbeta-score; jaccard jaccard-score jaccard-index iou; auc roc-auc
roc-auc-score auroc c-statistic; average-precision average-precision-score auprc pr-auc; map mean-average-precision;
mrr recip-rank reciprocal-rank; ndcg; hit; correct is-correct correctness right; exact-match em quasi-exact-match
prefix-exact-match quasi-prefix-exact-match match; passed pass pass-rate; resolved solved; success success-rate
succeeded; win win-rate; mc1; mc2; rouge1 rouge-1; rouge2 rouge-2; rouge-l; rouge-lsum; rouge1-fmeasure;
rouge2-fmeasure; rougeL-fmeasure; bleu-1; bleu-4

higher -1 1: mcc matthews-corrcoef matthews-correlation-coefficient; kappa cohen-kappa cohens-kappa cohen-kappa-score;
linear-kappa linear-weighted-kappa; quadratic-kappa quadratic-weighted-kappa qwk; pearson pearsonr pearson-r; spearman
spearmanr spearman-rho; kendall-tau

higher: score scores; mark marks; reward; utility; quality; r2 r2-score; bleu sacrebleu; chrf; meteor; comet; bleurt;
bertscore bert-score; psnr; log-likelihood loglikelihood; neg-log-loss; neg-brier neg-brier-score; neg-mae
neg-mean-absolute-error; neg-mse neg-mean-squared-error; neg-rmse neg-root-mean-squared-error; throughput
tokens-per-second tokens-per-sec requests-per-second; savings

lower 0 1: error-rate misclassification-rate; fpr false-positive-rate false-alarm-rate; fnr false-negative-rate
miss-rate; ece expected-calibration-error; hallucination-rate; failure-rate; toxic-frac; max-toxicity-probability;
expected-max-toxicity

lower: loss losses; error; brier-score brier; log-loss logloss cross-entropy crossentropy nll
negative-log-likelihood neg-log-likelihood; perplexity ppl word-perplexity byte-perplexity; bits-per-byte bpb;
bits-per-character bpc; wer word-error-rate; cer character-error-rate; ter translation-edit-rate; mae
mean-absolute-error absolute-error; mse mean-squared-error squared-error; rmse root-mean-squared-error; mape; smape;
edit-distance; levenshtein levenshtein-distance; kl-divergence; fid; dcf; regret; errors mistakes failures violations
hallucinations timeouts retries; latency latency-s delay; time time-s runtime runtime-s duration duration-s elapsed
elapsed-s elapsed-time wall-time response-time inference-time; inference-runtime
inference-denoised-runtime inference-idealized-runtime; cost total-cost price spend;
energy; emissions

class: probability prob probs proba p pred-proba predict-proba y-prob y-score y-proba confidence logit logits
"""

#: Error rates that may exceed 1.
_ERROR_RATES = ("wer", "cer", "ter", "mape", "smape")
_SEPARATORS = re.compile(r"[\s_.-]+")
#: Separators of the words in names of models, as in `loss/A`; `@` is not one, since it begins a cut-off.
_IN_NAMES = re.compile(r"(?:[^\w@]|_)+")
_STAGES = frozenset(("train", "val", "valid", "validation", "dev", "eval", "test"))
_CUT_OFF = re.compile(r"@(\d+|k)$")
_UNITS = {
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("usd", "dollar", "dollars"), "USD"),
    **dict.fromkeys(("eur", "euro", "euros"), "EUR"),
    **{value: value for value in ("tokens", "words", "characters", "steps", "bytes", "minutes", "hours")},
    **{value.lower(): value for value in ("kB", "MB", "GB", "kWh")},
}


def _plain(name: str) -> str:
    return _SEPARATORS.sub("-", name).strip("-").casefold()


def _read(paragraph: str) -> dict[str, Metric]:
    head, _, metrics = paragraph.partition(":")
    direction, *limits = head.split()
    pair = (float(limits[0]), float(limits[1])) if limits else None
    known = {}
    for names in map(str.split, metrics.split(";")):
        metric = Metric(names[0], cast(Direction, direction), pair)
        for name in map(_plain, names):
            known[name] = known[name.replace("-", "")] = metric
    return known


_METRICS = {name: metric for paragraph in _TABLE.split("\n\n") for name, metric in _read(paragraph).items()}


def synonym_of(name: str) -> str:
    """Return the first name of a metric in the table; return any other name unchanged."""
    known = _METRICS.get(_plain(name))
    return name if known is None else known.name


def metric_of(name: str) -> Metric | None:
    """Return the metric that a score is named after; None if the table does not have it."""
    words = _SEPARATORS.split(_CUT_OFF.sub("", name.strip()))
    amount = words[-1].casefold() in _UNITS
    words = words[:-1] if amount else words
    known = _METRICS.get(_plain("-".join(words)))
    if known is None and words and words[0].casefold() in _STAGES:
        known = _METRICS.get(_plain("-".join(words[1:])))
    if known and amount:  # score_ms may be a time of scoring
        return known._replace(limits=None) if known.direction == "lower" else None
    return known


#: The name of the measure that `sigstats.measures.costs` makes.
EXPECTED_COST = "expected-cost"
#: Measures whose names state parameters, as in ``expected-cost(fn=10,fp=1)``, and the modules whose `spec_named` makes
#: them.
MADE = {EXPECTED_COST: "sigstats.measures.costs"} | dict.fromkeys(
    ("f-beta", "macro-f-beta", "weighted-f-beta"), "sigstats.measures.measure"
)


def is_made(name: Any) -> bool:
    """Return True for the name of a measure that states its parameters, such as ``f-beta(beta=2)``."""
    return isinstance(name, str) and "(" in name and name.partition("(")[0] in MADE


def parameters_in(name: str) -> tuple[str, dict[str, Any]]:
    """Split the name of a measure from its parameters; raise ValueError unless they are numbers.

    >>> parameters_in("f-beta(beta=2)")
    ('f-beta', {'beta': 2.0})
    """
    base, _, text = name.removesuffix(")").partition("(")
    try:
        return base, {key.strip(): float(value) for key, value in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise refuse("measure", name, f"{base}(parameter=number), as in f-beta(beta=2)") from None


def require_marks(name: str, otherwise: str = ", --measure auc for probabilities") -> None:
    """Refuse a column `score` of labelled rows: it may contain marks, or probabilities of a class."""
    known = metric_of(name)
    if known and known.name == "score":
        raise refuse("score", name, f"--measure mean-score for marks{otherwise}")


def unit_of(name: str) -> str:
    """Return the unit that is the last word of a name, or an empty string; ``s`` is a unit of known times only."""
    last = _SEPARATORS.split(name.strip())[-1].casefold()
    return "s" if last == "s" and metric_of(name) else _UNITS.get(last, "")


def limits_of(name: str) -> Limits:
    """Return the limits of every value of a score, as the table states them."""
    known = metric_of(name)
    return None if known is None else known.limits


def is_rate(name: str) -> bool:
    """Return True for a score that is a share by the table, or an error rate that may exceed 1."""
    known = metric_of(name)
    return known is not None and (known.limits == (0.0, 1.0) or known.name in _ERROR_RATES)


def is_lower_better(name: str, lower: Collection[str] = (), higher: Collection[str] = (), per: str = "") -> bool | None:
    """Return True if a lower score is better, by the user's options or else by the table; None if neither states it.

    Without a name a higher score is better. `lower` and `higher`: names from the options. `per`: the denominator of a
    ratio; the table does not tell if both have the same direction, such as two costs.
    """
    if name in lower or name in higher or not name:
        return name in lower
    known, beneath = metric_of(name), metric_of(per)
    if known and beneath and known.direction == beneath.direction:
        return None
    return {"lower": True, "higher": False}.get("" if known is None else known.direction)


def metrics_of(names: Sequence[str]) -> list[Metric | None]:
    """Return the metric with which each name of a model ends; or, if they begin with the same metric, that metric."""
    words = [[word for word in _IN_NAMES.split(name.casefold()) if word] for name in names]
    alike = [{*level} for level in zip(*words, strict=False)]
    first = metric_of("-".join(min(level) for level in takewhile(lambda level: len(level) == 1, alike)))
    ends = ([metric_of("-".join(split[start:])) for start in range(len(split))] for split in words)
    return [first] * len(names) if first else [next(filter(None, metrics), None) for metrics in ends]


def against_direction(names: Sequence[str], *, greater: bool, cure: str) -> list[Note]:
    """Return a note if all models are named after metrics with the opposite direction; refuse names of both."""
    known = [metric for metric in metrics_of(names) if metric and metric.direction != "class"]
    directions = {metric.direction for metric in known} if len(known) == len(names) else set()
    if len(directions) > 1:
        of_each = {metric.direction: f"a {metric.direction} {metric.name}" for metric in known}
        problem = f"{' and '.join(of_each.values())} are better; give scores of one direction"
        raise ValueError(f"models: {problem}, or rename the columns if these are models")
    if directions == {"lower" if greater else "higher"}:
        better, used = ("lower", "higher") if greater else ("higher", "lower")
        problem = f"a {better} {known[0].name} is better, but {used} counts as better here"
        return [Note("direction", f"{problem}; {cure}")]
    return []


def greater_is_better_of(name: str, function: Any) -> bool:
    """Return True if greater values of a user's function are better: its attribute, or True unless named as a cost.

    Raises ValueError if only the name of the function says something else.
    """
    if not hasattr(function, "greater_is_better") and is_lower_better(name):
        wanted = "sigstats.Measure(..., greater_is_better=False), or another name"
        raise ValueError(f"measure: {name} has the name of a cost; expected {wanted}")
    return bool(getattr(function, "greater_is_better", True))
