"""Why this number: the derivation of any cell of any stage."""
