"""From a validated study to its results."""
