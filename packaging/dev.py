"""Work on attn_gui from a source tree: python3 packaging/dev.py run | test | shots | bench | wheel | bundle

    run ARGS     start attn-gui from the source tree; ARGS are handed to it
    test ARGS    ruff, mypy, import-linter, pytest; ARGS are handed to pytest; with ATTN_BUNDLE=1 the bundle as well,
                 built and tried
    shots ARGS   screenshots of the main states into resources/screenshots
    bench ARGS   benchmarks: prints a table, writes bench.json, exits 1 if a limit does not hold
    wheel        the wheel into dist/, checked by twine and check-wheel-contents
    bundle       the program in one folder, and its archive, into build/bundle; exits 1 if it takes too much room

Each first sees to the set-up: a virtual environment in .venv (for bundle, .venv-bundle) and, on Linux, the libraries
that Qt needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import environment
import qt_libraries
import wheels

ROOT = Path(__file__).resolve().parent.parent
OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}
HEADLESS_VERBS = ("export", "info", "diagnose", "mark", "scores")
HEADLESS_OPTIONS = ("-h", "--help", "--version")
NO_DISPLAY = """\
attn-gui opens a window, and there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set).
To go on, one of these:
  start it from a desktop session;
  on a machine reached over ssh: ssh -X, then the same command;
  without a screen: QT_QPA_PLATFORM=offscreen python3 packaging/dev.py run --smoke
  without a window: python3 packaging/dev.py run export --help, or run info --help"""


def main(arguments: list[str]) -> int:
    verbs = {"run": run, "test": test, "shots": shots, "bench": bench, "wheel": wheel, "bundle": make_bundle}
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if not arguments or arguments[0] not in verbs:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this script is what an older Python would be told by
        found = ".".join(str(part) for part in sys.version_info[:3])
        print(f"attn_gui needs Python 3.11 or newer, and this is {found}", file=sys.stderr)
        return 1
    try:
        return verbs[arguments[0]](arguments[1:])
    except environment.SetupError as error:
        environment.say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130


def run(arguments: list[str]) -> int:
    if needs_display(arguments) and not has_display():
        print(NO_DISPLAY, file=sys.stderr)
        return 2
    hand_over([str(set_up()), "-m", "attn_gui", *arguments], dict(os.environ))


def test(arguments: list[str]) -> int:
    """Run every check, also after one has failed, so that one run tells everything."""
    python = set_up()
    checks = {
        "ruff check": ["ruff", "check", "."],
        "ruff format": ["ruff", "format", "--check", "."],
        "mypy": ["mypy"],
        "import-linter": ["lint-imports"],
        # a worker to each core; whoever has nothing left takes of another's tests
        "pytest": ["pytest", "--numprocesses=auto", "--dist=worksteal", *arguments],
    }
    # with CI set hypothesis draws the same examples on every machine; pytest by itself looks for new ones
    variables = {"CI": "1", **os.environ, **OFFSCREEN}
    # without it each of some hundred programs that tests start would compile the sources anew
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    failed = []
    for name, (tool, *words) in checks.items():
        print(f"== {name}", flush=True)
        command = [str(python.with_name(tool)), *words]
        if subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode:
            failed.append(name)
    # minutes and gigabytes: only when asked
    if os.environ.get("ATTN_BUNDLE") == "1":
        print("== bundle", flush=True)
        if not bundle_works():
            failed.append("bundle")
    print(f"== failed: {', '.join(failed)}" if failed else "== all checks passed", flush=True)
    return 1 if failed else 0


def shots(arguments: list[str]) -> int:
    python = set_up()
    os.chdir(ROOT)
    hand_over([str(python), "-m", "tests.shots", *arguments], {**os.environ, **OFFSCREEN})


def bench(arguments: list[str]) -> int:
    python = set_up()
    os.chdir(ROOT)
    variables = {**os.environ, **OFFSCREEN}
    # a system may pin OpenBLAS to an old processor, which would hold back the numpy we are measured against
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        variables.pop(name, None)
    hand_over([str(python), "-m", "tests.bench", *arguments], variables)


def wheel(arguments: list[str]) -> int:
    python = set_up()
    built = wheels.build(python, ROOT, ROOT / "dist")
    failed = wheels.faults(python, built)
    print(f"== failed: {', '.join(failed)}" if failed else wheels.described(built), flush=True)
    return 1 if failed else 0


def make_bundle(arguments: list[str]) -> int:
    if arguments:
        print(f"dev.py bundle takes no arguments, and was given {arguments[0]}", file=sys.stderr)
        return 2
    return 1 if built_bundle() is None else 0


def built_bundle() -> Path | None:
    """The folder of the program just built; None where that failed or takes too much room, which is said."""
    import bundle  # which no Python below 3.11 could read

    python = set_up(environment.BUNDLE)
    try:
        built = bundle.build(python, ROOT)
    except subprocess.CalledProcessError as error:
        print(f"the bundle could not be built (see above): {error}", file=sys.stderr)
        return None
    return built.folder if bundle.report(built, ROOT) else None


def bundle_works() -> bool:
    """Build the program and try it as its users start it, under X11 where there is a server for that."""
    folder = built_bundle()
    if folder is None:
        return False
    options = ["--xvfb"] if shutil.which("xvfb-run") else []
    trial = [sys.executable, str(ROOT / "packaging" / "smoke.py"), str(folder), *options]
    return subprocess.run(trial, check=False).returncode == 0


def set_up(folder: str = environment.TESTS) -> Path:
    """The environment's Python, after making sure that everything it needs is there."""
    python = environment.prepare(ROOT, folder)
    if sys.platform.startswith("linux"):
        qt_libraries.ensure(environment.site_packages(ROOT, folder) / "PySide6")
    return python


def needs_display(arguments: list[str]) -> bool:
    """Whether attn-gui will open a window when started with `arguments`."""
    is_headless = arguments[:1] and arguments[0] in HEADLESS_VERBS
    return not is_headless and not set(arguments) & set(HEADLESS_OPTIONS)


def has_display() -> bool:
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def hand_over(command: list[str], variables: dict[str, str]) -> NoReturn:
    """Become `command`: its signals, output and exit code are ours. Windows cannot: a child there."""
    if sys.platform == "win32":
        raise SystemExit(subprocess.run(command, env=variables, check=False).returncode)
    sys.stdout.flush()
    os.execve(command[0], command, variables)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
