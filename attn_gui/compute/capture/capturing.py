"""A forward pass over texts, and every attention of it as an experiment."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from attn_gui.compute import budget
from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.following import check_follows
from attn_gui.compute.capture.inputs import Inputs, inputs_of
from attn_gui.compute.capture.interface import Call, Output, attending, check_architecture
from attn_gui.compute.capture.layers import Layers
from attn_gui.compute.capture.naming import Names, Stack
from attn_gui.compute.capture.reasons import why_not_run
from attn_gui.compute.capture.stepping import Report, in_steps
from attn_gui.model.captured import CapturedModel
from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

Texts = str | Sequence[str]


def capture(
    model: Any,
    tokenizer: Any,
    text: Texts,
    *,
    target: Texts | None = None,
    report: Callable[[float], None] = lambda part: None,
) -> Session:
    """Every attention of ``model`` while it reads ``text``, one or a batch of texts, exactly as it was used.

    One experiment for each text and layer, in the order of the pass: Q and K after position and norm, V, the mask as
    a rule where it is one, scale, softcap, bias and sinks, in the model's own precision; what it is compared with is
    itself. ``target``: what the decoder of an encoder-decoder reads; without one it reads the text itself, one place
    to the right. ``report`` is told the part done, 0 to 1, after each attention, and may raise to stop.

    Raises CaptureError for a model that does not attend through transformers' attention interface, for an attention
    whose output does not follow from what was captured, and for texts that the model cannot read; TooLarge where what
    is captured would not fit in memory.
    """
    check_architecture(model)
    name = getattr(model, "name_or_path", "")
    with suppress(OSError):  # the name of a model on a hub is no path
        name = str(Path(name).absolute()) if name and Path(name).exists() else name
    return _captured(model, inputs_of(model, tokenizer, text, target), name, report)


def capture_steps(
    model: Any, tokenizer: Any, text: Texts, *, target: Texts | None = None
) -> Generator[float, None, Session]:
    """As :func:`capture`, in short steps: yields the part done, 0 to 1.

    Closing it stops at the next layer and leaves the model as it was.
    """
    return in_steps(lambda report: capture(model, tokenizer, text, target=target, report=report))


def _captured(model: Any, inputs: Inputs, path: str, report: Report) -> Session:
    taking, name = _Taking(inputs, report), type(model).__name__
    try:
        with torch.inference_mode(), attending(model, taking.take):
            model(**inputs.arguments)
    except (CaptureError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # whatever a model raises
        raise CaptureError(why_not_run(name, error)) from error
    if not taking.taken:
        raise CaptureError(f"{name} did not attend to anything through transformers' attention interface")
    if inputs.target is not None and all(each.stack != "encoder" for each in taking.taken):
        raise CaptureError(f"The encoder of {name} computes its attention by itself, so what it uses cannot be seen")
    names = Names([(each.stack, each.call_module) for each in taking.taken])
    batch = len(inputs.source.texts)
    experiments = [
        NamedExperiment(
            names.name(order) + (f" · text {b + 1}" if batch > 1 else ""),
            each.experiments[b],
            place=names.place(order, b if batch > 1 else None),
            original=each.experiments[b],
        )
        for b in range(batch)
        for order, each in enumerate(taking.taken)
    ]
    return Session(tuple(experiments), model=_model(model, inputs, path))


@dataclass(frozen=True, eq=False)
class _Taken:
    stack: Stack
    call_module: str
    experiments: list[Experiment]


@dataclass(eq=False)
class _Taking:
    """The tap that keeps every attention."""

    inputs: Inputs
    report: Report
    layers: Layers = field(default_factory=Layers)
    taken: list[_Taken] = field(default_factory=list)

    def take(self, call: Call) -> Output:
        """Keep ``call`` and let the model have what it would have had."""
        if not self.taken:
            self._check_memory(call)
        output = call.output()
        check_follows(call, output[0])
        stack = self.inputs.stack(call.module, call.cross)
        queries, keys = self.inputs.tokens(stack)
        self.taken.append(_Taken(stack, call.module, self.layers.of(call, queries, keys)))
        self.report(min(1.0, len(self.taken) / self.inputs.expected))
        return output

    def _check_memory(self, call: Call) -> None:
        arrays = (call.query, call.key, call.value)
        need = self.inputs.expected * sum(array.numel() * array.element_size() for array in arrays)
        have = budget.available(torch.device("cpu"))
        if need > have:
            raise TooLarge("Keeping Q, K and V of all layers", need, have)


def _model(model: Any, inputs: Inputs, path: str) -> CapturedModel:
    source, target = inputs.source, inputs.target
    given = {
        "ids": source.ids,
        "special": [sequence.column("special").tolist() for sequence in source.sequences],
        "pad": [sequence.pad.tolist() for sequence in source.sequences],
    }
    if target is not None:
        given |= {
            "target_ids": target.ids,
            "target_special": [sequence.column("special").tolist() for sequence in target.sequences],
            "target_pad": [sequence.pad.tolist() for sequence in target.sequences],
        }
    rows = {name: tuple(tuple(row) for row in torch.as_tensor(values).tolist()) for name, values in given.items()}
    return CapturedModel(
        path=path,
        architecture=type(model).__name__,
        implementation=model.config._attn_implementation,
        texts=source.texts,
        targets=() if target is None else target.texts,
        **rows,
    )
