import numpy as np
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef

from sigstats.bootstrap_replicates import bootstrap_replicates
from sigstats.events import JointEvents
from sigstats.grouped import grouped_replicates


def made(n=90, classes=3, groups=15, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(classes, size=n)
    a, b = (np.where(rng.random(n) < 0.7, label, rng.integers(classes, size=n)) for _ in range(2))
    return label, a, b, rng.integers(groups, size=n)


@pytest.mark.parametrize(
    ("measure", "function"),
    [
        ("macro-f1", lambda y, p: f1_score(y, p, average="macro", labels=[0, 1, 2], zero_division=0)),
        ("mcc", matthews_corrcoef),
    ],
)
def test_each_replicate_is_the_measure_of_the_rows_of_the_drawn_groups(measure, function):
    label, a, b, groups = made()
    events, found = grouped_replicates(label, a, b, groups, measure=measure, resamples=40, rng=7)
    assert events == JointEvents.from_predictions(label, a, b)
    names = np.unique(groups)
    drawn = np.random.default_rng(7).multinomial(len(names), np.full(len(names), 1 / len(names)), size=40)
    for times, of_a, of_b in zip(drawn, found.a, found.b, strict=True):
        rows = np.concatenate(
            [np.tile(np.flatnonzero(groups == name), often) for name, often in zip(names, times, strict=True)]
        )
        assert of_a == pytest.approx(function(label[rows], a[rows]))
        assert of_b == pytest.approx(function(label[rows], b[rows]))


def test_groups_of_one_row_are_the_bootstrap_of_rows():
    label, a, b, _ = made(n=200, seed=3)
    events, grouped = grouped_replicates(label, a, b, np.arange(200), resamples=20_000, rng=1)
    plain = bootstrap_replicates(events, "macro-f1", rng=2, size=20_000)
    for one, other in ((grouped.differences, plain.differences), (grouped.a, plain.a)):
        error = one.std() / np.sqrt(20_000)
        assert abs(one.mean() - other.mean()) < 7 * error * np.sqrt(2)  # rarer than one in 1e11
        assert one.std() == pytest.approx(other.std(), rel=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": [0, 1]}, r"groups \(length\): 2 is not valid"),
        ({"groups": [0, 0, 0]}, "expected two groups or more"),
        ({"b": [0, -1, 0]}, "b"),
        ({"a": ["x", "y", "z"]}, "a"),
        ({"measure": "macro-f9"}, "measure"),
        ({"resamples": 0}, "resamples"),
    ],
)
def test_bad_input_is_one_line(change, message):
    arguments = {"label": [0, 1, 0], "a": [0, 1, 1], "b": [0, 0, 0], "groups": [0, 1, 1], **change}
    with pytest.raises(ValueError, match=message) as caught:
        grouped_replicates(**arguments)
    assert "\n" not in str(caught.value)
