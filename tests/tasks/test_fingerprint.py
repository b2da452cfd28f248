import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.tasks.record import canonical, digest, slug

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@settings(derandomize=True)
@given(st.dictionaries(st.text(max_size=6), values, max_size=5), st.randoms())
def test_order_of_keys_does_not_matter(items, random):
    keys = list(items)
    random.shuffle(keys)
    shuffled = {key: items[key] for key in keys}
    assert canonical(items) == canonical(shuffled)
    assert json.loads(canonical(items)) == json.loads(json.dumps(items))


def test_kind_value_and_nesting_all_count():
    names = {
        digest("cell", a=1),
        digest("cell", a=2),
        digest("cell", a="1"),
        digest("cell", a=1.5),
        digest("cell", a=[1]),
        digest("cell", a={"b": 1}),
        digest("block", a=1),
    }
    assert len(names) == 7


def test_digest_is_the_same_in_another_process():
    code = "from sigstats.tasks.record import digest; print(digest('cell', a=[1, 2.5, None, 'é'], b={'x': True}))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest("cell", b={"x": True}, a=[1, 2.5, None, "é"])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, object(), b"bytes", {1, 2}])
def test_what_has_no_one_text_is_refused(value):
    with pytest.raises(ValueError, match=r"values\.a"):
        canonical({"a": value})


@settings(derandomize=True)
@given(st.lists(st.text(), max_size=3))
def test_slug_is_safe_in_a_path(parts):
    name = slug(*parts)
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_+-.")
    assert "/" not in name
    assert ".." not in name
