"""Checks that predictions spell the classes as the labels do, and names of rows that summarise others.

Free-text answers are not classes: if more than half of the labels are distinct, only whole numbers are checked.
"""

import contextlib
import math
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .messages import Note, shown

_SEPARATOR = re.compile(r"\s*[|;,+&]\s*")
_BETWEEN_WORDS = re.compile(r"(?<=[^\W_])[_-](?=[^\W_])")
#: Characters that may surround a name: brackets, quotation marks, a full stop, marks of tokens and of Markdown.
_AROUND = " .:!*_()[]{}<>$'\"`\N{LOWER ONE EIGHTH BLOCK}"
#: A whole number; in other forms, such as 1.10 and 1e3, sections, versions and hashes differ.
_WHOLE_NUMBER = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)
#: A whole number, perhaps with a point between thousands.
_POINT_OF_THOUSANDS = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})?|0)", re.ASCII)
#: A whole number with a mark between thousands.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:([,.'_ \u2019\u00a0\u202f])\d{3})(?:\1\d{3})*", re.ASCII)
#: More names than this are taken for ids, some of which are alike by chance.
_MOST_NAMES = 10_000
_AVERAGE = r"(?:averages?|avg|means?|medians?)"
_OF_SETS = r"(?:(?:all|the) )*(?:\d+ )?(?:data ?sets?|sets|tasks|benchmarks|problems|domains|rows)"
_SCORE = rf"(?:accuracy|acc|f1|auc|scores?|errors?|performance|rank(?:s|ing)?|all|std|sd|dev|stdev|{_OF_SETS})"
#: Lower-case names of rows computed from other rows, such as `Avg. acc.` and `Mean (std)`.
_SUMMARY = re.compile(
    rf"(?:(?:micro|macro|weighted|samples|overall|total|arithmetic|geometric)[ _-])?{_AVERAGE}"
    rf"(?:[ _.:(/+\u00b1-]+{_SCORE})*[.:)]*|{_AVERAGE}[ _]\(?(?:over|across|of)[ _].+"
    rf"|(?:all|overall|totals?|sum)(?:[ _:(]+(?:(?:over|across|of|on) )?{_SCORE})*[.:)]*"
    r"|std|grand total|accuracy|p[ -]?values?|(?:#|no\.|number of) ?wins|wins?/(?:ties?|draws?)/loss(?:es)?"
)
#: Lower-case names of rows computed from several runs.
OF_RUNS = {"ensemble", "ensembled", "majority", "majority vote", "vote", "voting", "pooled", "min", "max"}
#: Lower-case names of rows that scikit-learn's search computes over all splits.
_OF_SEARCH = re.compile(r"(mean|std|rank)_(fit_time|score_time|(test|train)_\w+)")
#: Lower-case words for right and wrong answers.
VERDICTS = {
    **dict.fromkeys(("yes", "true", "correct", "pass", "passed", "right", "success", "resolved"), 1.0),
    **dict.fromkeys(("no", "false", "incorrect", "fail", "failed", "wrong", "failure", "unresolved"), 0.0),
}
#: One word for each truth value.
_TRUTH = {"0": "no", "false": "no", "1": "yes", "true": "yes"}
#: A list of whole numbers, such as `[0, 2, -1]` and `0|2|-1`, and one that may be padded with -1.
_LIST = re.compile(r"[\[({\s]*-?\d+(?:[\s|;,+&]+-?\d+)+[\])}\s]*", re.ASCII)
_PADDED = re.compile(r"[^-\d]*+\d++(?:[^-\d]++\d++)*+(?:[^-\d]++-1)++\D*+", re.ASCII)
#: A name with more words than this is free text.
_MOST_WORDS = 4
#: Pairs of numbers that stand for two classes.
_BINARY = ({0, 1}, {-1, 1}, {1, 2})


def is_summary(name: object) -> bool:
    """Return True for the usual name of a row computed from other rows, such as a mean."""
    text = str(name).strip().casefold()
    return (_SUMMARY.fullmatch(text) or _OF_SEARCH.fullmatch(text)) is not None


def refuse_thousands(where: str, texts: Sequence[str]) -> None:
    """Refuse numbers such as 1.250 next to 950: the point may separate thousands, since a decimal would be 1.25."""
    if not all(map(_POINT_OF_THOUSANDS.fullmatch, texts)):  # first, since few columns are so
        return
    pointed = sorted({text for text in texts if "." in text}, key=lambda text: (text[-1] != "0", text))
    many = len({text[-3:] for text in pointed}) > 10  # more than parts of a small number have, as n/9
    others = {*texts}.difference(pointed, "0")
    if pointed and others and (many or pointed[0].endswith("0")):
        problem = f"the point in {shown(pointed[0])} may separate thousands, since other numbers have no point"
        raise ValueError(f"{where}: {problem}; write {pointed[0].replace('.', '')}, or all numbers with three decimals")


