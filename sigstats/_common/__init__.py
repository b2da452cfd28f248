"""What several rooms of the library share."""
