# SPDX-License-Identifier: BSD-3-Clause
"""Selects the reader of a file by its first bytes, not by its name."""

import io
import os
import zipfile
import zlib

from . import hdf5, limits, npz, onnx, pytorch, safetensors
from .tensor import LayersError

PICKLE = b"\x80"
ZIP = b"PK"


def read_zip(path, stream):
    try:
        with zipfile.ZipFile(stream) as archive:
            if npz.is_archive(archive):
                return npz.read(archive)
            if hdf5.KERAS in archive.namelist():
                return hdf5.read(io.BytesIO(archive.read(hdf5.KERAS)))
            is_pytorch = pytorch.is_archive(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError,
            RuntimeError, ValueError) as error:
        raise LayersError("it is a zip that cannot be read: %s" % error) \
            from None
    if not is_pytorch:
        raise LayersError("it is a zip, but neither a .npz nor a file of PyTorch "
                          "or Keras")
    return pytorch.read(path, True)


def read_model(path):
    """Returns the Model in a file. Raises LayersError or OSError."""
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        limits.set_limits(size)
        start = stream.read(16)
        stream.seek(0)
        if not start:
            raise LayersError("it is empty")
        if start.startswith(ZIP):
            return read_zip(path, stream)
        if start.startswith(hdf5.MAGIC):
            return hdf5.read(stream)
        if safetensors.looks_right(start) or path.endswith(".safetensors"):
            return safetensors.read(stream, size)
        if start.startswith(PICKLE):
            return pytorch.read(path, False)
        return onnx.read(stream)
