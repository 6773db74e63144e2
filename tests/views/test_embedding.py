"""File, Embed the tensors: offered where there is anything to embed, one undo step, and said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Notice
from attn_gui.model.experiment import Experiment
from attn_gui.model.origin import Origin
from attn_gui.model.session import NamedExperiment, Session
from tests.views.window_helpers import karina_window, settle


def test_embedding_from_the_menu(qtbot: QtBot, tmp_path: Path) -> None:
    N = np.full((2, 30, 30), 1 / 30, np.float32)
    origin = Origin(str(tmp_path / "attn.npy"), "sha256:0", {}, {"N": "np.load('attn.npy')"})
    named = NamedExperiment("given", Experiment.from_weights(N), origin=origin)
    with karina_window(qtbot, tmp_path) as window:
        document, embed = window.context.document, window.files.embed
        told: list[Notice] = []
        window.context.notices.said.connect(told.append)
        assert not embed.isEnabled()
        document.open(Session((named,)), None)
        settle(qtbot, window)
        assert embed.isEnabled()
        trace = window.context.feed.trace
        embed.trigger()
        settle(qtbot, window)
        assert document.session.named.origin is None
        assert document.experiment is named.experiment
        assert window.context.feed.trace is trace, "nothing has to be computed anew"
        assert "7.2 kB" in told[-1].text
        assert not embed.isEnabled() and document.modified
        document.undo_stack.undo()
        assert document.session.named.origin == origin
        assert embed.isEnabled()
