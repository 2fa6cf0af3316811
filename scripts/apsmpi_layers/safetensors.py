# SPDX-License-Identifier: BSD-3-Clause
"""Reads safetensors: 8 bytes with the length of the header, little-endian, then the
header as a JSON object {name: {dtype, shape, data_offsets}}, then the data
(https://github.com/huggingface/safetensors, Format).

Writers sort tensors by type and name, so the order in the file is not the order of
the layers.
"""

import json
import struct

from .tensor import LayersError, Model, Tensor

HEADER_MAX = 100 << 20  # safetensors' own limit
KINDS = {"F64": "float64", "F32": "float32", "F16": "float16",
         "BF16": "bfloat16", "F8_E4M3": "float8", "F8_E5M2": "float8"}


def looks_right(start):
    return len(start) >= 9 and start[8:9] == b"{" and \
        struct.unpack("<Q", start[:8])[0] <= HEADER_MAX


def without_doubles(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise LayersError("its header has a name twice")
    return found


def read_header(stream, size):
    start = stream.read(8)
    if len(start) < 8:
        raise LayersError("it ends before the length of its header")
    length = struct.unpack("<Q", start)[0]
    if length > HEADER_MAX or length > size - 8:
        raise LayersError("its header would have %d bytes, the file has %d"
                          % (length, size))
    try:
        header = json.loads(stream.read(length).decode("utf-8"),
                            object_pairs_hook=without_doubles)
    except (ValueError, RecursionError) as error:
        raise LayersError("its header is not JSON: %s" % error) from None
    if not isinstance(header, dict):
        raise LayersError("its header is not a JSON object")
    return header, size - 8 - length


def read(stream, size):
    header, data = read_header(stream, size)
    header.pop("__metadata__", None)
    found = []
    for name, entry in header.items():
        try:
            begin, end = entry["data_offsets"]
            shape, kind = entry["shape"], entry["dtype"]
            inside = 0 <= begin <= end <= data
            tensor = Tensor(name, shape, KINDS.get(kind, str(kind).lower()))
        except (KeyError, TypeError, ValueError):
            raise LayersError("tensor %s: its entry lacks dtype, shape or "
                              "data_offsets" % name) from None
        if not inside:
            raise LayersError("tensor %s: its data lie outside the file; it is "
                              "cut short" % name)
        found.append((begin, end, tensor))
    found.sort(key=lambda item: item[:2])
    tensors = [tensor for _, _, tensor in found]
    names = [tensor.name for tensor in tensors]
    by_kind = [(tensor.kind, tensor.name) for tensor in tensors]
    sorted_by_writer = names == sorted(names) or \
        all(names_of == sorted(names_of) for names_of in
            ([name for other, name in by_kind if other == kind]
             for kind in {kind for kind, _ in by_kind}))
    return Model(tensors, not sorted_by_writer)
