"""Trees and forests: CART as scikit-learn grows it, and C4.5."""
