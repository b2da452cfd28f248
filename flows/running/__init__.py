"""Run a validated study."""
