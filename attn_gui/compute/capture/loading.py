"""How far transformers is with loading, heard from its progress bars, none of which is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from attn_gui.compute.capture.stepping import Report


@contextmanager
def heard(report: Report) -> Iterator[None]:
    """Tell ``report`` the part done, 0 to 1, of what transformers loads while within; it may raise to stop that."""
    from transformers.utils import logging

    gguf: Any = import_module("transformers.modeling_gguf_pytorch_utils")

    def bar(factory: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]) -> _Bar:
        return _Bar(report, *given, **options)

    hook = logging.set_tqdm_hook(bar)
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # what matters of its reports is said in words, not on the console
    drawn = gguf.tqdm  # of GGUF files, whose bar does not ask for the hook
    gguf.tqdm = lambda *given, **options: _Bar(report, *given, **options)
    try:
        yield
    finally:
        gguf.tqdm = drawn
        logging.set_verbosity(verbosity)
        logging.set_tqdm_hook(hook)


class _Bar:
    """Stands in for a progress bar of tqdm."""

    def __init__(
        self, report: Report, iterable: Iterable[Any] = (), *given: Any, total: float | None = None, **options: Any
    ) -> None:
        self._report = report
        self._items = iterable
        self._total = float(total or (len(iterable) if isinstance(iterable, Sized) else 0))
        self._count = 0.0

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            yield item
            self.update()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def update(self, count: float = 1) -> None:
        self._count += count
        self._report(min(1.0, self._count / self._total) if self._total else 0.0)

    def close(self) -> None:
        """As tqdm has it; nothing is open."""

    def set_description(self, *given: Any, **options: Any) -> None:
        """As tqdm has it; nothing is drawn."""

    set_postfix = set_description_str = refresh = set_description
