"""The walk through the computation, as a bar under the formula."""
