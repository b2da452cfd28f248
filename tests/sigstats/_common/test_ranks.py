import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from sigstats._common.ranks import average_ranks


@given(st.lists(st.one_of(st.integers(-3, 3), st.floats(allow_nan=False)), max_size=40))
def test_ranks_are_those_of_scipy(values):
    values = np.array(values, dtype=float)
    assert average_ranks(values).tolist() == rankdata(values).tolist()
