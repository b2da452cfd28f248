"""Two models as a judge sees them, corrected by a few labels of people."""
