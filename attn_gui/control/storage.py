"""Storage: the document's file. Reading and writing happen in the worker, and the outcome is said."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEventLoop, QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.notices import Notices
from attn_gui.control.settings import Settings
from attn_gui.control.worker import Priority, Worker, at_once
from attn_gui.files import experiment_json, session
from attn_gui.files.errors import FileError
from attn_gui.files.lost import NOWHERE, Located, LostFile
from attn_gui.model.embedding import without_origins
from attn_gui.model.mapped import is_mapped
from attn_gui.model.session import NamedExperiment, Session

TOPIC = "file"
_Stamp = tuple[int, int, int]
# Behind a running export a save would wait for minutes, behind a trace it waits for one only.
PRIORITY = Priority.TRACE
KEPT = "{}: changed or moved since it was opened. The session holds its numbers now"
LOST = (
    "{}: changed or moved since it was opened. The session cannot be opened without the file as it was, unless its "
    "numbers are embedded (File > Embed the tensors)"
)


class Storage(QObject):
    """Opens and saves sessions, and says how it went as a notice on ``file``.

    ``opened(path)`` and ``saved(path)`` come once the document says the same; ``failed(path, error)`` leaves the
    document as it was. ``lost(name, folder, LostFile, again)`` comes besides where a file of tensors is not where the
    session ``name`` says: ``again(located)`` opens it once somebody knows where it is, ``folder`` is where to look.
    """

    opened = Signal(object)
    lost = Signal(str, object, object, object)
    saved = Signal(object)
    failed = Signal(object, object)

    def __init__(
        self, worker: Worker, document: Document, notices: Notices, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._document = document
        self._notices = notices
        self._settings = settings
        self._documents = 0  # how many were shown one after another
        self._marking = False
        self._stamps: dict[Path, _Stamp] = {}  # of files as they were read or written here
        document.path_changed.connect(self._count_documents)
        settings.unwritable.connect(self._on_unwritable)

    def open(self, path: Path, located: Located = NOWHERE) -> None:
        """Open a session (``.attn``) or a lone experiment (``experiment.json``), which is saved as a session later.

        located: where files of tensors are now; the session then is another than its file says.
        """
        path = path.absolute()
        present = self._document.session
        self._worker.submit(
            "open file",
            at_once(lambda: (_stamp(path), _load(path, located))),  # what is written meanwhile counts as later
            PRIORITY,
            lambda found: self._on_loaded(path, found[1], present, stamp=found[0], clean=not located),
            lambda error: self._on_not_opened(path, error),
        )

    def take(self, path: Path, located: Located = NOWHERE) -> None:
        """Open a session that another program has written for this one: it has no file, and ``path`` is removed.

        located: where files of tensors are now.
        """
        present = self._document.session
        self._worker.submit(
            "open file",
            at_once(lambda: _taken(path, located)),
            PRIORITY,
            lambda loaded: self._on_loaded(path, loaded, present, own=False),
            lambda error: self._on_not_taken(path, error),
        )

    def was_changed_elsewhere(self, path: Path) -> bool:
        """Whether somebody else has written the file since it was read or written here."""
        path = path.absolute()
        known, now = self._stamps.get(path), _stamp(path)
        return known is not None and now is not None and now != known

    def save(self, path: Path, left: Session | None = None) -> None:
        """Save the session as it stands now; edits made meanwhile stay unsaved.

        ``left``: save this one instead, which the document has departed from, and leave the document as it is.
        """
        path = path.absolute()
        saved = self._document.session if left is None else left
        documents = self._documents if left is None else None
        self._worker.submit(
            f"save {path}",
            at_once(lambda: _written(saved, path)),
            PRIORITY,
            lambda written: self._on_saved(path, saved, documents, *written),
            lambda error: self._on_failure(path, "saved", error),
            owed=True,
        )

    def save_and_wait(self, path: Path, left: Session | None = None) -> bool:
        """As :meth:`save`, holding back what the person types until it is done; whether it went well."""
        path = path.absolute()
        loop = QEventLoop(self)
        outcomes: list[bool] = []

        def on_saved(ended: Path) -> None:
            on_end(ended, True)

        def on_failed(ended: Path, error: BaseException) -> None:
            on_end(ended, False)

        def on_end(ended: Path, well: bool) -> None:
            if ended == path:
                outcomes.append(well)
                loop.quit()

        self.saved.connect(on_saved)
        self.failed.connect(on_failed)
        self.save(path, left)
        loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        self.saved.disconnect(on_saved)
        self.failed.disconnect(on_failed)
        loop.deleteLater()
        return outcomes == [True]

    def _on_loaded(
        self,
        path: Path,
        loaded: Session,
        before: Session,
        *,
        own: bool = True,
        stamp: _Stamp | None = None,
        clean: bool = True,
    ) -> None:
        if not self._document.session.same_work(before):
            text = f"{path.name} was not opened, since you went on editing. Open it again to leave this session."
            self._notices.warn(text, TOPIC)
            return
        lone = _is_lone_experiment(path)
        self._document.open(loaded, path if own and not lone else None, clean=clean)
        if stamp is not None:
            self._stamps[path] = stamp
        if own:
            self._settings.add_recent(path)
        self.opened.emit(path)

    def _on_saved(self, path: Path, saved: Session, documents: int | None, stamp: _Stamp | None, of_files: str) -> None:
        if stamp is not None:
            self._stamps[path] = stamp
        if documents == self._documents:
            self._marking = True
            self._document.saved(path, saved)
            self._marking = False
        else:
            self._document.written(path, saved)
        self._settings.add_recent(path)
        if of_files:
            self._notices.warn(f"Saved {path.name}. {of_files}", TOPIC)
        else:
            self._notices.info(f"Saved {path.name}", TOPIC)
        self.saved.emit(path)

    def _on_not_opened(self, path: Path, error: BaseException) -> None:
        self._on_failure(path, "opened", error)
        if isinstance(error, LostFile):
            self.lost.emit(path.name, path.parent, error, partial(self.open, path))

    def _on_not_taken(self, path: Path, error: BaseException) -> None:
        self._on_failure(path, "opened", error)
        if isinstance(error, LostFile):
            # nobody knows its file
            self.lost.emit(error.work or path.name, self._settings.export_folder, error, partial(self.take, path))

    def _on_failure(self, path: Path, what: str, error: BaseException) -> None:
        self._notices.error(f"{path.name or path} was not {what}: {reason(error)}", TOPIC)
        self.failed.emit(path, error)
        if not isinstance(error, FileError | MemoryError):
            raise error

    def _on_unwritable(self, path: Path) -> None:
        text = f"Settings cannot be kept: {path} cannot be written"
        self._notices.warn(text, "settings")
        if sys.stderr is not None:  # at the end of the program nobody sees a notice
            with suppress(OSError):
                print(f"attn-gui: {text}", file=sys.stderr)

    def _count_documents(self) -> None:
        if not self._marking:
            self._documents += 1
            # whatever could not be opened or saved, the person has gone on to something else
            self._notices.withdraw(TOPIC)


def _stamp(path: Path) -> _Stamp | None:
    """What tells a file from what it is after somebody has written it; None where it cannot be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _written(saved: Session, path: Path) -> tuple[_Stamp | None, str]:
    """Saved, and what has to be said of the files that it speaks of: some may have been changed since."""
    from attn_gui.files.tensors.again import is_there  # the first paint does not wait for it

    origins = {id(named.origin): named for named in saved.experiments if named.origin is not None}
    gone = [named for named in origins.values() if named.origin is not None and not is_there(named.origin)]
    inside = [named for named in gone if not any(map(is_mapped, named.opened.values()))]
    session.save(without_origins(saved, [named.origin for named in inside if named.origin is not None]), path)
    return _stamp(path), " ".join(
        filter(None, (_told(inside, KEPT), _told([n for n in gone if n not in inside], LOST)))
    )


def _told(of: Sequence[NamedExperiment], text: str) -> str:
    names = dict.fromkeys(Path(named.origin.path).name for named in of if named.origin is not None)
    return text.format(", ".join(names)) if names else ""


def _load(path: Path, located: Located) -> Session:
    if _is_lone_experiment(path):
        return Session((experiment_json.read(path, located),))
    return session.load(path, located)


def _taken(path: Path, located: Located) -> Session:
    loaded = session.load(path, located)
    with suppress(OSError):
        path.unlink()
    return loaded


def _is_lone_experiment(path: Path) -> bool:
    return path.suffix.casefold() == ".json"


def reason(error: BaseException) -> str:
    """Why a file could not be read or written, for the end of a sentence that names the file."""
    if isinstance(error, LostFile):
        return error.told
    if isinstance(error, FileError):
        place = f"{error.where}: " if error.where and error.where != "writing" else ""
        return f"{place}expected {error.expected}, received {error.received}"
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    return "something unexpected went wrong"
