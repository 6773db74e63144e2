"""What the bundle holds and leaves out, for the spec and the tests: one list a reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

# folders of resources/ that travel; pictures for the README do not
RESOURCES = ("answers", "examples", "help", "icons", "licences", "tours")
# tests that `attn-gui --self-test` runs: those of conformance that need no onnx, and small models that are opened
SELF_TEST = (
    "tests/compute/capture/agreeing.py",
    "tests/compute/capture/conftest.py",
    "tests/compute/capture/test_interface.py",
    "tests/compute/capture/test_tiny_models.py",
    "tests/compute/capture/tiny.py",
    "tests/conformance/figures.py",
    "tests/conformance/test_multihead_attention.py",
    "tests/conformance/test_published.py",
    "tests/conformance/test_pytorch_cases.py",
    "tests/data/karina.json",
    "tests/data/pytorch_cases.json",
    "tests/data/worked_examples.json",
)
# imported by name at run time, where PyInstaller does not see it
HIDDEN = (
    "PySide6.QtOpenGL",
    "PySide6.QtOpenGLWidgets",
    "accelerate",
    "array_api_compat.numpy.fft",
    "array_api_compat.numpy.linalg",
    "array_api_compat.torch.fft",
    "array_api_compat.torch.linalg",
    "gguf",
    "hypothesis.extra.numpy",
    "pytest",
    "transformers",
    "transformers.modeling_gguf_pytorch_utils",
)
# how packages lie in the bundle, other than their hooks have it: as sources alone, which are compiled when they are
# imported (a few milliseconds of the seconds that opening a model takes) and pack far better than bytecode
COLLECTED = {"torch._inductor": "py", "transformers.models": "py", "transformers.models.auto": "pyz+py"}
# torch's modules lie as bytecode and as sources, of which it reads those that have one of these words in them
READ = re.compile(r"install_config_module|torch\.jit|_jit_internal|getsource")
# what neither the program nor what it uses needs to run
EXCLUDED = (
    "IPython",
    "OpenGL",
    "PIL",
    "PyInstaller",
    "PySide6.QtDBus",
    "PySide6.QtDesigner",
    "PySide6.QtHelp",
    "PySide6.QtNetwork",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "PySide6.QtTest",
    "PySide6.QtUiTools",
    "caffe2",
    # writes graphs of CUDA's out, and looks into them
    "cuda",
    "cupy",
    "h5py",
    "hf_xet",
    "markdown_it",
    "matplotlib",
    "networkx",
    "numba",
    "onnx",
    "pandas",
    "pip",
    "psutil",
    "pydantic",
    "pydantic_core",
    "pyqtgraph.examples",
    "pyqtgraph.jupyter",
    "pyqtgraph.opengl",
    "rich",
    "scipy",
    "setuptools",
    "sqlite3",
    "tensorboard",
    "tkinter",
    # makes programs of models, which takes a compiler and torch's headers
    "torch._inductor.autoheuristic",
    "torch._inductor.codegen",
    "torch._inductor.fx_passes",
    "torch._inductor.kernel",
    "torch._inductor.template_heuristics",
    "torch.testing._internal.common_distributed",
    "torch.testing._internal.common_methods_invocations",
    "torch.testing._internal.common_modules",
    "torch.testing._internal.common_nn",
    "torch.testing._internal.common_quantization",
    "torch.testing._internal.distributed._tensor",
    "torch.testing._internal.distributed.distributed_test",
    "torch.testing._internal.distributed.rpc",
    "torch.testing._internal.generated",
    "torch.testing._internal.opinfo",
    "torch.utils.tensorboard",
    # makes programs for GPUs, which takes a C compiler wherever it runs: torch that finds it uses it unasked
    "triton",
    "typer",
)
# files that PyInstaller collects and nobody opens, as they lie in the bundle
LEFT_OUT = (
    # programs and libraries for building and testing torch; its libshm looks for torch/bin/torch_shm_manager
    "torch/bin/*Test",
    "torch/bin/*.pt",
    "torch/bin/*.ptl",
    "torch/bin/protoc*",
    "torch/bin/test_*",
    "torch/bin/upgrader_models/*",
    "torch/include/*",
    "torch/share/*",
    "torch/test/*",
    "torch/lib/libaoti_custom_ops.so",
    "torch/lib/libbackend_with_compiler.so",
    "torch/lib/libjitbackend_test.so",
    "torch/lib/libtorchbind_test.so",
    # what makes numbers of pictures, films and sounds
    "transformers/models/*/feature_extraction_*.py",
    "transformers/models/*/image_processing_*.py",
    "transformers/models/*/processing_*.py",
    "transformers/models/*/video_processing_*.py",
    # lists of the files that an installation has, and licences, which lie in a folder of their own
    "*.dist-info/RECORD",
    "*.dist-info/licenses/*",
    # Qt's own words in other languages, and what draws with QML or without any window system
    "PySide6/Qt/translations/*",
    "PySide6/Qt/qml/*",
    "PySide6/Qt/plugins/egldeviceintegrations/*",
    "PySide6/Qt/plugins/generic/*",
    "PySide6/Qt/plugins/networkinformation/*",
    "PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboardplugin.so",
    "PySide6/Qt/plugins/platforms/libqeglfs.so",
    "PySide6/Qt/plugins/platforms/libqlinuxfb.so",
    "PySide6/Qt/plugins/platforms/libqminimal.so",
    "PySide6/Qt/plugins/platforms/libqminimalegl.so",
    "PySide6/Qt/plugins/platforms/libqvkkhrdisplay.so",
    "PySide6/Qt/plugins/platforms/libqvnc.so",
    "PySide6/Qt/plugins/tls/*",
    # it would bring a GTK of its own, which cannot read the settings and modules of the system's
    "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
)
# but what names the others
KEPT = ("transformers/models/auto/*",)


def kept(destinations: Iterable[str], patterns: Iterable[str] = LEFT_OUT) -> list[str]:
    """Those of the places in the bundle that none of the patterns names."""
    patterns = tuple(patterns)
    return [place for place in destinations if not is_left_out(place, patterns)]


def is_left_out(destination: str, patterns: Iterable[str] = LEFT_OUT) -> bool:
    place = destination.replace("\\", "/")
    return _is_named(place, patterns) and not _is_named(place, KEPT)


def is_unread(destination: str, path: str) -> bool:
    """Whether a file is a source of torch that lies as bytecode too and that nothing reads."""
    place = PurePosixPath(destination.replace("\\", "/"))
    if place.parts[0] != "torch" or place.suffix != ".py" or _mode(".".join(place.with_suffix("").parts)) == "py":
        return False
    return READ.search(Path(path).read_text("utf-8")) is None


def _mode(module: str) -> str | None:
    """What COLLECTED says of a module or the nearest package around it."""
    names = [module, *(str(parent) for parent in PurePosixPath(module.replace(".", "/")).parents)]
    return next((COLLECTED[name] for name in (name.replace("/", ".") for name in names) if name in COLLECTED), None)


def _is_named(place: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(place, pattern) for pattern in patterns)


def resource_files(root: Path) -> list[tuple[str, str]]:
    """Each shipped resource with the folder of the bundle that it goes to."""
    folder = root / "resources"
    files = (path for name in RESOURCES for path in sorted((folder / name).rglob("*")) if path.is_file())
    return [(str(path), str(Path("attn_gui/resources", path.relative_to(folder).parent).as_posix())) for path in files]


def self_test_files(root: Path) -> list[tuple[str, str]]:
    """Each file that the self-test needs with the folder of the bundle that it goes to."""
    return [(str(root / name), str(Path("self_test", name).parent.as_posix())) for name in SELF_TEST]


def version(root: Path) -> str:
    text = (root / "attn_gui" / "__init__.py").read_text("utf-8")
    return next(line.split('"')[1] for line in text.splitlines() if line.startswith("__version__"))


def info_plist(version: str) -> dict[str, object]:
    """What macOS wants to know: the version, and that .attn files are ours."""
    kind = "org.attn-gui.session"
    return {
        "CFBundleShortVersionString": version,
        "NSHighResolutionCapable": True,
        "LSMinimumSystemVersion": "14.0",
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "attn_gui session",
                "CFBundleTypeRole": "Editor",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [kind],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": kind,
                "UTTypeDescription": "attn_gui session",
                "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": {
                    "public.filename-extension": ["attn"],
                    "public.mime-type": "application/x-attn-session",
                },
            }
        ],
    }
