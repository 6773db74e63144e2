"""show: the window on arrays, from a script, a notebook or a Python prompt, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import IO, Any

from attn_gui import paths
from attn_gui.files import session
from attn_gui.files.errors import FileError
from attn_gui.files.script.attentions import layers_in
from attn_gui.files.script.layers import Layer, Names
from attn_gui.files.script.saving import append_layers
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

# what the window is started with besides the file
TAKE = "--take"
MOST_SAID = 4000
# the package is found where it is now, if it was not installed
START = "import sys; sys.path.append(sys.argv.pop(1)); from attn_gui.__main__ import main; sys.exit(main())"


def show(
    what: Any = None,
    /,
    *,
    q: Any = None,
    k: Any = None,
    v: Any = None,
    mask: Any = None,
    out: Any = None,
    scores: Any = None,
    weights: Any = None,
    tokens: Names | None = None,
    key_tokens: Names | None = None,
    scale: float | None = None,
) -> None:
    """Open the window on ``what`` and return at once; the window stays when the script ends.

    >>> attn_gui.show(model(**inputs, output_attentions=True).attentions, tokens=tokens)
    >>> attn_gui.show(q=q, k=k, v=v, mask=mask)

    what: a Session, an Experiment, or the path of a file that the program opens; an array or tensor
    [[[layers,] batch,] heads,] n_q, n_k of weights (numbers from 0 to 1) or scores; a tuple of them, one a layer.
    The rest is as in :func:`attn_gui.save`. It is a copy: what is edited in the window changes nothing here. Raises
    ExperimentError, naming the argument; FileError for a path where nothing is; RuntimeError where there is no screen
    or no PySide6.
    """
    _check_screen()
    named = Layer(q, k, v, mask, out, scores, weights, tokens, key_tokens, scale)
    if isinstance(what, str | PathLike) and named.is_empty:
        if not os.fspath(what):
            raise FileError("", "", "the name of a file or a folder", "an empty name")
        path = Path(what).absolute()
        if not path.exists():
            raise FileError(path, "", "a file or a folder", "a name that does not exist")
        _start(path)
        return
    descriptor, name = tempfile.mkstemp(prefix="attn_gui-", suffix=".attn")
    os.close(descriptor)
    path = Path(name)
    path.unlink()
    try:
        _write(what, named, path)
        _start(TAKE, path)
    except BaseException:
        with suppress(FileNotFoundError):
            path.unlink()
        raise


def _write(what: Any, named: Layer, path: Path) -> None:
    if isinstance(what, Session | Experiment | NamedExperiment):
        if not named.is_empty:
            raise TypeError("show takes a session, or arrays, and not both")
        if isinstance(what, Experiment):
            what = NamedExperiment("From Python", what)
        session.save(what if isinstance(what, Session) else Session((what,)), path)
    else:
        append_layers(path, [(0, named)] if what is None else layers_in(what, named))


def _check_screen() -> None:
    if find_spec("PySide6") is None:
        raise RuntimeError("the window needs PySide6: pip install PySide6-Essentials, or attn_gui.save to a file")
    unix = sys.platform not in ("win32", "darwin")
    if unix and not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        raise RuntimeError("there is no screen here: attn_gui.save to a file, and open that where there is one")


def _start(*arguments: str | Path) -> None:
    """The program, which outlives this one and does not take its keys."""
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS}
    # -P: a file of the present folder may be called as a module is
    command = [sys.executable, "-P", "-c", START, str(Path(paths.__file__).parent.parent), *map(str, arguments)]
    # nothing of ours is kept open by a window that outlives us: a pipe would not end before it does
    said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by whoever watches
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, **apart)
    taken = arguments[-1] if TAKE in arguments else None
    threading.Thread(target=_watch, args=(started, said, taken), name="attn_gui window", daemon=True).start()


def _watch(started: subprocess.Popen[bytes], said: IO[bytes], taken: str | Path | None) -> None:
    """Say at the prompt if the program ends with an error, and what it ``said``; ``taken``: a file it was to take."""
    with said:
        code = started.wait()
        if not code:
            return
        said.seek(0)
        last = said.read(MOST_SAID).decode("utf-8", "replace").rstrip()
    if taken is not None:
        with suppress(OSError):
            os.unlink(taken)
    # what a notebook shows is not where the program itself wrote
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            told = f"attn_gui: the window has ended with an error (exit code {code})"
            print("\n".join(filter(None, (last, told))), file=sys.stderr, flush=True)
