"""What the flow view says: what its lines show and leave out, and an isolated token's weights."""

from __future__ import annotations

from attn_gui.model.arranging import Arranged
from attn_gui.model.experiment import Experiment
from attn_gui.model.flow import Flow, FlowAsk
from attn_gui.model.trace import Head
from attn_gui.views.figures import figure
from attn_gui.views.flow.isolated import Isolated
from attn_gui.views.heatmap.arranged_words import MERGED_WEIGHTS
from attn_gui.views.heatmap.labels import token_text
from attn_gui.views.heatmap.words import head_name, key_name

# tokens that a sentence names
NAMED = 5


def heads_name(ask: FlowAsk, count: int) -> str:
    """``Head 2``, ``Heads 1, 2 and 4``, ``Sum of all 4 heads``, with ``count`` heads in all."""
    name = _heads_name(ask.heads, count)
    return f"Sum of {name[0].lower()}{name[1:]}" if ask.heaviest > 1 else name


def _heads_name(heads: tuple[Head, ...], count: int) -> str:
    if len(heads) == 1:
        return head_name(heads[0]).capitalize()
    if len(heads) == count:
        return f"All {count} heads"
    numbers = [str(head + 1) for head in heads if isinstance(head, int)]
    return f"Heads {', '.join(numbers[:-1])} and {numbers[-1]}"


def shown_sentence(flow: Flow, experiment: Experiment) -> str:
    """``Head 1 shows 212 of 40,000 lines, 86% of the weight``; what is out of sight, and which tokens are in sight."""
    parts = [
        f"{heads_name(flow.ask, experiment.heads)}: "
        + _counted(int(flow.queries.lines_shown.sum()), int(flow.queries.lines.sum()))
        + f", {_share(float(flow.queries.shown.sum()), float(flow.total.sum()))} of the weight"
    ]
    if (beyond := float(flow.beyond.sum())) > 0 and _matters(flow, experiment):
        parts.append(f"{_share(beyond, float(flow.total.sum()))} goes to keys out of sight")
    for name, window, count in (
        ("queries", flow.ask.queries, experiment.n_q),
        ("keys", flow.ask.keys, experiment.n_k),
    ):
        if window != (0, count):
            parts.append(f"{name} {window[0] + 1:,}–{window[1]:,} of {count:,}")
    if flow.drawn is not None:
        parts += _arranged(flow.drawn, float(flow.hidden.sum()), float(flow.total.sum()))
    if flow.odd:
        parts.append(f"{flow.odd:,} {'weight is' if flow.odd == 1 else 'weights are'} not finite and not drawn")
    return "; ".join(parts)


def _arranged(drawn: Arranged, hidden: float, total: float) -> list[str]:
    """``words merged (sum over keys, mean over queries)``, ``12% goes to 2 hidden tokens``."""
    count = int(drawn.keys.hidden.sum())
    merged = [f"words merged ({MERGED_WEIGHTS})"] if drawn.merges else []
    tokens = "hidden token" if count == 1 else "hidden tokens"
    return [*merged, *([f"{_share(hidden, total)} goes to {count:,} {tokens}"] if count else [])]


def isolated_sentence(isolated: Isolated, flow: Flow, experiment: Experiment, decimals: int) -> str:
    """``Query is looks at the 0.2226, to 0.2226 and 3 more; 5 of 5 lines, 100% of its weight``."""
    query = isolated.side == "query"
    token = name(experiment, isolated.side, isolated.index)
    other = "key" if query else "query"
    ends = [f"{name(experiment, other, j)} {figure(w, decimals)}" for j, w in isolated.ends.items()]
    more = f" and {len(ends) - NAMED:,} more" if len(ends) > NAMED else ""
    seen = ", ".join(ends[:NAMED]) + more if ends else f"no {other} in sight"
    parts = [f"Query {token} looks at {seen}" if query else f"Key {token} is looked at by {seen}"]
    lines = _counted(isolated.lines_shown, isolated.lines)
    if query:
        lines += f", {_share(isolated.shown, isolated.total)} of its weight"
    else:
        part, whole = figure(isolated.shown, decimals), figure(isolated.within, decimals)
        lines += f", sum {part}" if part == whole else f", sum {part} of {whole}"
        lines += "" if flow.ask.queries == (0, experiment.n_q) else " from queries in sight"
    parts.append(lines)
    if isolated.beyond > 0 and _matters(flow, experiment):
        parts.append(f"{_share(isolated.beyond, isolated.total)} goes to keys out of sight")
    if isolated.hidden > 0:
        parts.append(f"{_share(isolated.hidden, isolated.total)} to hidden tokens")
    return "; ".join(parts)


def name(experiment: Experiment, side: str, index: int) -> str:
    """The token of a column as it is said."""
    return token_text(experiment.tokens.tokens[index]) if side == "query" else key_name(experiment, index)


def _matters(flow: Flow, experiment: Experiment) -> bool:
    """Whether keys are out of sight at all."""
    return flow.ask.keys != (0, experiment.n_k)


def _counted(shown: int, lines: int) -> str:
    return f"{shown:,} of {lines:,} {'line' if lines == 1 else 'lines'}"


def _share(part: float, whole: float) -> str:
    """In percent, without decimals; what is neither nothing nor everything is not said to be."""
    if not whole > 0:
        return "none" if part == 0 else "all"
    percent = 100 * part / whole
    # sums in another order differ in their last digits
    if 0 < percent < 0.5:
        return "under 1%"
    if 99.5 <= percent < 100 - 1e-6:
        return "over 99%"
    return f"{percent:.0f}%"
