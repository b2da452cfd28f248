"""Significance studies: fan-outs that test tables of counts, and the analyses of their results."""
