"""Attentions of a running model: seen, and changed, through transformers' own registration of attentions.

A model of transformers asks its AttentionInterface for the function that attends, by the name in its config. For the
time of a forward pass a name of ours stands there, whose function hands what it was given to a tap and then lets the
function that the model had before do the work, on the mask that the model had before. So nothing is written for one
architecture, and what the model computes stays the same to the last bit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import torch

from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.library import library

Output = tuple[torch.Tensor, torch.Tensor | None]
# those of transformers' attentions that take the scores' mask and nothing else in its place
KNOWN = ("sdpa", "eager")
# arguments in which a module is handed the states that its keys and values come of
_CONTEXTS = frozenset({"key_value_states", "encoder_hidden_states", "cross_attention_states"})
PREFIX = "attn_gui_"


@dataclass(frozen=True, eq=False)
class Call:
    """One attention of a forward pass, as the model asked for it: everything in the model's type and on its device.

    module: its name in the model, such as ``encoder.layer.0.attention.self``; of: the module itself.
    run: which run of this module it is in the pass, from 0 (a shared layer runs several times).
    order: which attention of the pass it is, from 0. cross: whether the keys are those of another sequence.
    query: [batch, heads, n_q, d_k]; key: [batch, kv_heads, n_k, d_k]; value: [batch, kv_heads, n_k, d_v].
    mask: None, flags (True = may attend) or numbers to be added (finfo.min forbids), [batch or 1, heads or 1, n_q or 1,
    n_k].
    options: whatever else was handed over: scaling, position_bias, softcap, sliding_window, is_causal, s_aux, ...
    attend: the function that the model has for it.
    """

    module: str
    of: torch.nn.Module
    run: int
    order: int
    cross: bool
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    options: Mapping[str, Any]
    implementation: str
    attend: Callable[..., Output] = field(repr=False)

    def output(self) -> Output:
        """What the model's own function makes of it: [batch, n_q, heads, d_v], and weights where it gives them."""
        given = (self.of, self.query, self.key, self.value, self.mask)
        return self.attend(*given, **self.options)

    def with_options(self, **options: Any) -> Call:
        """With some of the options replaced."""
        return replace(self, options={**self.options, **options})

    @property
    def scale(self) -> float:
        """What Q K^T is multiplied by."""
        scaling = self.options.get("scaling")
        return float(self.query.shape[-1] ** -0.5 if scaling is None else scaling)

    @property
    def softcap(self) -> float | None:
        """The bound on the scores, or None."""
        softcap = self.options.get("softcap")
        return None if softcap is None else float(softcap)

    @property
    def position_bias(self) -> torch.Tensor | None:
        """What is added to the scores, [batch or 1, heads, n_q, n_k] (T5), or None."""
        return self.options.get("position_bias")

    @property
    def sinks(self) -> torch.Tensor | None:
        """For each head the score of a key that gathers nothing, [heads] (gpt-oss), or None."""
        sinks = self.options.get("s_aux")
        if sinks is None and self.implementation == "eager":
            sinks = getattr(self.of, "sinks", None)
        return sinks if isinstance(sinks, torch.Tensor) else None

    @property
    def causal(self) -> bool:
        """Whether, without a mask, a query attends to no key after its own place (j <= i), as sdpa has it."""
        if self.implementation != "sdpa" or self.mask is not None or self.query.shape[2] == 1:
            return False
        given = self.options.get("is_causal")
        return bool(getattr(self.of, "is_causal", True) if given is None else given)

    def allowed(self) -> torch.Tensor | None:
        """Where queries may attend to keys, bool [batch or 1, heads or 1, n_q, n_k]; None for everywhere."""
        if self.causal:
            n_q, n_k = self.query.shape[2], self.key.shape[2]
            device = self.query.device
            i, j = torch.arange(n_q, device=device)[:, None], torch.arange(n_k, device=device)[None, :]
            return (j <= i)[None, None]
        if self.mask is None:
            return None
        if self.mask.dtype == torch.bool:
            return self.mask
        # the lowest number with a bias added to it is no longer the lowest
        return self.mask > torch.finfo(self.mask.dtype).min / 2

    def bias(self) -> torch.Tensor | None:
        """What is added to the scores, apart from what forbids: [batch or 1, heads or 1, n_q, n_k], or None."""
        added = self.position_bias
        if self.mask is not None and self.mask.dtype != torch.bool:
            allowed = self.allowed()
            assert allowed is not None
            numbers = torch.where(allowed, self.mask, 0)
            if numbers.any():
                added = numbers if added is None else added + numbers
        return added


Tap = Callable[[Call], Output]


@contextmanager
def attending(model: torch.nn.Module, tap: Tap) -> Iterator[None]:
    """While within, every attention of ``model`` goes through ``tap``, which returns what it is to give.

    ``tap=Call.output`` changes nothing. The model is put into evaluation (no dropout) meanwhile, and everything is as
    before afterwards. Raises CaptureError for an architecture that does not ask the AttentionInterface, by its name,
    for a model that attends by other means than sdpa or eager, and for one that is within already. So does the model
    while it runs, where one attention of it is several calls, whose heads are no heads of the model (DiffLlama).
    """
    check_architecture(model)
    _register()
    modules = list(model.modules())
    seen = _Seen(model, tap)
    configs = _configs(model)
    before = [config._attn_implementation for config in configs]
    hooks = [module.register_forward_pre_hook(seen.note_context, with_kwargs=True) for module in _taking_context(model)]
    training = [module for module in modules if module.training]
    try:
        _SEEN.update(dict.fromkeys(modules, seen))
        model.eval()
        # from the outside in, since a config hands the name on to those inside it
        for config, implementation in zip(configs, before, strict=True):
            config._attn_implementation = f"{PREFIX}{implementation}"
        yield
    finally:
        for config, implementation in zip(configs, before, strict=True):
            config._attn_implementation = implementation
        for module in training:
            module.training = True
        for hook in hooks:
            hook.remove()
        for module in modules:
            _SEEN.pop(module, None)


