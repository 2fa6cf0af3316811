# SPDX-License-Identifier: BSD-3-Clause
"""The wire format of protocol buffers, as far as ONNX's messages need it
(https://protobuf.dev/programming-guides/encoding)."""

from .tensor import LayersError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
CUT = "it is cut short, or no ONNX file"


def varint(data, at):
    """The number at `at`, and where the next byte is."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise LayersError(CUT)
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of each field of a message: a number, or a memoryview."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise LayersError(CUT)
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire in (BYTES, FIXED64, FIXED32):
            if wire == BYTES:
                length, at = varint(data, at)
            else:
                length = 8 if wire == FIXED64 else 4
            if length > len(data) - at:
                raise LayersError(CUT)
            value = data[at:at + length]
            at += length
        else:
            raise LayersError(CUT)
        yield number, value


def numbers(value):
    """The numbers of a repeated field: one, or packed ones."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def text(value):
    if isinstance(value, int):
        raise LayersError(CUT)
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise LayersError(CUT) from None


def message(value):
    if isinstance(value, int):
        raise LayersError(CUT)
    return value
