"""GUDN: label texts guide an encoder while it learns, and are not needed afterwards."""
