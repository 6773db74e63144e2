"""What the bundle is told to hold and to leave out, against the source and the installed packages; and its sums."""

from __future__ import annotations

import ast
import os
import plistlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import bundle
import bundle_fallback
import bundle_libraries
import bundle_licences
import bundle_lists
import environment
import pytest
import torch
from torch.utils._config_module import ConfigModule

from attn_gui import paths

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SITE_PACKAGES = Path(torch.__file__).resolve().parent.parent
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names files as Linux has them")


def test_every_resource_travels_but_the_screenshots() -> None:
    shipped = {(Path(file), place) for file, place in bundle_lists.resource_files(ROOT)}
    resources = ROOT / "resources"
    expected = {
        (path, (PurePosixPath("attn_gui/resources") / path.parent.relative_to(resources).as_posix()).as_posix())
        for path in resources.rglob("*")
        if path.is_file() and "screenshots" not in path.parts
    }
    assert shipped == expected
    assert len(shipped) > 20


def test_every_self_test_travels_with_what_it_imports() -> None:
    files = dict(bundle_lists.self_test_files(ROOT))
    assert all(Path(file).is_file() for file in files)
    shipped = {name.removesuffix(".py").replace("/", ".") for name in bundle_lists.SELF_TEST}
    for name in bundle_lists.SELF_TEST:
        if name.endswith(".py"):
            tree = ast.parse((ROOT / name).read_text("utf-8"))
            asked = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
            assert {module for module in asked if module.startswith("tests.")} <= shipped
    # the conformance tests, all of them but those that need another package
    folder = ROOT / "tests" / "conformance"
    whole = {path.name for path in folder.glob("*.py") if "onnx" not in path.read_text("utf-8")}
    assert whole == {Path(name).name for name in bundle_lists.SELF_TEST if name.startswith("tests/conformance/")}


def test_what_is_imported_by_name_is_in_the_bundle() -> None:
    named = {name for _, name in imports_by_name()}
    assert {"gguf", "transformers.modeling_gguf_pytorch_utils"} <= named
    assert named <= {*bundle_lists.HIDDEN}


def test_nothing_that_is_imported_is_excluded() -> None:
    """Wherever the import stands: at the top, or in a function that runs late or never."""
    asked = {*imports(), *((path, name) for path, name in imports_by_name())}
    assert ("compute/capture/library.py", "transformers") in asked
    assert not [(path, name) for path, name in asked if is_excluded(name)]


