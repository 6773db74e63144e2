"""Adding experiments to a session file, which holds the old session or the longer one, never a part of either."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from attn_gui.files import archive, npy, session
from attn_gui.files.archive import MANIFEST
from attn_gui.files.atomic import replacing
from attn_gui.files.errors import BROKEN, FileError, cannot_read
from attn_gui.files.experiment_json import check_version, to_plain
from attn_gui.files.json_text import dumps
from attn_gui.files.places import Place, parsed
from attn_gui.files.regular import size_of_file
from attn_gui.files.script.turns import turn
from attn_gui.files.session import FORMAT, MAX_EXPERIMENTS, VERSION, Written
from attn_gui.model.session import NamedExperiment, Session

Manifest = dict[str, Any]
# of the file as it is, the experiments to add and the view choices to put in place of those of the same name
More = Callable[[Manifest], tuple[Sequence[NamedExperiment], Manifest]]

EMPTY: Manifest = {"experiments": [], "view": {}}
STEP_BYTES = 1 << 20
_NUMBER = re.compile(r"arrays/([0-9]+)\.npy")


def append(path: Path, more: More) -> None:
    """Add what ``more`` makes of the manifest of ``path`` to its session, or begin one; raises FileError.

    What is there is copied as it lies, and neither read nor written anew. Programs that do so at once take turns.
    """
    try:
        size_of_file(path)  # opening a pipe would wait for whoever writes to it
    except FileError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
    with turn(path):
        _append(path, more)


def _append(path: Path, more: More) -> None:
    try:
        with ZipFile(path) as zipped:
            archive.check(path, zipped)
            entries = zipped.infolist()
            manifest = parsed(path, MANIFEST, zipped.read(MANIFEST))
    except FileNotFoundError:
        experiments, view = more(EMPTY)
        session.save(Session(tuple(experiments), 0, view), path)
        return
    except FileError:
        raise
    except BROKEN as error:
        raise FileError(path, "", "an attn_gui session (.attn) to add to", f"another file ({error})") from error
    except OSError as error:
        raise cannot_read(path, error) from error
    place = Place(manifest, path)
    check_version(place, FORMAT, VERSION)
    held = place.keys(("format", "version", "experiments"), ("current", "view", "model"))["experiments"].elements()
    experiments, view = more(manifest)
    if len(held) + len(experiments) > MAX_EXPERIMENTS:
        raise FileError(path, "experiments", f"at most {MAX_EXPERIMENTS:,}", f"{len(held) + len(experiments):,}")
    if max(entries, key=lambda entry: entry.header_offset).filename != MANIFEST:
        whole = session.load(path)  # somebody packed it anew, in another order
        made = (*whole.experiments, *experiments)
        session.save(Session(made, whole.current, {**whole.view, **view}, whole.model), path)
        return
    _write(path, entries, manifest, experiments, view)


def _write(
    path: Path, entries: list[ZipInfo], manifest: Manifest, experiments: Sequence[NamedExperiment], view: Manifest
) -> None:
    """The file up to its manifest, then what is new, then the longer manifest."""
    kept = [entry for entry in entries if entry.filename != MANIFEST]
    end = next(entry.header_offset for entry in entries if entry.filename == MANIFEST)
    numbers = [int(found[1]) for entry in kept if (found := _NUMBER.fullmatch(entry.filename))]
    with replacing(path) as file, open(path, "rb") as before:
        for start in range(0, end, STEP_BYTES):
            file.write(before.read(min(STEP_BYTES, end - start)))
        with ZipFile(file, "w") as zipped:
            zipped.filelist.extend(kept)
            zipped.NameToInfo.update({entry.filename: entry for entry in kept})
            members = Written(zipped, max(numbers, default=0))
            added = [to_plain(named, members.put, path) for named in experiments]
            longer = manifest | {
                "experiments": [*manifest["experiments"], *added],
                "view": {**manifest.get("view", {}), **view},
            }
            zipped.writestr(npy.member(MANIFEST), dumps(longer), ZIP_DEFLATED)
