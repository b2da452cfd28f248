"""Parameters of classifiers that are refused wherever they stand."""

import pytest

from sigstats.learners.base import require_harmless


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory", "folder"),
        ("union__pipeline__memory", "folder"),
        ("options", {"memory": "folder"}),
        ("layers", [{"inner": {"pipeline__memory": "folder"}}]),
    ],
)
def test_a_folder_of_pickles_is_refused_at_any_depth(name, value):
    with pytest.raises(ValueError, match=r"memory: 'folder' is not valid; expected None, since joblib would load"):
        require_harmless(name, value)


def test_a_size_within_a_table_is_held_to_its_limit():
    with pytest.raises(ValueError, match="inner__n_jobs: 1000 is not valid; expected at most 256"):
        require_harmless("inner", {"n_jobs": 1000, "memory": None})
