"""torch: an Experiment in, a Trace out."""
