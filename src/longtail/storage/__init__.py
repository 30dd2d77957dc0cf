"""Model folders and atomic output: what is written is whole, what is read is what was written."""

from longtail.storage.arrays import read_arrays, write_arrays
from longtail.storage.atomic import atomic_file, output_errors
from longtail.storage.jsonfile import read_json, read_jsonl, write_json, write_jsonl
from longtail.storage.listed_file import read_bytes
from longtail.storage.output_folder import writing_folder
from longtail.storage.verified import VerifiedFolder, open_folder

__all__ = [
    "VerifiedFolder",
    "atomic_file",
    "open_folder",
    "output_errors",
    "read_arrays",
    "read_bytes",
    "read_json",
    "read_jsonl",
    "write_arrays",
    "write_json",
    "write_jsonl",
    "writing_folder",
]
