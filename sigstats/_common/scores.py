"""Checks of scores: their direction, their limits, and whether they are on one scale.

`unlike_units` is the check of scales. Its parts return a complaint in words, or an empty text: different codes of right
and wrong, codes of missing marks, shares next to percentages, and sizes that differ as seconds and milliseconds do.
"""

import shlex
from collections.abc import Collection, Sequence
from itertools import pairwise, takewhile

import numpy as np

from .messages import Note, did_you_mean, shown
from .validation import FloatArray, Limits, refuse


def of_named_scores(
    given: Collection[str], named: Sequence[str], option: str, *, ratio: str | None = None
) -> frozenset[str]:
    """Return the scores with a given direction (for a ratio, the numerator). Raise ValueError for unknown ones."""
    result = frozenset(named[0] if name == ratio else name for name in given)
    if (strange := result.difference(named)) and named and "all" not in named:
        near = did_you_mean(min(strange), named)
        raise refuse(option, min(strange), f"one of the scores that are named, {', '.join(map(shown, named))}{near}")
    return result


def parts_of_ratio(text: str) -> tuple[str, str]:
    """Return the numerator and the denominator of a ratio of sums, or raise ValueError."""
    first, _, second = map(str.strip, text.partition("/"))
    if not first or not second or "/" in second:
        raise ValueError(f"ratio: {text!r} is not valid; expected two columns, as in errors/words")
    return first, second


def lower_is_better_note(name: str) -> Note:
    """Return a note that lower values of a score count as better."""
    return Note("lower-is-better", f"{name}: the lower is the better")


def unknown_direction(
    name: str, *, labelled: bool = False, scores: Sequence[FloatArray] = (), models: Sequence[str] = ()
) -> ValueError:
    """Return the question whether higher or lower scores are better. With labels, they may be scores of a class.

    `scores`, of `models`: they may have a code of missing marks, such as -1 among costs.
    """
    option, coded = shlex.quote(name), code_of_missing(scores, models, None)[0]
    question = f"{coded}. " * bool(coded) + f"Is a higher {shown(name)} better?"
    area = ", or --measure auc for the probability of a class" if labelled else ""
    return ValueError(
        f"score: {question} Add --higher-is-better {option} or --lower-is-better {option}, and "
        f"--score-range LOW HIGH if it has limits{area}"
    )


def ends_of(values: Sequence[FloatArray]) -> tuple[float, float]:
    """Return the smallest and the largest value of several arrays."""
    return min(array.min() for array in values), max(array.max() for array in values)


def refuse_beyond(limits: Limits, values: Sequence[FloatArray], what: str) -> None:
    """Refuse values beyond the limits that the user states; `what`: their name in messages."""
    if limits is None or not (values := [array for array in values if len(array)]):
        return
    (low, high), (least, most) = ends_of(values), limits
    if low < least or high > most:
        problem = f"does not contain {low if low < least else high:g}; expected all {what} in it"
        raise ValueError(f"score_range: {least:g} to {most:g} {problem}")


#: At most this share of positive percentages, or of positive marks from 0 to 10, is 1 or less.
_SMALL = 0.15
#: Mean sizes, without zeros, of one unit rarely differ by this factor; shares, or 0 and 1, rarely have this mean.
_FACTOR, _ABOVE_ONE = 50, 2
#: The same factor for costs in a named unit, whose sizes may differ widely, as prices do.
_FACTOR_OF_PRICES = 333
#: Among many models, neighbours that differ by this part of a factor show that some are in another unit.
_GAP = 1 / 7
#: Fewer scores are not enough to suggest a scale; fewer scores of one unit may be outliers.
_FEW, _SEVERAL = 20, 5
#: Codes of wrong and right.
_CODES = (0, 1), (-1, 1), (1, 2)
#: A usual code of a missing mark must be this many times as large as the largest other mark, or be several -1 where all
#: others are from 0 to 1 and one of the models has no -1.
_NO_MARK, _TIMES = {-1, -9, 9} | {sign * (10**k - 1) for sign in (-1, 1) for k in range(2, 6)}, 10
#: Codes of surveys, such as "do not know", and the largest other mark next to codes of one and of two digits.
_OF_SURVEYS, _MOST_MARK = {7.0, 8.0, 77.0, 88.0, 97.0, 98.0}, (5, 10)


