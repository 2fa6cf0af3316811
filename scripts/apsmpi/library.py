# SPDX-License-Identifier: BSD-3-Clause
"""libaps.so through ctypes: its functions, its structs, and its errors."""

from __future__ import annotations

import ctypes
import errno
import glob
import operator
import os
from ctypes import (POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double,
                    c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)
from typing import Any

EXPONENT_ZERO = -32768
ROUNDINGS = {"nearest": 0, "stochastic": 1, "toward-zero": 2, "cpd": 3,
             "correlated": 4}


class ApsError(ValueError):
    """An argument that libaps refuses. The message says what to do."""


class NotPlayed(ApsError):
    """A policy that a Cluster does not play, such as one with a compressor."""


class ErrorStruct(Structure):
    _fields_ = [("file", c_char * 256), ("line", c_int), ("column", c_int),
                ("text", c_char * 512)]


def whole(name: str, value: Any, least: int = 0, most: int = 2 ** 31 - 1) -> int:
    """Returns value as an int. Refuses one outside the limits, whose high bits ctypes
    would drop."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("%s is %r; pass an integer" % (name, value)) from None
    if not least <= number <= most:
        raise ApsError("%s is %d; pass %d to %d" % (name, number, least, most))
    return number


UNSIGNED = (c_uint32, c_uint64, c_size_t)


class Sized(Structure):
    """A struct that begins with its size."""

    def __init__(self, **members: Any) -> None:
        for name, kind, *_ in self._fields_:
            bits = 8 * ctypes.sizeof(kind)
            if kind in UNSIGNED and name in members:
                whole(name, members[name], 0, 2 ** bits - 1)
            elif kind in (c_int, c_int32, c_int64) and name in members:
                whole(name, members[name], -2 ** (bits - 1), 2 ** (bits - 1) - 1)
        super().__init__(size=ctypes.sizeof(self), **members)


class CastOptions(Sized):
    _fields_ = [("size", c_size_t), ("seed", c_uint64), ("offset", c_uint64),
                ("layer", c_uint32), ("step", c_uint32), ("rounding", c_int),
                ("scale_exponent", c_int32), ("stage", c_uint32), ("rank", c_uint32),
                ("ranks", c_uint64)]


class GemmArguments(Sized):
    _fields_ = [("size", c_size_t), ("format", c_void_p), ("accumulator", c_void_p),
                ("kahan", c_bool), ("transpose_a", c_bool), ("transpose_b", c_bool),
                ("m", c_int64), ("n", c_int64), ("k", c_int64), ("alpha", c_float),
                ("a", c_void_p), ("lda", c_int64), ("b", c_void_p), ("ldb", c_int64),
                ("beta", c_float), ("c", c_void_p), ("ldc", c_int64),
                ("chunk", c_int64), ("format_b", c_void_p),
                ("cast", POINTER(CastOptions))]


class LayerRequest(Sized):
    _fields_ = [("size", c_size_t), ("count", c_size_t), ("name", c_char_p),
                ("layer", c_int64), ("epoch", c_int64), ("step", c_int64),
                ("ranks", c_int32), ("reserved", c_int32)]


class ScalerFacts(Sized):
    _fields_ = [("size", c_size_t), ("max_exponent", c_int32), ("reserved", c_int32),
                ("max", c_double), ("n", c_double), ("sum", c_double),
                ("sum_squares", c_double), ("nonzero", c_double),
                ("sum_log", c_double), ("sum_log_squares", c_double)]


class ScalerRecord(Sized):
    _fields_ = [("size", c_size_t), ("in_max", c_float), ("sum_max", c_float),
                ("over", c_bool), ("nonfinite", c_bool), ("reserved", c_bool * 6)]


class RoundoffStruct(Sized):
    _fields_ = [("size", c_size_t), ("compared", c_size_t), ("skipped", c_size_t),
                ("underflow", c_size_t), ("overflow", c_size_t),
                ("nonfinite", c_size_t), ("infinite", c_size_t),
                ("sum_relative", c_double), ("max_relative", c_double),
                ("sum_error2", c_double), ("sum_reference2", c_double)]


# Result and arguments of each function, without the last one, a struct aps_error *,
# where the result is "error".
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "aps_version_string": (c_char_p, []),
    "aps_format_get": (c_void_p, [c_char_p, POINTER(ErrorStruct)]),
    "aps_format_name": (c_char_p, [c_void_p]),
    "aps_format_exponent_bits": (c_int, [c_void_p]),
    "aps_format_mantissa_bits": (c_int, [c_void_p]),
    "aps_format_width": (c_int, [c_void_p]),
    "aps_format_has_inf": (c_bool, [c_void_p]),
    "aps_format_has_nan": (c_bool, [c_void_p]),
    "aps_format_saturates": (c_bool, [c_void_p]),
    "aps_format_block": (c_int, [c_void_p]),
    "aps_format_max": (c_float, [c_void_p]),
    "aps_format_min_normal": (c_double, [c_void_p]),
    "aps_format_min_positive": (c_double, [c_void_p]),
    "aps_packed_bytes": (c_size_t, [c_void_p, c_size_t]),
    "aps_cast_array": ("error", [c_void_p, c_void_p, c_size_t, POINTER(CastOptions),
                                 c_void_p]),
    "aps_max_exponent": ("error", [c_void_p, c_size_t, c_int, POINTER(c_int)]),
    "aps_scale_exponent": (c_int, [c_void_p, c_int]),
    "aps_scale_exponent_tight": ("error", [c_void_p, c_void_p, c_size_t,
                                           POINTER(c_int)]),
    "aps_gemm": ("error", [POINTER(GemmArguments)]),
    "aps_policy_open": ("error", [c_char_p, c_char_p, POINTER(c_void_p)]),
    "aps_policy_read": ("error", [c_char_p, POINTER(c_void_p)]),
    "aps_policy_close": (None, [c_void_p]),
    "aps_layer_plan_create": ("error", [c_void_p, POINTER(LayerRequest),
                                        POINTER(c_void_p)]),
    "aps_layer_plan_destroy": (None, [c_void_p]),
    "aps_layer_plan_rule": (c_int, [c_void_p]),
    "aps_layer_plan_is_reduced": (c_bool, [c_void_p]),
    "aps_layer_plan_format": (c_void_p, [c_void_p]),
    "aps_layer_plan_bytes": (c_size_t, [c_void_p]),
    "aps_layer_plan_describe": (c_char_p, [c_void_p, c_char_p, c_size_t]),
    "aps_scaler_create": ("error", [c_void_p, c_int, POINTER(c_void_p)]),
    "aps_scaler_destroy": (None, [c_void_p]),
    "aps_scaler_asks": (c_bool, [c_void_p]),
    "aps_scaler_measure": ("error", [c_void_p, c_void_p, c_size_t,
                                     POINTER(ScalerFacts)]),
    "aps_scaler_exponent": ("error", [c_void_p, POINTER(ScalerFacts), POINTER(c_int),
                                      POINTER(c_int)]),
    "aps_scaler_overflows": (c_bool, [c_void_p, c_float, c_int]),
    "aps_scaler_update": ("error", [c_void_p, POINTER(ScalerRecord)]),
    "aps_scaler_save": (c_size_t, [c_void_p, c_void_p, c_size_t]),
    "aps_scaler_load": ("error", [c_void_p, c_char_p, c_size_t]),
    "aps_layer_compressor_create": ("error", [c_void_p, c_int, c_int,
                                              POINTER(c_void_p)]),
    "aps_layer_compressor_destroy": (None, [c_void_p]),
    "aps_layer_compressor_rounds": (c_int, [c_void_p]),
    "aps_layer_compressor_bytes": (c_size_t, [c_void_p]),
    "aps_layer_compressor_encode": ("error", [c_void_p, c_void_p, c_void_p,
                                              POINTER(c_size_t)]),
    "aps_layer_compressor_decode": ("error", [c_void_p, c_int, POINTER(c_char_p),
                                              POINTER(c_size_t), c_void_p]),
    "aps_layer_compressor_memory": (c_void_p, [c_void_p]),
    "aps_layer_compressor_restart": (None, [c_void_p]),
    "aps_roundoff_add": ("error", [POINTER(RoundoffStruct), c_void_p, c_void_p,
                                   c_size_t]),
    "aps_roundoff_mean": (c_double, [POINTER(RoundoffStruct)]),
    "aps_roundoff_l2": (c_double, [POINTER(RoundoffStruct)]),
    "aps_roundoff_snr": (c_double, [POINTER(RoundoffStruct)]),
    "aps_simulation_create": ("error", [c_void_p, c_int, c_int, POINTER(c_void_p)]),
    "aps_simulation_destroy": (None, [c_void_p]),
    "aps_simulation_allreduce": ("error", [c_void_p, POINTER(LayerRequest),
                                           POINTER(c_void_p), c_void_p]),
}


def places() -> list[str]:
    """The files that may be libaps, in order."""
    if "LIBAPS" in os.environ:
        return [os.environ["LIBAPS"]]
    found = glob.glob(os.path.join(os.path.dirname(__file__), "_libaps*.so"))
    try:
        from .built import LIBDIR  # type: ignore[import-not-found]
        found.append(os.path.join(LIBDIR, "libaps.so.0"))
    except ImportError:
        pass
    return found + ["libaps.so.0"]


def load() -> ctypes.CDLL:
    causes = []
    for place in places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            causes.append(str(error))
    raise ImportError("apsmpi: cannot load libaps (%s); install apsmpi by `make "
                      "install` or `pip install`, or set LIBAPS to libaps.so"
                      % "; ".join(causes))


def message(error: ErrorStruct) -> str:
    """The text of an error, with its place."""
    text = str(error.text.decode("utf-8", "replace"))
    if error.file:
        place = error.file.decode("utf-8", "replace")
        if error.line > 0:
            place += ":%d:%d" % (error.line, error.column)
        return "%s: %s" % (place, text)
    return text


def check(result: int, error: ErrorStruct) -> None:
    """Raises the exception of a call that returned `result`."""
    if result == 0:
        return
    code = ctypes.get_errno()
    if code == errno.ENOMEM:
        raise MemoryError(message(error))
    raise (NotPlayed if code == errno.ENOTSUP else ApsError)(message(error))


def raising(function: Any) -> Any:
    """The function without its last argument, which raises its error."""

    def call(*arguments: Any) -> None:
        error = ErrorStruct()
        check(function(*arguments, byref(error)), error)

    return call


class Library:
    """The functions of libaps, as attributes."""

    def __init__(self) -> None:
        self.loaded = load()
        for name, (result, arguments) in FUNCTIONS.items():
            prototype = ctypes.CFUNCTYPE(
                c_int if result == "error" else result,
                *arguments, *([POINTER(ErrorStruct)] if result == "error" else []),
                use_errno=True)
            try:
                function = prototype((name, self.loaded))
            except AttributeError:
                raise ImportError("apsmpi: the libaps that was loaded has no %s: it "
                                  "is older than this package; set LIBAPS to a "
                                  "libaps.so of the same version" % name) from None
            setattr(self, name, raising(function) if result == "error" else function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


LIB = Library()


class Handle:
    """Owns an object of libaps, which one thread at a time may use."""

    def __init__(self, destroy: Any) -> None:
        self.pointer = c_void_p()
        self._destroy = destroy

    def __reduce__(self) -> Any:
        raise TypeError("%s cannot be copied or pickled; make another from the same "
                        "arguments" % type(self).__name__)

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._destroy(self.pointer)
            self.pointer = c_void_p()
