"""Metrics of rankings of labels: arrays and sparse matrices in, fractions in [0, 1] out.

Stored entries of a truth matrix are its labels, whatever their value; reports multiply by 100.
"""
