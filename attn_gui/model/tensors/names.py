"""What the name of a tensor says: its role, its layer, and which attention of a model it belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.reading import Kind

NUMBER = re.compile(r"[0-9]+")
# between the words of a name
_BREAKS = re.compile(r"[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])")
# what programs call each, without "hook", "layer" and the like
_WORDS: dict[Role, str] = {
    Role.WEIGHTS: "weights n attn attention attentions attn_weights attention_weights attn_probs attention_probs probs"
    " pattern patterns attn_pattern softmax attn_map attn_maps attention_map attention_maps",
    Role.SCORES: "scores a a_masked attn_scores attention_scores logits attn_logits attention_logits qk"
    " qk_matmul_output scores_raw raw_scores",
    Role.Q: "q query queries rot_q q_states query_states query_layer q_proj query_proj q_lin xq",
    Role.K: "k key keys rot_k k_states key_states key_layer k_proj key_proj k_lin xk",
    Role.V: "v value values v_states value_states value_layer v_proj value_proj v_lin xv",
    Role.QKV: "qkv c_attn query_key_value mixed_qkv qkv_proj qkv_fused qkv_packed",
    Role.KV: "kv key_value",
    Role.OUTPUT: "z out output outputs attn_output attention_output attn_out y context_layer o head_output",
    Role.HIDDEN: "x hidden hidden_state hidden_states resid_pre embeddings embedding embed inputs_embeds",
    Role.MASK: "mask masks attn_mask attention_mask key_padding_mask padding_mask causal_mask attn_bias",
    Role.SEQUENCES: "cu_seqlens cu_seqlens_q cu_seqlens_k cu_seqlens_kv cu_seq_lens cu_seqlen",
    Role.IDS: "input_ids token_ids ids tokens decoder_input_ids",
}
NAMES: dict[Role, tuple[str, ...]] = {role: tuple(names.split()) for role, names in _WORDS.items()}
_ROLES: dict[str, Role] = {name: role for role, names in NAMES.items() for name in names}
_NOISE = {"layer", "layers", "l", "block", "blocks", "h", "hook", "self", "cross", "encoder", "decoder", "last", "enc"}
_NOISE |= {"dec", "head", "heads", "file", "past", "present", "idx", "step"}
_LAYERS = {"layer", "layers", "block", "blocks", "l", "h", "attentions", "hidden_states"}
# of parameters, which are no tensors of a forward pass
_PARAMETERS = {"weight", "bias"}
# of TransformerLens
_BY_TOKENS = {"hook_q", "hook_k", "hook_v", "hook_z", "hook_rot_q", "hook_rot_k"}
_ROTARY = re.compile(r"(?:^|[^a-z])rot_[qk]$")
_CROSS = re.compile(r"cross|encoder_attn|encdec|enc_dec", re.IGNORECASE)
_SIDES = re.compile(r"cross|encoder(?!_attn)|decoder", re.IGNORECASE)
# layers of these are counted from 0, whatever the lowest number is
_FROM_ZERO = re.compile(r"blocks\.|layers\.|(?:^|\.)layer\.|(?:^|\.)h\.|attentions|hidden_states|^$", re.IGNORECASE)


@dataclass(frozen=True)
class Said:
    """What a name says. layer: as it stands there. template: the name with ``{}`` in the place of the layer."""

    role: Role | None
    layer: int | None
    template: str
    group: str
    kind: Kind
    module: str


def said_by(names: Sequence[str]) -> Mapping[str, Said]:
    """What each of the ``names`` of one file says, by the name; numbers that vary from name to name are the layers."""
    forms: dict[str, list[str]] = {}
    for name in names:
        forms.setdefault(NUMBER.sub("{}", name), []).append(name)
    result: dict[str, Said] = {}
    for members in forms.values():
        place = _varying(members)
        templates = {name: _template(name, place) for name in members}
        numbers = {name: _number(name, place) for name in members if place is not None}
        first = _first_layer(list(templates.values()), list(numbers.values()))
        for name in members:
            number = numbers.get(name)
            template = templates[name]
            kind: Kind = "cross" if _CROSS.search(template) else "self"
            layer = None if number is None else number - first
            result[name] = Said(role_of(template), layer, template, _group(template), kind, _module(template))
    return {name: result[name] for name in names}


def role_of(name: str) -> Role | None:
    """The role that a name, perhaps with ``{}`` for the layer, says; None where it says none."""
    for component in reversed(re.split(r"[./\\\[\]]+", name)):
        words = [word.lower() for word in _BREAKS.split(component) if word]
        if words and words[-1] in _PARAMETERS:
            return None
        kept = [word for word in words if word not in _NOISE]
        if not kept:
            continue
        for count in range(len(kept), 0, -1):
            role = _ROLES.get("_".join(kept[-count:]))
            if role is not None:
                return role
        return None
    return None


def is_rotated(name: str) -> bool:
    """Whether these are queries or keys after rotary positions, beside those before (TransformerLens)."""
    return _ROTARY.search(name) is not None


def is_by_tokens(name: str) -> bool:
    """Whether the name is one of TransformerLens, which writes [batch, position, head, size], fused output too."""
    return name.rpartition(".")[2] in _BY_TOKENS


def is_parameter(name: str) -> bool:
    """Whether this is a name of a model's weights, and not of what it computed."""
    return name.rpartition(".")[2] in _PARAMETERS


def natural(name: str) -> tuple[object, ...]:
    """Sorts ``layer_2`` before ``layer_10``."""
    pieces = re.split(r"([0-9]+)", name.lower())
    return tuple((1, int(piece), "") if piece.isdigit() and piece.isascii() else (0, 0, piece) for piece in pieces)


def _varying(members: Sequence[str]) -> int | None:
    """Which of the numbers of names of one form counts the layers; None for one without a number of a layer."""
    numbers = [NUMBER.findall(name) for name in members]
    counts = [len({each[place] for each in numbers}) for place in range(len(numbers[0]))]
    pieces = NUMBER.split(members[0])
    after_layer = [place for place in range(len(counts)) if _last_word(pieces[place]) in _LAYERS]
    if after_layer:
        return after_layer[0]
    varying = [place for place, count in enumerate(counts) if count > 1]
    # of a tuple of tuples, the longer ones
    return max(varying, key=lambda place: (counts[place], -place)) if varying else None


def _last_word(text: str) -> str:
    return next((word for word in reversed(_BREAKS.split(text.lower())) if word), "")


def _number(name: str, place: int | None) -> int:
    return 0 if place is None else int(NUMBER.findall(name)[place][:9])


def _template(name: str, place: int | None) -> str:
    found = list(NUMBER.finditer(name))
    if place is None:
        return name
    at = found[place]
    return f"{name[: at.start()]}{{}}{name[at.end() :]}"


def _first_layer(templates: Sequence[str], numbers: Sequence[int]) -> int:
    """1 where the layers are counted from 1."""
    if len(numbers) < 2 or min(numbers) != 1 or any(_FROM_ZERO.search(template) for template in templates):
        return 0
    return 1


def _group(template: str) -> str:
    sides = [side.lower() for side in _SIDES.findall(template)]
    if "cross" in sides or _CROSS.search(template):
        return "cross"
    return sides[0] if sides else ""


def _module(template: str) -> str:
    """The place in the model that a name with dots speaks of."""
    parent, dot, last = template.rpartition(".")
    if not dot or "{}" not in parent:
        return ""
    return parent if role_of(last) is not None else template
