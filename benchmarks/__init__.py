"""Benchmarks: longtail systems and their peers, trained and measured on the same matrices in one run."""
