"""X-GRank: group-wise label ranking with a pre-trained encoder."""
