# SPDX-License-Identifier: BSD-3-Clause
"""Reads numpy's .npz: a zip of .npy files, in the order in which the program saved
them. An .npy file is "\\x93NUMPY", its version, the length of its header, and the
header: a Python dict of literals (numpy.lib.format)."""

import ast
import struct
import zipfile

from .tensor import LayersError, Model, Tensor

MAGIC = b"\x93NUMPY"
HEADER_MAX = 1 << 20
KINDS = {"f2": "float16", "f4": "float32", "f8": "float64", "f16": "float128"}


def read_header(stream, name):
    start = stream.read(8)
    if len(start) < 8 or start[:6] != MAGIC:
        raise LayersError("its member %s is not an .npy file" % name)
    width, code = (2, "<H") if start[6] == 1 else (4, "<I")
    field = stream.read(width)
    if len(field) < width:
        raise LayersError("its member %s is cut short" % name)
    length = struct.unpack(code, field)[0]
    if length > HEADER_MAX:
        raise LayersError("its member %s has a header of %d bytes"
                          % (name, length))
    try:
        header = ast.literal_eval(stream.read(length).decode("utf-8").strip())
        kind, shape = header["descr"], header["shape"]
        if isinstance(kind, str):
            kind = KINDS.get(kind.lstrip("<>=|"), kind)
        else:
            kind = "struct"
        return kind, tuple(shape)
    except (ValueError, SyntaxError, KeyError, TypeError, RecursionError,
            MemoryError):
        raise LayersError("its member %s has a wrong header" % name) from None


def read(archive):
    tensors, others = [], []
    for entry in archive.infolist():
        if not entry.filename.endswith(".npy"):
            others.append(entry.filename)
            continue
        with archive.open(entry) as stream:
            kind, shape = read_header(stream, entry.filename)
        tensors.append(Tensor(entry.filename[:-len(".npy")], shape, kind))
    return Model(tensors, True, {"not arrays": others} if others else None)


def is_archive(archive):
    """True if a zip is a .npz."""
    return any(name.endswith(".npy") for name in archive.namelist())
