"""Unsaved work outlives the program's sudden end, and only that."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from attn_gui.control import recovery as recovery_module
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.recovery import Left, Recovery
from attn_gui.control.worker import Priority, Worker
from attn_gui.files import session as session_file
from attn_gui.files.errors import FileError
from attn_gui.model.edits import rename_tokens
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

# an instance of its own: edits, tells when its work is on disk, and goes on until it is killed or told to quit
INSTANCE = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.recovery import Recovery
from attn_gui.control.worker import Worker
from attn_gui.model.edits import rename_tokens
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

profile, name, token = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
application = QCoreApplication(["attn-gui"])
worker = Worker()
e = Experiment.from_tokens(["karina", "is"], [[1.0, 0.0], [0.0, 1.0]])
document = Document(Session((NamedExperiment(name, e),)), Feed(worker))
recovery = Recovery(worker, document, profile)
document.apply("Rename", rename_tokens(e, "tokens", [0], [token]))

def tell():
    if list(profile.glob("recovery/*/unsaved.attn")):
        print("kept", flush=True)
        polling.stop()

polling = QTimer()
polling.timeout.connect(tell)
polling.start(20)

def follow():
    if sys.stdin.readline():
        application.postEvent  # the loop below is asked from this thread by a queued call
        QTimer.singleShot(0, application, application.quit)

import threading
threading.Thread(target=follow, daemon=True).start()
application.exec()
recovery.close()
worker.close()
"""
