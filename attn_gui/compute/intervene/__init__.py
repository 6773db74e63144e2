"""Changes inside a transformers model while it runs: what they do to one attention, and what then comes out."""
