"""McNemar's test of two classifiers on the same rows, and its power."""
