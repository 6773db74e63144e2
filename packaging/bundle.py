"""Builds the one-folder program and its archive: python3 packaging/dev.py bundle"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import bundle_lists

LINUX_FILES = ("install.sh", "uninstall.sh", "attn-gui.desktop", "attn-gui.xml")
CPU = "cpu"
MEGABYTE = 10**6
SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
# parts of the table of sizes that are worth a line
LEAST_SHOWN = 2 * MEGABYTE
# packages whose parts are worth one each, and how deep these lie
DEEPER = {"PySide6": 4, "torch": 3, "transformers": 2}


@dataclass(frozen=True)
class Built:
    """The folder of the program, the archive that holds it, and what torch in it computes on ("cpu", "cuda13.0")."""

    folder: Path
    archive: Path
    torch: str


def build(python: Path, root: Path) -> Built:
    """Have PyInstaller, in the environment of ``python``, make the program; raises CalledProcessError."""
    work = root / "build" / "bundle"
    shutil.rmtree(work, ignore_errors=True)
    (work / "work").mkdir(parents=True)
    subprocess.run([python, root / "packaging" / "bundle_icons.py", work / "icons"], check=True)
    if sys.platform == "win32":
        write_version(work / "version.txt", bundle_lists.version(root))
    spec = str(root / "packaging" / "attn_gui.spec")
    options = ["--noconfirm", "--log-level=WARN", "--distpath", str(work / "dist"), "--workpath", str(work / "work")]
    # bytecode holds the times of its sources otherwise, and no two builds are alike
    variables = {**os.environ, "PYTHONHASHSEED": "1"}
    subprocess.run([python, "-m", "PyInstaller", *options, spec], cwd=root, env=variables, check=True)
    torch = kind_of_torch(python)
    name = f"attn_gui-{bundle_lists.version(root)}-{SYSTEMS[sys.platform]}-{platform.machine().lower()}"
    if torch != CPU:
        name += f"-{torch}"
    whole = work / name
    whole.mkdir()
    inside = "attn_gui.app" if sys.platform == "darwin" else "attn_gui"
    (work / "dist" / inside).rename(whole / inside)
    if sys.platform.startswith("linux"):
        for file in LINUX_FILES:
            shutil.copy2(root / "packaging" / "linux" / file, whole)
        shutil.copytree(work / "icons", whole / "icons")
    elif sys.platform == "win32":
        for file in ("install.ps1", "uninstall.ps1"):
            shutil.copy2(root / "packaging" / "windows" / file, whole)
    return Built(whole / inside, packed(whole), torch)


def kind_of_torch(python: Path) -> str:
    """ "cpu", or what torch is built for beside it, with its version: cuda13.0, hip6.4."""
    asked = "from torch import version as v; print('cuda' + v.cuda if v.cuda else 'hip' + v.hip if v.hip else 'cpu')"
    told = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout
    return told.strip()


def packed(folder: Path) -> Path:
    """The archive of ``folder``, beside it: .zip on Windows and macOS, .tar.xz elsewhere."""
    if sys.platform == "darwin":
        archive = folder.with_name(f"{folder.name}.zip")
        # ditto keeps the links and signatures of an application
        subprocess.run(["ditto", "-c", "-k", "--keepParent", str(folder), str(archive)], check=True)
    elif sys.platform == "win32":
        archive = folder.with_name(f"{folder.name}.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
            for path in sorted(folder.rglob("*")):
                zipped.write(path, path.relative_to(folder.parent))
    else:
        archive = folder.with_name(f"{folder.name}.tar.xz")
        pack_tar(folder, archive)
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    archive.with_name(f"{archive.name}.sha256").write_text(f"{digest}  {archive.name}\n", "ascii")
    return archive


def pack_tar(folder: Path, archive: Path) -> None:
    """As .tar.xz by the program xz, which takes all cores; raises CalledProcessError where that fails."""
    command = ["xz", "--threads=0", "-6", "--stdout"]
    with archive.open("wb") as file, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file) as xz:
        with tarfile.open(fileobj=xz.stdin, mode="w|") as tar:
            tar.add(folder, folder.name, filter=nobodys)
        assert xz.stdin is not None
        xz.stdin.close()
    if xz.returncode:
        raise subprocess.CalledProcessError(xz.returncode, command)


def nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without who built it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def report(built: Built, root: Path) -> bool:
    """Print what takes the room; whether all of it is within packaging/size_budget.toml, which is about CPU torch."""
    sizes = parts(built.folder)
    budget = tomllib.loads((root / "packaging" / "size_budget.toml").read_text("utf-8"))
    limits = budget.get(SYSTEMS[sys.platform], {}) if built.torch == CPU else {}
    totals = {"unpacked": sum(sizes.values()), "packed": built.archive.stat().st_size}
    print("\n".join([*table(sizes), *verdicts(totals, limits), f"archive: {built.archive}"]), flush=True)
    return within(totals, limits)


def table(sizes: dict[str, int]) -> list[str]:
    """Lines for the parts, the largest first; those below LEAST_SHOWN in one."""
    lines = [
        f"{size / MEGABYTE:8.1f} MB  {name}"
        for name, size in sorted(sizes.items(), key=lambda item: -item[1])
        if size >= LEAST_SHOWN
    ]
    rest = [size for size in sizes.values() if size < LEAST_SHOWN]
    return [*lines, f"{sum(rest) / MEGABYTE:8.1f} MB  {len(rest)} smaller parts"]


def verdicts(totals: dict[str, int], limits: dict[str, float]) -> list[str]:
    """A line for each total, with its limit in megabytes."""
    told = {name: f"limit {limits[name]} MB" if name in limits else "no limit set" for name in totals}
    return [f"{size / MEGABYTE:8.1f} MB  {name} ({told[name]})" for name, size in totals.items()]


def within(totals: dict[str, int], limits: dict[str, float]) -> bool:
    return all(totals[name] <= limit * MEGABYTE for name, limit in limits.items())


def parts(folder: Path) -> dict[str, int]:
    """Bytes by what they belong to: a file or folder of the bundle, of the largest packages a folder in them."""
    sizes: dict[str, int] = defaultdict(int)
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            inside = path.relative_to(folder).parts
            inside = inside[1:] if inside[0] in ("_internal", "Contents") else inside
            sizes["/".join(inside[: DEEPER.get(inside[0], 1)])] += path.stat().st_size
    return dict(sizes)


def write_version(path: Path, version: str) -> None:
    """The version resource of the Windows program."""
    numbers = ", ".join([*version.split("."), "0", "0", "0", "0"][:4])
    strings = {
        "CompanyName": "attn_gui contributors",
        "FileDescription": "attn_gui",
        "FileVersion": version,
        "InternalName": "attn-gui",
        "LegalCopyright": "MIT licence",
        "OriginalFilename": "attn-gui.exe",
        "ProductName": "attn_gui",
        "ProductVersion": version,
    }
    table = ", ".join(f"StringStruct({name!r}, {value!r})" for name, value in strings.items())
    path.write_text(
        f"VSVersionInfo(ffi=FixedFileInfo(filevers=({numbers}), prodvers=({numbers})), kids=["
        f"StringFileInfo([StringTable('040904B0', [{table}])]), "
        "VarFileInfo([VarStruct('Translation', [1033, 1200])])])",
        "utf-8",
    )
