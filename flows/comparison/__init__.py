"""A comparison of two models, as text and as a page."""
