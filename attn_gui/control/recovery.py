"""Recovery: unsaved work is kept in a file of its own, for when the program ends without being told to.

Below ``recovery/`` of the profile a running instance has ``ID.lock``, held while it lives, and ``ID/unsaved.attn``,
there while its document is modified, and a pair of these for whatever else the document holds unsaved. What lies there
and nobody holds was left by an instance that ended unexpectedly.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Qt, QTimer, Signal

from attn_gui.control.document import Document
from attn_gui.control.worker import Priority, Steps, Worker, at_once
from attn_gui.files import session
from attn_gui.files.errors import FileError, cannot_write
from attn_gui.files.lost import NOWHERE, Located, LostFile
from attn_gui.model.session import Session
from attn_gui.model.session_title import session_title

DELAY_MS = 1_000
RETRY_MS = 30_000
KEEP, SEARCH, RESTORE = "keep unsaved work", "search unsaved work", "restore unsaved work"
DAMAGED = "damaged"
# behind a running export, or a drag that has the picture computed again and again, unsaved work would wait too long
PRIORITY = Priority.TRACE


class RecoveryFile:
    """Unsaved work on disk, with the lock that makes other instances leave it alone. For use from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "unsaved.attn"
        self._lock = QLockFile(str(folder) + ".lock")
        self._lock.setStaleLockTime(0)  # it goes stale by its process ending, never by age
        self._closed = False
        self._turn = threading.Lock()

    def claim(self) -> bool:
        """Take the lock, also from a process that has ended; False while another instance holds it."""
        return self._lock.isLocked() or (self._lockable() and self._lock.tryLock(0))

    def _lockable(self) -> bool:
        """Whether the lock is a file or not there: Qt would wait for a pipe, and read a device for ever."""
        try:
            return stat.S_ISREG(os.lstat(self._lock.fileName()).st_mode)
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def write(self, unsaved: Session) -> None:
        """Replace the work that is kept; raises FileError."""
        with self._turn:
            if self._closed:
                return
            try:
                self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not self.claim():
                    # the lock does not say why; what stops any file from being written, a full disk say, this one does
                    probe = self.folder.with_suffix(".probe")
                    session.save(unsaved, probe)
                    probe.unlink()
                    raise FileError(self.path, "writing", "a folder in which files can be locked", "one without")
                self.folder.mkdir(mode=0o700, exist_ok=True)
            except OSError as error:
                raise cannot_write(self.path, error) from error
            session.save(unsaved, self.path)

    def remove(self) -> None:
        """Forget the work that was kept; more may be written."""
        with self._turn, suppress(OSError):
            self.path.unlink(missing_ok=True)

    def close(self, *, keep: bool) -> None:
        """Let go of the lock, and of the work too unless it is to be kept. Waits for a write that is under way."""
        with self._turn:
            self._closed = True
            if self._lock.isLocked():
                if not keep:
                    shutil.rmtree(self.folder, ignore_errors=True)
                self._lock.unlock()


@dataclass(frozen=True, eq=False)
class Left:
    """Unsaved work that somebody may want back: the experiment's name, and when it was kept (local time, if known).

    ``put_aside`` tells work of this instance, which made room for other work that was restored.
    """

    name: str
    time: datetime | None
    file: RecoveryFile
    put_aside: bool = False


@dataclass(eq=False)
class _Aside:
    """What a departure left unsaved, and the file that it is kept in."""

    session: Session
    file: RecoveryFile
    written: bool = False

    def write(self) -> None:
        if not self.written:
            self.file.write(self.session)
            self.written = True


