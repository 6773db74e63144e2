"""What stands in the dialog in words: what will be opened, and what is in a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attn_gui.files.summary import printable
from attn_gui.model.errors import readable_bytes
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import shown_groups, sizes, source_of
from attn_gui.model.tensors.info import Contents, TensorInfo
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import Sizes

ROLES = {
    Role.SCORES: "the scores A",
    Role.WEIGHTS: "the weights N",
    Role.Q: "Q",
    Role.K: "K",
    Role.QKV: "Q, K and V",
    Role.KV: "K and V",
    Role.V: "V",
    Role.HIDDEN: "the hidden states X",
    Role.MASK: "a mask",
    Role.SEQUENCES: "a mask of sequences",
}
NOTHING = "Nothing in here is read as part of an attention yet."


def is_mask_alone(reading: Reading) -> bool:
    """Whether there is a mask and nothing that it could mask."""
    roles = {part.role for part in reading.used()}
    return bool(roles & {Role.MASK, Role.SEQUENCES}) and roles <= {Role.MASK, Role.SEQUENCES, Role.IDS}


def headline(contents: Contents, reading: Reading) -> str:
    """What will be opened, in one sentence for each attention of the file."""
    groups = shown_groups(reading) or (reading.groups if is_mask_alone(reading) else ())
    if not groups:
        return NOTHING
    counts = sizes(contents, reading)
    sentences = [_of_group(group, reading, counts[group]) for group in groups]
    if is_mask_alone(reading):
        return f"{sentences[0].replace('Opens', 'Puts', 1)}, on the experiment in the window."
    return "\n".join(f"{sentence}." for sentence in sentences)


def _of_group(group: str, reading: Reading, counts: Sizes) -> str:
    parts = reading.used(group)
    source = source_of(reading, group)
    there = {part.role for part in parts}
    # what is left out is not announced; offers say so
    left_out = {Role.HIDDEN} if source is not Role.HIDDEN else there - {Role.HIDDEN}
    if source is Role.WEIGHTS:
        left_out |= {Role.MASK, Role.SEQUENCES, Role.Q, Role.K}
    what = joined(word for role, word in ROLES.items() if role in there - left_out)
    facts = ", ".join(_facts(counts, reading))
    name = "" if group == "cross" else printable(group)
    title = ", ".join(filter(None, (name, "cross-attention" if parts[0].kind == "cross" else "")))
    return f"Opens {what}" + (f" ({title})" if title else "") + (f": {facts}" if facts else "")


def _facts(counts: Sizes, reading: Reading) -> list[str]:
    facts = []
    layers = len(counts.layers) if reading.layers is None else len(reading.layers)
    if len(counts.layers) > 1:
        chosen = reading.layers
        facts.append(f"layer {chosen[0] + 1}" if chosen is not None and layers == 1 else f"{layers:,} layers")
    if counts.batch > 1:
        facts.append(f"item {reading.batch + 1:,} of {counts.batch:,} in the batch")
    if counts.heads:
        shared = counts.kv_heads and counts.kv_heads != counts.heads
        own = f" ({counted(counts.kv_heads, 'key/value head')})" if shared else ""
        facts.append(counted(counts.heads, "head") + own)
    queries = counted(counts.n_q, "query", "queries") if counts.n_q else ""
    keys = counted(counts.n_k, "key") if counts.n_k else ""
    if queries or keys:
        facts.append(" × ".join(word for word in (queries, keys) if word))
    if counts.d_k:
        facts.append(f"d_k {counts.d_k:,}")
    return facts


def counted(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def joined(words: Iterable[str]) -> str:
    """``words`` as a list that is read aloud."""
    given = list(words)
    return " and ".join([", ".join(given[:-1]), given[-1]] if len(given) > 1 else given)


def part_name(part: Part) -> str:
    """The name of the tensor, or of those that hold a layer each."""
    first = printable(part.tensors[0]) or "(no name)"
    return first if len(part.tensors) == 1 else f"{first} and {len(part.tensors) - 1:,} more"


def shape_text(tensor: TensorInfo) -> str:
    return " × ".join(f"{side:,}" for side in tensor.shape) or "one number"


def axes_text(axes: Sequence[Axis]) -> str:
    return " × ".join(axis.label.lower() for axis in axes)


def range_text(tensor: TensorInfo) -> str:
    """The lowest and the highest number, and what else was seen."""
    peek = tensor.peek
    if peek is None:
        return ""
    if peek.low is None or peek.high is None:
        seen = "no finite number"
    elif peek.low == peek.high:
        seen = f"all {peek.low + 0.0:.4g}"
    else:
        # a zero with a sign is 0
        seen = f"{peek.low + 0.0:.4g} to {peek.high + 0.0:.4g}"
    others = [word for is_there, word in ((peek.nan, "NaN"), (peek.inf, "+inf"), (peek.minus_inf, "−inf")) if is_there]
    sampled = [] if peek.whole else ["sampled"]
    return ", ".join([seen, *others, *sampled]).replace("-", "−")


def size_text(contents: Contents) -> str:
    """How much is in the file."""
    return readable_bytes(sum(tensor.bytes for tensor in contents.tensors))
