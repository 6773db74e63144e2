"""Stretched frequencies against the formulas of transformers, written as that library has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.rotary.frequencies import Frequencies

widths = st.sampled_from([2, 4, 16, 64, 128])
bases = st.sampled_from([100.0, 10000.0, 500000.0])
factors = st.sampled_from([1.0, 1.5, 4.0, 8.0, 32.0])
lengths = st.sampled_from([16, 512, 2048, 8192])


def inverse_frequencies(base: float, dim: int) -> torch.Tensor:
    return 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim))


@given(widths, bases)
def test_plain(dim: int, base: float) -> None:
    np.testing.assert_allclose(Frequencies(base=base).frequencies(dim), inverse_frequencies(base, dim), rtol=1e-12)


@given(widths, bases, factors)
def test_linear(dim: int, base: float, factor: float) -> None:
    found = Frequencies(base=base, scaling="linear", factor=factor).frequencies(dim)
    np.testing.assert_allclose(found, inverse_frequencies(base, dim) / factor, rtol=1e-12)


@given(widths.filter(lambda dim: dim > 2), bases, factors)
def test_ntk(dim: int, base: float, factor: float) -> None:
    found = Frequencies(base=base, scaling="ntk", factor=factor).frequencies(dim)
    # transformers' dynamic form, at the sequence length at which its growth is the factor
    length, seq_len = 1000, 1000 * (2 * factor - 1) / factor
    grown = base * ((factor * seq_len / length) - (factor - 1)) ** (dim / (dim - 2))
    np.testing.assert_allclose(found, inverse_frequencies(grown, dim), rtol=1e-9)
    # what the change of base is for: the fastest pair stays, the slowest is divided by the factor
    plain = inverse_frequencies(base, dim)
    assert found[0] == plain[0] == 1
    assert found[-1] == pytest.approx(float(plain[-1]) / factor, rel=1e-9)


def yarn(base: float, dim: int, factor: float, length: int, beta_fast: float, beta_slow: float) -> torch.Tensor:
    def find_correction_dim(num_rotations: float) -> float:
        return (dim * math.log(length / (num_rotations * 2 * math.pi))) / (2 * math.log(base))

    low = max(math.floor(find_correction_dim(beta_fast)), 0)
    high: float = min(math.ceil(find_correction_dim(beta_slow)), dim - 1)
    if low == high:
        high += 0.001
    ramp = torch.clamp((torch.arange(dim // 2, dtype=torch.float64) - low) / (high - low), 0, 1)
    extrapolation_factor = 1 - ramp
    pos_freqs = base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    extrapolation, interpolation = 1.0 / pos_freqs, 1.0 / (factor * pos_freqs)
    return interpolation * (1 - extrapolation_factor) + extrapolation * extrapolation_factor


@given(widths, bases, factors, lengths, st.sampled_from([32.0, 4.0]), st.sampled_from([1.0, 0.5]))
def test_yarn(dim: int, base: float, factor: float, length: int, fast: float, slow: float) -> None:
    rotary = Frequencies(base=base, scaling="yarn", factor=factor, original_length=length, fast=fast, slow=slow)
    np.testing.assert_allclose(rotary.frequencies(dim), yarn(base, dim, factor, length, fast, slow), rtol=1e-12)
    lengthening = 1.0 if factor <= 1 else 0.1 * math.log(factor) + 1.0  # get_mscale
    assert rotary.lengthening == pytest.approx(lengthening, rel=1e-15)
    cos, sin = rotary.tables(np.array([3]), dim)
    np.testing.assert_allclose(np.hypot(cos, sin), lengthening, rtol=1e-14)


def llama3(base: float, dim: int, factor: float, length: int, low: float, high: float) -> torch.Tensor:
    inv_freq = inverse_frequencies(base, dim)
    wavelen = 2 * math.pi / inv_freq
    low_freq_wavelen, high_freq_wavelen = length / low, length / high
    inv_freq_llama = torch.where(wavelen > low_freq_wavelen, inv_freq / factor, inv_freq)
    smooth_factor = (length / wavelen - low) / (high - low)
    smoothed = (1 - smooth_factor) * inv_freq_llama / factor + smooth_factor * inv_freq_llama
    is_medium = ~(wavelen < high_freq_wavelen) * ~(wavelen > low_freq_wavelen)
    return torch.where(is_medium, smoothed, inv_freq_llama)


@given(widths, bases, factors, lengths, st.sampled_from([(1.0, 4.0), (0.5, 8.0)]))
def test_llama3(dim: int, base: float, factor: float, length: int, bounds: tuple[float, float]) -> None:
    low, high = bounds
    rotary = Frequencies(base=base, scaling="llama3", factor=factor, original_length=length, low=low, high=high)
    np.testing.assert_allclose(rotary.frequencies(dim), llama3(base, dim, factor, length, low, high), rtol=1e-9)
    assert rotary.lengthening == 1


def test_llama_31s_own_numbers() -> None:
    # rope_theta 500000, head of 128, factor 8, 8192 positions: fast pairs stay, slow ones are divided by 8
    rotary = Frequencies(base=500000.0, scaling="llama3", factor=8.0, original_length=8192, low=1.0, high=4.0)
    found, plain = rotary.frequencies(128), 500000.0 ** (-np.arange(64) / 64)
    # pair 29 has a wavelength of 2406 positions, above 8192 / 4; pair 35 one of 8222, above 8192
    assert np.allclose(found[:29], plain[:29], rtol=1e-12)
    assert np.allclose(found[35:], plain[35:] / 8, rtol=1e-12)
    assert (found[29:35] < plain[29:35]).all() and (found[29:35] > plain[29:35] / 8).all()


@pytest.mark.parametrize("scaling", ["linear", "ntk", "yarn", "llama3"])
def test_a_factor_of_1_changes_nothing(scaling: str) -> None:
    found = Frequencies(scaling=scaling, factor=1.0).frequencies(64)
    np.testing.assert_allclose(found, Frequencies().frequencies(64), rtol=1e-12)


@given(st.sampled_from(["none", "linear", "ntk", "yarn", "llama3"]), widths, st.data())
def test_whatever_the_parameters_the_frequencies_are_numbers(scaling: str, dim: int, data: st.DataObject) -> None:
    fields: dict[str, Any] = {}
    for name in ("base", "factor", "original_length", "fast", "slow", "high", "low"):
        declared = Frequencies.described(name)
        ends = st.sampled_from([declared.least, declared.most])
        if declared.kind == "whole":
            fields[name] = data.draw(ends | st.integers(int(declared.least), int(declared.most)))
        else:
            fields[name] = data.draw(ends | st.floats(declared.least, declared.most))
    rotary = Frequencies(scaling=scaling, **fields)
    assert np.isfinite(rotary.frequencies(dim)).all()
    rotary.check_fits(np.array([0, 2**31 - 1]), dim)