def unlike_units(
    scores: Sequence[FloatArray],
    names: Sequence[str],
    *,
    wanted: str = "",
    costs: bool = False,
    priced: bool = False,
    listed: bool = False,
    limits: Limits = None,
) -> list[Note]:
    """Return notes on scores beyond limits, and on the smallest and largest if their units seem to differ.

    Examples are seconds and milliseconds, or a point that separates thousands in some numbers only. Sizes also differ
    if the scores of one model are 0 and 1 (or, except for `costs`, between 0 and 1) and those of the other usually
    larger.

    `scores` has an array for each of the models, whose `names` appear in messages. `costs`: True for costs without
    limits; those of one model may lie both far below 1 and far above. `priced`: True for costs in a named unit, whose
    sizes may differ as prices do. `limits`: the limits that the name of the scores or their log states.

    `wanted`: the expected scores; if it is given, scores that cannot be in one unit are refused: codes of missing
    marks, other codes of right and wrong, and scores from 0 to 1 if others, of any of the models, are up to 10 or 100,
    or, unless the user has `listed` the models, if all scores of another are 1 and above.
    """
    two_codes = "" if costs else _two_codes(scores, names)
    missing, is_sure = code_of_missing(scores, names, limits)
    if wanted:
        problem = two_codes or (missing if is_sure else "") or _two_scales(scores, names, costs=costs, listed=listed)
        if problem:
            raise ValueError(f"scores: {problem}; expected {wanted}")
    notes = []
    if two_codes:
        notes.append(Note("unlike-units", f"scores: {two_codes}"))
    elif missing:
        notes.append(Note("missing-code", f"scores: {missing}"))
    low, high = limits or (-np.inf, np.inf)
    for values, name in zip(scores, names, strict=True):
        if n := np.count_nonzero((values < low) | (values > high)):
            beyond = f"{n:,} of {len(values):,} for {name} are outside {low:g} to {high:g}, the limits of this score"
            notes.append(Note("outside-limits", f"scores: {beyond}; the limits are not used"))
    return [*notes, *_note_on_sizes(scores, names, _FACTOR_OF_PRICES if priced else _FACTOR, costs=costs)]


def _two_scales(scores: Sequence[FloatArray], names: Sequence[str], *, costs: bool, listed: bool) -> str:
    """Return a complaint about scores that cannot be in one unit, else an empty text."""
    of_marks = () if costs else (_mixed,) if listed else (_mixed, _above_shares)
    return next(filter(None, (find(scores, names) for find in (*of_marks, _shares_and_percentages))), "")


def unlike_bar(scores: FloatArray, bar: float, *, limited: bool, rate: bool = False) -> list[Note]:
    """Return the note of `unlike_units` on a model's marks and its bar; `limited`: the marks have known limits.

    Raises ValueError if, of a `rate` and its bar, one is a share and the other a percentage.
    """
    are_shares = len(scores) > 0 and scores.min() >= 0 and scores.max() <= 1 and bool((scores % 1).any())
    if rate and ((0 < bar <= 1 and _are_percentages(scores)) or (bar > 1 and are_shares)):
        low, high = ends_of([scores])
        raise ValueError(f"scores: {low:g} to {high:g} and a bar of {bar:g} look like two units; expected one unit")
    factor = 10 if limited and 0 < bar < 1 else _FACTOR  # the bar may be a share of the limits
    return _note_on_sizes([scores, np.array([bar])], ("the model", "the bar"), factor, costs=True)


