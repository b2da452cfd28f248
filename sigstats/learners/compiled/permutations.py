"""NumPy's permutations by its generator Philox, compiled by Numba: the same numbers in the same order.

NumPy calls two functions for each number that it draws. Here the sequence is made where it is used, and no branch
depends on whether a number is taken, which no processor can foresee. Salmon et al. (2011), Parallel random numbers: as
easy as 1, 2, 3, section 3.3, state the sequence (Philox-4x64-10).
"""

import functools
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import extending, types

from sigstats._common.validation import IntArray

from .jit import borrowed, compiled, inlined

__all__ = ["agrees", "permutations"]

_ROUNDS: Final = 10
_FIRST, _SECOND = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_FIRST_STEP, _SECOND_STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)


def _product(context: Any, one: Any, other: Any) -> Any:  # noqa: ARG001
    """The upper and the lower 64 bits of a product."""
    wide = ir.IntType(128)

    def lower(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        product = builder.mul(*(builder.zext(each, wide) for each in values))
        parts = [builder.trunc(each, ir.IntType(64)) for each in (builder.lshr(product, wide(64)), product)]
        return target.make_tuple(builder, signature.return_type, parts)

    pair: Any = types.UniTuple
    return pair(types.uint64, 2)(types.uint64, types.uint64), lower


_product_of: Any = extending.intrinsic(_product)


@inlined
def _advance(counter: Any, key: Any, halves: Any) -> None:
    """Count one further, and fill in the eight numbers of 32 bits there."""
    at = 0
    counter[0] += np.uint64(1)
    while counter[at] == 0 and at < 3:
        at += 1
        counter[at] += np.uint64(1)
    a, b, c, d = counter[0], counter[1], counter[2], counter[3]
    first, second = key[0], key[1]
    for _ in range(_ROUNDS):
        high, low = _product_of(_FIRST, a)
        upper, under = _product_of(_SECOND, c)
        a, b, c, d = upper ^ b ^ first, under, high ^ d ^ second, low
        first += _FIRST_STEP
        second += _SECOND_STEP
    for place, word in enumerate((a, b, c, d)):
        halves[2 * place], halves[2 * place + 1] = np.uint32(word), np.uint32(word >> np.uint64(32))


@compiled
def _permute(state: Any, runs: Any, ends: Any, made: Any) -> int:
    """Permute, and return the place that the sequence is at then.

    `state`: the counter and the key of the sequence, the eight numbers of 32 bits at the counter, and the place of the
    next of these. `runs`: the numbers of all runs, one run after the other up to its end.
    """
    counter, key, halves, place = state
    counter, key, halves, runs = borrowed((counter, key, halves, runs))
    at = np.uint64(place)
    owned = np.empty(len(runs), dtype=np.int64)
    for each in range(len(made)):
        start = 0
        for end in ends:
            own = borrowed(owned[: end - start])
            for row in range(made.shape[1]):
                own[:] = runs[start:end]
                left = np.uint64(len(own) - 1)
                while left > 0:
                    mask = left
                    for shift in range(5):
                        mask |= mask >> np.uint64(1 << shift)
                    while left > mask >> np.uint64(1):
                        if at == 8:
                            _advance(counter, key, halves)
                            at = np.uint64(0)
                        drawn = np.uint64(halves[at]) & mask
                        at += np.uint64(1)
                        taken = drawn <= left
                        other = drawn if taken else left
                        own[left], own[other] = own[other], own[left]
                        left -= np.uint64(taken)
                to = borrowed(made[each, row])
                for i in range(len(own)):
                    to[runs[start + i]] = own[i]
            start = end
    return int(at)


def permutations(generator: np.random.Generator, runs: list[IntArray], shape: tuple[int, int, int]) -> IntArray | None:
    """What ``permutations`` of retraining makes; None, and nothing is drawn, of a generator that is not over Philox."""
    bits = generator.bit_generator
    if type(bits) is not np.random.Philox or not agrees():
        return None
    made = np.broadcast_to(np.arange(shape[2]), shape).copy()
    with bits.lock:
        return made if _permute_by(bits, runs, made) else None


def _permute_by(bits: np.random.BitGenerator, runs: list[IntArray], made: IntArray) -> bool:
    state: Any = bits.state
    halves, place = state["buffer"].view(np.uint32).copy(), 2 * state["buffer_pos"] - state["has_uint32"]
    if state["has_uint32"] and (place < 0 or halves[place] != state["uinteger"]):
        return False
    counter, key = (state["state"][name].copy() for name in ("counter", "key"))
    ends = np.cumsum([len(run) for run in runs])
    place = _permute((counter, key, halves, place), np.concatenate(runs), ends, made)
    state["state"], state["buffer"] = {"counter": counter, "key": key}, halves.view(np.uint64)
    state["buffer_pos"], state["has_uint32"] = (place + 1) // 2, place % 2
    state["uinteger"] = int(halves[place - 1 + place % 2])
    bits.state = state
    return True


@functools.cache
def agrees() -> bool:
    """True if NumPy permutes by the same numbers, and leaves its generator at the same place."""
    one, other = (np.random.Generator(np.random.Philox(1)) for _ in range(2))
    made = np.broadcast_to(np.arange(60), (1, 3, 60)).copy()
    done = _permute_by(one.bit_generator, [np.arange(33), np.arange(40, 60)], made)
    for first, end in ((0, 33), (40, 60)):
        theirs = other.permuted(np.broadcast_to(np.arange(first, end), (3, end - first)), axis=1)
        done = done and np.array_equal(made[0, :, first:end], theirs)
    return bool(done and one.integers(2**31, dtype=np.int32) == other.integers(2**31, dtype=np.int32))