def imports() -> Iterator[tuple[str, str]]:
    """(file below attn_gui, module) for every import statement of the program."""
    for path in (ROOT / "attn_gui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            yield from ((path.relative_to(ROOT / "attn_gui").as_posix(), name) for name in names)


def imports_by_name() -> Iterator[tuple[str, str]]:
    """(file below attn_gui, module) where a text names it, out of sight of who reads import statements."""
    for path in (ROOT / "attn_gui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "id", ""), getattr(node.func, "attr", "")
            if "import_module" in called and isinstance(node.args[0], ast.Constant):
                yield path.relative_to(ROOT / "attn_gui").as_posix(), node.args[0].value


def is_excluded(name: str) -> bool:
    return any(name == excluded or name.startswith(f"{excluded}.") for excluded in bundle_lists.EXCLUDED)


# what the program does, with each excluded module as far away as the bundle has it
WITHOUT = """
import pkgutil, sys
from importlib import import_module
for name in sys.argv[3:]:
    sys.modules[name] = None
import attn_gui
for module in pkgutil.walk_packages(attn_gui.__path__, "attn_gui."):
    if not module.name.endswith(("__main__", "self_test")):
        import_module(module.name)
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from attn_gui import capture
from attn_gui.compute.capture.opening import open_model
from tests.compute.capture.tiny import TINY, save
for name in ("bert", "gpt2"):
    opened = open_model(save(TINY[name], Path(sys.argv[2], name)))
    assert capture(opened.model, opened.tokenizer, "The cat sat").experiments
import accelerate, gguf, hypothesis.extra.numpy, pytest, transformers.modeling_gguf_pytorch_utils
print("done")
"""


@pytest.mark.slow
def test_the_program_and_its_models_do_without_what_is_excluded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT, str(ROOT), str(tmp_path), *bundle_lists.EXCLUDED]
    variables = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("done"), done.stderr


@linux
def test_every_pattern_leaves_something_out() -> None:
    packages = files_of("torch", "transformers", "PySide6", "*.dist-info")
    installed = [path.relative_to(SITE_PACKAGES).as_posix() for path in packages]
    for pattern in bundle_lists.LEFT_OUT:
        assert any(bundle_lists.is_left_out(place, (pattern,)) for place in installed), pattern


def files_of(*patterns: str) -> Iterator[Path]:
    for pattern in patterns:
        for folder in SITE_PACKAGES.glob(pattern):
            yield from (path for path in folder.rglob("*") if path.is_file())


def test_what_the_program_opens_is_not_left_out() -> None:
    needed = [
        "torch/bin/torch_shm_manager",
        "torch/lib/libtorch_cpu.so",
        "torch/jit/_script.py",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforms/libqwayland.so",
        "PySide6/Qt/plugins/platforms/libqoffscreen.so",
        "PySide6/Qt/plugins/platforms/qwindows.dll",
        "PySide6/Qt/plugins/platforms/libqcocoa.dylib",
        "PySide6/Qt/plugins/iconengines/libqsvgicon.so",
        "PySide6/Qt/plugins/platforminputcontexts/libibusplatforminputcontextplugin.so",
        "transformers/models/bert/modeling_bert.py",
        "attn_gui/resources/icons/attn-gui.svg",
        "licences/torch/licenses/LICENSE",
    ]
    assert bundle_lists.kept(needed) == needed
    assert bundle_lists.kept(["transformers/models/vit/image_processing_vit.py"]) == []
    auto = ["transformers/models/auto/image_processing_auto.py"]
    assert bundle_lists.kept(auto) == auto
    assert bundle_lists.is_left_out("torch\\test\\test_cuda")


@pytest.mark.parametrize(
    ("place", "text", "unread"),
    [
        ("torch/nn/init.py", "import math", True),
        ("torch/nn/functional.py", "from torch import _jit_internal", False),
        ("torch/compiler/config.py", "install_config_module(module)", False),
        ("torch\\nn\\init.py", "import math", True),
        # of these there is no bytecode
        ("torch/_inductor/utils.py", "import math", False),
        ("torch/lib/libtorch_cpu.so", "", False),
        ("transformers/activations.py", "import math", False),
    ],
)
def test_sources_of_torch_that_nobody_reads(tmp_path: Path, place: str, text: str, unread: bool) -> None:
    path = tmp_path / "source"
    path.write_text(text, "utf-8")
    assert bundle_lists.is_unread(place, str(path)) == unread


def test_modules_that_call_for_their_source_keep_it() -> None:
    """Every module of torch that has a setting or a scripted function, as torch itself sees it once it is loaded."""
    folder = Path(torch.__file__).parent
    modules = [name for name, module in list(sys.modules.items()) if isinstance(module, ConfigModule)]
    assert "torch.compiler.config" in modules
    for name in modules:
        path = folder.parent / f"{name.replace('.', '/')}.py"
        assert not bundle_lists.is_unread(path.relative_to(folder.parent).as_posix(), str(path)), name


def test_a_library_leaves_with_all_that_came_for_it() -> None:
    asks = {
        "/qxcb": ["libxcb-cursor.so.0", "libc.so.6"],
        "/gtk": ["libgdk.so.0"],
        "/gdk": ["libcairo.so.2", "libz.so.1"],
        "/cursor": ["libxcb-util.so.1"],
        "/core.so": ["libicu.so.73"],
        "/icu": ["libz.so.1"],
    }
    kept = [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", "/qxcb", "BINARY"),
        ("libxcb-cursor.so.0", "/cursor", "BINARY"),
        ("libxcb-util.so.1", "/util", "BINARY"),
        ("PySide6/QtCore.abi3.so", "/core.so", "EXTENSION"),
        ("PySide6/Qt/lib/libicu.so.73", "/icu", "BINARY"),
        ("libicu.so.73", "PySide6/Qt/lib/libicu.so.73", "SYMLINK"),
        ("libz.so.1", "/z", "BINARY"),
        ("libpython3.11.so.1.0", "/python", "BINARY"),
        ("torch/lib/libtorch_cpu.so", "/torch", "BINARY"),
    ]
    spare = [
        ("libgtk.so.0", "/gtk", "BINARY"),
        ("libgdk.so.0", "/gdk", "BINARY"),
        ("libcairo.so.2", "/cairo", "BINARY"),
        ("PySide6/Qt/lib/libQt6Network.so.6", "/network", "BINARY"),
        ("libQt6Network.so.6", "PySide6/Qt/lib/libQt6Network.so.6", "SYMLINK"),
        ("libQt6Test.so.6", "PySide6/Qt/lib/libQt6Test.so.6", "SYMLINK"),
    ]
    found = bundle_libraries.needed([*spare, *kept], lambda path: asks.get(path, []))
    assert found == kept


def test_what_a_library_opens_lies_beside_it(tmp_path: Path) -> None:
    for name in ("libnvrtc.so.13", "libnvrtc.alt.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc-builtins.alt.so.13.0"):
        (tmp_path / name).touch()
    compiler = ("nvidia/cu13/lib/libnvrtc.so.13", str(tmp_path / "libnvrtc.so.13"), "BINARY")
    link = ("libnvrtc.so.13", "nvidia/cu13/lib/libnvrtc.so.13", "SYMLINK")
    builtins = ("nvidia/cu13/lib/libnvrtc-builtins.so.13.0", str(tmp_path / "libnvrtc-builtins.so.13.0"), "BINARY")
    assert bundle_libraries.opened([compiler, link]) == [builtins]
    assert bundle_libraries.opened([compiler, link, builtins]) == []
    assert bundle_libraries.opened([("torch/lib/libtorch_cpu.so", str(tmp_path / "libtorch_cpu.so"), "BINARY")]) == []


def test_the_libraries_to_lend_are_all_there_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = bundle_libraries.fallback(lambda name: f"/lib/{name}")
    assert ("fallback/libEGL.so.1", "/lib/libEGL.so.1", "DATA") in entries
    assert len(entries) == len(bundle_fallback.NAMES)
    with pytest.raises(SystemExit, match=r"lend others libGL\.so\.1, which this system lacks"):
        bundle_libraries.fallback(lambda name: None if name == "libGL.so.1" else f"/lib/{name}")


@linux
def test_the_libraries_are_lent_after_those_that_they_ask_for() -> None:
    asked = {}
    for name in bundle_fallback.NAMES:
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(open('/proc/self/maps').read())"
        maps = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, check=True).stdout
        asked[name] = {other for other in bundle_fallback.NAMES if f"/{other}" in maps} - {name}
    assert asked["libGL.so.1"] == {"libGLX.so.0", "libGLdispatch.so.0", "libxcb.so.1"}
    for index, name in enumerate(bundle_fallback.NAMES):
        assert asked[name] <= {*bundle_fallback.NAMES[:index]}, name


