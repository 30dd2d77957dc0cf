"""The ensemble: gathers the candidates of any systems and re-ranks them by their features."""
