"""ECLARE: label text, a graph of label correlations and a refinement a label (Mittal et al., WWW 2021)."""
