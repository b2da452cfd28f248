"""PermClass: whether the classifier learned a real connection between features and classes."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _cases, _columns, _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """What was learned, then every case that cannot be told from chance."""
    found = _cases.headline(rows, evidence, claim="learned real class structure", by="PermClass")
    doubts = _cases.sentences_on_retained(
        rows, "could not be told from a classifier trained on random labels", evidence
    )
    return Verdict(found, (*_cases.permutations_needed(rows, evidence), *_tables.savings(rows, evidence), *doubts))


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Observed beside permuted error."""
    value = _columns.estimate(_cases.value_name(rows), "cross-validated, observed")
    return _columns.case_columns(rows, value, _columns.null_mean("Permuted", "mean after permuting the labels"))


_METHOD = (
    "The labels are permuted, the classifier is cross-validated again, and the permutations whose error is at most "
    "the observed one are counted: p = (count + 1) / (permutations + 1). The null hypothesis is that labels and "
    "features are independent. A small p says that the classifier found a real connection; a large one does not "
    "say that there is none, since another classifier may find it."
)

SECTION = Section(
    order=10,
    test="permutation-labels",
    name="PermClass",
    question="Did the classifier learn real class structure?",
    verdict=verdict,
    columns=columns,
    method=lambda rows: _cases.in_words_of_the_measure(_METHOD, rows),
    source=(
        "Ojala and Garriga, Permutation tests for studying classifier performance, Journal of Machine Learning "
        "Research 11 (2010), test 1"
    ),
    terms=(
        "PermClass permutes the labels and trains again: p is the share of permutations, the data themselves counted "
        "in, on which the classifier errs as seldom as on the data."
    ),
)
