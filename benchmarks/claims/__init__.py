"""Claims of the five papers, tested on samples: python -m benchmarks claims --data DIR --only ECLARE-T5."""

from benchmarks.claims import eclare, galaxc, gnnxml, transformers

CLAIMS = (*eclare.CLAIMS, *galaxc.CLAIMS, *transformers.CLAIMS, *gnnxml.CLAIMS)
"""Every claim; those whose id begins with a name of ``--only`` are run."""
