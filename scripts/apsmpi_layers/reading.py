# SPDX-License-Identifier: BSD-3-Clause
"""Which reader a file wants: its first bytes say so, not its name."""

import os
import zipfile
import zlib

from . import npz, onnx, pytorch, safetensors
from .tensor import LayersError

PICKLE = b"\x80"
ZIP = b"PK"
ZIP_KINDS = (npz, pytorch)


def read_zip(stream, size):
    del size
    try:
        with zipfile.ZipFile(stream) as archive:
            for kind in ZIP_KINDS:
                if kind.is_one(archive):
                    return kind.read(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError,
            RuntimeError, ValueError) as error:
        raise LayersError("it is a zip that cannot be read: %s" % error) \
            from None
    raise LayersError("it is a zip, but neither a .npz nor a file of PyTorch")


def read_model(path):
    """The Model in a file. LayersError or OSError says why there is none."""
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        start = stream.read(16)
        stream.seek(0)
        if start.startswith(ZIP):
            return read_zip(stream, size)
        if safetensors.looks_right(start) or path.endswith(".safetensors"):
            return safetensors.read(stream, size)
        if start.startswith(PICKLE):
            return pytorch.read_old(stream, size)
        return onnx.read(stream, size)