def test_only_what_the_system_lacks_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(name: str) -> None:
        if name == "libEGL.so.1":
            raise OSError(name)
        loaded.append(name)

    monkeypatch.setattr(bundle_fallback.ctypes, "CDLL", load)
    bundle_fallback.lend("/bundle/fallback")
    expected = [name if name != "libEGL.so.1" else "/bundle/fallback/libEGL.so.1" for name in bundle_fallback.NAMES]
    assert loaded == expected


def test_licences_of_what_is_inside() -> None:
    places = dict(bundle_licences.files(["torch._C", "PySide6", "numpy.linalg", "tokenizers"], ROOT))
    assert Path(places["licences/attn_gui/LICENSE"]) == ROOT / "LICENSE"
    assert all(Path(file).is_file() for file in places.values())
    packages = {place.split("/")[1].lower().replace("-", "_") for place in places}
    assert packages - {"python"} == {"attn_gui", "torch", "pyside6_essentials", "numpy", "tokenizers"}
    # these come without the text of their licence
    texts = {place.split("/")[-1] for place in places if place.lower().startswith("licences/pyside6")}
    assert texts == {"METADATA", "LGPL-3.0.txt", "GPL-3.0.txt"}
    assert {place.split("/")[-1] for place in places if "/tokenizers/" in place} == {"METADATA", "Apache-2.0.txt"}


