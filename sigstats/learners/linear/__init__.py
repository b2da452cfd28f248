"""Linear classifiers: the ridge classifier, the linear support vector machine, logistic regression."""
