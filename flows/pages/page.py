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
    """The summary at the beginning of every page, for readers with half a minute."""

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
    """The output of a template without control characters, which HTML cannot escape and a browser may obey."""
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
    A p-value that accounts for several tests. If all with an adjusted p of at most 0.05 are rejected, any wrong
    rejection is at most 5% likely (Holm; other adjustments have other guarantees).
block:
    Replicates of one cell that one worker computes and stores as one file. A lost block is computed again, with the
    same result.
bootstrap:
    Drawing rows again from the present rows, with replacement, to see how much a figure varies by chance.
cell:
    The smallest part of a study: one test or measure of one classifier, or pair, on one data set.
coverage:
    The share of repetitions in which an interval contains the true value; at least 95% for 95% confidence.
cross-validation:
    The rows are split into folds; each fold is predicted by a classifier trained on the others. Called crossval in
    stored tables.
discordant:
    Rows on which one model is right and the other wrong. Only these rows distinguish two models.
efficiency:
    Nyssen's measure of a confusion table: the share of the possible improvement over chance, given the totals of rows
    and columns.
exact:
    Computed from all possible outcomes, so that the p-value is valid for any number of rows.
fan-out:
    The kind of replicates that a study sends to its workers: permuted labels, bootstrap samples, trials.
fold:
    One of the parts of the data in cross-validation.
group:
    Rows that depend on each other, such as the answers about one document. They are drawn, or exchanged, together.
inconclusive:
    The data neither show a drop that fails nor exclude one: more rows would decide.
interval:
    The values that the data leave possible at the stated confidence.
look:
    One test of data that grow or are used again. Many looks at the level 5% raise a false alarm in more than 5% of
    cases, unless they share the level.
margin:
    The drop that a pass must exclude: in points for shares, relative to the baseline for costs and scores without
    limits.
mid-p:
    A p-value that counts half of the probability of the observed outcome. It can be slightly too small.
minimum effect:
    The smallest drop that counts. A smaller one is not a failure, even if significant.
Monte Carlo:
    By random draws. The p-value counts the data as one more draw, and is valid for any number of draws.
necessity:
    How certain the data make a statement, from 0 to 1: one minus the possibility of its contrary.
null hypothesis:
    The statement that a test tries to refute, such as: the two models are equally accurate.
one-sided:
    A one-sided test looks for a difference in one direction, such as worse.
p-value:
    The probability, if the null hypothesis is true, of data at least as extreme as the observed ones.
PermClass:
    The permutation test of classes: labels are shuffled and the classifier is retrained. Did it learn anything about
    the classes?
PermFeats:
    The permutation test of features: each feature is shuffled within its class and the classifier is retrained. Does it
    use dependence between features?
possibility:
    How far the data leave a statement possible, from 0 to 1. For a hypothesis with p-value p it is 2p, at most 1.
power:
    The probability that a test detects an existing difference.
PD:
    The possibility that one of two hypotheses is no worse a choice than the other.
PSD:
    The possibility that one of two hypotheses is the better choice.
NSD:
    The necessity that one of two hypotheses is the better choice.
rank set:
    The ranks that a model may truly have. All sets of a table contain the true ranks at the stated confidence.
replicate:
    One random repetition: a permutation with its training, a bootstrap sample, a subsample.
retrain:
    To train the classifier again, on permuted data.
slice:
    The rows that share a value of a column, such as a language or a region.
stopping rule:
    A rule that ends a cell early, once its p-value is decided. The p-value stays valid.
subsample:
    A smaller test set drawn from a large population, to study a test at that size.
swapped:
    Two classifiers whose outputs are exchanged at random, so that they are equal and every rejection is false.
two-sided:
    A two-sided test looks for a difference in both directions.
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
    for term, meaning in sorted(GLOSSARY.items(), key=lambda value: value[0].lower()):
        symbol = term[:2].isupper()
        if (term not in text) if symbol else (term.lower() not in folded):
            continue  # a large page is not searched for each word by an expression
        flags = re.NOFLAG if symbol else re.IGNORECASE
        if re.search(rf"\b{re.escape(term).replace('p-value', 'p-values?')}(s|es|ping)?\b", text, flags):
            yield term, meaning
