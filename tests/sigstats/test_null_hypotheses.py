"""Every test states its null hypothesis in one sentence: public functions, and the tests of studies."""

import inspect
import re

import pytest

import sigstats
from sigstats.flows.calibration import tests as _calibration_tests
from sigstats.tasks import statistical_tests

#: Functions that test by their name, or by the type of their result.
_TESTS = re.compile(r"_test$|^rank_|^compare|^assert_")
#: One sentence: no further one begins before its full stop.
_SENTENCE = r"Null hypothesis(?: of [a-z ]+)?: (?:[^.]|\.(?=[a-z_]))+\."


def _functions():
    for module in (sigstats, sigstats.fuzzy):
        for name in dir(module):
            value = getattr(module, name)
            if inspect.isfunction(value) and not name.startswith("_"):
                result = str(inspect.signature(value).return_annotation)
                if _TESTS.search(name) or result.endswith("Result'>"):
                    yield pytest.param(value, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("function", list(_functions()))
def test_a_public_test_states_its_null_hypothesis_after_its_first_sentence(function):
    second = inspect.getdoc(function).split("\n\n")[1]
    assert re.fullmatch(_SENTENCE, second.replace("\n", " "))


@pytest.mark.parametrize("model", [*_calibration_tests._MODELS, _calibration_tests.OwnTest])
def test_a_test_of_a_calibration_study_states_its_null_hypothesis(model):
    assert re.search(rf"(?:^|\. ){_SENTENCE}$", model.__doc__)


@pytest.mark.parametrize("name", statistical_tests.TESTS)
def test_a_test_of_a_study_has_a_null_hypothesis_or_says_that_it_tests_nothing(name):
    test = statistical_tests.named(name)
    assert re.fullmatch(r"[^.]{10,}", test.null)
    assert test.null.startswith("none: ") == ("Nothing is tested." in str(test.words))
