"""The peer of the first paint: a bare QMainWindow with a pyqtgraph image, as a whole program.

Prints the milliseconds from its start to its first paint, as ``python -m attn_gui --smoke`` does.
"""

from __future__ import annotations

import sys
import time

STARTED = time.perf_counter()


def main() -> int:
    import numpy as np
    import pyqtgraph as pg
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Plot(pg.PlotWidget):  # it covers the window, which itself has nothing to paint
        def paintEvent(self, event: QPaintEvent) -> None:
            super().paintEvent(event)
            QTimer.singleShot(0, report)

    def report() -> None:
        print((time.perf_counter() - STARTED) * 1000, flush=True)
        QApplication.quit()

    application = QApplication(["bare"])
    application.setStyle("Fusion")
    plot = Plot()
    image = pg.ImageItem(axisOrder="row-major")
    image.setImage(np.zeros((5, 5), np.float32), levels=(0.0, 1.0))
    plot.addItem(image)
    window = QMainWindow()
    window.setCentralWidget(plot)
    window.resize(1280, 720)
    window.show()
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