@pytest.mark.skipif(not Path("/usr/bin/dpkg-query").is_file(), reason="asks Debian for its packages")
def test_licences_of_the_systems_libraries() -> None:
    library = next(Path("/usr/lib").glob("*/libz.so.1"))
    places = dict(bundle_licences.of_system([str(library), "/opt/elsewhere/libown.so"]))
    assert list(places) == ["licences/zlib1g/copyright"]
    assert dict(bundle_licences.of_system([])) == {}


def test_sizes_are_summed_by_part(tmp_path: Path) -> None:
    made = {
        "attn-gui": 7,
        "_internal/libz.so": 1,
        "_internal/torch/lib/libtorch_cpu.so": 20,
        "_internal/torch/lib/libc10.so": 3,
        "_internal/torch/nn/modules/linear.py": 5,
        "_internal/torch/nn/functional.py": 4,
        "_internal/numpy/core/a.so": 6,
        "_internal/numpy/b.py": 2,
    }
    for name, size in made.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(size))
    if os.name == "posix":
        (tmp_path / "_internal" / "libtorch.so").symlink_to("torch/lib/libtorch_cpu.so")
    assert bundle.parts(tmp_path) == {
        "attn-gui": 7,
        "libz.so": 1,
        "torch/lib/libtorch_cpu.so": 20,
        "torch/lib/libc10.so": 3,
        "torch/nn/modules": 5,
        "torch/nn/functional.py": 4,
        "numpy": 8,
    }


def test_the_table_and_the_limits() -> None:
    sizes = {"a": 30_000_000, "torch/lib": 400_100_000, "b": 1_500_000, "c": 400_000}
    assert bundle.table(sizes) == ["   400.1 MB  torch/lib", "    30.0 MB  a", "     1.9 MB  2 smaller parts"]
    totals = {"unpacked": 800_000_000, "packed": 200_000_001}
    assert bundle.verdicts(totals, {"unpacked": 800}) == [
        "   800.0 MB  unpacked (limit 800 MB)",
        "   200.0 MB  packed (no limit set)",
    ]
    assert bundle.within(totals, {"unpacked": 800})
    assert not bundle.within(totals, {"unpacked": 800, "packed": 200})


@linux
def test_the_report_holds_the_budget_against_cpu_torch_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "size_budget.toml").write_text("[linux]\nunpacked = 1\npacked = 1\n", "utf-8")
    folder, archive = tmp_path / "attn_gui", tmp_path / "attn_gui.tar.xz"
    folder.mkdir()
    (folder / "attn-gui").write_bytes(bytes(1_000_001))
    archive.write_bytes(bytes(9))
    assert not bundle.report(bundle.Built(folder, archive, "cpu"), tmp_path)
    assert "1.0 MB  unpacked (limit 1 MB)" in capsys.readouterr().out
    assert bundle.report(bundle.Built(folder, archive, "cuda13.0"), tmp_path)
    assert "unpacked (no limit set)" in capsys.readouterr().out


