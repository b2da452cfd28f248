"""The number correct of a random classifier whose table has fixed margins."""
