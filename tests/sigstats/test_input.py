"""Forms of input that are taken, and what the message of others says."""

import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sigstats
from sigstats.proportions import dcf_test, proportion_test
from sigstats.ranking.rank_sets import rank_sets
from sigstats.tables import confusion_table


def test_object_arrays_of_whole_numbers_are_numbers():
    y, a, b = [0, 1, 2, 2], [0, 1, 1, 2], [0, 2, 2, 2]
    objects = [np.array(each, dtype=object) for each in (y, a, b)]
    assert sigstats.discordant_counts(*objects) == sigstats.discordant_counts(y, a, b)
    assert sigstats.JointEvents.from_predictions(*objects) == sigstats.JointEvents.from_predictions(y, a, b)
    assert (confusion_table(*objects[:2]) == confusion_table(y, a)).all()
    table = np.array([[9, 7], [1, 9]], dtype=object)
    assert sigstats.efficiency_test(table) == sigstats.efficiency_test([[9, 7], [1, 9]])
    large = np.array([2**63 + 1, 2**63], dtype=object)
    assert sigstats.discordant_counts(large, large, large[::-1]) == (2, 0)
    for strange in ([1, None], [1, True], [1, "1"], [1, 2.5]):
        with pytest.raises(ValueError, match=r"^y: "):
            sigstats.discordant_counts(np.array(strange, dtype=object), [1, 1], [1, 1])


@pytest.mark.parametrize("index", [[2, 1, 0], [0, 1, 3], ["a", "b", "c"]])
def test_series_of_different_indexes_are_refused(index):
    y, other = pd.Series([0, 1, 1]), pd.Series([0, 1, 1], index=index)
    calls = {
        "b": lambda: sigstats.discordant_counts(y, y, other),
        "a": lambda: sigstats.JointEvents.from_predictions(y, other, y),
        "prediction": lambda: confusion_table(y, other),
        "score_b": lambda: sigstats.mean_score_test(y, other),
        "score_a": lambda: sigstats.auc_test(y, other, other),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=rf"^{name} \(index\): .* expected the index of"):
            call()
    with pytest.raises(ValueError, match=r"^b \(index\)"):
        sigstats.JointOutcomes.from_predictions(y, y, other, positive=1)
    for models in ([[0, 1, 1], y, other], [y, np.array([0, 1, 1]), other]):
        with pytest.raises(
            ValueError, match=rf"^scores\[2\] \(index\): .* the index of scores\[{models[0] is not y:d}\]"
        ):
            sigstats.friedman_test(models)
    # Equal indexes, and what has none, go together.
    assert sigstats.discordant_counts(other, other, [0, 1, 1]) == (0, 0)
    assert sigstats.discordant_counts(other, other, other.copy()) == (0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sigstats.mean_score_test([], []), "score_a: .* 1 or more of them"),
        (lambda: sigstats.adjust_pvalues([]), "pvalues: .* 1 or more of them"),
        (lambda: sigstats.efficiency_test([]), "table: "),
        (lambda: sigstats.discordant_counts("ab", "ab", "ab"), "y: 'ab' .* not one text"),
        (lambda: sigstats.homogeneity_test("12", [1, 2]), "counts_a: '12' .* not one text"),
        (
            lambda: sigstats.permutation_test("1-nn", np.zeros((4, 2)), [1] * 4),
            "y: the number of classes is 1; expected two",
        ),
    ],
)
def test_a_message_says_what_is_empty_text_or_one_class(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_permutation_test_says_that_its_seed_alone_does_not_repeat_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    options = {"cv": 2, "n_resamples": 3, "rng": 1}
    for classifier, name in (
        (SGDClassifier(), "random_state"),
        (make_pipeline(StandardScaler(), SGDClassifier()), "sgdclassifier__random_state"),
    ):
        reason = sigstats.permutation_test(classifier, X, y, **options).reason
        assert reason.startswith(f"warning: {name} is None")
    for classifier in (SGDClassifier(random_state=1), KNeighborsClassifier(1), "linear-svm"):
        assert sigstats.permutation_test(classifier, X, y, **options).reason == ""


@pytest.mark.parametrize(
    ("test", "counts"),
    [
        (sigstats.mcnemar_test, "from_predictions"),
        (sigstats.pair_probability, "from_predictions"),
        (sigstats.bootstrap_test, "from_predictions"),
        (proportion_test, "from_predictions"),
        (dcf_test, "from_predictions"),
        (sigstats.efficiency_test, "from_predictions"),
        (sigstats.accuracy_difference, "from_predictions"),
    ],
)
def test_labels_in_place_of_counts_are_answered_with_the_call_that_counts(test, counts):
    with pytest.raises(ValueError, match=f"takes counts; with labels, call {test.__name__}.{counts}"):
        test([0, 1, 1], [0, 1, 0], [1, 1, 1])


def test_mcnemar_takes_the_table_that_statsmodels_takes():
    from statsmodels.stats.contingency_tables import mcnemar

    for table in ([[101, 121], [59, 33]], [[3, 0], [6, 1]], np.array([[0, 4], [4, 0]])):
        assert sigstats.mcnemar_test(table).pvalue == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-12)
        (_, only_a), (only_b, _) = table
        assert sigstats.mcnemar_test(table, alternative="greater") == sigstats.mcnemar_test(
            int(only_a), int(only_b), alternative="greater"
        )
    for wrong, line in (
        ([[1, 2, 3], [1, 2, 3]], r"table: the shape is \(2, 3\); expected two rows"),
        ([3, 4], r"table: the shape is \(2,\)"),
        (5, "only_b: None is not valid; expected a whole number, or a table"),
        ([[1, -2], [3, 4]], "table"),
    ):
        with pytest.raises(ValueError, match=line):
            sigstats.mcnemar_test(wrong)


