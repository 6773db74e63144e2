"""The conformance tests, run by the program itself: by what it is made of, wherever it lies."""

from __future__ import annotations

import os
import sys

from attn_gui import paths


def run() -> int:
    """Run them and print what pytest prints; 0 where all pass, 2 where there is nothing to run or to run it with."""
    tests = paths.self_tests()
    if tests is None:
        print("attn-gui: this installation has no conformance tests; the source and the bundle have", file=sys.stderr)
        return 2
    try:
        import pytest
        from hypothesis import HealthCheck, settings
    except ImportError as error:
        print(f"attn-gui: --self-test needs {error.name}: pip install 'attn_gui[test]'", file=sys.stderr)
        return 2
    # the same numbers everywhere, however slow the computer
    settings.register_profile("self-test", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    settings.load_profile("self-test")
    sys.dont_write_bytecode = True  # the program may lie where nobody may write
    root = next(folder.parent for folder in (tests, *tests.parents) if folder.name == "tests")
    sys.path.insert(0, str(root))
    alone = ["-c", os.devnull, "--disable-plugin-autoload", "-p", "no:cacheprovider"]
    return int(pytest.main(["-q", *alone, "--rootdir", str(root), "--import-mode=importlib", str(tests)]))
