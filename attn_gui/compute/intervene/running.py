"""A model run on the texts that it was captured on, once as it is and once with changes in force."""

from __future__ import annotations

import inspect
import json
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import budget
from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.interface import Call, Output, attending
from attn_gui.compute.capture.opening import OpenedModel
from attn_gui.compute.capture.pieces import readable_pieces
from attn_gui.compute.capture.stepping import Report, in_steps
from attn_gui.compute.intervene.changing import changed
from attn_gui.compute.intervene.results import embeddings, guesses
from attn_gui.compute.trace import trace
from attn_gui.model.captured import CapturedModel
from attn_gui.model.errors import TooLarge
from attn_gui.model.given import widened
from attn_gui.model.intervention import Action, Embeddings, Guesses, Outcome, ReplaceBy, Site, Witness

Pooling = Literal["mean", "first"]
# beside a model that was made with sentence-transformers
_POOLING = Path("1_Pooling", "config.json")
# how far the queries of one model may differ from one computer or precision to another
_ALIKE = 0.05


class Intervened:
    """``opened`` and the texts of ``captured``; its output without changes is kept once it is there.

    An encoder's states become one embedding a text as its folder says (:func:`pooling_of`). Raises CaptureError where
    the model has not the tokens that were captured, and TooLarge where two outputs would not fit in memory; a run
    raises CaptureError where its queries are not those of ``witness``.
    """

    def __init__(self, opened: OpenedModel, captured: CapturedModel, witness: Witness | None = None) -> None:
        self.opened = opened
        self._witness = witness
        self.captured = captured
        self._pooling = pooling_of(opened.path)
        # without a language head the parts that make something else of the states are left out
        self._model = opened.model if opened.has_guesses else opened.model.base_model
        device = self._model.device
        self._tokens = ~torch.tensor(captured.pad, dtype=torch.bool, device=device)  # [texts, n]
        self._inputs: dict[str, Any] = {
            "input_ids": torch.tensor(captured.ids, device=device),
            "attention_mask": self._tokens.long(),
        }
        self._targets: torch.Tensor | None = None
        if opened.is_encoder_decoder:
            self._targets = ~torch.tensor(captured.target_pad, dtype=torch.bool, device=device)
            self._inputs["decoder_input_ids"] = torch.tensor(captured.target_ids, device=device)
            self._inputs["decoder_attention_mask"] = self._targets.long()
        if "use_cache" in inspect.signature(self._model.forward).parameters:
            self._inputs["use_cache"] = False
        self._check_ids()
        self._check_memory()
        self._before: torch.Tensor | None = None

    def steps(self, actions: Sequence[Action]) -> Generator[float, None, Outcome]:
        """Run the model with ``actions`` in force; yields the part done. Closing it stops at the next attention.

        Raises CaptureError or ExperimentError for an action that does not fit the model.
        """
        return (yield from in_steps(lambda report: self.outcome(actions, report)))

    def outcome(self, actions: Sequence[Action], report: Report = lambda part: None) -> Outcome:
        """As :meth:`steps`, at once."""
        if self._before is None:
            self._before = self.output((), lambda part: report(0.4 * part))
        after = self.output(actions, lambda part: report(0.4 + 0.4 * part))
        result = self._result(self._before, after, lambda part: report(0.8 + 0.2 * part))
        return Outcome(tuple(actions), result, torch.equal(self._before, after))

    def output(self, actions: Sequence[Action], report: Report = lambda part: None) -> torch.Tensor:
        """With ``actions`` in force the model's logits, or an encoder's last states: [texts, n, vocabulary or d]."""
        sites: dict[Site, list[Action]] = {}
        for action in actions:
            for site in action.sites:
                sites.setdefault(site, []).append(action)
        unmet, calls, plain = set(sites), 0, not sites

        def tap(call: Call) -> Output:
            nonlocal calls
            calls += 1
            report(1 - 0.9**calls)  # how many there will be nobody knows
            output, weights = call.output()
            here = Site(call.module, call.run)
            if plain:
                self._check_witness(call, here)
            if here not in sites:
                return output, weights
            unmet.discard(here)
            return changed(call, output, sites[here], self._tokens_of(call), shown), None

        with torch.inference_mode():
            shown = {action: self._shown(action.change) for action in actions if isinstance(action.change, ReplaceBy)}
            with attending(self.opened.model, tap):
                out = self._model(**self._inputs)
        if unmet:
            site = min(unmet, key=lambda site: (site.module, site.run))
            raise CaptureError(f"{self.opened.architecture} has no attention {site.module} that runs {site.run + 1}×")
        found: torch.Tensor = out.logits if self.opened.has_guesses else out.last_hidden_state
        return found

    def _shown(self, change: ReplaceBy) -> NDArray[Any]:
        """What the experiment in the window gives, [heads, n_q, d_v]; nothing where another thing replaces a head."""
        if change.experiment is None:
            return np.zeros((0, 0, 0))
        return trace(change.experiment, str(self._model.device)).stage("head_output")

    def _tokens_of(self, call: Call) -> torch.Tensor | None:
        """Which of the queries are tokens and not padding: bool [texts, n_q]."""
        decodes = call.cross or getattr(call.of, "is_decoder", False)
        tokens = self._targets if self._targets is not None and decodes else self._tokens
        return tokens if tokens.shape[1] == call.query.shape[2] else None

    def _result(self, before: torch.Tensor, after: torch.Tensor, report: Report) -> Guesses | Embeddings:
        tokens = self._tokens if self._targets is None else self._targets
        if not self.opened.has_guesses:
            return embeddings(before, after, tokens, self._pooling)
        ids = self._inputs["input_ids" if self._targets is None else "decoder_input_ids"]
        return guesses(before, after, ids, tokens, self._name, not self._model.can_generate(), report)

    def _name(self, token: int) -> str:
        return readable_pieces(self.opened.tokenizer, [token])[0]

    def _check_ids(self) -> None:
        count = self._model.get_input_embeddings().num_embeddings
        for ids in (*self.captured.ids, *self.captured.target_ids):
            if unknown := [token for token in ids if not 0 <= token < count]:
                raise CaptureError(
                    f"{self.opened.path.name} knows {count:,} tokens, and the text was captured with token "
                    f"{unknown[0]:,}: it is not the model that was captured"
                )

    def _check_witness(self, call: Call, here: Site) -> None:
        if self._witness is None or self._witness.site != here:
            return
        Q, found = widened(self._witness.Q), call.query[self._witness.text].float().cpu().numpy()
        if Q.shape != found.shape or not np.allclose(Q, found, rtol=_ALIKE, atol=_ALIKE * float(np.abs(Q).max())):
            raise CaptureError(
                f"{self.opened.path} is another {self.opened.architecture} than the one that was captured: its queries "
                f"in {here.module} are not those that the session holds"
            )

    def _check_memory(self) -> None:
        if not self.opened.has_guesses:
            return
        tokens = self._tokens if self._targets is None else self._targets
        need = 2 * tokens.numel() * self._model.get_input_embeddings().num_embeddings * self._model.dtype.itemsize
        have = budget.available(self._model.device)
        if need > have:
            raise TooLarge("Keeping what the model says at every token, twice,", need, have)


def pooling_of(path: Path) -> Pooling:
    """What the model's folder says for sentence embeddings: its first token, or (also without a word) the mean."""
    with suppress(OSError, ValueError):
        said = json.loads((path / _POOLING).read_text(encoding="utf-8"))
        if isinstance(said, dict) and said.get("pooling_mode_cls_token") is True:
            return "first"
    return "mean"
