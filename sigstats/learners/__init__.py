"""Learners: scikit-learn estimators, and batched forms of them that share work across permutations."""
