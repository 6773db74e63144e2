"""Drawers: what sits in docks around the formula, closed until it is wanted."""
