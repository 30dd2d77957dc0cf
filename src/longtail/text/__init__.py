"""Texts as features: tokens, TF-IDF and word pieces."""