@dataclass(frozen=True)
class DistinctNames:
    """The distinct classes (or slices, groups, models) of rows. Raises ValueError if two of them look alike.

    They look alike if only white space or the code points of a letter differ. Whole numbers in two forms are refused
    too, except in slices.
    """

    names: Sequence[str]
    #: The number of rows.
    n: int
    where: str = "label"
    what: str = "class"
    #: True if spellings are not compared, so that only equal names are one class.
    exact: bool = False

    def __post_init__(self) -> None:
        self.notes  # noqa: B018 - refuses

    @cached_property
    def notes(self) -> list[Note]:
        """A note on the first two names that differ in case or marks."""
        alike: dict[str, str] = {}
        if self.exact or not self._are_classes:
            return []
        for name in self.names:
            other = alike.setdefault(_visible(unicodedata.normalize("NFC", name)), name)
            if other != name:
                both = f"{shown(name)} and {shown(other)} look alike"
                raise ValueError(f"{self.where}: {both}; expected one spelling of each {self.what}")
        notes = []
        for other, name in self._spelled_twice:
            both, one = f"{shown(other)} and {shown(name)} are taken as two", f"if they are one {self.what}"
            text = f"{self.where}: {both}; write them alike {one}"
            if self.what != "slice" and _WHOLE_NUMBER.fullmatch(name) and _WHOLE_NUMBER.fullmatch(other):
                raise ValueError(text)
            notes.append(Note("spelled-twice", text))
        return notes[:1]

    @property
    def _are_classes(self) -> bool:
        return 2 <= len(self.names) <= (self.n if self.what == "group" else self.n / 2)

    @cached_property
    def _spelled_twice(self) -> list[tuple[str, str]]:
        """The pairs of names with a common spelling."""
        spelling, near = _speller(self.names), dict[str, str]()
        names = self.names if self._are_classes and not self.exact and len(self.names) <= _MOST_NAMES else ()
        pairs = [(near.setdefault(spelling(name), name), name) for name in names]
        return [(other, name) for other, name in pairs if other != name]

    def check(self, who: str, predicted: Sequence[str], *, wanted: str = "classes of the labels") -> None:
        """Refuse predictions that contain none of these classes and, unless `exact`, differently spelled classes.

        Spellings of a class may differ in case, the form of a number, white space, brackets, quotation marks, the order
        of parts (``"cat|dog"``) or the word for a truth value, or be UTF-8 that was read as cp1252. Whole numbers
        shifted from those of the labels, another usual pair for two classes, and fractions (probabilities) next to
        whole-number classes are also refused.

        `predicted`: the distinct predicted classes; a single one is accepted. `who`: the name of the model in messages.
        `wanted`: the remedy for other names.
        """
        labels = self.names
        if not self._are_classes:
            if not self.exact and (pair := _differ_in_ends(labels, predicted)):
                problem = f"{shown(pair[0])} of {who} differs from {shown(pair[1])} only in a prefix or suffix"
                raise ValueError(f"prediction: {problem}, and no prediction equals a label; write both alike")
            labels, predicted = ([*filter(_whole_number, names)] for names in (labels, predicted))
            if 2 * len(labels) <= len(self.names):
                return  # free text
        elif 2 <= len(predicted) <= self.n / 2 and not set(predicted).intersection(labels):
            problem = f"{_named(predicted)} of {who} are not valid; expected classes of the labels: {_named(labels)}"
            raise ValueError(f"prediction: {problem}")
        if self.exact:
            return
        twice = self._spelled_twice
        if twice and not any({*pair}.issubset(predicted) for pair in twice):
            problem = f"{shown(twice[0][0])} and {shown(twice[0][1])} are two classes of the labels, but {who} never"
            raise ValueError(f"label: {problem} predicts both; write them alike if they are one class, or rename one")
        spelling = _speller(labels)
        label_of = {_whole_number(name): name for name in labels} | {spelling(name): name for name in labels}
        strange = sorted(set(predicted).difference(labels))
        for name in strange:
            label = label_of.get(spelling(name), label_of.get(_whole_number(name) or ""))
            if label is not None:
                problem = f"{shown(name)} of {who} is another spelling of the label {shown(label)}"
                raise ValueError(f"prediction: {problem}; expected {wanted}")
        if not self._are_classes:
            return
        fraction = next(filter(_has_fraction, strange), None)
        if fraction is not None and all(map(is_finite_number, predicted)) and not any(map(_has_fraction, labels)):
            problem = f"{shown(fraction)} of {who} is not a class of the labels: {_named(labels)}; expected {wanted}"
            cure = "probabilities are scores, and measurements have the measures neg-mae and neg-mse"
            raise ValueError(f"prediction: {problem} ({cure})")
        if _are_shifted(labels, predicted):
            problem = f"the classes {_named(predicted)} of {who} are not those of the labels, {_named(labels)}"
            raise ValueError(f"prediction: {problem}; expected {wanted}")