def check_architecture(model: torch.nn.Module) -> None:
    """Raise CaptureError unless ``model`` is one of transformers' that attends through the AttentionInterface."""
    name = type(model).__name__
    if not isinstance(model, library().PreTrainedModel):
        raise CaptureError(f"{name} is not a model of transformers, and only the attentions of those can be seen")
    if any(module in _SEEN for module in model.modules()):
        raise CaptureError(f"{name} is being run already: wait until that has ended")
    for part in _pretrained(model):
        if (reason := refusal(type(part))) is not None:
            raise CaptureError(reason)
        if part.config._attn_implementation not in KNOWN:
            raise CaptureError(
                f"{type(part).__name__} attends by {part.config._attn_implementation}, which hands over no mask that "
                "could be read: load it with attn_implementation='sdpa' or 'eager'"
            )


def refusal(kind: Any) -> str | None:
    """Why the attentions of models of the class ``kind``, of transformers, cannot be seen; None where they can."""
    if kind._can_set_attn_implementation():
        return None
    return (
        f"{kind.__name__} computes its attention by itself and not through transformers' attention interface, so what "
        "it uses cannot be seen"
    )


class _Seen:
    """What is known of a model while its attentions go through a tap."""

    def __init__(self, model: torch.nn.Module, tap: Tap) -> None:
        self._tap = tap
        self._model = type(model).__name__
        self._last: tuple[torch.nn.Module, torch.Tensor, torch.Tensor] | None = None
        self._names = {module: name for name, module in model.named_modules()}
        self._runs: dict[torch.nn.Module, int] = {}
        self._with_context: set[torch.nn.Module] = set()
        self._order = 0

    def note_context(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before ``module`` runs: whether it is handed another sequence for its keys and values."""
        given = dict(zip(_parameters(type(module).forward), args, strict=False)) | kwargs
        if any(given.get(name) is not None for name in _CONTEXTS):
            self._with_context.add(module)
        else:
            self._with_context.discard(module)

    def attend(self, implementation: str, of: torch.nn.Module, *arrays: Any, **options: Any) -> Output:
        """Stand in for the attention called ``implementation``."""
        query, key, value, mask = arrays
        last, self._last = self._last, (of, query, key)
        if last is not None and last[0] is of and last[1] is query and last[2] is key:
            raise CaptureError(
                f"{self._model} attends several times with the same queries and keys ({self._names[of]}) and combines "
                "what comes of it by itself, as differential attention does: what its heads do cannot be shown"
            )
        run = self._runs.get(of, 0)
        self._runs[of] = run + 1
        cross = of in self._with_context or query.shape[2] != key.shape[2]
        function = _function(of, implementation)
        given = (of, run, self._order, cross, query, key, value, mask, options, implementation, function)
        self._order += 1
        return self._tap(Call(self._names[of], *given))


# models of this moment, by each of their modules
_SEEN: dict[torch.nn.Module, _Seen] = {}


def _register() -> None:
    """Make our names known to transformers: for attentions, and for the masks that these expect."""
    from transformers import AttentionInterface, AttentionMaskInterface

    masks = AttentionMaskInterface()
    for known in KNOWN:
        AttentionInterface.register(PREFIX + known, partial(_attend, known))
        AttentionMaskInterface.register(PREFIX + known, masks[known])


def _attend(
    implementation: str, module: torch.nn.Module, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
) -> Output:
    return _SEEN[module].attend(implementation, module, query, key, value, attention_mask, **options)


def _function(module: torch.nn.Module, implementation: str) -> Callable[..., Output]:
    """The function that ``module`` would have been given, from the file that it is written in."""
    names: dict[str, Any] = {}
    for kind in reversed(type(module).__mro__):
        forward = vars(kind).get("forward")
        if forward is not None:
            names |= inspect.unwrap(forward).__globals__
    if implementation == "eager":
        function: Callable[..., Output] = names["eager_attention_forward"]
        return function
    return names["ALL_ATTENTION_FUNCTIONS"][implementation]


def _pretrained(model: torch.nn.Module) -> list[Any]:
    return [part for part in model.modules() if isinstance(part, library().PreTrainedModel)]


def _configs(model: torch.nn.Module) -> list[Any]:
    """Every config that a part of ``model`` may read, each once, those that hold others first."""
    found: dict[int, Any] = {}

    def take(config: Any) -> None:
        found.setdefault(id(config), config)
        for name in config.sub_configs:
            if (inner := getattr(config, name, None)) is not None:
                take(inner)

    for part in _pretrained(model):
        take(part.config)
    return list(found.values())


def _taking_context(model: torch.nn.Module) -> list[torch.nn.Module]:
    return [module for module in model.modules() if not _CONTEXTS.isdisjoint(_parameters(type(module).forward))]


@cache
def _parameters(forward: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what the method ``forward`` of a module is called with."""
    return tuple(inspect.signature(forward).parameters)[1:]
