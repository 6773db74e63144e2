"""Changes inside a model as plain values, which a session keeps among its view choices.

::

    [{"sites": [["transformer.h.3.attn", 0]], "heads": [2], "text": null, "change": {"kind": "off"}}, ..]

Kinds of change: ``off``; ``mean``, ``even`` and ``shown`` (what stands in place of the head); ``forbid`` with
``query`` and ``key``; ``mask`` with ``rule``; ``temperature`` with ``temperature``. Places are counted from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from attn_gui.files.errors import FileError
from attn_gui.files.part_json import read_part
from attn_gui.files.places import Place
from attn_gui.model.errors import ExperimentError
from attn_gui.model.intervention import (
    Action,
    Change,
    ChangeMask,
    ChangeTemperature,
    Forbid,
    ReplaceBy,
    Site,
    SwitchOff,
    experiment_at,
)
from attn_gui.model.masks import MaskRule
from attn_gui.model.session import INTERVENED, Session

KEY = INTERVENED
MOST = 1_000


def to_plain(actions: Sequence[Action]) -> list[dict[str, Any]]:
    """As values that JSON has."""
    return [
        {
            "sites": [[site.module, site.run] for site in action.sites],
            "heads": None if action.heads is None else list(action.heads),
            "text": action.text,
            "change": _plain_change(action.change),
        }
        for action in actions
    ]


def from_session(session: Session) -> tuple[Action, ...]:
    """What the session keeps, as far as it is sound: it may come from a file. None without a captured model."""
    value = session.view.get(KEY)
    if session.model is None or not isinstance(value, list) or len(value) > MOST:
        return ()
    found = []
    for place in Place(value, Path(KEY), KEY).elements():
        try:
            found.append(_action(place, session))
        except (FileError, ExperimentError):
            continue
    return tuple(found)


def _plain_change(change: Change) -> dict[str, Any]:
    if isinstance(change, ReplaceBy):
        return {"kind": change.by}
    if isinstance(change, Forbid):
        return {"kind": "forbid", "query": change.query, "key": change.key}
    if isinstance(change, ChangeMask):
        return {"kind": "mask", "rule": change.rule.to_plain(lambda array: array.tolist())}
    if isinstance(change, ChangeTemperature):
        return {"kind": "temperature", "temperature": change.temperature}
    return {"kind": "off"}


def _action(place: Place, session: Session) -> Action:
    fields = place.keys(("sites", "heads", "text", "change"))
    sites = []
    for site in fields["sites"].elements():
        parts = site.elements()
        if len(parts) != 2:
            site.refuse("a module and which run of it")
        sites.append(Site(parts[0].text(), _count(parts[1])))
    if not sites:
        fields["sites"].refuse("a place at least")
    heads = None if fields["heads"].value is None else tuple(_count(head) for head in fields["heads"].elements())
    text = None if fields["text"].value is None else _count(fields["text"])
    return Action(tuple(sites), _change(fields["change"], session, sites[0], text or 0), heads, text)


def _change(place: Place, session: Session, site: Site, text: int) -> Change:
    fields = dict(place.items())
    if "kind" not in fields:
        place.refuse("an object with “kind”")
    kind = fields["kind"].text()
    if kind == "forbid":
        fields = dict(place.keys(("kind", "query", "key")))
        return Forbid(_count(fields["query"]), _count(fields["key"]))
    if kind == "mask":
        return ChangeMask(read_part(MaskRule, place.keys(("kind", "rule"))["rule"]))
    if kind == "temperature":
        return ChangeTemperature(place.keys(("kind", "temperature"))["temperature"].number())
    place.keys(("kind",))
    if kind == "shown":
        index = experiment_at(session, site, text)
        if index is None:
            fields["kind"].refuse("a layer that is in the session")
        return ReplaceBy("shown", session.experiments[index].experiment)
    replacements: dict[str, Literal["mean", "even"]] = {"mean": "mean", "even": "even"}
    if kind in replacements:
        return ReplaceBy(replacements[kind])
    if kind != "off":
        fields["kind"].refuse("off, mean, even, shown, forbid, mask or temperature")
    return SwitchOff()


def _count(place: Place) -> int:
    number = place.whole()
    if number < 0:
        place.refuse("0 or more")
    return number
