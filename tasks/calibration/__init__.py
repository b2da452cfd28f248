"""Calibration studies: fan-outs that apply tests to test sets from populations, the populations, and the analyses."""