@pytest.mark.parametrize("kind", [object, "boolean", "Int8", "Float64", "bool[pyarrow]", "double[pyarrow]", np.uint8])
def test_tables_of_nullable_columns_are_tables_of_numbers(kind):
    correct = np.random.default_rng(3).random((30, 3)) < 0.7
    frame = pd.DataFrame(correct, columns=["a", "b", "c"])
    frame = frame.astype(float).astype(kind) if "double" in str(kind) or "Float" in str(kind) else frame.astype(kind)
    assert sigstats.rank_models(frame) == sigstats.rank_models(correct, models=["a", "b", "c"])
    assert rank_sets(frame, models=["a", "b", "c"]) == rank_sets(correct, models=["a", "b", "c"])
    assert rank_sets(np.asarray(frame, dtype=object)) == rank_sets(correct)


CLASSES = ["a", "b"] * 20


@pytest.mark.parametrize(
    "call",
    [
        lambda y, said: sigstats.discordant_counts(y, y, said),
        lambda y, said: sigstats.JointEvents.from_predictions(y, said, y),
        lambda y, said: sigstats.JointOutcomes.from_predictions(y, said, y, positive="a"),
        lambda y, said: sigstats.efficiency_test.from_predictions(y, said),
        lambda y, said: confusion_table(y, said),
        lambda y, said: sigstats.compare(y, y, said),
    ],
)
def test_other_spellings_of_classes_are_told(call):
    for said in (["a ", "b"] * 20, ["A", "b"] * 20):
        with pytest.raises(ValueError, match=r"^prediction: .* expected classes of "):
            call(CLASSES, said)
    with pytest.raises(ValueError, match=r"^(y|y_true|label): 'a.*' and 'a' look alike; expected one spelling"):
        call([*CLASSES, "a\xa0", "a\xa0"], [*CLASSES, "a", "b"])
    call(CLASSES, ["a", "c"] * 20)  # a class that no label has is an error of the classifier
    call([*CLASSES, "A", "A"], [*CLASSES, "a", "A"])  # letters, of which a reader of characters has both


class Animal(str, enum.Enum):  # noqa: UP042 - its members have another `str`
    """Members are text, and `str` of a member is another: "Animal.CAT"."""

    CAT = "cat"
    DOG = "dog"


@pytest.mark.parametrize("form", [list, lambda members: np.array(members, dtype=object), pd.Series])
def test_members_of_an_enumeration_of_texts_are_their_values(form):
    y, a = form([Animal.CAT, Animal.DOG] * 20), form([Animal.CAT, Animal.DOG, Animal.CAT, Animal.CAT] * 10)
    assert sigstats.check(y, a, at_least=0.9).rows[0].value == 0.75  # all names were cut to "Ani", and were equal
    assert sigstats.discordant_counts(y, ["cat", "dog"] * 20, a) == (10, 0)
    result = sigstats.compare(y, y, a, measures="f1", positive=Animal.DOG, slices={"animal": y})
    assert result.rows[0].candidate == pytest.approx(2 / 3)
    assert [row.slice for row in result.rows] == ["all rows", "animal = cat", "animal = dog"]


