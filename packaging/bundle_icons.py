"""The program's icon in every size and kind that systems ask for, drawn from the one that ships: FOLDER as argument."""

from __future__ import annotations

import shutil
import struct
import sys
from pathlib import Path

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
# names by which an .icns file knows the sizes of PNG pictures
ICNS = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}


def main(folder: Path, source: Path) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    folder.mkdir(parents=True, exist_ok=True)
    drawing = QSvgRenderer(str(source))
    pictures: dict[int, bytes] = {}
    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        with QPainter(image) as painter:
            drawing.render(painter)
        path = folder / f"attn-gui-{size}.png"
        image.save(str(path))
        pictures[size] = path.read_bytes()
    shutil.copy(source, folder / "attn-gui.svg")
    (folder / "attn-gui.ico").write_bytes(ico({size: data for size, data in pictures.items() if size <= 256}))
    (folder / "attn-gui.icns").write_bytes(icns(pictures))


def ico(pictures: dict[int, bytes]) -> bytes:
    """A Windows icon of PNG pictures (allowed since Vista): header, a directory entry for each, the pictures."""
    head = struct.pack("<HHH", 0, 1, len(pictures))
    place = len(head) + 16 * len(pictures)
    for size, data in pictures.items():
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), place)
        place += len(data)
    return head + b"".join(pictures.values())


def icns(pictures: dict[int, bytes]) -> bytes:
    """A macOS icon: a header, and each picture under the name of its size."""
    parts = [(ICNS[size], data) for size, data in pictures.items() if size in ICNS]
    body = b"".join(name + struct.pack(">I", 8 + len(data)) + data for name, data in parts)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).resolve().parent.parent / "resources" / "icons" / "attn-gui.svg")
