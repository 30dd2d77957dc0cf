"""A tree of labels with sparse linear classifiers (Parabel, WWW 2018; Bonsai, ML 2020; XR-Linear, JMLR 2022)."""
