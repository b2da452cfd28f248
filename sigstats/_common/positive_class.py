"""The positive one of several classes: one rule for every function, command and study."""

from collections.abc import Sequence
from typing import Any

from .class_names import label_name
from .validation import as_choice, shown

#: Pairs of classes, as numbers or as text in any case. The second class is positive if nothing else is stated.
PAIRS = (("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes"), ("0.0", "1.0"), ("-1.0", "1.0"))
_PARTNERS = {name: other for pair in reversed(PAIRS) for name, other in (pair, pair[::-1])}
_TRUTH = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


def positive_place(classes: Sequence[Any], positive: Any = None, *, option: str = "positive") -> int:
    """The place of the positive class among `classes`, or ValueError.

    `positive` is a class; of 0 and 1, or false and true, also the truth value. If it is None, the classes must be one
    of `PAIRS`.

    >>> positive_place(["No", "Yes"]), positive_place(["fraud", "ok"], "fraud"), positive_place([0, 1], True)
    (1, 0, 1)
    """
    names = [label_name(class_name, "label") for class_name in classes]
    if positive is None:
        folded = [name.casefold() for name in names]
        for pair in PAIRS:
            if sorted(folded) == sorted(pair):
                return folded.index(pair[1])
        raise ValueError(f"{option}: is missing; expected one of {', '.join(map(shown, names[:10]))}")
    name = label_name(positive, option)
    truths = [_TRUTH.get(text.casefold()) for text in names]
    if name not in names and sorted(map(str, truths)) == ["False", "True"] and name.casefold() in _TRUTH:
        return truths.index(_TRUTH[name.casefold()])
    return names.index(as_choice(name, option, names))


def with_absent(classes: Sequence[Any], positive: Any = None) -> list[Any]:
    """The classes; if only one occurs, also its partner among `PAIRS` or else `positive`.

    >>> with_absent(["No"]), with_absent(["ham"], "spam"), with_absent(["ham"], "ham"), with_absent([0, 1])
    (['No', 'yes'], ['ham', 'spam'], ['ham'], [0, 1])
    """
    other = _PARTNERS.get(label_name(classes[0], "label").casefold(), positive) if len(classes) == 1 else None
    return [*classes] if other is None or label_name(other, "positive") == label_name(classes[0]) else [*classes, other]
