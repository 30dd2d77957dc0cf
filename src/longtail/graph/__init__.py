"""Graphs over labels (and documents) as sparse matrices: built, pruned, normalised, walked."""
