"""Work beside a generator: progress, results, faults, and stopping."""

from __future__ import annotations

import threading
import time

import pytest

from attn_gui.compute.capture.capturing import capture_steps
from attn_gui.compute.capture.opening import OpenedModel
from attn_gui.compute.capture.stepping import Report, in_steps
from tests.compute.capture.agreeing import finished


def test_progress_goes_on_while_the_work_does() -> None:
    seen = threading.Event()

    def work(report: Report) -> str:
        report(0.5)
        assert seen.wait(5)
        return "done"

    steps = in_steps(work)
    while next(steps) != 0.5:
        pass
    seen.set()
    assert finished(steps) == "done"


def test_a_fault_comes_out_of_the_generator() -> None:
    def work(report: Report) -> None:
        raise ValueError("as it is")

    with pytest.raises(ValueError, match="as it is"):
        finished(in_steps(work))


def test_closing_stops_at_the_next_report() -> None:
    ended = threading.Event()

    def work(report: Report) -> None:
        try:
            while True:
                report(0.1)
                time.sleep(0.001)
        finally:
            ended.set()

    steps = in_steps(work)
    next(steps)
    steps.close()
    assert ended.wait(5)


def test_a_stopped_capture_leaves_the_model_for_the_next(gpt2: OpenedModel) -> None:
    steps = capture_steps(gpt2.model, gpt2.tokenizer, "The cat " * 12)
    next(steps, None)
    steps.close()
    session = finished(capture_steps(gpt2.model, gpt2.tokenizer, "The cat"))
    assert len(session.experiments) == 3
    assert session.model is not None and session.model.path == str(gpt2.path)
    assert gpt2.model.config._attn_implementation == "sdpa"
