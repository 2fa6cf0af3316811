# SPDX-License-Identifier: BSD-3-Clause
"""Number formats by name."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Union

from .library import LIB, ApsError, ErrorStruct, message, whole

EXAMPLES = ("fp32", "tf32", "fp16", "bf16", "e5m2", "e4m3", "e4m3fn", "e3m0", "e3m2fn",
            "e2m3fn", "e2m1fn", "bfp7/64", "bfp3/16", "mx-e5m2", "mx-e4m3fn",
            "mx-e3m2fn", "mx-e2m3fn", "mx-e2m1fn", "mx-int8", "nvfp4", "qsgd7/512",
            "int8/512", "int4/512", "sign/64", "flex16", "flex8")


class Format:
    """A number format of libaps(3).

    >>> Format("fp16")
    Format('e5m10')
    >>> Format("e4m3").max, Format("e4m3").width
    (240.0, 8)
    """

    def __init__(self, name: str) -> None:
        error = ErrorStruct()
        if not isinstance(name, str) or "\0" in name:
            raise TypeError("a format is %r; pass its name, such as 'e4m3'" % (name,))
        self.pointer = LIB.aps_format_get(name.encode(), byref(error))
        if not self.pointer:
            raise ApsError("%s; apsmpi.formats() lists examples" % message(error))

    @property
    def name(self) -> str:
        """The canonical name."""
        return str(LIB.aps_format_name(self.pointer).decode())

    @property
    def width(self) -> int:
        """Bits of a code."""
        return int(LIB.aps_format_width(self.pointer))

    @property
    def exponent_bits(self) -> int:
        return int(LIB.aps_format_exponent_bits(self.pointer))

    @property
    def mantissa_bits(self) -> int:
        return int(LIB.aps_format_mantissa_bits(self.pointer))

    @property
    def block(self) -> int:
        """Values that share a scale; 1: none do."""
        return int(LIB.aps_format_block(self.pointer))

    @property
    def max(self) -> float:
        """Largest finite value."""
        return float(LIB.aps_format_max(self.pointer))

    @property
    def min_normal(self) -> float:
        return float(LIB.aps_format_min_normal(self.pointer))

    @property
    def min_positive(self) -> float:
        """Smallest positive value."""
        return float(LIB.aps_format_min_positive(self.pointer))

    @property
    def has_inf(self) -> bool:
        return bool(LIB.aps_format_has_inf(self.pointer))

    @property
    def has_nan(self) -> bool:
        return bool(LIB.aps_format_has_nan(self.pointer))

    @property
    def saturates(self) -> bool:
        return bool(LIB.aps_format_saturates(self.pointer))

    def bytes(self, count: int) -> int:
        """Bytes of `count` packed values, scales of blocks included."""
        whole("count", count, 0, 2 ** 48)
        return int(LIB.aps_packed_bytes(self.pointer, count))

    def __repr__(self) -> str:
        return "Format('%s')" % self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and other.pointer == self.pointer

    def __hash__(self) -> int:
        return hash(self.pointer)

    def __reduce__(self) -> Any:
        return Format, (self.name,)     # the address is that of this process


def format_of(given: Union[str, Format]) -> Format:
    """The Format of a name."""
    return given if isinstance(given, Format) else Format(given)


def formats() -> list[Format]:
    """Examples of all kinds of formats. Any eEmM, bfpM/B, qsgdS/B, intB/BUCKET and
    sign/B is a format, too (libaps(3))."""
    return [Format(name) for name in EXAMPLES]
