"""Data in and out: formats are recognised, read, streamed, checked and written here."""

from longtail.data.formats import sniff
from longtail.data.options import ReadOptions
from longtail.data.pair_files import Edges, read_edges
from longtail.data.reading import read, read_folder, stream
from longtail.data.writing import write

__all__ = ["Edges", "ReadOptions", "read", "read_edges", "read_folder", "sniff", "stream", "write"]
