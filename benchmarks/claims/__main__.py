"""Writes docs/claims.md from the runs that there are: python -m benchmarks.claims."""

from benchmarks.claims import page

if __name__ == "__main__":
    page.write()
