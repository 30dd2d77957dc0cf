"""One trainer for every network: stages, rows of large tables, checkpoints, resuming."""
