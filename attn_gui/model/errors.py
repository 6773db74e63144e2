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


class HiddenStage(ExperimentError):
    """A stage that an exercise hides until its answers are checked."""

    def __init__(self, stage: str) -> None:
        super().__init__(stage, "a stage that is shown", "one that the exercise hides until it is checked")


class NoTorch(ImportError):
    """There is no torch that could compute; the message says why, and what to do."""


class TooLarge(MemoryError):
    """A computation that would need more memory than there is; the message says how much of each, in bytes."""

    def __init__(self, what: str, needed: int, available: int) -> None:
        need, have = readable_sizes(needed, available)
        super().__init__(f"{what} needs {need}; {have} may be used")
        self.needed = needed
        self.available = available


def readable_bytes(count: int, digits: int = 3) -> str:
    """``count`` bytes in decimal units, as file managers show them: ``8_600_000_000`` -> ``'8.6 GB'``."""
    if count < 1000:
        return f"{count} bytes"
    size = count / 1000
    for unit in ("kB", "MB", "GB", "TB"):
        text = f"{size:.{digits}g}"
        # what rounds up to 1000 is 1 of the next
        if float(text) < 1000:
            return f"{text} {unit}"
        size /= 1000
    return f"{1000 * size:,.0f} TB"


def readable_sizes(first: int, second: int) -> tuple[str, str]:
    """Both as :func:`readable_bytes`, with as many digits as it takes to tell them apart."""
    for digits in (3, 4, 5, 6):
        said = readable_bytes(first, digits), readable_bytes(second, digits)
        if said[0] != said[1]:
            return said
    return f"{first:,} bytes", f"{second:,} bytes"