def test_numbers_of_several_kinds_are_numbers():
    mixed = [Fraction(1, 3), 0.25, Decimal("0.25"), np.float32(0.125), Fraction(1, 24)]
    plain = [1 / 3, 0.25, 0.25, 0.125, 1 / 24]
    assert sigstats.adjust_pvalues(mixed).tolist() == sigstats.adjust_pvalues(plain).tolist()
    counts = [3, 4, 5, 1, 2]
    assert sigstats.goodness_of_fit_test(counts, mixed) == sigstats.goodness_of_fit_test(counts, plain)
    for strange in ([Fraction(1, 3), True], [Fraction(1, 3), "0.25"], [Fraction(10) ** 400, 0.5]):
        with pytest.raises(ValueError, match="sequence of finite numbers"):
            sigstats.adjust_pvalues(strange)


def test_labels_in_place_of_counts_are_told():
    labels = np.random.default_rng(0).integers(0, 3, (2, 60))
    for method in ("exact", "chi2", "monte-carlo"):
        assert "labels are counted first" in sigstats.homogeneity_test(*labels, method=method).reason
    assert sigstats.homogeneity_test(*(np.bincount(each) for each in labels)).reason == ""
    for call in (
        lambda: sigstats.homogeneity_test(["a", "b"], ["b", "b"]),
        lambda: sigstats.homogeneity_test(labels[0], labels[1][:-1]),
        lambda: sigstats.goodness_of_fit_test(labels[0], [0.5, 0.3, 0.2]),
    ):
        with pytest.raises(ValueError, match="labels are counted first"):
            call()


def test_a_transposed_table_is_told():
    scores = np.random.default_rng(0).random((4, 12))
    assert "is the table transposed?" in sigstats.friedman_test(scores).reason
    assert sigstats.friedman_test(scores.T).reason == ""
    table = np.array([[9, 7, 3], [15, 17, 13], [3, 7, 28]])  # of these nothing depends on which are the rows
    assert sigstats.efficiency_test(table) == sigstats.efficiency_test(table.T)


class Held:
    """What NumPy reads, and Python does not count or iterate."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_what_only_numpy_reads_is_read_as_its_array():
    y, a, b = ["x", "y", "y"], ["x", "x", "y"], ["y", "y", "y"]
    assert sigstats.discordant_counts(*map(Held, (y, a, b))) == sigstats.discordant_counts(y, a, b)
    assert sigstats.discordant_counts(Held([0.5, 1]), [0.5, 1], [1, 1]) == (1, 0)
    bits = [0, 1] * 10
    assert sigstats.compare(bits, [np.array(bit) for bit in bits], bits) == sigstats.compare(bits, [*bits], bits)


@pytest.mark.parametrize("models", [{"a", "b"}, [None, "b"], ["a", np.nan], [pd.NA, "b"], [pd.NaT, "b"]])
def test_names_have_an_order_and_none_is_missing(models):
    with pytest.raises(ValueError, match=r"^models: .* expected a sequence of 2 names, none of them missing or empty$"):
        rank_sets([[1, 0]] * 20, models=models)


@pytest.mark.parametrize("kind", ["uint8", "UInt16"])
@pytest.mark.parametrize(
    "test",
    [
        sigstats.sign_flip_test,
        sigstats.signed_rank_test,
        lambda values: sigstats.anytime_test(values, limit=2**16),
        lambda values: sigstats.corrected_resampled_test(values, n_train=9, n_test=1),
        lambda values: sigstats.five_by_two_test(np.asarray(values).reshape(5, 2)),
        lambda values: sigstats.sign_flip_test([*values.to_numpy(values.dtype.name.lower())]),
    ],
)
def test_unsigned_differences_are_refused_since_those_below_zero_have_wrapped(test, kind):
    a, b = (pd.Series(values, dtype=kind) for values in ([1, 0] * 5, [0, 0, 1, 1, 1] * 2))
    with pytest.raises(ValueError, match=r"^differences \(dtype\): .* unsigned numbers wrap below 0"):
        test(a - b)
    test(a.astype(int) - b.astype(int))
