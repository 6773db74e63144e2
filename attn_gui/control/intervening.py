"""Intervening: the changes that are tried in the model of a captured session, and what came out with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.modelling import Modelling, is_expected, lacking, said
from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.files import intervention_json
from attn_gui.files.regular import is_there
from attn_gui.model.captured import CapturedModel
from attn_gui.model.intervention import Action, Forbid, Outcome, ReplaceBy, Witness, experiment_at, witness_of
from attn_gui.model.session import Session

if TYPE_CHECKING:
    from attn_gui.compute.capture.opening import OpenedModel
    from attn_gui.compute.intervene.running import Intervened

RUN = "intervene"


class Intervening(QObject):
    """Runs the model again whenever the changes are others, as long as somebody looks (:meth:`look`).

    ``changed``: the changes are others, or another model is captured. ``answered(Outcome)`` or ``failed(text)`` ends a
    run; ``running_changed`` and ``progressed`` tell of it. What is taken out of the window (ReplaceBy "shown") follows
    what the window shows. A session keeps the changes among its view choices.
    """

    changed = Signal()
    answered = Signal(object)
    failed = Signal(str)
    running_changed = Signal(bool)
    progressed = Signal(float)

    def __init__(self, worker: Worker, document: Document, modelling: Modelling, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._document = document
        self._modelling = modelling
        self.actions: tuple[Action, ...] = ()
        self.outcome: Outcome | None = None
        self._looking = False
        self._runner: Intervened | None = None
        document.changed.connect(self._on_document)
        modelling.opened.connect(lambda model: self._begin_anew())

    @property
    def running(self) -> bool:
        """Whether the model is being run."""
        return self._worker.running(RUN)

    def reason(self) -> str:
        """Why nothing can be tried, in words; "" where it can."""
        captured = self._document.session.model
        if captured is None:
            return "There is no model here: File > Open model… captures one on a text."
        if (missing := lacking()) and self._runner is None:
            return f"Running the model {missing}"
        if self._modelling.model_for(captured) is None and not is_there(Path(captured.path or "-")):
            source = f" from {captured.path}" if captured.path else ""
            return f"{captured.architecture}{source} is not at hand: open it with File > Open model…"
        return ""

    def add(self, action: Action) -> None:
        """Have one change more, in place of one that says otherwise at the same place."""
        kept = [each for each in self.actions if not _is_overruled(each, action)]
        self._set((*kept, action))

    def remove(self, index: int) -> None:
        """Take the change at ``index`` out."""
        self._set((*self.actions[:index], *self.actions[index + 1 :]))

    def clear(self) -> None:
        """Have no change any more."""
        self._set(())

    def look(self, looking: bool) -> None:
        """Have outcomes from now on, or no more."""
        self._looking = looking
        if not looking:
            self.cancel()
        elif self.outcome is None and not self.running:
            self._run()

    def cancel(self) -> None:
        """Give up the run; the changes stay."""
        if self.running:
            self._worker.cancel(RUN)
            self.running_changed.emit(False)

    def _set(self, actions: tuple[Action, ...]) -> None:
        self.actions = actions
        self._document.keep_view(**{intervention_json.KEY: intervention_json.to_plain(actions)})
        self._begin_run()

    def _begin_run(self) -> None:
        self.outcome = None
        self.changed.emit()
        self._run()

    def _run(self) -> None:
        captured = self._document.session.model
        self.cancel()
        if captured is None or not self._looking or self.reason():
            return
        actions, runner, model = self.actions, self._runner, self._modelling.model_for(captured)
        witness = witness_of(self._document.session)
        self._worker.submit(
            RUN,
            lambda: _ran(runner, model, captured, witness, actions),
            Priority.REFINE,
            self._on_outcome,
            self._on_failure,
            self.progressed.emit,
        )
        self.running_changed.emit(True)

    def _on_document(self, before: Session, after: Session) -> None:
        if after.model is not before.model:
            self.actions = intervention_json.from_session(after)
            self._begin_anew()
            return
        followed = tuple(_following(action, after) for action in self.actions)
        if any(now is not was for now, was in zip(followed, self.actions, strict=True)):
            self._set(followed)

    def _begin_anew(self) -> None:
        self._runner = None
        self._begin_run()

    def _on_outcome(self, ended: tuple[Intervened, Outcome]) -> None:
        self._runner, self.outcome = ended
        self.running_changed.emit(False)
        self.answered.emit(self.outcome)

    def _on_failure(self, error: BaseException) -> None:
        self.running_changed.emit(False)
        self.failed.emit(said(error))
        if not is_expected(error):
            raise error


def _is_overruled(earlier: Action, later: Action) -> bool:
    """Whether ``later`` says otherwise of the same heads: one mask, one temperature, one replacement at a time."""
    same_place = (earlier.sites, earlier.heads, earlier.text) == (later.sites, later.heads, later.text)
    alike = type(earlier.change) is type(later.change) and not isinstance(later.change, Forbid)
    return same_place and (alike or earlier.change == later.change)


def _following(action: Action, session: Session) -> Action:
    """``action`` with what the window now shows at its place, itself where that is the same."""
    change = action.change
    if not isinstance(change, ReplaceBy) or change.experiment is None:
        return action
    index = experiment_at(session, action.sites[0], action.text or 0)
    if index is None or session.experiments[index].experiment is change.experiment:
        return action
    return replace(action, change=replace(change, experiment=session.experiments[index].experiment))


def _ran(
    runner: Intervened | None,
    model: OpenedModel | None,
    captured: CapturedModel,
    witness: Witness | None,
    actions: tuple[Action, ...],
) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.capture.opening import open_steps
    from attn_gui.compute.intervene.running import Intervened

    if runner is None:
        if model is None:
            model = yield from open_steps(captured.path)
        runner = Intervened(model, captured, witness)
    outcome: Any = yield from runner.steps(actions)
    return runner, outcome
