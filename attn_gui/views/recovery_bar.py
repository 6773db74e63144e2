"""The bar that offers unsaved work of an instance that ended unexpectedly."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from attn_gui.control.recovery import Left, Recovery
from attn_gui.control.storage import reason
from attn_gui.views import half_typed
from attn_gui.views.bar import Bar
from attn_gui.views.context import Context

TOPIC, RESTORING = "recovery", "restoring"
LONGEST_NAME = 48


class RecoveryBar(Bar):
    """Shows the newest of what was left, with Restore, Discard and Not now; out of sight while there is nothing.

    What Recovery cannot do is said as a notice.
    """

    def __init__(self, context: Context, recovery: Recovery, parent: QWidget | None = None) -> None:
        super().__init__(context, "Unsaved work found", parent)
        self._recovery = recovery
        self._put_off: frozenset[Left] = frozenset()
        self.text.setMinimumWidth(0)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.restore = QPushButton("Re&store")
        self.discard = QPushButton("Dis&card")
        self.discard.setToolTip("Delete this unsaved work for good")
        self.later.setToolTip("Not now: ask again at the next start")
        self.later.setAccessibleName("Not now")
        self.add(self.restore)
        self.add(self.discard)
        self.restore.clicked.connect(self._restore)
        self.discard.clicked.connect(self._discard)
        self.later.clicked.connect(self._put_off_all)
        context.document.unsaved_changed.connect(self._hint)
        context.document.path_changed.connect(lambda: context.notices.withdraw(RESTORING))
        recovery.found_changed.connect(self._refresh)
        recovery.failed.connect(self._on_failure)
        recovery.mended.connect(self._on_mended)
        recovery.damaged.connect(self._on_damaged)
        recovery.restore_failed.connect(self._on_restore_failed)
        self._refresh()
        recovery.search()

    @property
    def offered(self) -> Left | None:
        """What Restore restores and Discard deletes."""
        lefts = [left for left in self._recovery.found if left not in self._put_off]
        return lefts[0] if lefts else None

    def _refresh(self) -> None:
        left = self.offered
        if left is None:
            self.hide()
            return
        count = len(self._recovery.found) - len(self._put_off)
        of = f" (1 of {count})" if count > 1 else ""
        what = "Your unsaved work was put aside" if left.put_aside else "attn_gui ended unexpectedly. Unsaved work"
        text = f"{what}{of}, from {when(left.time, datetime.now())}: {_shortened(left.name)}"
        self.text.setToolTip(left.name)
        self._hint()
        self.say(text)

    def _hint(self) -> None:
        exchange = "; your present changes are then offered here" if self._context.document.dirty else ""
        self.restore.setToolTip("Open it as an unsaved session" + exchange)

    def _restore(self) -> None:
        if self.offered is not None and half_typed.commit():
            self._recovery.restore(self.offered)

    def _discard(self) -> None:
        if self.offered is not None:
            self._recovery.discard(self.offered)

    def _put_off_all(self) -> None:
        self._put_off = frozenset(self._recovery.found)
        self._refresh()

    def _on_failure(self, error: BaseException) -> None:
        self._context.notices.warn(f"No copy of your unsaved work can be kept: {reason(error)}", TOPIC)

    def _on_mended(self) -> None:
        self._context.notices.withdraw(TOPIC)

    def _on_damaged(self, path: Path, error: BaseException) -> None:
        self._context.notices.warn(f"Unsaved work could not be read, and was put aside: {path}", TOPIC)

    def _on_restore_failed(self, left: Left, error: BaseException) -> None:
        self._context.notices.error(f"“{_shortened(left.name)}” was not restored: {reason(error)}", RESTORING)


def when(time: datetime | None, now: datetime) -> str:
    """``time`` as said at ``now``: the time alone today, with the day before that, with the year before this one."""
    if time is None:
        return "an unknown time"
    pattern = (
        "HH:mm" if time.date() == now.date() else "d MMMM, HH:mm" if time.year == now.year else "d MMMM yyyy, HH:mm"
    )
    return QLocale(QLocale.Language.English).toString(QDateTime.fromSecsSinceEpoch(int(time.timestamp())), pattern)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"
