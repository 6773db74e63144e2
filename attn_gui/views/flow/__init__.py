"""The flow view: lines from queries to keys as thick as the weights."""
