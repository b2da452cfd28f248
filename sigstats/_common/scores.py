"""The meaning of scores: the better direction and the unit, as their names say, and whether they are on one scale."""

import re
from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

import numpy as np

from .messages import did_you_mean, shown
from .note import Note
from .validation import FloatArray, refuse

#: Whether greater is better, or lower; "no mark" of a prediction; "unknown" where the name does not say.
Direction: TypeAlias = Literal["higher", "lower", "no mark", "unknown"]

_WORD = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What a word within a name says. A name with words of both kinds says neither.
_LOWER = _words_of(
    """
    loss losses logloss crossentropy entropy bits nll perplexity ppl wer cer ter mer mae mse rmse mape smape msle
    rmsle mad brier ece mce kl divergence distance deviation regret rank fid err error errors mistake mistakes wrong
    incorrect incorrectness false fpr fnr fp fn fail failed failure failures violation violations hallucination
    hallucinations hallucinated toxic toxicity bias harm harmful stereotype offensive unsafe invalid missing timeout
    timeouts latency runtime time duration delay elapsed seconds ms cost costs price usd eur dollars spend tokens mb
    gb energy emissions kwh retries
    """
)
_HIGHER = _words_of(
    """
    acc accuracy correct correctness right em exact match matches matched f1 f2 f05 fbeta precision recall auc auroc
    auprc ap map mrr ndcg bleu sacrebleu rouge rouge1 rouge2 rougel lsum meteor chrf bertscore bleurt comet iou dice
    jaccard kappa mcc r2 spearman pearson success succeeded pass passed passing solved resolved win wins won reward
    rewards utility faithfulness faithful groundedness grounded relevance relevancy helpfulness helpful coherence
    coherent fluency quality similarity verify tpr tnr tp tn true hit hits mc1 mc2 fmeasure likelihood loglikelihood
    """
)
#: Words that say that greater is better where no other word says anything.
_MARKS = _words_of("score scores mark marks grade graded grader points rating judge judgement judgment")
#: As the only words of a name: predictions, which are no marks.
_PREDICTIONS = _words_of(
    """
    prediction predictions predicted pred preds proba prob probability probabilities target label labels class logit
    """
)
#: Words that turn a loss round; "negative" does at the beginning alone.
_TURNED = frozenset(("neg", "minus", "inverse", "reciprocal", "no", "non", "not", "without"))
_UNITS = {
    **dict.fromkeys(("ms", "millis", "milliseconds", "msec"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("usd", "dollars", "dollar"), "USD"),
    **dict.fromkeys(("eur", "euro", "euros"), "EUR"),
    **{each: each for each in ("tokens", "words", "characters", "steps", "bytes", "minutes", "hours")},
    **{each.lower(): each for each in ("kB", "MB", "GB", "kWh")},
}


def direction_of(name: str) -> Direction:
    """The direction in which a score is better, as far as its name says so.

    >>> [direction_of(each) for each in ("val_loss", "neg_log_loss", "lossless", "pred_proba")]
    ['lower', 'higher', 'unknown', 'no mark']
    """
    words = _words(name)
    lower, higher = (any(word in known for word in words) for known in (_LOWER, _HIGHER))
    if _TURNED.intersection(words) or words[:1] == ["negative"]:
        if words[-1] in ("likelihood", "loglikelihood"):
            return "lower"
        return "higher" if lower and not higher else "unknown"
    if lower != higher:
        return "lower" if lower else "higher"
    if words and not lower and (_PREDICTIONS.issuperset(words) or words[0] == "y"):
        return "no mark"
    return "higher" if not lower and _MARKS.intersection(words) else "unknown"


def unit_of(name: str) -> str:
    """The unit that the last word of a name is; empty where it is none.

    >>> unit_of("latency_ms"), unit_of("cost_usd"), unit_of("tokens"), unit_of("f1")
    ('ms', 'USD', 'tokens', '')
    """
    words = _words(name)
    return _UNITS.get(words[-1], "") if words else ""


def is_lower_better(name: str, *, lower: Collection[str] = (), higher: Collection[str] = ()) -> bool | None:
    """True if a score is the better the lower it is, as a person says or else its name; None where neither does.

    A score without a name is better the higher it is. `lower` and `higher`: the names of which a person says so.
    """
    if name in lower or name in higher or not name:
        return name in lower
    return {"lower": True, "higher": False}.get(direction_of(name))


def of_named_scores(
    given: Collection[str], named: Sequence[str], option: str, *, ratio: str | None = None
) -> frozenset[str]:
    """The scores whose direction a person says, of a ratio its numerator; ValueError for one that is not `named`.

    >>> sorted(of_named_scores(["errors/words"], ["errors"], "lower_is_better", ratio="errors/words"))
    ['errors']
    """
    found = frozenset(named[0] if each == ratio else each for each in given)
    if (strange := found.difference(named)) and named and "all" not in named:
        near = did_you_mean(min(strange), named)
        raise refuse(option, min(strange), f"one of the scores that are named, {', '.join(map(shown, named))}{near}")
    return found


def parts_of_ratio(text: str) -> tuple[str, str]:
    """The numerator and the denominator of a ratio of sums, or ValueError.

    >>> parts_of_ratio("errors/words")
    ('errors', 'words')
    """
    first, _, second = map(str.strip, text.partition("/"))
    if not first or not second or "/" in second:
        raise ValueError(f"ratio: {text!r} is not valid; expected two columns, as in errors/words")
    return first, second


def lower_is_better_note(name: str) -> Note:
    """That a score is compared as one of which the lower is better."""
    return Note("lower-is-better", f"{name}: the lower is the better")


def refuse_uncertain(name: str) -> None:
    """Refuse a score of which it is not known whether the higher or the lower is better."""
    mark = "names predictions, not marks" if direction_of(name) == "no mark" else "does not say which way is better"
    raise ValueError(
        f"score: {shown(name)} {mark}; expected --higher-is-better NAME or --lower-is-better NAME for marks, or the "
        "labels for predictions, which --labels FILE brings"
    )


def _words(name: str) -> list[str]:
    """The words of a name in small letters, each without the digits after it where it is known without them."""
    words = [word.lower() for word in _WORD.findall(name)]
    return [word if word in _HIGHER else word.rstrip("0123456789") or word for word in words]


#: Of percentages, and of marks from 0 to 10, at most this share of the positive ones is 1 or less.
_SMALL = 0.15
#: At most this share of the scores is wild: each is so many times as large as the largest of the others, in size.
_WILD_SHARE, _WILD_TIMES = 0.01, 500
#: Fewer scores suggest no scale.
_FEW = 20


def require_one_scale(scores: Sequence[FloatArray], names: Sequence[str], *, wanted: str) -> None:
    """Refuse scores of one model between 0 and 1 beside others between 0 and 100, or 0 and 10; and wild scores.

    One score of 9e18 among zeros and ones makes every difference of means uncertain, and so hides each regression.
    `names`: what a complaint calls the models, of which `scores` has an array each. `wanted`: what it asks for.
    """
    _refuse_wild(scores, names, wanted)
    fractions = next((place for place, each in enumerate(scores) if _are_fractions(each)), None)
    if fractions is None:
        return
    for name, each in zip(names, scores, strict=True):
        if _are_percentages(each):
            low, high = scores[fractions].min(), scores[fractions].max()
            raise ValueError(
                f"scores: {low:g} to {high:g} of {shown(names[fractions])} and {each.min():g} to {each.max():g} of "
                f"{shown(name)} look like two units; expected {wanted}"
            )


def _refuse_wild(scores: Sequence[FloatArray], names: Sequence[str], wanted: str) -> None:
    sizes = np.abs(np.concatenate(scores))
    if len(sizes) < _FEW:
        return
    first = len(sizes) - 1 - max(1, int(_WILD_SHARE * len(sizes)))
    largest = np.sort(np.partition(sizes, first)[first:])
    gaps = np.flatnonzero((largest[:-1] > 0) & (largest[1:] >= _WILD_TIMES * largest[:-1]))
    if len(gaps):
        usual = largest[gaps[0]]
        beyond = [(name, each[np.abs(each) > usual]) for name, each in zip(names, scores, strict=True)]
        (who, (wild, *_)), *others = [(name, values) for name, values in beyond if len(values)]
        of = "" if others else f" of {shown(who)}"
        raise ValueError(
            f"scores: {wild:g}{of} is beyond the scale of the others (at most {usual:g} in size); expected {wanted}"
        )


def _are_fractions(scores: FloatArray) -> bool:
    """True if scores lie between 0 and 1. Scores that are all 1, or all 0, are on any scale."""
    return bool(len(scores) and 0 <= scores.min() < 1 and 0 < scores.max() <= 1)


def _are_percentages(scores: FloatArray) -> bool:
    """True if scores lie between 0 and 100, some at 10 or more, hardly any of them between 0 and 1."""
    if not len(scores) or scores.min() < 0 or not 10 <= scores.max() <= 100:
        return False
    return bool(np.count_nonzero((scores > 0) & (scores <= 1)) <= _SMALL * np.count_nonzero(scores))
