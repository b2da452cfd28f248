"""Learners that share work across the permutations of one data set."""
