"""Bootstrap tests of the difference of any measure."""
