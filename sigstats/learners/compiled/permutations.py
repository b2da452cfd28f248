"""NumPy's permutations by its generators PCG64 and Philox, compiled by Numba: the same numbers in the same order.

NumPy calls two functions for each number that it draws. Here the sequence is made where it is used, and no branch
depends on whether a number is taken, which no processor can foresee. Sources of the sequences: O'Neill (2014), PCG: a
family of simple fast space-efficient statistically good algorithms for random number generation, section 6.3.2
(XSL-RR); Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3, section 3.3 (Philox-4x64-10).
"""

import functools
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import extending, types

from sigstats._common.validation import IntArray

from .jit import borrowed, compiled, inlined

__all__ = ["agrees", "permutations"]

#: Generators whose sequences are known here.
_KINDS: Final = (np.random.PCG64, np.random.Philox)

_WORD: Final = 2**64 - 1

#: PCG64 multiplies its state of 128 bits by this.
_FACTOR_HIGH, _FACTOR = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)

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
def _advance(words: Any, halves: Any) -> None:
    """Step to the next state of Philox, and fill in the eight numbers of 32 bits there."""
    at = 0
    words[0] += np.uint64(1)
    while words[at] == 0 and at < 3:
        at += 1
        words[at] += np.uint64(1)
    a, b, c, d, first, second = words[0], words[1], words[2], words[3], words[4], words[5]
    for _ in range(_ROUNDS):
        high, low = _product_of(_FIRST, a)
        upper, under = _product_of(_SECOND, c)
        a, b, c, d = upper ^ b ^ first, under, high ^ d ^ second, low
        first += _FIRST_STEP
        second += _SECOND_STEP
    for place, word in enumerate((a, b, c, d)):
        halves[2 * place], halves[2 * place + 1] = np.uint32(word), np.uint32(word >> np.uint64(32))


@inlined
def _step(words: Any, halves: Any) -> None:
    """Step to the next state of PCG64, and fill in the two numbers of 32 bits there."""
    high, low = _product_of(words[1], _FACTOR)
    high += words[0] * _FACTOR + words[1] * _FACTOR_HIGH
    words[1] = low + words[3]
    words[0] = high + words[2] + np.uint64(words[1] < low)
    mixed, turn = words[0] ^ words[1], words[0] >> np.uint64(58)
    word = mixed >> turn | mixed << (np.uint64(64) - turn & np.uint64(63))
    halves[0], halves[1] = np.uint32(word), np.uint32(word >> np.uint64(32))


@compiled
def _permute(state: Any, runs: Any, ends: Any, made: Any) -> int:
    """Permute, and return the place that the sequence is at then.

    `state`: of PCG64 the two words of its state and of its increment, the upper first, of Philox the counter and the
    key; the numbers of 32 bits there, and the place of the next of these. `runs`: the numbers of all runs, one after
    the other; `ends`: where each ends.
    """
    words, halves, place = state
    words, halves, runs = borrowed((words, halves, runs))
    at, philox = np.uint64(place), len(halves) > 2
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
                        if at == len(halves):
                            if philox:
                                _advance(words, halves)
                            else:
                                _step(words, halves)
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
    """What ``permutations`` of retraining makes; None, and nothing is drawn, of a generator of another kind."""
    bits = generator.bit_generator
    if type(bits) not in _KINDS or not agrees(type(bits)):
        return None
    made = np.broadcast_to(np.arange(shape[2]), shape).copy()
    with bits.lock:
        return made if _permute_by(bits, runs, made) else None


def _permute_by(bits: np.random.BitGenerator, runs: list[IntArray], made: IntArray) -> bool:
    state: Any = bits.state
    own, philox = state["state"], isinstance(bits, np.random.Philox)
    if philox:
        words, halves = np.concatenate([own["counter"], own["key"]]), state["buffer"].view(np.uint32).copy()
        place = 2 * state["buffer_pos"] - state["has_uint32"]
    else:
        words = np.array([each >> shift & _WORD for each in (own["state"], own["inc"]) for shift in (64, 0)], np.uint64)
        halves, place = np.array([0, state["uinteger"]], dtype=np.uint32), 2 - state["has_uint32"]
    if state["has_uint32"] and (place < 0 or halves[place] != state["uinteger"]):
        return False
    ends = np.cumsum([len(run) for run in runs])
    place = _permute((words, halves, place), np.concatenate(runs), ends, made)
    if philox:
        state["state"], state["buffer"] = {"counter": words[:4], "key": words[4:]}, halves.view(np.uint64)
        state["buffer_pos"] = (place + 1) // 2
    else:
        state["state"] = {"state": int(words[0]) << 64 | int(words[1]), "inc": own["inc"]}
    state["has_uint32"], state["uinteger"] = place % 2, int(halves[place - 1 + place % 2])
    bits.state = state
    return True


@functools.cache
def agrees(kind: type[np.random.BitGenerator]) -> bool:
    """True if NumPy permutes by the same numbers, and leaves its generator at the same place."""
    one, other = (np.random.Generator(kind(1)) for _ in range(2))
    made = np.broadcast_to(np.arange(60), (1, 3, 60)).copy()
    done = _permute_by(one.bit_generator, [np.arange(33), np.arange(40, 60)], made)
    for first, end in ((0, 33), (40, 60)):
        theirs = other.permuted(np.broadcast_to(np.arange(first, end), (3, end - first)), axis=1)
        done = done and np.array_equal(made[0, :, first:end], theirs)
    return bool(done and one.integers(2**31, dtype=np.int32) == other.integers(2**31, dtype=np.int32))
