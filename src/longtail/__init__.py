"""longtail: the few right labels out of a very large set, the rare ones included."""

__version__ = "0.1.0"
