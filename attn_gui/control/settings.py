"""Settings: a person's choices that outlive the session."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QSettings, QStandardPaths, Signal

RECENT = 8
DEFAULT_DECIMALS = 4


def profile_directory() -> Path:
    """Where settings and recovery files lie: ATTN_GUI_PROFILE if set, else the platform's place for such data."""
    given = os.environ.get("ATTN_GUI_PROFILE")
    if given:
        return Path(given)
    place = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    return Path(place) / "attn_gui"


class Settings(QObject):
    """Typed access to the settings file. Every setter says so by ``changed(name)``.

    ``unwritable(path)`` comes once, when the file cannot be written: the choices then end with the program.
    """

    changed = Signal(str)
    unwritable = Signal(object)

    def __init__(self, directory: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.directory = directory
        self._file = QSettings(str(directory / "settings.ini"), QSettings.Format.IniFormat)
        self._told = False

    def _set(self, name: str, value: object) -> None:
        self._file.setValue(name, value)
        self.sync()
        self.changed.emit(name)

    @property
    def theme(self) -> str:
        """system, light, dark or contrast."""
        value = str(self._file.value("theme", "system"))
        return value if value in ("system", "light", "dark", "contrast") else "system"

    @theme.setter
    def theme(self, value: str) -> None:
        self._set("theme", value)

    @property
    def decimals(self) -> int:
        """Decimals shown in tables and read-outs, 0 to 17; data are never rounded."""
        try:
            return max(0, min(17, int(str(self._file.value("decimals", DEFAULT_DECIMALS)))))
        except ValueError:
            return DEFAULT_DECIMALS

    @decimals.setter
    def decimals(self, value: int) -> None:
        self._set("decimals", value)

    @property
    def memory(self) -> int | None:
        """Bytes that A and N may take to be held whole; None for a share of what is free."""
        try:
            return max(0, int(str(self._file.value("memory", "")))) or None
        except ValueError:
            return None

    @memory.setter
    def memory(self, value: int | None) -> None:
        self._set("memory", "" if value is None else str(value))

    @property
    def reduced_motion(self) -> bool:
        return str(self._file.value("reduced_motion", "false")) == "true"

    @reduced_motion.setter
    def reduced_motion(self, value: bool) -> None:
        self._set("reduced_motion", "true" if value else "false")

    @property
    def first_tour(self) -> bool:
        """Whether the first tour is to be offered: until it has been begun, or declined."""
        return str(self._file.value("first_tour", "true")) == "true"

    @first_tour.setter
    def first_tour(self, value: bool) -> None:
        self._set("first_tour", "true" if value else "false")

    @property
    def device(self) -> str:
        return str(self._file.value("device", "cpu"))

    @device.setter
    def device(self, value: str) -> None:
        self._set("device", value)

    @property
    def recent(self) -> list[Path]:
        """Session files opened or saved last, the latest first."""
        stored = self._file.value("recent", [])
        names = stored if isinstance(stored, list) else [stored]
        return [Path(str(name)) for name in names if name]

    def add_recent(self, path: Path) -> None:
        path = path.absolute()
        rest = [other for other in self.recent if other != path]
        self._set("recent", [str(p) for p in [path, *rest][:RECENT]])

    def clear_recent(self) -> None:
        self._set("recent", [])

    @property
    def export_folder(self) -> Path:
        """Where the last export went, at first (or where that is gone) the home folder."""
        folder = Path(str(self._file.value("export_folder", "")))
        return folder if folder.is_absolute() and folder.is_dir() else Path.home()

    @export_folder.setter
    def export_folder(self, value: Path) -> None:
        self._set("export_folder", str(value))

    @property
    def window(self) -> tuple[QByteArray, QByteArray]:
        """Geometry and dock state of the main window, empty at first."""
        return self._bytes("window/geometry"), self._bytes("window/state")

    def keep_window(self, geometry: QByteArray, state: QByteArray) -> None:
        self._file.setValue("window/geometry", geometry)
        self._file.setValue("window/state", state)

    def sync(self) -> None:
        """Have everything on disk, and say so where that is not possible."""
        self._file.sync()
        if self._file.status() == QSettings.Status.AccessError and not self._told:
            self._told = True
            self.unwritable.emit(Path(self._file.fileName()))

    def _bytes(self, name: str) -> QByteArray:
        value = self._file.value(name)
        return value if isinstance(value, QByteArray) else QByteArray()
