"""Where torch is missing, too old or broken, one sentence says so, in the commands, the window and Python alike."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_gui import torch_loading
from attn_gui.model.errors import NoTorch


@pytest.fixture(autouse=True)
def looked_at_anew() -> Iterator[None]:
    torch_loading._failure.cache_clear()
    yield
    torch_loading._failure.cache_clear()


def run(stand_in: str | None, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``words`` for a Python that finds a torch that is ``stand_in``, or none."""
    if stand_in is not None:
        (folder / "torch").mkdir()
        (folder / "torch" / "__init__.py").write_text(stand_in, encoding="utf-8")
    hidden = "" if stand_in is not None else "sys.modules['torch'] = None; "
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); {hidden}sys.argv[0] = 'attn-gui'; " + words[0]
    command = [sys.executable, "-c", code, *words[1:]]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


IMPORT = "import attn_gui\ntry: attn_gui.trace\nexcept ImportError as error: print(type(error).__name__, error)"
BROKEN = "raise OSError('[WinError 1114] initialization failed\\nmore')"
COMMAND = "from attn_gui.__main__ import main; sys.exit(main())"


@pytest.mark.parametrize(
    ("stand_in", "said"),
    [
        (None, "torch is not installed. To install it: "),
        ("import surely_not_there", "torch cannot be loaded, since surely_not_there is not installed. "),
        ("__version__ = '2.2.2+cpu'", "torch 2.2.2+cpu is too old. "),
        (BROKEN, "torch cannot be loaded (OSError: [WinError 1114] initialization failed). "),
        ("raise RuntimeError", "torch cannot be loaded (RuntimeError: no reason given). "),
        ("import sys; sys.exit(3)", "torch cannot be loaded (SystemExit: 3). "),
        ("raise GeneratorExit", "torch cannot be loaded (GeneratorExit: no reason given). "),
        ("", "torch cannot be loaded, since parts of it are missing. "),
        ("__version__ = None", "torch cannot be loaded, since parts of it are missing. "),
        ("__version__ = '2.13.0'", "torch cannot be loaded, since parts of it are missing. "),
    ],
)
def test_one_sentence_says_why(tmp_path: Path, stand_in: str | None, said: str) -> None:
    done = run(stand_in, tmp_path, IMPORT)
    assert done.stdout.startswith(f"NoTorch {said}"), done
    assert done.stdout.rstrip().endswith('"torch>=2.9"')
    assert f'"{sys.executable}" -m pip install ' in done.stdout


def test_a_folder_that_an_uninstallation_left_behind(tmp_path: Path) -> None:
    """Without __init__.py it is a namespace package, which imports."""
    code = "import sys, types; torch = types.ModuleType('torch'); torch.__path__ = []; sys.modules['torch'] = torch\n"
    done = run(None, tmp_path, f"del sys.modules['torch']; exec({code + IMPORT!r})")
    assert done.stdout.startswith("NoTorch torch cannot be loaded, since parts of it are missing. "), done
    assert done.stdout.rstrip().endswith('"torch>=2.9"')


def test_whoever_stops_the_program_while_torch_loads_is_heard(tmp_path: Path) -> None:
    done = run("raise KeyboardInterrupt", tmp_path, IMPORT)
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_the_first_reason_stays(tmp_path: Path) -> None:
    code = "import builtins\nif hasattr(builtins, 'again'): raise RuntimeError('half loaded')\nbuiltins.again = True\n"
    done = run(code + BROKEN, tmp_path, f"exec({IMPORT + chr(10) + IMPORT!r})")
    first, second = done.stdout.splitlines()
    assert first == second
    assert "WinError 1114" in first


def test_a_command_says_it_in_one_line(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(BROKEN, tmp_path, COMMAND, "export", "--example", "karina", "--out", str(out))
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("attn-gui: torch cannot be loaded (OSError: ")
    assert not out.exists()


def test_the_least_version_is_the_one_of_the_package() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"torch>={torch_loading.NEEDED}" in project["dependencies"]


def test_what_is_there_is_loaded() -> None:
    torch_loading.load()


def missing(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NoTorch) as failure:
        torch_loading.load()
    return str(failure.value)


def test_intel_macs_are_told_what_there_is_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_loading.sys, "platform", "darwin")
    monkeypatch.setattr(torch_loading.platform, "machine", lambda: "x86_64")
    said = missing(monkeypatch)
    assert "none newer than 2.2 for Intel Macs" in said
    assert "conda install -c conda-forge pytorch" in said
    assert "pip install" not in said


def test_other_macs_are_told_what_everybody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_loading.sys, "platform", "darwin")
    monkeypatch.setattr(torch_loading.platform, "machine", lambda: "arm64")
    assert "pip install" in missing(monkeypatch)


def test_nobody_with_the_program_alone_is_told_to_install_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    said = missing(monkeypatch)
    assert "pip" not in said
    assert "Unpack the program anew" in said


def test_windows_may_lack_a_library_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_loading.sys, "platform", "win32")

    class Broken:
        def find_spec(self, name: str, *rest: object) -> None:
            if name == "torch":
                raise OSError("[WinError 126] not found")

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(NoTorch, match=r"WinError 126.*Visual C\+\+ Redistributable"):
        torch_loading.load()


ORDER = """
from attn_gui import __main__, cli, torch_loading
import types

def load():
    print([name for name in sys.modules if name.startswith("PySide6")])
    raise torch_loading.NoTorch("none")

torch_loading.load = load
stand_in = types.ModuleType("attn_gui.app")
stand_in.main = lambda arguments, started: print("the window") or 0
import attn_gui
sys.modules["attn_gui.app"] = attn_gui.app = stand_in
__main__._import_plainly = lambda: print("Qt")
sys.platform = {platform!r}
sys.argv = ["attn-gui"]
sys.exit(__main__.main())
"""


def test_on_windows_torch_comes_before_qt_and_the_window_also_without_it(tmp_path: Path) -> None:
    done = run(None, tmp_path, ORDER.format(platform="win32"))
    assert (done.returncode, done.stdout.splitlines()) == (0, ["[]", "Qt", "the window"])


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_elsewhere_it_comes_after_the_first_paint(tmp_path: Path, platform: str) -> None:
    done = run(None, tmp_path, ORDER.format(platform=platform))
    assert (done.returncode, done.stdout.splitlines()) == (0, ["Qt", "the window"])
