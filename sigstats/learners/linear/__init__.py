"""Linear classifiers found step by step: logistic regression and the linear support vector machine."""
