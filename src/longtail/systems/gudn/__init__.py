"""GUDN: label texts guide the training of an encoder, and are not read in prediction."""
