"""Is a candidate worse than a baseline, anywhere? The rule, the tests and the verdict."""
