"""The populations from which a calibration study draws its test sets."""