def test_the_budget_is_what_was_set_out() -> None:
    import tomllib

    limits = tomllib.loads((PACKAGING / "size_budget.toml").read_text("utf-8"))
    assert limits["linux"] == {"unpacked": 800, "packed": 200}


def test_torch_tells_what_it_is_built_for() -> None:
    expected = f"cuda{torch.version.cuda}" if torch.version.cuda else "cpu"
    assert bundle.kind_of_torch(Path(sys.executable)) == expected


def test_version_and_macos_properties() -> None:
    from attn_gui import __version__

    assert bundle_lists.version(ROOT) == __version__
    told = plistlib.loads(plistlib.dumps(bundle_lists.info_plist("1.2")))
    (kind,) = told["UTExportedTypeDeclarations"]
    assert told["CFBundleDocumentTypes"][0]["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]
    assert kind["UTTypeTagSpecification"]["public.filename-extension"] == ["attn"]
    assert plistlib.loads((PACKAGING / "macos" / "entitlements.plist").read_bytes())


def test_the_spec_parses_and_reads_its_lists() -> None:
    tree = ast.parse((PACKAGING / "attn_gui.spec").read_text("utf-8"))
    read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {"EXCLUDED", "HIDDEN", "COLLECTED", "resource_files", "self_test_files", "is_left_out", "needed"} <= read
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert (PACKAGING / "bundle_fallback.py").is_file() and "bundle_fallback.py" in named
    for peer in ("bare_start.py", "bare_torch.py"):
        assert (ROOT / "tests" / "bench" / peer).is_file() and peer in named


def test_the_workflow_names_files_that_are_there() -> None:
    import yaml

    text = (ROOT / ".github" / "workflows" / "bundle.yml").read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    steps = " ".join(step.get("run", "") for step in job["steps"])
    files = {word.strip('"').removeprefix("$PWD/") for word in steps.replace(":", " ").split() if "packaging/" in word}
    assert len(files) == 4
    assert all((ROOT / file).is_file() for file in files)


def test_the_environment_of_the_bundle_takes_cpu_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        calls.append(command[5:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(environment.subprocess, "run", run)
    monkeypatch.setattr(environment.sys, "platform", "linux")
    environment._install(tmp_path, Path("python"), environment.BUNDLE)
    constraints = ["--constraint", str(tmp_path / "packaging" / "constraints.txt")]
    cpu = ["--no-deps", "--extra-index-url", "https://download.pytorch.org/whl/cpu", "torch"]
    whole = ["--editable", f"{tmp_path}[bundle]"]
    assert [call[1:] for call in calls] == [[*constraints, *cpu], [*constraints, *whole]]
    calls.clear()
    monkeypatch.setattr(environment.sys, "platform", "darwin")
    environment._install(tmp_path, Path("python"), environment.BUNDLE)
    assert [call[1:] for call in calls] == [[*constraints, *whole]]


SELF_TESTED = "import sys; sys._MEIPASS = sys.argv[1]; from attn_gui import self_test; sys.exit(self_test.run())"


@pytest.mark.parametrize(("test", "code"), [("assert True", 0), ("assert False", 1)])
def test_a_frozen_program_runs_its_own_tests(tmp_path: Path, test: str, code: int) -> None:
    folder = tmp_path / "self_test" / "tests" / "conformance"
    folder.mkdir(parents=True)
    (folder / "figures.py").write_text("def check() -> None:\n    " + test, "utf-8")
    (folder / "test_it.py").write_text("from tests.conformance import figures\n\ndef test_it():\n    figures.check()\n")
    before = set(tmp_path.rglob("*"))
    command = [sys.executable, "-P", "-c", SELF_TESTED, str(tmp_path)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert ("1 passed" if code == 0 else "1 failed") in done.stdout
    assert set(tmp_path.rglob("*")) == before


def test_the_source_runs_its_conformance_tests_and_a_wheel_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paths.self_tests() == ROOT / "tests" / "conformance"
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "attn_gui" / "paths.py"))
    assert paths.self_tests() is None