def _by_mean_size(scores: Sequence[FloatArray]) -> list[tuple[float, int]]:
    """Return the mean absolute nonzero value and the position of each array, ascending; skip arrays of zeros."""
    sizes = [np.abs(values[values != 0]) for values in scores]
    return sorted((float(size.mean()), place) for place, size in enumerate(sizes) if len(size))


def _note_on_sizes(scores: Sequence[FloatArray], names: Sequence[str], factor: float, *, costs: bool) -> list[Note]:
    if len(ordered := _by_mean_size(scores)) < 2:
        return []
    (least, low), *_, (most, high) = ordered
    are_shares = len(scores[low]) > 1 and scores[low].min() >= 0 and scores[low].max() <= 1
    above_shares = most >= _ABOVE_ONE and are_shares and not (costs and (scores[low] % 1).any())
    gap = max(large / small for (small, _), (large, _) in pairwise(ordered))
    if not above_shares and (most < factor * least or gap < _GAP * factor):
        return []
    sizes = [(np.abs(scores[place][scores[place] != 0]), names[place]) for place in (low, high)]
    parts = [f"{np.median(size):.4g} (largest {size.max():.4g}) for {name}" for size, name in sizes]
    both = f"median without zeros {' and '.join(parts)}"
    return [Note("unlike-units", f"scores may be in two units: {both}; if they are, convert one")]


def _shares_and_percentages(scores: Sequence[FloatArray], names: Sequence[str]) -> str:
    """Return a complaint if the smallest scores are shares and the largest percentages, else an empty text."""
    if len(ordered := _by_mean_size(scores)) < 2:
        return ""
    (_, low), *_, (_, high) = ordered
    small, large = scores[low], scores[high]
    are_shares = len(small) > 1 and 0 <= small.min() < 1 and small.max() <= 1
    if not are_shares or not _are_percentages(large, ones=not (small % 1).any()):
        return ""
    return _like_two_units(ends_of([small]), names[low], ends_of([large]), names[high])


def _like_two_units(ends: tuple[float, float], name: str, other_ends: tuple[float, float], other_name: str) -> str:
    both = f"{ends[0]:g} to {ends[1]:g} of {shown(name)} and {other_ends[0]:g} to {other_ends[1]:g} of"
    return f"{both} {shown(other_name)} look like two units"


def _above_shares(scores: Sequence[FloatArray], names: Sequence[str]) -> str:
    """Return a complaint if one model, such as a column of sizes, has no score below 1 and several have none above.

    Few whole numbers may be points, of which a model gets one or more each time.
    """
    ends = {name: ends_of([values]) for name, values in zip(names, scores, strict=True) if len(values) >= _SEVERAL}
    shares = [name for name, (low, high) in ends.items() if 0 <= low < 1 and high <= 1]
    above = next((name for name, (low, high) in ends.items() if low >= 1 and high >= _ABOVE_ONE), None)
    whole = not any((values % 1).any() for values, name in zip(scores, names, strict=True) if name in shares)
    if above is None or len(shares) < 2 or (whole and min(map(len, scores)) < _FEW):
        return ""
    return _like_two_units(ends[shares[0]], shares[0], ends[above], above)


def _two_codes(scores: Sequence[FloatArray], names: Sequence[str]) -> str:
    """Return a complaint if models code right and wrong differently, else an empty text."""
    ends = [ends_of([values]) if len(values) >= _FEW else (0, 0) for values in scores]
    if not all(np.isin(values, pair).all() for values, pair in zip(scores, ends, strict=True)):
        return ""
    of_code = {pair: name for pair, name in zip(ends, names, strict=True) if pair in _CODES}
    parts = [f"{low:g} and {high:g} of {shown(name)}" for (low, high), name in of_code.items()]
    return f"{' and '.join(parts[:2])} look like two units" if len(parts) > 1 else ""


