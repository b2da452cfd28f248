"""A page of HTML that holds everything it needs: an answer first, templates, one style, one script, and a glossary."""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sigstats._common.messages import printable

_NONE = Markup("")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a page says to who has half a minute; every page begins with it."""

    headline: str
    #: "fail", "inconclusive" or "pass"; empty where nothing is decided.
    verdict: str = ""
    #: Numbers, each with its name above and its interval below.
    numbers: Sequence[tuple[str, str, str]] = ()
    #: What was shown and what was not: a few words, then the rest of the sentence.
    shown: Sequence[tuple[str, str]] = ()
    to_do: str = ""
    figure: Markup = _NONE
    caption: str = ""

    @property
    def title(self) -> str:
        """The headline with the verdict before it, as text."""
        return f"{self.verdict.upper()}: {self.headline}" if self.verdict else self.headline


def page(template: str, *, answer: Answer, title: str = "", **values: Any) -> str:
    """A page of a template of this package, with the style and the script that all pages share."""
    script = source("report.js")
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            answer=answer,
            title=title or answer.title,
            words_of=words_of,
            style=Markup(source("report.css")),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: object) -> object:
    """What a template writes, without controls, which HTML has no way to escape and a browser may obey."""
    if not isinstance(value, str):
        return value
    text = printable(value, keep="\n\t")
    return Markup(text) if isinstance(value, Markup) else text  # noqa: S704 - it was Markup


def source(name: str) -> str:
    """The text of a template, the style or the script."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


_TEXT = """
adjusted p:
    A p-value made larger because several hypotheses are tested: where each of them is rejected at an adjusted p
    of at most 0.05, the chance of any wrong rejection is at most 5% (Holm; other adjustments promise what their
    names say).
block:
    A run of replicates of one cell that one worker computes and stores as one file. A block that is lost is
    computed again, with the same result.
bootstrap:
    Rows are drawn again from the rows at hand, with replacement, to see how far a figure moves by chance.
cell:
    The smallest part of a study that has a result: one test or measure of one classifier, or pair, on one data
    set.
coverage:
    The share of repetitions in which an interval holds the true value. An interval of 95% confidence should
    cover at least 95%.
cross-validation:
    The rows are split into folds; each fold is predicted by a classifier trained on the others. A stored table
    calls it crossval.
discordant:
    Of a row, or a pair of answers: one model is right and the other wrong. These rows alone tell two models
    apart.
efficiency:
    Nyssen's measure of a table of true and predicted classes: the share of the possible improvement over
    chance, given the totals of the rows and columns.
exact:
    Computed from every outcome that is possible, so that the p-value is valid for any number of rows.
fan-out:
    The replicates of one kind that a study sends to its workers: permuted labels, bootstrap samples,
    subsamples, trials.
fold:
    One of the parts of the data in cross-validation.
group:
    Rows that are not independent of each other, such as the answers about one document. They are drawn, or
    exchanged, together.
inconclusive:
    The data neither show what a verdict of fail needs nor exclude it: more rows would decide.
interval:
    The values of a figure that the data leave possible at the stated confidence.
look:
    One test of data that grow or come back. Who looks often at a level of 5% is misled in more than 5% of
    cases, unless the looks share the level.
margin:
    The drop that is too large to be accepted: a pass excludes it. In points for shares, and a part of the measured
    baseline for costs and scores without limits.
mid-p:
    A p-value that counts half of the probability of the outcome observed. It is a little too small at times.
minimum effect:
    The smallest drop that counts: a smaller one is no failure, however certain.
Monte Carlo:
    By random draws in place of every outcome that is possible; the p-value counts the data themselves as one
    draw, and is valid for any number of draws.
necessity:
    How certain the data make a statement, from 0 (not at all) to 1: one minus the possibility of its contrary.
null hypothesis:
    What a test asks the data to refute, such as: the two models are equally accurate.
one-sided:
    Of a test: it looks for a difference in one direction, such as worse.
p-value:
    The probability, if the null hypothesis is true, of data that speak at least as clearly against it as these
    do.
PermClass:
    The permutation test of classes: the labels are shuffled and the classifier is trained again. It asks
    whether the classifier learned anything about the classes.
PermFeats:
    The permutation test of features: each feature is shuffled within its class and the classifier is trained
    again. It asks whether the classifier uses how features depend on each other.
possibility:
    How far the data leave a statement possible, from 0 (not at all) to 1 (fully). Of a hypothesis with p-value
    p it is 2p, at most 1.
power:
    The probability that a test finds a difference that is there.
PD:
    The possibility that one of two hypotheses is no worse a choice than the other.
PSD:
    The possibility that one of two hypotheses is the better choice.
NSD:
    The necessity (certainty) that one of two hypotheses is the better choice.
rank set:
    The ranks that a model may truly have. All sets of a table hold the true ranks at the stated confidence.
replicate:
    One random repetition: one permutation with its training, one bootstrap sample, one subsample.
retrain:
    To train the classifier again, on permuted data.
slice:
    The rows that share a value of a column, such as a language or a region.
stopping rule:
    A rule by which a cell ends before all of its replicates, once its p-value is decided; the p-value stays
    valid.
subsample:
    A smaller test set drawn from a large population, to see what a test answers at that size.
swapped:
    Of two classifiers: each is given the other's outputs, which makes them equal in law, so that every
    rejection is a false one.
two-sided:
    Of a test: it looks for a difference in both directions.
"""

#: Each term, as pages write it, and its meaning.
GLOSSARY = {
    term: " ".join(meaning.split()) for term, meaning in re.findall(r"^(\S.*):\n((?:    .*\n)+)", _TEXT, re.MULTILINE)
}

_HIDDEN = re.compile(r"<(style|script|desc|title|dl)\b.*?</\1>|<[^>]+>", re.DOTALL)


def words_of(html: str) -> Iterator[tuple[str, str]]:
    """The terms that the text of a page uses, each with its meaning."""
    text = _HIDDEN.sub(" ", html)
    folded = text.lower()
    for term, meaning in sorted(GLOSSARY.items(), key=lambda each: each[0].lower()):
        symbol = term[:2].isupper()
        if (term not in text) if symbol else (term.lower() not in folded):
            continue  # a large page is not searched for each word by an expression
        flags = re.NOFLAG if symbol else re.IGNORECASE
        if re.search(rf"\b{re.escape(term).replace('p-value', 'p-values?')}(s|es|ping)?\b", text, flags):
            yield term, meaning
