"""Data in and out: formats are recognised, read, streamed, checked and written here."""

from longtail.data.check import CheckReport, check
from longtail.data.formats import sniff
from longtail.data.frame import from_frame
from longtail.data.label_names import label_names
from longtail.data.limits import limit
from longtail.data.options import ReadOptions
from longtail.data.pair_files import read_edges
from longtail.data.reading import read, read_folder, stream
from longtail.data.understood import Understood
from longtail.data.vocabulary import read_labels, read_vocabulary
from longtail.data.writing import write
from longtail.types import Edges

__all__ = [
    "CheckReport",
    "Edges",
    "ReadOptions",
    "Understood",
    "check",
    "from_frame",
    "label_names",
    "limit",
    "read",
    "read_edges",
    "read_folder",
    "read_labels",
    "read_vocabulary",
    "sniff",
    "stream",
    "write",
]
