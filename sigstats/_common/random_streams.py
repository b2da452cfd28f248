"""Random streams: one place makes every generator.

The unit of randomness is a *lane*: a fixed number of replicates that share one Philox stream, keyed by the study's
seed, a hash of the computation, and the lane's number. A replicate therefore depends on nothing else: not on the number
of workers, the size of a block, the order of completion or where a run was interrupted.
"""

from typing import Any, TypeAlias

import numpy as np

from .validation import refuse

#: Largest number of replicates in one array.
MAX_RESAMPLES = 10**8

RNG: TypeAlias = (
    int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | np.random.RandomState | None
)


def as_generator(rng: Any = None) -> np.random.Generator:
    """Return a generator from a value that SciPy's ``rng=`` accepts, or raise ValueError.

    None takes fresh entropy from the operating system; a Generator and a RandomState are used, and advanced, as they
    are.
    """
    known = (int, np.integer, np.random.SeedSequence, np.random.BitGenerator, np.random.Generator)
    wanted = "None, an integer of at least 0, a SeedSequence, a BitGenerator, a Generator or a RandomState"
    if isinstance(rng, np.random.RandomState):  # NumPy's default_rng takes none before 2.2
        return np.random.Generator(rng._bit_generator)
    if isinstance(rng, (bool, np.timedelta64)) or not (rng is None or isinstance(rng, known)):
        raise refuse("rng", rng, wanted)
    if isinstance(rng, (int, np.integer)) and rng < 0:
        raise refuse("rng", rng, wanted)
    return np.random.default_rng(rng)


def lane_generator(seed: int, key: bytes, lane: int) -> np.random.Generator:
    """Return the generator of one lane of a study's seed: Philox, positioned at the start of the lane.

    `key`: a digest of the identity of the draws (8 bytes or more; the first 16 are used). Two cells with the same key
    share their streams.
    """
    if len(key) < 8:
        raise refuse("key", key, "8 bytes or more")
    words = np.frombuffer(key[:16].ljust(16, b"\0"), dtype="<u4")
    sequence = np.random.SeedSequence(seed, spawn_key=(*(int(word) for word in words), lane))
    return np.random.Generator(np.random.Philox(sequence))
