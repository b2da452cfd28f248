"""Whether class counts agree with required class probabilities."""