class Recovery(QObject):
    """Keeps a document's unsaved work, about a second after each change, and hands out what dead instances left.

    ``found`` lists what was left, the newest first; ``found_changed`` says when it is another list. ``failed(error)``
    comes once for a row of failures to keep the work, ``mended`` when it could be kept again. ``damaged(path, error)``
    tells of a file that could not be read and where it was put aside; ``restore_failed(left, error)`` changes nothing,
    nor does ``lost(left, LostFile)``, which comes besides where a file of tensors has to be located first.
    """

    found_changed = Signal()
    failed = Signal(object)
    mended = Signal()
    damaged = Signal(object, object)
    restore_failed = Signal(object, object)
    lost = Signal(object, object)

    def __init__(self, worker: Worker, document: Document, profile: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: tuple[Left, ...] = ()
        self._worker = worker
        self._document = document
        self._directory = profile / "recovery"
        self._own = RecoveryFile(self._directory / _instance_name())
        self._kept: Session | None = None  # what the file holds
        self._asides: list[_Aside] = []
        self._outdated: list[_Aside] = []
        self._failing = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._keep)
        document.changed.connect(self._on_change)
        document.work_kept.connect(self._on_change)
        # queued: what is read there is the state that all of it led to
        document.unsaved_changed.connect(self._on_unsaved_changed, Qt.ConnectionType.QueuedConnection)

    def search(self) -> None:
        """Look for what dead instances left."""
        directory, own = self._directory, self._own
        self._worker.submit(SEARCH, lambda: _search(directory, own), PRIORITY, self._on_search, _raise)

    def restore(self, left: Left, located: Located = NOWHERE) -> None:
        """Open ``left`` as an unsaved document. Present unsaved work takes its place in ``found``.

        located: where files of tensors are now.
        """
        present, modified, own = self._document.session, self._document.modified, self._own
        asides = self._sort_asides()

        def exchange() -> Session:
            for aside in asides:
                aside.write()
            if modified:
                own.write(present)
            return session.load(left.file.path, located)

        self._worker.submit(
            RESTORE,
            at_once(exchange),
            PRIORITY,
            lambda restored: self._on_restored(left, restored, present, modified, located),
            lambda error: self._on_restore_failed(left, error),
        )

    def discard(self, left: Left) -> None:
        """Delete ``left`` for good."""
        left.file.close(keep=False)
        self._set_found(other for other in self.found if other is not left)

    def close(self) -> None:
        """The program ends in good order: what the person did not save is not wanted, what was left stays."""
        self._timer.stop()
        self._document.changed.disconnect(self._on_change)
        self._document.work_kept.disconnect(self._on_change)
        self._document.unsaved_changed.disconnect(self._on_unsaved_changed)
        self._worker.cancel(KEEP)
        for file in (self._own, *(aside.file for aside in (*self._asides, *self._outdated))):
            file.close(keep=False)
        for left in self.found:
            left.file.close(keep=True)

    def _on_change(self) -> None:
        # a burst of edits does not put it off
        if not self._timer.isActive():
            self._timer.start(DELAY_MS)

    def _on_unsaved_changed(self) -> None:
        if self._document.dirty:
            self._on_change()
        else:
            self._timer.stop()
            self._keep()

    def _keep(self) -> None:
        present, own = self._document.session if self._document.modified else None, self._own
        asides = [aside for aside in self._sort_asides() if not aside.written]
        outdated = list(self._outdated)
        kept = _is_same(present, self._kept)
        # a write that is under way may be of what is no longer unsaved
        if (
            kept
            and not asides
            and not outdated
            and (present is not None or not (self._failing or self._worker.running(KEEP)))
        ):
            return

        def write() -> None:
            for aside in asides:
                aside.write()
            if present is None:
                own.remove()
            else:
                own.write(present)

        self._worker.submit(KEEP, at_once(write), PRIORITY, lambda _: self._succeed(present, outdated), self._fail)

    def _sort_asides(self) -> list[_Aside]:
        """One for each thing that departures left unsaved; others are outdated once what is shown now is written."""
        left = [work.session for work in self._document.unsaved if work.session is not self._document.session]
        kept = []
        for aside in self._asides:
            if any(aside.session.same_work(session) for session in left):
                kept.append(aside)
            else:
                self._outdated.append(aside)
        new = [session for session in left if not any(aside.session.same_work(session) for aside in kept)]
        self._asides = kept + [_Aside(session, RecoveryFile(self._directory / _instance_name())) for session in new]
        return self._asides

    def _succeed(self, unsaved: Session | None, outdated: list[_Aside]) -> None:
        for aside in outdated:
            if aside in self._outdated:
                self._outdated.remove(aside)
                aside.file.close(keep=False)
        self._kept = unsaved
        if self._failing:
            self._failing = False
            self.mended.emit()

    def _fail(self, error: BaseException) -> None:
        self._timer.start(RETRY_MS)
        if not self._failing:
            self._failing = True
            self.failed.emit(error)
            if not isinstance(error, FileError | MemoryError):
                raise error

    def _on_search(self, result: tuple[list[Left], list[tuple[Path, FileError]]]) -> None:
        lefts, damaged = result
        for path, error in damaged:
            self.damaged.emit(path, error)
        self._set_found([*lefts, *self.found])

    def _on_restored(self, left: Left, restored: Session, before: Session, modified: bool, located: Located) -> None:
        present = self._document.session
        if left not in self.found:
            return
        asides = self._sort_asides()
        edited = not present.same_work(before) or self._document.modified != modified
        if edited or not all(aside.written for aside in asides):
            self.restore(left, located)  # somebody went on editing meanwhile
            return
        self._worker.cancel(KEEP)
        rest = [other for other in self.found if other is not left]
        now = datetime.now()
        rest += [Left(session_title(aside.session), now, aside.file, put_aside=True) for aside in asides]
        self._asides = []
        if modified:
            rest.append(Left(session_title(present), now, self._own, put_aside=True))
        else:
            self._own.close(keep=False)
        self._own = left.file
        self._kept = restored
        self._document.open(restored, None, clean=False)
        self._set_found(rest)

    def _on_restore_failed(self, left: Left, error: BaseException) -> None:
        self.restore_failed.emit(left, error)
        if isinstance(error, LostFile):
            self.lost.emit(left, error)
        if not isinstance(error, FileError | MemoryError):
            raise error

    def _set_found(self, lefts: Iterable[Left]) -> None:
        self.found = tuple(sorted(lefts, key=lambda left: left.time or datetime.min, reverse=True))
        self.found_changed.emit()


