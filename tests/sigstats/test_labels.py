"""Labels that floating numbers cannot tell apart."""

import numpy as np
import pytest

from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.mcnemar.counts import discordant_counts
from sigstats.tables import confusion_table

LARGE = 2**53

MIXED = [
    (np.array([LARGE + 1, 0]), np.array([float(LARGE), 0.0])),
    (np.array([float(LARGE), 0.0]), np.array([LARGE + 1, 0])),
    (np.array([-LARGE - 1, 0]), np.array([-float(LARGE), 0.0])),
    (np.array([2**63 + 1, 0], dtype=np.uint64), np.array([5, 0])),
    ([LARGE + 1, 0], [float(LARGE), 0.0]),
]


@pytest.mark.parametrize(("y", "a"), MIXED)
def test_large_whole_numbers_beside_floats_are_refused(y, a):
    for call in (
        lambda: discordant_counts(y, a, y),
        lambda: discordant_counts(y, y, a),
        lambda: JointEvents.from_predictions(y, y, a),
        lambda: JointOutcomes.from_predictions(y, a, y, positive=0),
    ):
        with pytest.raises(ValueError, match="floats round them"):
            call()


def test_a_sequence_of_large_whole_numbers_and_floats_is_refused():
    for y in ([LARGE + 1, 0.5], np.array([LARGE + 1.0, 0.5])):
        with pytest.raises(ValueError, match=r"^y: 9007199254740992.0 is not valid.*floats round them"):
            discordant_counts(y, [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(ValueError, match="positive: '9007199254740992' is not valid"):
        JointOutcomes.from_predictions([LARGE + 1, 0], [0, 0], [0, 0], positive=float(LARGE))
    with pytest.raises(ValueError, match=r"prediction: .*floats round them"):
        confusion_table(np.array([2**63 + 1, 0], dtype=np.uint64), [5, 0])


def test_large_whole_numbers_alone_are_exact():
    y, a, b = [LARGE + 1, LARGE], [LARGE, LARGE], [LARGE + 1, LARGE + 1]
    assert discordant_counts(y, a, b) == (1, 1)
    assert JointEvents.from_predictions(y, a, b).categories == (LARGE, LARGE + 1)
    unsigned = [np.array(each, dtype=np.uint64) + np.uint64(2**63) for each in (y, a, b)]
    assert discordant_counts(*unsigned) == (1, 1)
    assert discordant_counts([1, 2], [1.0, 3.0], [1.0, 2.0]) == (0, 1)


def test_probabilities_are_no_labels():
    y, labels, probabilities = [0, 1, 1], [0, 1, 0], [0.1, 0.7, 0.4]
    for a, b, name in ((probabilities, labels, "a"), (labels, probabilities, "b")):
        for call in (
            lambda: discordant_counts(y, a, b),
            lambda: JointEvents.from_predictions(y, a, b),
            lambda: JointOutcomes.from_predictions(y, a, b, positive=1),
        ):
            with pytest.raises(ValueError, match=rf"^{name}: 0.1 is not valid; expected labels as in y \(prob"):
                call()
    assert discordant_counts([0.5, 1.5], [0.5, 1.5], [1.5, 1.5]) == (1, 0)  # classes with a fraction
