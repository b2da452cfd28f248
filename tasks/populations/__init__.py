"""What the test sets of a calibration study are drawn from."""
