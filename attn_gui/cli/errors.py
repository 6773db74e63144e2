"""Failure: what ends a command with a message."""

from __future__ import annotations


class Failure(Exception):
    """A command that cannot be carried out; the message is for the person."""
