"""The licences of everything inside the bundle, as their packages state them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from attn_gui.files import installation

FOLDER = "licences"
TEXTS = Path(__file__).resolve().parents[1] / "resources" / "licences"
# what a package's metadata name, and the texts of it
NAMED = {"Apache": ("Apache-2.0.txt",), "LGPL-3.0": ("LGPL-3.0.txt", "GPL-3.0.txt")}


def files(modules: Iterable[str], root: Path) -> Iterator[tuple[str, str]]:
    """(place in the bundle, file) for each licence of attn_gui, of Python, and of what ``modules`` come from.

    A package without a licence file has its metadata in place of one, and the text of the licence that they name.
    """
    yield f"{FOLDER}/attn_gui/LICENSE", str(root / "LICENSE")
    for python in installation.of_python()[:1]:
        yield f"{FOLDER}/Python/LICENSE", str(python)
    used = {name.partition(".")[0] for name in modules}
    for distribution in distributions():
        if _top_level(distribution) & used:
            yield from _of(distribution)


def _top_level(distribution: Distribution) -> set[str]:
    found = set()
    for file in distribution.files or ():
        first = file.parts[0]
        if not first.endswith(".dist-info") and first != "..":
            found.add(first.partition(".")[0])
    return found


def _of(distribution: Distribution) -> Iterator[tuple[str, str]]:
    name = distribution.metadata["Name"]
    if name.replace("-", "_").lower() == "attn_gui":
        return
    own = installation.stated_in(distribution)
    if not own:
        own = [file for file in distribution.files or () if file.name == "METADATA"]
        fields = ("License-Expression", "License", "Classifier")
        stated = " ".join(text for field in fields for text in distribution.metadata.get_all(field) or ())
        for word, texts in NAMED.items():
            if word in stated:
                yield from ((f"{FOLDER}/{name}/{text}", str(TEXTS / text)) for text in texts)
    for file in own:
        inside = Path(*(part for part in file.parts if not part.endswith(".dist-info") and part != ".."))
        yield f"{FOLDER}/{name}/{inside.as_posix()}", str(distribution.locate_file(file))


def of_system(libraries: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(place in the bundle, file) for each Debian package that one of the files comes from."""
    query = shutil.which("dpkg-query")
    # some packages name their files below /lib, which is a link to /usr/lib
    real = (os.path.realpath(path) for path in libraries)
    names = sorted({f"*/{os.path.basename(path)}" for path in real if path.startswith(("/lib/", "/usr/lib/"))})
    if query is None or not names:
        return
    told = subprocess.run([query, "--search", *names], capture_output=True, text=True, check=False).stdout
    for package in sorted({line.partition(":")[0] for line in told.splitlines()}):
        path = Path("/usr/share/doc", package, "copyright")
        if path.is_file():
            yield f"{FOLDER}/{package}/copyright", str(path)
