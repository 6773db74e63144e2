"""What the program is made of: versions, and the licences of all of it."""

from __future__ import annotations

import platform
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from pathlib import Path

from attn_gui.paths import resource

# what pyproject.toml names; they bring further ones along
PACKAGES = (
    "torch",
    "PySide6-Essentials",
    "pyqtgraph",
    "numpy",
    "safetensors",
    "orjson",
    "ml_dtypes",
    "array-api-compat",
    "transformers",
    "accelerate",
    "gguf",
)
# the texts of packages that come without one, as they lie in resources/licences
TEXTS = {
    "array-api-compat": ("array-api-compat.txt",),
    "pyside6-essentials": ("LGPL-3.0.txt", "GPL-3.0.txt"),
    "shiboken6": ("LGPL-3.0.txt", "GPL-3.0.txt"),
    "tokenizers": ("Apache-2.0.txt",),
}
# what other people made and the program ships, and is no package
DATA = {"all-MiniLM-L6-v2 (example)": "all-MiniLM-L6-v2.txt"}
OWN = "attn_gui"
METADATA = "METADATA"
_NAMES = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|AUTHORS|COPYRIGHT)", re.IGNORECASE)
_CODE = (".py", ".pyc", ".pyi")
_REQUIRED = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class Licence:
    """package: whose; text: the licence in full."""

    package: str
    text: str


def versions(own: str) -> dict[str, str]:
    """Versions by name: attn_gui's ``own``, of Python, the system, and those of PACKAGES that are there."""
    bundle = " (bundle)" if getattr(sys, "frozen", False) else ""
    found = {
        OWN: f"{own}{bundle}",
        "Python": platform.python_version(),
        "System": f"{platform.platform()}, {platform.machine()}",
    }
    return found | {name: part.version for name in PACKAGES if (part := _part(name)) is not None}


def licences() -> tuple[Licence, ...]:
    """The licences of attn_gui, of Python, and of all that lies in the bundle or is installed for attn_gui."""
    bundled = _bundled()
    found = list(_installed() if bundled is None else _in_bundle(bundled))
    found += [Licence(name, _read([resource(f"licences/{file}")])) for name, file in DATA.items()]
    first = (OWN, "Python")
    return tuple(sorted(found, key=lambda one: (one.package not in first, one.package.casefold())))


def packages() -> tuple[str, ...]:
    """The installed ones of PACKAGES, and of all that these need."""
    found: dict[str, str] = {}
    waiting = list(PACKAGES)
    while waiting:
        name = waiting.pop()
        part = _part(name)
        if _same(name) in found or part is None:
            continue
        found[_same(name)] = part.metadata["Name"]
        needed = (text for text in part.requires or () if "extra ==" not in text)
        waiting += [match[0] for text in needed if (match := _REQUIRED.match(text)) is not None]
    return tuple(found.values())


def stated_in(part: Distribution) -> list[PackagePath]:
    """The files of a package that hold its licence."""
    return [file for file in part.files or () if _NAMES.match(file.name) and file.suffix not in _CODE]


def of_python() -> list[Path]:
    """Where the licence of this Python may lie."""
    standard = Path(sysconfig.get_path("stdlib"))
    places = (folder / "LICENSE.txt" for folder in (standard, standard.parent, Path(sys.base_prefix)))
    return [path for path in places if path.is_file()]


def _installed() -> Iterator[Licence]:
    own = _part(OWN)
    source = Path(__file__).resolve().parents[2] / "LICENSE"
    yield Licence(OWN, _read([source]) if own is None or source.is_file() else _stated(own))
    yield Licence("Python", _read(of_python()[:1]) or sys.copyright)
    for name in packages():
        yield Licence(name, _stated(distribution(name)))


def _in_bundle(folder: Path) -> Iterator[Licence]:
    for inside in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(path for path in inside.rglob("*") if path.is_file())
        stated = [path.read_text("utf-8", "replace") for path in files if path.name == METADATA]
        texts = [path for path in files if path.name != METADATA]
        yield Licence(inside.name, _text(inside.name, texts, "".join(stated)))


def _stated(part: Distribution) -> str:
    texts = [Path(str(part.locate_file(file))) for file in stated_in(part)]
    return _text(part.metadata["Name"], texts, part.read_text(METADATA) or "")


def _text(name: str, files: list[Path], metadata: str) -> str:
    """The licence of a package: the files it came with, or what its metadata state and the text of that."""
    told = _read(files)
    if told:
        return told
    stated = HeaderParser().parsestr(metadata)
    kinds = [kind.rpartition(" :: ")[2] for kind in stated.get_all("Classifier", []) if kind.startswith("License")]
    licence = stated.get("License-Expression") or stated.get("License") or ", ".join(kinds)
    texts = [resource(f"licences/{file}") for file in TEXTS.get(_same(name), ())]
    chosen = " (the LGPL 3.0 is the one that attn_gui uses it under)" if "LGPL" in str(licence) else ""
    return "\n\n".join(filter(None, (f"{name}: {licence or 'no licence stated'}{chosen}", _read(texts))))


def _part(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _same(name: str) -> str:
    """A name as packages are told apart by."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _bundled() -> Path | None:
    """The folder of licences in a frozen program."""
    frozen = getattr(sys, "_MEIPASS", None)
    folder = None if frozen is None else Path(frozen) / "licences"
    return folder if folder is not None and folder.is_dir() else None


def _read(paths: Iterable[Path]) -> str:
    texts = (path.read_text("utf-8", "replace").strip() for path in paths if path.is_file())
    return "\n\n".join(filter(None, texts))