def _is_same(one: Session | None, other: Session | None) -> bool:
    return one is other or (one is not None and other is not None and one.same_work(other))


def _raise(error: BaseException) -> None:
    raise error


def _instance_name() -> str:
    return f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def _search(directory: Path, own: RecoveryFile) -> Steps:
    """What nobody holds: readable work, which is held from now on, and files put aside with what is wrong."""
    lefts: list[Left] = []
    damaged: list[tuple[Path, FileError]] = []
    for folder in _folders(directory):
        file = RecoveryFile(folder)
        if folder == own.folder or not file.claim():
            continue
        try:
            time = _time_of(file.path)
            lefts.append(Left(session_title(session.load(file.path)), time, file))
        except LostFile as error:
            # whole, and asked for the file of tensors once somebody wants it back
            lefts.append(Left(error.work or file.path.name, time, file))
        except FileNotFoundError:
            file.close(keep=False)
        except OSError:
            file.close(keep=True)
        except FileError as error:
            aside = _put_aside(file, directory / DAMAGED)
            file.close(keep=aside is None)
            damaged.append((aside or file.path, error))
        yield 0.0
    return lefts, damaged


def _time_of(path: Path) -> datetime | None:
    seconds = path.stat().st_mtime
    # a file system may say what no calendar holds
    try:
        return datetime.fromtimestamp(seconds)
    except (ValueError, OverflowError, OSError):
        return None


def _folders(directory: Path) -> list[Path]:
    try:
        return [entry for entry in directory.iterdir() if entry.is_dir() and entry.name != DAMAGED]
    except OSError:
        return []


def _put_aside(file: RecoveryFile, place: Path) -> Path | None:
    """Where a file that cannot be read lies from now on, or None where it cannot be moved."""
    aside = place / f"{file.folder.name}.attn"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        os.replace(file.path, aside)
    except OSError:
        return None
    return aside
