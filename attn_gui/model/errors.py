"""Faults of input, in words a person can act on."""


class ExperimentError(ValueError):
    """A value that an experiment cannot hold.

    ``field`` names what is wrong (a field of :class:`~attn_gui.model.experiment.Experiment`, or a cell of one),
    ``expected`` and ``received`` say what would do and what came.
    """

    def __init__(self, field: str, expected: str, received: str) -> None:
        super().__init__(f"{field}: expected {expected}, received {received}")
        self.field = field
        self.expected = expected
        self.received = received


class TooLarge(MemoryError):
    """A computation that would need more memory than there is; the message says how much of each, in bytes."""

    def __init__(self, what: str, needed: int, available: int) -> None:
        super().__init__(f"{what} needs {readable_bytes(needed)}; {readable_bytes(available)} may be used")
        self.needed = needed
        self.available = available


def readable_bytes(count: int) -> str:
    """``count`` bytes in decimal units, as file managers show them: ``8_600_000_000`` -> ``'8.6 GB'``."""
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
