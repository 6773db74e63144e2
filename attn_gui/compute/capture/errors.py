"""What cannot be captured, in words."""


class CaptureError(ValueError):
    """A model that cannot be opened or captured; the message names it, what is wrong, and what would do."""
