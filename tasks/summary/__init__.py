"""From stored replicates to the summary of a study."""