def list_notes(names: Collection[str]) -> Iterator[Note]:
    """Yield notes on classes of several words that differ only in their order, and on lists padded with -1."""
    sets: dict[tuple[str, ...], str] = {}
    for name in sorted(names):
        words = sorted(name.casefold().split("/" if "/" in name else None))
        if not 2 <= len(words) <= _MOST_WORDS or any(map(is_finite_number, words)):
            continue
        other = sets.setdefault(tuple(words), name)
        if other.casefold() != name.casefold():
            both = f"{shown(other)} and {shown(name)} are taken as two classes"
            yield Note("spelled-twice", f"{both}; write the words in one order if they are one class")
            break
    lists = [name for name in sorted(names) if "-1" in name and _LIST.fullmatch(name)]
    if lists and all(map(_PADDED.fullmatch, lists)):  # -1 in another place may be a step or a vote
        yield Note("padded-lists", f"-1 in {shown(lists[0])} may be padding; remove it if it is not a class")


def _differ_in_ends(labels: Sequence[str], predicted: Sequence[str]) -> tuple[str, str] | None:
    """Return a prediction and a label that are equal without the prefixes and suffixes that all of their kind share.

    None if a prediction equals a label, fewer than half of the predictions match in this way, or all names are numbers.
    """
    if not set(labels).isdisjoint(predicted) or all(map(is_finite_number, (*labels, *predicted))):
        return None
    ours, theirs = map(_by_bare_name, (labels, predicted))
    both = sorted(ours.keys() & theirs.keys() - {""})
    return (theirs[both[0]], ours[both[0]]) if 2 * len(both) >= len(predicted) > 1 else None


def _by_bare_name(names: Sequence[str]) -> dict[str, str]:
    """Return the names by their own spelling, and by that without the prefix and suffix that all share."""
    ends = [len(os.path.commonprefix(turned)) for turned in ([*names], [name[::-1] for name in names])]  # noqa: RUF071
    return {name: name for name in names} | {name[ends[0] : len(name) - ends[1]]: name for name in names}


def names_in(labels: NDArray[Any]) -> list[str]:
    """Return the distinct labels of an array as strings."""
    return [value if isinstance(value, str) else f"{value:.17g}" for value in np.unique(labels).tolist()]


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(shown, sorted(names)[:3]))


def _spelling(name: str) -> str:
    """Return a spelling that is the same for all names of a class."""
    if is_finite_number(name):  # 01, +1, 1.0
        return str(Decimal(name).normalize() + 0)
    with contextlib.suppress(UnicodeError):
        name = name.encode("cp1252").decode()
    folded = _visible(_BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", name)).casefold())
    return "|".join(sorted(part.strip(_AROUND) or part for part in _SEPARATOR.split(folded)))


def _whole_number(name: str) -> str | None:
    """Return a whole number, perhaps with marks between thousands, as `_spelling` does; None for other names."""
    marks = _THOUSANDS.fullmatch(name)
    bare = name.replace(marks[1], "") if marks and (marks[1] != "." or name.count(".") > 1) else name  # 2.500 is 2.5
    return _spelling(bare) if _WHOLE_NUMBER.fullmatch(bare) else None


def _speller(labels: Sequence[str]) -> Callable[[str], str]:
    """Return `_spelling`, or a version with one word per truth value if all labels are truth values."""

    def spelling(name: str) -> str:
        return _TRUTH.get(text := _spelling(name), text)

    return spelling if set(map(spelling, labels)) == {"no", "yes"} else _spelling


def _visible(name: str) -> str:
    """Return a name with single spaces and without invisible characters, such as a zero-width space."""
    if not name.isascii():
        name = "".join(mark for mark in name if unicodedata.category(mark) != "Cf")
    return " ".join(name.split())


def _are_shifted(labels: Sequence[str], predicted: Sequence[str]) -> bool:
    """Return True if predictions are the labels plus a constant, or another usual pair for two classes."""
    try:
        ours, theirs = ({int(name) for name in names} for names in (labels, predicted))
    except ValueError:
        return False
    if len(theirs) < 2 or ours == theirs:
        return False
    shift = min(theirs) - min(ours)
    return theirs == {number + shift for number in ours} or (ours in _BINARY and theirs in _BINARY)


def is_finite_number(name: str) -> bool:
    """Return True if Python reads a name as a finite number. This includes `1_000`, which is not a number in a file."""
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


def _has_fraction(name: str) -> bool:
    return is_finite_number(name) and not float(name).is_integer()
