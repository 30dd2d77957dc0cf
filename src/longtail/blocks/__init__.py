"""Pieces of networks that several systems share."""
