#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes spv/small_floats.txt, what ml_dtypes (PyPI, with numpy) makes of numbers as bfloat16,
E4M3 and E5M2. A line is a number's bits (32 or 64), and the codes of bfloat16, of E4M3 and E5M2, and of these two
with saturation; or the code and the bits of E4M3's and E5M2's value. NaNs are what numpy makes of them.

ml_dtypes rounds numbers of 64 bits twice on their way to 8; their codes are found by exact arithmetic instead, which
agrees with it for all numbers of 32 bits."""
import pathlib
import random
from fractions import Fraction

import ml_dtypes
import numpy as np

random.seed(1)
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


def bits(value, kind):
    return int(np.asarray(value).astype(kind).view({1: np.uint8, 2: np.uint16}[np.dtype(kind).itemsize]))


def exact(value, kind):
    """The code of the nearest number, the even one of two; of a number that is not finite, ml_dtypes' code."""
    if not np.isfinite(value):
        return bits(value, kind)
    table = np.arange(128, dtype=np.uint8).view(kind).astype(np.float64)
    numbers = [Fraction(float(number)) for number in table if np.isfinite(number)]
    numbers.append(2 * numbers[-1] - numbers[-2])  # infinity's, or NaN's
    size = min(abs(Fraction(float(value))), numbers[-1])
    code = min(range(len(numbers)), key=lambda i: (abs(numbers[i] - size), i & 1))
    return code | int(np.signbit(value)) << 7


def saturated(value, kind):
    top = float(ml_dtypes.finfo(kind).max)
    return exact(np.clip(value, -top, top), kind)


def line(value, digits):
    pattern = int(np.asarray(value).view(np.uint32 if digits == 8 else np.uint64))
    assert digits == 16 or all(bits(value, kind) == exact(value, kind) for kind in (E4M3, E5M2))
    return (f"{pattern:0{digits}x} {bits(value, ml_dtypes.bfloat16):04x} {exact(value, E4M3):02x} "
            f"{exact(value, E5M2):02x} {saturated(value, E4M3):02x} {saturated(value, E5M2):02x}")


def around(values, kind, steps):
    """The values, and what lies next to them."""
    for value in values:
        value = kind(value)
        below = above = value
        yield value
        for _ in range(steps):
            below, above = np.nextafter(below, kind(-np.inf)), np.nextafter(above, kind(np.inf))
            yield below
            yield above


def ties():
    """The positive numbers of both formats, what lies between neighbours, and what is too large."""
    for kind in E4M3, E5M2:
        values = np.arange(128, dtype=np.uint8).view(kind).astype(np.float64)
        values = sorted(values[np.isfinite(values)])
        values.append(2 * values[-1] - values[-2])
        values.append(2 * values[-1])
        yield from values
        yield from ((a + b) / 2 for a, b in zip(values, values[1:]))


def singles():
    for value in around(sorted(set(ties())), np.float32, 1):
        yield value if random.random() < 0.75 else -value
    patterns = [0, 1, 2, 0x7fffff, 0x800000, 0x7f7fffff, 0x7f7f7fff, 0x7f7f8000, 0x7f7f0000, 0x7f800000, 0x7f800001,
                0x7fbfffff, 0x7fc00000, 0x7fffffff]
    for upper in random.sample(range(0x7f80), 60) + [0, 1, 0x7f, 0x80, 0x3f80, 0x7f7e, 0x7f7f]:
        patterns += [upper << 16 | lower for lower in (1, 0x7fff, 0x8000, 0x8001, 0xffff)]
    for pattern in patterns:
        yield from np.array([pattern, pattern | 1 << 31], dtype=np.uint32).view(np.float32)


def doubles():
    """Near ties, by less than 32 bits can say, but not small as their denormals."""
    for value in around(random.sample(sorted(set(ties())), 80), np.float64, 1):
        if value == 0 or abs(value) > 1e-30:
            yield value if random.random() < 0.75 else -value


with np.errstate(all="ignore"):
    text = [line(np.float32(value), 8) for value in singles()]
    text += [line(np.float64(value), 16) for value in doubles()]
    for code in range(256):
        e4m3, e5m2 = (int(np.uint8(code).view(kind).astype(np.float32).view(np.uint32)) for kind in (E4M3, E5M2))
        text.append(f"{code:02x} {e4m3:08x} {e5m2:08x}")
text = list(dict.fromkeys(text))
(pathlib.Path(__file__).parent / "spv/small_floats.txt").write_text("\n".join(text) + "\n")
