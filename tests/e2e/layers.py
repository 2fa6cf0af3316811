# SPDX-License-Identifier: BSD-3-Clause
"""Writes files of weights for t-layers.sh, by the rules of each kind and without
apsmpi's code:

    layers.py FILE      the little network below; the ending names the kind

A .onnx is written by the package onnx. A .pt and a .pt.old (of the time before
PyTorch 1.6) only begin like files of PyTorch: tests/e2e/t-layers.sh reads them with
a stand-in for PyTorch.
"""

import json
import struct
import sys
import zipfile

# In forward order: name, shape, type.
NETWORK = [
    ("conv1.weight", (8, 3, 3, 3), "float32"),
    ("bn1.weight", (8,), "float32"),
    ("bn1.bias", (8,), "float32"),
    ("bn1.running_mean", (8,), "float32"),
    ("bn1.running_var", (8,), "float32"),
    ("bn1.num_batches_tracked", (), "int64"),
    ("layer1.2.conv1.weight", (8, 8, 1, 1), "float32"),
    ("layer1.10.conv1.weight", (16, 8, 1, 1), "float32"),
    ("fc.weight", (10, 16), "float32"),
    ("fc.bias", (10,), "float32"),
]
SIZES = {"float32": 4, "int64": 8}


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


# --- safetensors --------------------------------------------------------------

def safetensors(path):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, kind in sorted(NETWORK, key=lambda row: (row[2], row[0])):
        begin, end = end, end + count(shape) * SIZES[kind]
        header[name] = {"dtype": {"float32": "F32", "int64": "I64"}[kind],
                        "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(end))


# --- .npz ---------------------------------------------------------------------

def npz(path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, shape, kind in NETWORK:
            code = {"float32": "<f4", "int64": "<i8"}[kind]
            text = repr({"descr": code, "fortran_order": False,
                         "shape": tuple(shape)}).ljust(117) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack(
                "<H", len(text)) + text.encode() +
                bytes(count(shape) * SIZES[kind]))
        archive.writestr("notes.txt", "")


# --- ONNX ---------------------------------------------------------------------

def onnx(path):
    """One node for each layer; the initializers have another order."""
    from onnx import TensorProto, helper, save
    groups, nodes, last = {}, [], "image"
    for name, _, _ in NETWORK:
        if "tracked" not in name:
            groups.setdefault(name.rsplit(".", 1)[0], []).append(name)
    for layer, names in groups.items():
        nodes.append(helper.make_node(
            "BatchNormalization" if layer == "bn1" else "Conv", [last] + names,
            [layer], layer))
        last = layer
    # The last two layers are in a graph inside a node.
    inner = helper.make_graph(nodes[-2:], "inner", [], [])
    nodes[-2:] = [helper.make_node("If", ["image"], ["out"], then_branch=inner,
                                   else_branch=inner)]
    save(helper.make_model(helper.make_graph(nodes, "test", [], [], [
        helper.make_tensor(name, {"float32": TensorProto.FLOAT,
                                  "int64": TensorProto.INT64}[kind], shape,
                           bytes(count(shape) * SIZES[kind]), raw=True)
        for name, shape, kind in sorted(NETWORK)])), path)


def main():
    path = sys.argv[1]
    if path.endswith(".safetensors"):
        safetensors(path)
    elif path.endswith(".npz"):
        npz(path)
    elif path.endswith(".onnx"):
        onnx(path)
    elif path.endswith(".pt.old"):
        with open(path, "wb") as file:
            file.write(b"\x80\x02.")
    elif path.endswith(".pt"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", b"\x80\x02.")
    else:
        sys.exit("layers.py: %s: unknown kind" % path)


if __name__ == "__main__":
    main()
