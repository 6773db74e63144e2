"""Open tensors: what is in a file that somebody brings, how it is read, and what will be shown of it."""
