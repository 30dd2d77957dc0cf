"""Hostile files, texts and signals: each module is one measurement, ``python -m benchmarks.hostile`` runs it."""
