"""Stems, against the examples that Snowball publishes with its algorithms."""

import pickle
import sys

import pytest

from sigstats.learners import build
from sigstats.learners.ready import StemmedWords

# Words:stems of english/voc.txt and english/output.txt of Snowball's repository snowball-data (May 2026).
ENGLISH = """
consign:consign consigned:consign consignment:consign consistency:consist consistently:consist
consolation:consol consolatory:consolatori consoling:consol knackeries:knackeri knavish:knavish kneaded:knead
knightly:knight knitting:knit knives:knive dying:die news:news generously:generous skies:sky happily:happili
inning:inning colonies:coloni comparisons:comparison
"""
# The examples of steps 1 to 5 in Porter, An algorithm for suffix stripping (Program 14, 1980).
PORTER = """
caresses:caress ponies:poni agreed:agre plastered:plaster motoring:motor hopping:hop relational:relat
formalize:formal hopefulness:hope revival:reviv controlling:control roll:roll
"""


@pytest.mark.parametrize(("algorithm", "examples"), [("english", ENGLISH), ("porter", PORTER)])
def test_stems_are_those_that_are_published(algorithm, examples):
    stems, pairs = StemmedWords(algorithm), [pair.split(":") for pair in examples.split()]
    assert [stems(word) for word, _ in pairs] == [[stem] for _, stem in pairs]


def test_forms_of_a_word_are_one_column_and_stop_words_none():
    texts = ["Oil exports fell during the week", "exporting oils", "exported", "rain"]
    words = build("linear-svm", text=True, stem="english")[0]
    weights = words.fit_transform(texts).toarray()
    assert list(words.get_feature_names_out()) == ["export", "fell", "oil", "rain", "week"]
    assert weights[2].tolist() == [1, 0, 0, 0, 0]


def test_a_fitted_classifier_of_stems_can_be_sent():
    fitted = build("linear-svm", text=True, stem="english").fit(
        ["oil exports", "rain falls", "oil", "rains"], [0, 1, 0, 1]
    )
    assert pickle.loads(pickle.dumps(fitted)).predict(["exporting", "falling"]).tolist() == [0, 1]


def test_what_cannot_be_stemmed_is_refused(monkeypatch):
    with pytest.raises(ValueError, match=r"^stem: 'klingon' is not valid; expected one of english, porter$"):
        build("linear-svm", text=True, stem="klingon")
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ValueError, match=r"^stem: 'english' is not valid; expected the extra stem: pip install"):
        build("linear-svm", text=True, stem="english")
