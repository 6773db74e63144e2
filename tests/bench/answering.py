"""A process of its own, for what must not share memory, threads or a window with the benchmark."""

from __future__ import annotations

import subprocess
import sys
from types import TracebackType


class Answering:
    """``python -m module arguments``, which answers each line on its stdin with a line on its stdout."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._module = module
        command = [sys.executable, "-m", module, *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Answering:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def ask(self, words: str) -> str:
        """Its answer; RuntimeError if it ended instead, of too little memory perhaps."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{words}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._module} ended with {self._process.wait()} when it was asked for {words!r}")
        return answer

    def close(self) -> None:
        self._process.communicate()
