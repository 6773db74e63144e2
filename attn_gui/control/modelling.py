"""Modelling: opening a model of this computer and capturing it on texts, in the worker."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.jobs import Jobs
from attn_gui.control.worker import Priority, Steps, Worker, at_once
from attn_gui.files.regular import is_there
from attn_gui.model.captured import CapturedModel
from attn_gui.model.errors import ExperimentError
from attn_gui.model.session import Session

if TYPE_CHECKING:
    from attn_gui.compute.capture.opening import OpenedModel

OPEN, TOKENS, CAPTURE = "open model", "tokens of texts", "capture"
NEEDED = "transformers"
HOW_TO_GET_IT = "pip install 'attn_gui[models]'"
EDITED = "Nothing was captured, since you went on editing. Capture again to leave what is in the window."


class Modelling(Jobs):
    """One model at a time; it stays open for as long as the program does, or until another is.

    ``opened`` or ``not_opened`` answers :meth:`open`; ``tokens_told`` or ``not_told`` :meth:`tell_tokens`;
    ``captured`` or ``not_captured`` :meth:`capture`, and the document is another only with ``captured``.
    ``working_changed`` tells whether one opens or captures, ``progressed`` how far.
    """

    opened = Signal(object)
    not_opened = Signal(str)
    tokens_told = Signal(object)
    not_told = Signal(str)
    captured = Signal(object)
    not_captured = Signal(str)

    def __init__(self, worker: Worker, document: Document, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self._document = document
        self.model: OpenedModel | None = None

    @property
    def working(self) -> bool:
        """Whether a model is being opened or captured."""
        return self._worker.running(OPEN) or self._worker.running(CAPTURE)

    def model_for(self, captured: CapturedModel) -> OpenedModel | None:
        """The model that is open, if it is the one that was ``captured``."""
        model = self.model
        if model is None or model.architecture != captured.architecture:
            return None
        elsewhere = bool(captured.path) and is_there(Path(captured.path)) and str(model.path) != captured.path
        return None if elsewhere else model

    def open(self, path: Path) -> None:
        """Open the model in the folder or file ``path``."""
        self.cancel()

        def on_opened(model: OpenedModel) -> None:
            self.model = model
            self.opened.emit(model)

        self._submit(OPEN, lambda: _opened(path.absolute()), on_opened, self.not_opened.emit)

    def tell_tokens(self, texts: Sequence[str]) -> None:
        """Say which tokens the open model makes of ``texts``, as names, text by text."""
        model, given = self._present(), tuple(texts)
        self._worker.submit(
            TOKENS,
            at_once(lambda: _tokens(model, given)),
            Priority.ASK,
            self.tokens_told.emit,
            lambda error: self._fail(error, self.not_told.emit),
        )

    def capture(self, texts: Sequence[str], targets: Sequence[str] = ()) -> None:
        """Run the open model on ``texts`` and put every attention of it in place of the document.

        targets: what the decoder of an encoder-decoder is to read, a text each; none for the texts themselves.
        """
        self.cancel()
        model, before = self._present(), self._document.session
        given, wanted = tuple(texts), tuple(targets) or None

        def on_captured(session: Session) -> None:
            if not self._document.session.same_work(before):
                self.not_captured.emit(EDITED)
                return
            # it can be captured again, but nobody wants to find the text lost
            self._document.open(session, None, clean=False)
            self.captured.emit(session)

        self._submit(CAPTURE, lambda: _captured(model, given, wanted), on_captured, self.not_captured.emit)

    def cancel(self) -> None:
        """Give up what is being opened or captured."""
        working = self.working
        for key in (OPEN, CAPTURE):
            self._worker.cancel(key)
        if working:
            self.working_changed.emit(False)

    def _present(self) -> OpenedModel:
        assert self.model is not None, "a model is opened before it is used"
        return self.model

    def _fail(self, error: BaseException, tell: Callable[[str], None]) -> None:
        tell(said(error))
        if not is_expected(error):
            raise error


def lacking() -> str:
    """What opening a model lacks, in words, and how to get it; "" where nothing does."""
    if importlib.util.find_spec(NEEDED) is not None:
        return ""
    return f"needs the package {NEEDED}: {HOW_TO_GET_IT}"


def described(model: OpenedModel) -> str:
    """What a model is: its class, its layers and heads, as far as its config says, and what of it was left out."""
    config = model.model.config.get_text_config()
    counts = [
        (getattr(config, "num_hidden_layers", None), "layer"),
        (getattr(config, "num_attention_heads", None), "head"),
    ]
    told = [f"{count} {what}{'s' if count != 1 else ''}" for count, what in counts if isinstance(count, int)]
    plain = f"{model.architecture}: {' × '.join(told)}" if told else model.architecture
    return f"{plain}. {model.left_out}" if model.left_out else plain


def is_expected(error: BaseException) -> bool:
    """Whether the error is about the model, the texts or this computer, and not a fault of the program."""
    return isinstance(error, ExperimentError | MemoryError | OSError) or _kind(error) in ("CaptureError", "OutOfMemory")


def said(error: BaseException) -> str:
    """What went wrong, as a sentence."""
    if isinstance(error, MemoryError) or _kind(error) == "OutOfMemory":
        return str(error) or "It takes more memory than there is"
    if is_expected(error):
        return f"{str(error)[:1].upper()}{str(error)[1:]}"
    return "Something unexpected went wrong"


def _kind(error: BaseException) -> str:
    """The class of an error of torch or of compute, which cannot be imported before there is need of torch."""
    name = type(error).__name__
    return "OutOfMemory" if "OutOfMemory" in name else name


def _opened(path: Path) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.capture.opening import open_steps

    return (yield from open_steps(path))


def _tokens(model: OpenedModel, texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    from attn_gui.compute.capture.inputs import inputs_of

    source = inputs_of(model.model, model.tokenizer, texts, None).source
    kept = zip(source.sequences, source.attended.tolist(), strict=True)
    return tuple(
        tuple(token for token, attended in zip(sequence.tokens, row, strict=True) if attended) for sequence, row in kept
    )


def _captured(model: OpenedModel, texts: tuple[str, ...], targets: tuple[str, ...] | None) -> Steps:
    from attn_gui.compute.capture.capturing import capture_steps

    return (yield from capture_steps(model.model, model.tokenizer, texts, target=targets))