def code_of_missing(
    scores: Sequence[FloatArray], names: Sequence[str], limits: Limits, what: str = "score"
) -> tuple[str, bool]:
    """Return a complaint about a code of missing marks far from all others, and whether it cannot be a mark."""
    if not len(scores) or not all(map(len, scores)):
        return "", False
    for end in ends_of(scores):
        usual = {code for code in _NO_MARK | _OF_SURVEYS if code * end > 0}
        if end not in usual or (limits is not None and limits[0] <= end <= limits[1]):
            continue
        distinct = np.unique(np.concatenate(scores))[:: 1 if end < 0 else -1].tolist()
        codes = [*takewhile(usual.__contains__, distinct)]
        if len(codes) in (0, len(distinct)):  # the smallest mark may be a number such as 7
            continue
        others = np.array(distinct[len(codes) :])
        counts = (int(np.isin(values, codes).sum()) for values in scores)
        n, rows, name = max(zip(counts, map(len, scores), names, strict=True))
        least, most = ends_of([others])
        within_limits = limits is not None and limits[0] <= least and most <= limits[1]
        are_shares = least >= 0 and most <= 1 and any(values.min() >= 0 for values in scores)
        is_far = n > 1 and abs(end) > max(9, _TIMES * np.abs(others).max())
        is_no_mark = within_limits or (are_shares and end == -1 and n >= _SEVERAL) or is_far
        is_sure = least < most and end in _NO_MARK and is_no_mark
        if is_sure or ((n > 1 or end < 0) and len(others) > 2 and _are_apart(codes[-1], others)):
            are, them, they_mean = ("are", "them", "they mean") if n > 1 else ("is", "it", "it means")
            marked = f"{n:,} of {rows:,} for {name} {are} {' or '.join(f'{code:g}' for code in codes)}"
            missing = " ".join(f"--missing {code:g}" for code in codes)
            cure = f"leave {them} out (for a file, {missing}) if {they_mean} no {what}"
            return f"{marked} and all others {least:g} to {most:g}; {cure}", is_sure
    return "", False


def _are_apart(code: float, others: FloatArray) -> bool:
    """Return True if `code`, the one nearest to the other marks, is usual for a missing mark next to such marks."""
    (least, most), whole = ends_of([others]), not (others % 1).any()
    if code < 0:
        return bool(least >= 0 and (most >= 5 or not whole))
    first = 1 if code in (7, 8) else -np.inf  # small counts begin at 0
    return bool(whole and first <= least and most <= _MOST_MARK[code > 9])


def _mixed(scores: Sequence[FloatArray], names: Sequence[str]) -> str:
    """Return a complaint about a model with shares among percentages, else an empty text."""
    for name, score in zip(names, scores, strict=True):
        if len(small := _fractions_among_percentages(score)):
            problem = f"{len(small):,} of {shown(name)} up to {small.max():g} and {np.count_nonzero(score > 1):,} up to"
            return f"{problem} {score.max():g} look like two units"
    return ""


def _fractions_among_percentages(scores: FloatArray) -> FloatArray:
    """Return scores that look like shares among percentages, which have more values from 1 to 10 than below 1."""
    large = scores[scores > 1]
    if len(scores) < _FEW or not _are_percentages(scores, most=1.0):
        return scores[:0]
    small = scores[(scores > 0) & (scores < 1 if large.min() < 100 else scores <= 1)]
    apart = 2 * max(np.count_nonzero(large < 10), np.count_nonzero(small < 0.1)) < len(small)
    whole = not (large % 1).any() and (small != 0.5).any()
    several = min(len(small), int(np.count_nonzero(large >= 10))) >= _SEVERAL
    return small if several and (apart or whole) else scores[:0]


def _are_percentages(scores: FloatArray, *, most: float = _SMALL, ones: bool = True) -> bool:
    """Return True for scores from 0 to 100, some at least 10, and a share of at most `most` below 1 (`ones`: or 1)."""
    if not len(scores) or scores.min() < 0 or not 10 <= scores.max() <= 100:
        return False
    small = (scores > 0) & (scores <= 1 if ones else scores < 1)
    return bool(np.count_nonzero(small) <= most * np.count_nonzero(scores))
