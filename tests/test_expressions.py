"""Every regular expression that is kept by a name takes time linear in the length of what is read."""

import subprocess
import sys

import pytest

#: Texts of 300,000 characters take expressions of linear time some milliseconds, one of quadratic time minutes; and it
#: reads several of them.
SECONDS = 240
PROGRAM = """
import importlib, itertools, pkgutil, re, sys
import sigstats
from sigstats._common.credentials import without_credentials

def patterns(value):
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        yield from itertools.chain.from_iterable(map(patterns, value))

found = {}
for module in pkgutil.walk_packages(sigstats.__path__, "sigstats."):
    if module.name.endswith("__main__") or "reference_set" in module.name:
        continue
    for name, value in vars(importlib.import_module(module.name)).items():
        for pattern in patterns(value):
            found.setdefault(pattern, f"{module.name}.{name}")

unit = 300_000
beginnings = ["", '{"', "{ ", "[", "date=", "samples_", "details_", "--a ", "np.a(", "x=", "'", '"', "1"]
bodies = ["1", "a", "A", " ", "_", "-", ".", ":", "://", "://a:", "@", "?a=", "a=1&", "-1", "__", '"', "'", "\\\\", "/",
          "a_1-", "%", "{", "a ", "\\n", "np.a(", "1.", "e1", "*"]
for pattern, name in found.items():
    for start, body in itertools.product(beginnings, bodies):
        text = start + body * (unit // len(body)) + "\\0"
        subject = text.encode() if isinstance(pattern.pattern, bytes) else text
        print(name, repr(start), repr(body), flush=True)
        for method in (pattern.match, pattern.fullmatch):
            method(subject)
for body in bodies:
    print("without_credentials", repr(body), flush=True)
    for text in (body * (unit // len(body)), "s3://" + body * (unit // len(body))):
        without_credentials(text)
print(len(found), "expressions", flush=True)
"""


@pytest.mark.long
def test_long_texts_of_anything_are_read_at_once(tmp_path):
    with (tmp_path / "said").open("w") as said:
        try:
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM], check=False, stdout=said, stderr=said, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            done = None
    last = (tmp_path / "said").read_text().splitlines()[-1]
    assert done is not None, f"this took too long: {last}"
    assert done.returncode == 0, last
    assert int(last.split()[0]) >= 25
