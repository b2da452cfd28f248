"""What a careless caller may pass in, and what must come of it."""

from hypothesis import strategies as st

_plain = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.complex_numbers(),
    st.integers(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.builds(object),
)

#: Values of every kind, good ones among them.
anything = st.one_of(
    _plain,
    st.integers(0, 60),
    st.floats(0, 1),
    st.lists(_plain, max_size=3),
    st.lists(st.floats(0, 1), max_size=3),
    st.lists(st.lists(st.integers(-1, 3), max_size=2), max_size=2),
    st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), _plain, max_size=3),
    st.sampled_from(["exact", "mid-p", "chi2", "holm", "greater", "less"]),
)


def refuses_or_answers(*calls):
    """Each call returns, or raises ValueError with one line; any other exception escapes."""
    for call in calls:
        try:
            call()
        except ValueError as error:
            complaint = str(error)
        else:
            continue
        assert complaint
        assert "\n" not in complaint
