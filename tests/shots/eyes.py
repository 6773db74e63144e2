"""A picture as other eyes see it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
EYES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    # luminance of BT.709 in every channel
    "greyscale": [[0.2126, 0.7152, 0.0722]] * 3,
}


def seen_with(eye: str, source: Path, target: Path) -> None:
    """Write ``source`` as ``eye`` sees it."""
    image = QImage(str(source)).convertToFormat(QImage.Format.Format_RGB32)
    height, width = image.height(), image.width()
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(height, width, 4)[:, :, 2::-1] / 255
    linear = np.where(pixels <= 0.04045, pixels / 12.92, ((pixels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(EYES[eye]).T, 0, 1)
    encoded = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
    result = np.ascontiguousarray((encoded * 255 + 0.5).astype(np.uint8))
    QImage(result.data, width, height, 3 * width, QImage.Format.Format_RGB888).save(str(target))
