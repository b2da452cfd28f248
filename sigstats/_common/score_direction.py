"""Which scores are the better the lower they are, as far as their names say so."""

import re

from .messages import shown

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
#: As the last word of a name: a loss, an error, a cost.
_LOSSES = frozenset(
    (
        *("loss", "error", "errors", "nll", "perplexity", "ppl", "wer", "cer", "ter", "mae", "mse", "rmse", "brier"),
        *("latency", "runtime", "cost"),
    )
)
_NAMES = frozenset(("brier_score", "cross_entropy", "error_rate", "word_error_rate", "bits_per_byte", "edit_distance"))
#: Words that turn a loss round.
_TURNED = frozenset(("neg", "negative", "minus", "inverse", "no", "without"))


def is_lower_better(name: str) -> bool:
    """Whether the name of a score is that of a loss, an error or a cost, and does not say that its sign is turned.

    Examples
    --------
    >>> from sigstats._common.score_direction import is_lower_better
    >>> [is_lower_better(each) for each in ("val_loss", "logLoss", "neg_log_loss", "f1", "lossless")]
    [True, True, False, False, False]
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or _TURNED.intersection(words):
        return False
    return words[-1] in _LOSSES or "_".join(words) in _NAMES


def refuse_loss(score: str) -> None:
    """Refuse a column of marks whose name says that it is a loss.

    Raises
    ------
    ValueError
    """
    if is_lower_better(score):
        raise ValueError(
            f"score: {shown(score)} is the better the lower it is; expected a column that is the better the higher it "
            f"is, such as its negative under the name neg_{score}"
        )
