"""Tests whose number of replicates, or of looks at the data, is not fixed beforehand."""
