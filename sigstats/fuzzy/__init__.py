"""Tests of objects whose classes are known to degrees: a p-value becomes a possibility distribution of p-values."""
