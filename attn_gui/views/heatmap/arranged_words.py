"""What is said where special tokens are hidden, or the pieces of a word share one row and column."""

from __future__ import annotations

from attn_gui.model.answers import ArrangedCell
from attn_gui.model.arranging import Arranged
from attn_gui.model.experiment import Experiment
from attn_gui.views.figures import figure, percentages
from attn_gui.views.heatmap.labels import token_text
from attn_gui.views.heatmap.words import Sentence, key_name

MERGED_WEIGHTS = "sum over keys, mean over queries"
MERGED_SCORES = "mean of the allowed"


def arranged_title(arranged: Arranged) -> str:
    """The same for a title: ``words merged, 2 hidden``."""
    hidden = _hidden(arranged)
    return ", ".join([*(["words merged"] if arranged.merges else []), *([f"{hidden} hidden"] if hidden else [])])


def arranged_words(arranged: Arranged, stage: str) -> str:
    """How a matrix is drawn: ``sub-words merged (sum over keys, mean over queries), 2 special tokens hidden``."""
    parts = []
    if arranged.merges:
        parts.append(f"sub-words merged ({MERGED_WEIGHTS if stage == 'N' else MERGED_SCORES})")
    hidden = _hidden(arranged)
    if hidden:
        parts.append(f"{hidden} special token{'s' if hidden > 1 else ''} hidden")
    return ", ".join(parts)


def arranged_edit(arranged: Arranged) -> str:
    """Why nothing is changed where the matrix is drawn so, and what to do."""
    which = [
        name
        for name, on in (
            ("Merge sub-words", arranged.merges),
            ("Hide special tokens", _hidden(arranged) > 0),
        )
        if on
    ]
    return f"The mask is changed token by token: turn off {' and '.join(which)} in the View menu first"


def arranged_sentence(
    experiment: Experiment,
    place: tuple[int, int],
    stage: str,
    found: tuple[float, bool] | None,
    cell: ArrangedCell | None,
    decimals: int,
) -> Sentence:
    """The read-out: ``query is → key the: 0.2226 (sum over 2 keys); 61% of the query’s weight is on 2 hidden tokens``.

    ``experiment`` names rows and columns as they are drawn; ``cell`` is None while more than its value is not known.
    """
    query, key = token_text(experiment.tokens.tokens[place[0]]), key_name(experiment, place[1])
    where, there = f"query {query} → key {key}: ", f"{query} → {key}: "
    told = "…" if found is None else figure(found[0], decimals) if found[1] else "masked"
    if cell is None:
        return Sentence(where + told, (there + told, told))
    of, hidden = _made_of(cell), hidden_words(cell)
    share = "" if cell.hidden is None or not cell.hidden_keys else f"; {percentages([cell.hidden])[0]} hidden"
    full = "; ".join([f"{told} ({of})" if of and found is not None and found[1] else told, *hidden])
    shorter = (there + full, where + told + share, there + told + share, told + share, told)
    return Sentence(where + full, tuple(dict.fromkeys(shorter)))


def hidden_words(cell: ArrangedCell) -> list[str]:
    """What part of the queries' weight is out of sight, if any key is."""
    if not cell.hidden_keys or cell.hidden is None:
        return []
    tokens = f"{cell.hidden_keys} hidden token{'s' if cell.hidden_keys > 1 else ''}"
    whose = "the query’s" if cell.queries == 1 else "the queries’"
    return [f"{percentages([cell.hidden])[0]} of {whose} weight is on {tokens}"]


def _hidden(arranged: Arranged) -> int:
    return max(int(axis.hidden.sum()) for axis in (arranged.queries, arranged.keys))


def _made_of(cell: ArrangedCell) -> str:
    """What one number is made of where it stands for several: ``sum over 2 keys, mean over 3 queries``."""
    if cell.ask.stage != "N":
        cells = cell.queries * cell.keys
        return f"mean of {cells} cells" if cells > 1 else ""
    sums = [f"sum over {cell.keys} keys"] if cell.keys > 1 else []
    means = [f"mean over {cell.queries} queries"] if cell.queries > 1 else []
    return ", ".join(sums + means)
