"""Embedding: having a session hold the arrays themselves, and no longer where they lie."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from attn_gui.model.origin import Origin
from attn_gui.model.session import Session, given_parts


def embedded(session: Session) -> Session:
    """``session`` without origins, so that its file holds every array; the experiments are the same values."""
    experiments = tuple(n if n.origin is None else replace(n, origin=None) for n in session.experiments)
    return replace(session, experiments=experiments)


def without_origins(session: Session, gone: Collection[Origin]) -> Session:
    """``session`` holding the arrays themselves of what came from ``gone``."""
    experiments = tuple(replace(n, origin=None) if n.origin in gone else n for n in session.experiments)
    return replace(session, experiments=experiments)


def bytes_elsewhere(session: Session) -> int:
    """Bytes of the arrays that a saved session leaves in the files that they came from."""
    sizes: dict[int, int] = {}
    for named in session.experiments:
        there = {id(array) for array in named.opened.values()}
        for experiment in (named.experiment, named.original):
            sizes |= {id(part): part.nbytes for part in given_parts(experiment).values() if id(part) in there}
    return sum(sizes.values())
