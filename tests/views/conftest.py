"""A Context on the Karina example, as the program makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.notices import Notices
from attn_gui.control.selection import Selection
from attn_gui.control.settings import Settings
from attn_gui.control.worker import Worker
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.bands import Bands
from attn_gui.views.context import Context
from attn_gui.views.look import Look

KARINA = ("karina", "is", "to", "the", "store"), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]]


@pytest.fixture
def context(qtbot: QtBot, tmp_path: Path) -> Iterator[Context]:
    worker = Worker()
    feed = Feed(worker)
    document = Document(Session((NamedExperiment("Karina", Experiment.from_tokens(*KARINA)),)), feed)
    settings = Settings(tmp_path)
    made = Context(worker, feed, document, Selection(), settings, Notices(), Look(settings), Bands())
    made.look.refresh()
    yield made
    worker.close()


@pytest.fixture
def wait_traced(context: Context, qtbot: QtBot) -> Callable[[], None]:
    """Waits until the document's present experiment is what the feed's trace shows and every ask is answered."""

    def wait() -> None:
        def shown() -> bool:
            trace = context.feed.trace
            current = trace is not None and trace.experiment is context.document.experiment
            return current and not context.worker.busy

        qtbot.waitUntil(shown, timeout=30_000)

    return wait
