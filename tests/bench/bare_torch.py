"""A peer of the first result: torch, imported and nothing else, as a whole program; prints the milliseconds it took."""

from __future__ import annotations

import time

STARTED = time.perf_counter()


def main() -> None:
    import torch  # noqa: F401

    print((time.perf_counter() - STARTED) * 1000, flush=True)


if __name__ == "__main__":
    main()
