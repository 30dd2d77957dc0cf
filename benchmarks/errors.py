"""The one error of the harness: a sentence for the person at the terminal."""


class BenchmarkError(Exception):
    """Something is missing or wrong; the message says what to do."""
