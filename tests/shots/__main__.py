"""Screenshots of the main states, into resources/screenshots (or the folder given): ``dev.py shots [FOLDER]``.

Each scene is a function that brings a fresh window into a state. Scenes at another scale run in a process of their own,
as Qt takes its scale from the environment once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QAction, QImage, QPainter
from PySide6.QtWidgets import QApplication, QWidget
from safetensors.numpy import save_file

from attn_gui.app import open_window
from attn_gui.compute.trace import trace
from attn_gui.files import examples
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.edits import set_column
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Padding, SlidingWindow, Term
from attn_gui.model.masks.global_window import GlobalWindow
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.starting import started
from attn_gui.views.drawers.heads_drawer import TABLE
from attn_gui.views.main_window import MainWindow
from attn_gui.views.mask_choice import MaskChoice
from tests.shots import layers, learning, models, tensors
from tests.shots.eyes import EYES, seen_with

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "resources" / "screenshots"


@dataclass(frozen=True)
class Scene:
    """A state to be photographed: the example it starts on, and what is done in it."""

    name: str
    example: str = "karina"
    theme: str = "light"
    size: tuple[int, int] = (1280, 800)
    act: Callable[[MainWindow], QWidget | None] = lambda window: None
    scale: int = 1


def _selected(query: int, key: int, head: int | str = 0) -> Callable[[MainWindow], None]:
    def act(window: MainWindow) -> None:
        window.context.selection.set_head(head)
        window.context.selection.set_cell(query, key)

    return act


def _causal(window: MainWindow) -> None:
    document = window.context.document
    document.apply("Causal", replace(document.experiment, rule=Causal()))


def _painted(window: MainWindow) -> None:
    document = window.context.document
    e = document.experiment
    document.apply("Paint", replace(e, painted=e.painted.with_cells([(1, j) for j in range(5)] + [(3, 2)], False)))
    window.context.selection.set_painting(True)


def _padding(window: MainWindow) -> None:
    document = window.context.document
    e = set_column(document.experiment, "tokens", "pad", [3, 4], True)
    document.apply("Padding", replace(e, rule=Padding()))


def _drawer(index: int) -> Callable[[MainWindow], None]:
    def act(window: MainWindow) -> None:
        window.docks[index].toggleViewAction().trigger()

    return act


def _many(window: MainWindow) -> None:
    random = np.random.RandomState(0)
    walk = np.cumsum(random.standard_normal((400, 16)), axis=0)
    X = 2 * walk / np.linalg.norm(walk, axis=1, keepdims=True)
    e = Experiment.from_tokens([f"t{i + 1}" for i in range(400)], X, rule=Causal())
    window.context.document.apply_named("400 tokens", NamedExperiment("400 tokens", e))


def _long(window: MainWindow) -> None:
    window.open_long_example(8192)
    settle(window)
    window.context.selection.set_head(2)


def _long_near(window: MainWindow) -> None:
    _long(window)
    settle(window)
    plot = window.formula.scores.heatmap.plot
    window.formula.scores.heatmap.pointer.zoom(12, QPointF(plot.area.center()))
    window.find_bar.open()
    window.find_bar.field.setText("babadi")
    window.find_bar.step(1)


def _scored(window: MainWindow) -> None:
    document = window.context.document
    e = document.experiment
    scoring = Scoring(
        temperature=0.5,
        biases=(ALiBi(), started(RelativeBuckets, e)),
        rotary=Frequencies(scaling="yarn"),
        qk_norm=RMSNorm(),
        normaliser=Sparsemax(),
        sinks=(0.0, 0.5, -1.0),
    )
    document.apply("Scoring", replace(e, scoring=scoring))
    window.docks[3].toggleViewAction().trigger()
    window.resizeDocks([window.docks[3]], [400], Qt.Orientation.Vertical)


def _combined(window: MainWindow) -> QWidget:
    document = window.context.document
    rule = Combined((Term(SlidingWindow(2)), Term(GlobalWindow(1, 1), "or"), Term(Causal(), "and", heads=(0, 1))))
    document.apply("Rules", replace(document.experiment, rule=rule))
    window.findChildren(MaskChoice)[0].open_panel()
    return _popup()


def _statistics(window: MainWindow) -> None:
    window.context.document.keep_view(heads_stage=TABLE)
    window.docks[2].toggleViewAction().trigger()


def _weights(window: MainWindow) -> QWidget | None:
    random = np.random.RandomState(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "attention.safetensors")
        shapes = {
            "in_proj_weight": (48, 16),
            "in_proj_bias": (48,),
            "out_proj.weight": (16, 16),
            "out_proj.bias": (16,),
        }
        save_file({name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}, path)
        window.files.show_weights(path)
        settle(window)
    return window.files.weights


def _diagnosed(window: MainWindow) -> QWidget | None:
    unscaled = replace(window.context.document.experiment, scoring=Scoring(scale=1.0))
    rows = trace(unscaled).stage("N", 0).astype(float).round(6)
    next(action for action in window.findChildren(QAction) if "convention" in action.text()).trigger()
    dialog = window.menus.diagnosis
    if dialog is not None:
        dialog.given.pages["weights"].editor.setPlainText("\n".join("\t".join(map(str, row)) for row in rows))
        while not dialog.start.isEnabled():
            settle(window)  # the numbers are read a moment after they are typed
        dialog.start.click()
        settle(window)
    return dialog


def _popup() -> QWidget:
    popup = QApplication.activePopupWidget()
    assert popup is not None
    return popup


def _export(window: MainWindow) -> QWidget | None:
    window.files.export.trigger()
    dialog = window.files.dialog
    if dialog is not None:
        dialog.path.setText(str(Path("lesson", "N.csv")))  # not a path of the machine that takes the picture
    return dialog


SCENES = [
    Scene("main-light"),
    Scene("main-dark", theme="dark"),
    Scene("main-contrast", theme="contrast"),
    Scene("main-1280x720", size=(1280, 720)),
    Scene("main-4k", size=(1920, 1080), scale=2),
    Scene("main-2x", scale=2),
    Scene("animal-light", "animal", act=_selected(7, 1)),
    Scene("animal-dark", "animal", theme="dark", size=(1280, 720), act=_selected(7, 1, 1)),
    Scene("cat-mean", "cat", act=_selected(5, 1, "mean")),
    Scene("translation", "translation", act=_selected(1, 2)),
    Scene("causal", act=_causal),
    Scene("painted", act=_painted),
    Scene("padding-dark", theme="dark", act=_padding),
    Scene("random-512", "random_5x512"),
    Scene("400-tokens", act=_many),
    Scene("400-tokens-dark", theme="dark", act=_many),
    Scene("long", act=_long),
    Scene("long-near-dark", theme="dark", act=_long_near),
    Scene("weights-drawer", "animal", size=(1280, 720), act=_drawer(0)),
    Scene("stages-drawer", "animal", size=(1280, 900), act=_drawer(1)),
    Scene("heads-drawer", "random_5x512", size=(1280, 900), act=_drawer(2)),
    Scene("weights-drawer-dark", "karina", theme="dark", size=(1280, 720), act=_drawer(0)),
    Scene("export-dialog", act=_export),
    Scene("scoring-drawer", "animal", size=(1280, 900), act=_scored),
    Scene("scoring-drawer-dark", "animal", theme="dark", size=(1280, 900), act=_scored),
    Scene("combined-masks", "animal", act=_combined),
    Scene("combined-masks-contrast", "animal", theme="contrast", act=_combined),
    Scene("statistics-dark", "animal", theme="dark", act=_statistics),
    Scene("weights-dialog", act=_weights),
    Scene("tensors-dialog", size=(1280, 720), act=lambda window: tensors.offered(window, settle, 0)),
    Scene("tensors-names-dark", theme="dark", size=(1280, 720), act=lambda w: tensors.offered(w, settle, 1)),
    Scene("tensors-mask", size=(1280, 720), act=lambda window: tensors.offered(window, settle, 2)),
    Scene("tensors-mask-contrast", theme="contrast", size=(1280, 720), act=lambda w: tensors.offered(w, settle, 2)),
    Scene("diagnose-dialog", act=_diagnosed),
    Scene("diagnose-dialog-dark", theme="dark", act=_diagnosed),
    Scene("why", "animal", size=(1280, 900), act=learning.explained),
    Scene("why-dark", theme="dark", size=(1280, 720), act=learning.explained),
    Scene("compare", size=(1280, 900), act=lambda window: learning.compared(window, settle)),
    Scene("flow", "animal", size=(1280, 900), act=learning.flowing),
    Scene("flow-dark", "animal", theme="dark", size=(1280, 720), act=learning.flowing),
    Scene("layers", size=(1280, 900), act=lambda window: layers.overview(window, settle, "layer")),
    Scene("layers-ranked-dark", theme="dark", size=(1280, 720), act=lambda w: layers.overview(w, settle, "largest")),
    Scene("layers-table", size=(1280, 720), act=lambda window: layers.overview(window, settle, "layer", "table")),
    Scene("model-dialog", size=(1280, 720), act=lambda window: models.offered(window, settle)),
    Scene("model-dialog-dark", theme="dark", size=(1280, 720), act=lambda w: models.offered(w, settle)),
    Scene("intervene", size=(1280, 900), act=lambda window: models.intervened(window, settle)),
    Scene("intervene-dark", theme="dark", size=(1280, 720), act=lambda w: models.intervened(w, settle)),
    Scene("check", size=(1280, 900), act=lambda window: learning.checked(window, settle)),
    Scene("walk", "animal", size=(1280, 720), act=learning.walked),
    Scene("walk-contrast", theme="contrast", size=(1280, 720), act=learning.walked),
    Scene("tour", size=(1280, 720), act=learning.toured(0, 2)),
    Scene("tour-scale-dark", theme="dark", size=(1280, 720), act=learning.toured(4, 3)),
    Scene("exercise", size=(1280, 720), act=lambda window: learning.exercised(window, settle)),
    Scene("help", act=learning.helped("attention.md")),
    Scene("help-dark", theme="dark", act=learning.helped("attention.md")),
    Scene("keys", act=learning.listed),
]


def settle(window: MainWindow) -> None:
    """Until what is shown is what the document holds, and painted."""
    deadline = time.monotonic() + 60
    feed, document = window.context.feed, window.context.document
    quiet = 0
    while quiet < 8:
        QApplication.processEvents()
        time.sleep(0.02)
        shown = feed.trace is not None and feed.trace.experiment is document.experiment
        quiet = quiet + 1 if shown and not window.context.worker.busy else 0
        if time.monotonic() > deadline:
            raise TimeoutError("the window did not come to rest")


def photograph(scene: Scene, folder: Path) -> Path:
    """One scene, in a window and a profile of its own."""
    with tempfile.TemporaryDirectory() as profile:
        window = open_window(Session((examples.load(scene.example),)), Path(profile))
        window.context.settings.theme = scene.theme
        window.context.settings.reduced_motion = True
        window.context.settings.first_tour = False  # what greets a newcomer once
        window.resize(*scene.size)
        window.show()
        settle(window)
        dialog = scene.act(window)
        settle(window)
        image = window.grab().toImage()
        if dialog is not None:
            _lay_over(image, dialog)
            dialog.close()
        path = folder / f"{scene.name}.png"
        image.save(str(path))
        window.context.document.open(window.context.document.session, None)
        window.close()
        window.context.worker.close()
        window.deleteLater()
        QApplication.processEvents()
    return path


def _lay_over(image: QImage, dialog: QWidget) -> None:
    picture = dialog.grab()
    painter = QPainter(image)
    ratio = image.devicePixelRatio()
    x = int(image.width() / ratio - picture.width() / picture.devicePixelRatio()) // 2
    y = int(image.height() / ratio - picture.height() / picture.devicePixelRatio()) // 2
    painter.drawPixmap(x, y, picture)
    painter.drawRect(QRect(x, y, dialog.width(), dialog.height()))
    painter.end()


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else DEFAULT_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    scale = int(os.environ.get("QT_SCALE_FACTOR", "1"))
    wanted = arguments[1:]
    application = QApplication.instance() or QApplication(["attn-gui"])
    application.setStyle("Fusion")  # type: ignore[union-attr]
    for scene in SCENES:
        if scene.scale == scale and (not wanted or scene.name in wanted):
            print(photograph(scene, folder), flush=True)
    if scale != 1:
        return 0
    if not wanted or "main-light" in wanted:
        for eye in EYES:
            seen_with(eye, folder / "main-light.png", folder / f"main-light-{eye}.png")
    for other in sorted({s.scale for s in SCENES if not wanted or s.name in wanted} - {1}):
        command = [sys.executable, "-m", "tests.shots", str(folder), *wanted]
        subprocess.run(command, env=os.environ | {"QT_SCALE_FACTOR": str(other)}, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
