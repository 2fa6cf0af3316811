# SPDX-License-Identifier: BSD-3-Clause
"""Errors of rounded values."""

from __future__ import annotations

from ctypes import byref
from math import nan

import numpy as np

from .arrays import Array, floats
from .library import LIB, RoundoffStruct


class Roundoff:
    """Statistics of values against references, over all arrays that are added.

    >>> error = Roundoff().add(np.float32([1, 2, 4]), np.float32([1.5, 2, 0]))
    >>> error.mean, error.underflow
    (0.5, 1)
    """

    def __init__(self) -> None:
        self.sums = RoundoffStruct()

    def add(self, reference: Array, value: Array) -> "Roundoff":
        """Adds an array of float32 values; references may be float64, too."""
        x = floats(value, "value")
        exact = floats(reference, "reference", strided=True,
                       types=(np.float32, np.float64))
        exact = np.asarray(exact, np.float64, order="C")
        if exact.shape != x.shape:
            raise ValueError("reference has the shape %s, and value has %s"
                             % (exact.shape, x.shape))
        LIB.aps_roundoff_add(byref(self.sums), exact.ctypes.data, x.ctypes.data, x.size)
        return self

    @property
    def mean(self) -> float:
        """Mean relative error (Eq. 5 of the APS paper)."""
        return float(LIB.aps_roundoff_mean(byref(self.sums)))

    @property
    def l2(self) -> float:
        """Relative error in the Euclidean norm."""
        return float(LIB.aps_roundoff_l2(byref(self.sums)))

    @property
    def snr(self) -> float:
        """Signal-to-noise ratio of the elements that are compared, in dB; NaN without
        such elements."""
        return float(LIB.aps_roundoff_snr(byref(self.sums))) if self.compared else nan

    @property
    def max(self) -> float:
        """Greatest relative error."""
        return float(self.sums.max_relative)

    @property
    def compared(self) -> int:
        """Elements whose reference is finite and not 0."""
        return int(self.sums.compared)

    @property
    def underflow(self) -> int:
        """Elements that became 0."""
        return int(self.sums.underflow)

    @property
    def overflow(self) -> int:
        """Finite elements that became INF or NaN."""
        return int(self.sums.overflow)


def snr(reference: Array, value: Array) -> float:
    """The signal-to-noise ratio of `value`, in dB, over the elements whose reference is
    finite and not 0; NaN without such elements.

    >>> round(snr(np.float32([1, 2]), np.float32([1, 2.02])), 1)
    41.0
    """
    return Roundoff().add(reference, value).snr
