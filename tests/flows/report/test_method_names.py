"""Short names of methods: as many as there are labels, and nothing in them that all share."""

from hypothesis import given
from hypothesis import strategies as st

from sigstats.flows.report.rows import short_names

LABELS = st.builds(
    lambda name, words: f"{name} ({', '.join(words)})" if words else name,
    st.sampled_from(["bootstrap", "McNemar", "pkg.tests:sign"]),
    st.lists(st.sampled_from(["f1", "macro-f1", "percentile", "bca", "resamples = 9", "resamples = 99"]), unique=True),
)


@given(
    st.lists(LABELS, unique_by=lambda label: frozenset(label.strip(")").replace(" (", ", ").split(", ")), max_size=6)
)
def test_unlike_methods_have_unlike_names(labels):
    found = short_names(labels)
    assert list(found) == labels
    assert len(set(found.values())) == len(labels)
    assert all(len(short) <= len(label) for label, short in found.items())


def test_settings_are_named_where_they_alone_differ():
    few, many = (f"bootstrap (f1, percentile, resamples = {size})" for size in (99, 999))
    other = "bootstrap (f1, bca, resamples = 99)"
    assert list(short_names([few, other]).values()) == ["bootstrap (percentile)", "bootstrap (bca)"]
    assert list(short_names([few, many]).values()) == ["bootstrap (resamples = 99)", "bootstrap (resamples = 999)"]
    assert short_names([few, many, other])[many] == "bootstrap (percentile, resamples = 999)"
    assert short_names(["efficiency"]) == {"efficiency": "efficiency"}
