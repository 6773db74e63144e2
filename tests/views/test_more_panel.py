"""The panel behind "More": each change one undo step, what is refused told in its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.compute import devices as compute_devices
from attn_gui.compute.devices import Device
from attn_gui.control.device_list import DeviceEntry
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.views.context import Context
from attn_gui.views.more_button import MoreButton
from attn_gui.views.more_panel import MorePanel
from attn_gui.views.number_field import NumberField
from tests.views.drawer_helpers import given, open_experiment

MPS_REASON = "MPS has no float64: choose float32 or the CPU"


@pytest.fixture
def panel(context: Context, qtbot: QtBot) -> Iterator[MorePanel]:
    window = QWidget()
    made = MoreButton(context)
    row = QHBoxLayout(window)
    row.addStretch(1)
    row.addWidget(made)
    window.resize(900, 60)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    yield made.panel
    window.close()


@pytest.fixture
def listed(panel: MorePanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> MorePanel:
    """The panel open, on a machine with an Apple GPU and no driver for CUDA."""
    found = [Device("cpu", "CPU"), Device("cuda", "CUDA", "no NVIDIA driver"), Device("mps", "Apple GPU (MPS)")]
    monkeypatch.setattr(compute_devices, "devices", lambda: found)
    with qtbot.waitSignal(panel.devices.listed, timeout=30_000):
        panel.open()
    return panel


def scoring(context: Context) -> Scoring:
    return context.document.experiment.scoring


def enter(qtbot: QtBot, field: NumberField, text: str) -> None:
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def test_the_scale_is_shown_with_its_value_and_changes_by_steps_that_undo(
    panel: MorePanel, context: Context, qtbot: QtBot
) -> None:
    panel.open()
    assert panel.scale_kind.value == "default"
    assert panel.scale.text() == "0.707107"
    assert panel.scale.toolTip() == "0.7071067811865475"
    assert not panel.scale.isEnabled()
    panel.scale_kind.button("one").click()
    assert scoring(context).scale == 1.0
    panel.scale_kind.button("custom").click()
    assert context.document.undo_stack.count() == 1
    enter(qtbot, panel.scale, "0,125")
    assert scoring(context).scale == 0.125
    assert panel.scale_kind.value == "custom"
    enter(qtbot, panel.scale, "0")
    assert scoring(context).scale == 0.0
    assert context.document.undo_stack.count() == 3
    for kind in ("custom", "one", "default"):
        context.document.undo_stack.undo()
        assert panel.scale_kind.value == kind
    assert scoring(context) == Scoring()


def test_a_typed_scale_of_one_is_the_choice_one(panel: MorePanel, context: Context, qtbot: QtBot) -> None:
    panel.open()
    panel.scale_kind.button("custom").click()
    enter(qtbot, panel.scale, "1")
    assert scoring(context).scale == 1.0
    assert panel.scale_kind.value == "one"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("abc", "⚠ 'abc' is not a number"), ("nan", "⚠ 'nan' is not a finite number"), ("", "⚠ A number is missing")],
)
def test_a_bad_scale_stays_with_the_reason(
    panel: MorePanel, context: Context, qtbot: QtBot, text: str, reason: str
) -> None:
    panel.open()
    panel.scale_kind.button("custom").click()
    before = context.document.experiment
    panel.scale.clear()
    enter(qtbot, panel.scale, text)
    assert panel.scale.text() == text
    assert panel.scale.reason.isVisible()
    assert panel.scale.reason.text() == reason
    assert panel.scale.accessibleDescription() == reason
    assert context.document.experiment is before
    enter(qtbot, panel.scale, "3")
    assert not panel.scale.reason.isVisible()
    assert scoring(context).scale == 3.0


def test_the_softcap_goes_on_and_off_and_refuses_what_is_not_above_zero(
    panel: MorePanel, context: Context, qtbot: QtBot
) -> None:
    panel.open()
    assert not panel.softcap.isEnabled()
    panel.softcap_kind.button("on").click()
    assert scoring(context).softcap == 50.0
    enter(qtbot, panel.softcap, "20")
    assert scoring(context).softcap == 20.0
    enter(qtbot, panel.softcap, "-1")
    assert panel.softcap.reason.text() == "⚠ Expected a number from 1e-30 to 1e30, received -1.0"
    assert scoring(context).softcap == 20.0
    panel.softcap_kind.button("off").click()
    assert scoring(context).softcap is None
    context.document.undo_stack.undo()
    assert scoring(context).softcap == 20.0
    assert panel.softcap_kind.value == "on"


def test_the_memory_is_a_setting_and_no_step_of_undo(panel: MorePanel, context: Context) -> None:
    panel.open()
    assert context.settings.memory is None
    assert panel.memory.currentText().startswith("a quarter of what is free")
    index = next(k for k in range(panel.memory.count()) if panel.memory.itemText(k) == "1 GB")
    panel.memory.setCurrentIndex(index)
    panel.memory.activated.emit(index)
    assert context.settings.memory == 1 << 30
    assert not context.document.undo_stack.canUndo()
    context.settings.memory = None
    assert context.settings.memory is None


@pytest.mark.parametrize("precision", list(Precision))
def test_each_precision_can_be_chosen_and_undone(panel: MorePanel, context: Context, precision: Precision) -> None:
    panel.open()
    index = next(k for k in range(4) if panel.precision.itemText(k).startswith(precision))
    panel.precision.setCurrentIndex(index)
    panel.precision.activated.emit(index)
    assert context.document.experiment.precision is precision
    if precision is Precision.FLOAT32:
        assert not context.document.undo_stack.canUndo()
    else:
        context.document.undo_stack.undo()
        assert context.document.experiment.precision is Precision.FLOAT32
        assert panel.precision.currentText().startswith("float32")


def test_biases_come_and_go(panel: MorePanel, context: Context) -> None:
    panel.open()
    panel.biases.click()
    weights = context.document.experiment.weights
    assert weights is not None
    assert weights.has_biases
    context.document.undo_stack.undo()
    assert not panel.biases.isChecked()


def test_given_q_k_v_have_no_biases_and_say_why(panel: MorePanel, context: Context) -> None:
    open_experiment(context, given())
    panel.open()
    assert not panel.biases.isEnabled()
    assert panel.biases_reason.isVisible()
    assert "nothing is projected" in panel.biases_reason.text()


def test_decimals_are_a_setting_and_no_step(panel: MorePanel, context: Context) -> None:
    panel.open()
    panel.decimals.setValue(7)
    assert context.settings.decimals == 7
    assert not context.document.undo_stack.canUndo()
    context.settings.decimals = 3
    assert panel.decimals.value() == 3


def test_devices_are_listed_in_the_worker_when_it_opens_first(panel: MorePanel, qtbot: QtBot) -> None:
    assert panel.devices.entries == ()
    with qtbot.waitSignal(panel.devices.listed, timeout=30_000):
        panel.open()
    assert panel.device.buttons["cpu"].isChecked()
    assert panel.device.buttons["cpu"].isEnabled()
    real = {device.name: device.reason for device in compute_devices.devices()}
    assert {entry.name: entry.reason for entry in panel.devices.entries} == real


def test_devices_that_were_listed_before_it_was_made_are_there(context: Context, qtbot: QtBot) -> None:
    button = MoreButton(context)
    qtbot.addWidget(button)
    with qtbot.waitSignal(button.devices.listed, timeout=30_000):
        button.devices.ask()
    assert button.panel.device.buttons["cpu"].isChecked()
    assert not button.panel.device.waiting.isVisibleTo(button.panel.device)


def test_a_device_that_cannot_be_had_says_why_in_sight(listed: MorePanel) -> None:
    button, reason = listed.device.buttons["cuda"], listed.device.reasons["cuda"]
    assert not button.isEnabled()
    assert reason.isVisible()
    assert reason.text() == button.accessibleDescription() == "no NVIDIA driver"
    assert not listed.device.reasons["cpu"].isVisible()


def test_a_device_is_chosen_for_the_document_and_kept(listed: MorePanel, context: Context) -> None:
    listed.device.buttons["mps"].click()
    assert context.document.device == "mps"
    assert context.settings.device == "mps"
    assert not context.document.undo_stack.canUndo()


def test_float64_and_mps_exclude_each_other_with_the_reason(listed: MorePanel, context: Context) -> None:
    listed.precision.chosen.emit(Precision.FLOAT64)
    assert not listed.device.buttons["mps"].isEnabled()
    assert listed.device.reasons["mps"].text() == MPS_REASON
    context.document.undo_stack.undo()
    assert listed.device.buttons["mps"].isEnabled()
    listed.device.buttons["mps"].click()
    texts = [listed.precision.itemText(k) for k in range(4)]
    refused = next(k for k, text in enumerate(texts) if text.startswith("float64"))
    assert MPS_REASON in texts[refused]
    assert not listed.precision.model().index(refused, 0).flags() & Qt.ItemFlag.ItemIsEnabled


def test_devices_that_cannot_be_listed_say_so(panel: MorePanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[Device]:
        raise RuntimeError("driver mismatch")

    monkeypatch.setattr(compute_devices, "devices", fail)
    with qtbot.waitSignal(panel.devices.failed, timeout=30_000):
        panel.open()
    assert panel.device.waiting.text() == "The devices could not be listed: driver mismatch"


def test_a_device_without_a_reason_of_its_own_can_still_lack_a_precision() -> None:
    entry = DeviceEntry("mps", "MPS", None, {Precision.FLOAT64: "no"})
    assert entry.why_not(Precision.FLOAT64) == "no"
    assert entry.why_not(Precision.FLOAT32) is None


def test_the_button_opens_it_and_escape_closes_it(panel: MorePanel, qtbot: QtBot) -> None:
    qtbot.mouseClick(panel.button, Qt.MouseButton.LeftButton)
    assert panel.isVisible()
    below = panel.button.mapToGlobal(QPoint(0, panel.button.height()))
    assert panel.y() >= below.y()
    qtbot.keyClick(panel, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_it_is_walked_through_by_tab(panel: MorePanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.devices.listed, timeout=30_000):
        panel.open()
    qtbot.waitUntil(panel.device.buttons["cpu"].isVisible)
    panel.softcap_kind.button("on").click()
    names = []
    for _ in range(13):
        focused = panel.focusWidget()
        assert focused is not None
        names.append(focused.accessibleName() or getattr(focused, "text", str)())
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    wanted = ["Scale: 1/√d_k", "Softcap: On", "Softcap", "Tokens in the cache", "Precision", "CPU"]
    wanted += ["Memory for A and N", "Biases", "Decimals shown"]
    assert names[: len(wanted) + 1] == [*wanted, wanted[0]]
