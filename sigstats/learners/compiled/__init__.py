"""Code of the learners that Numba compiles. Other modules use it only through `sigstats.learners.base.compiled`."""
