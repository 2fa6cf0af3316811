# SPDX-License-Identifier: BSD-3-Clause
"""Files of weights for t-layers.sh, written by the rules of each kind and by none
of apsmpi's code:

    layers.py FILE              the little network below; the ending says the kind
    layers.py --evil FILE.pt    a pickle that would make the file `ran`

.old is a .pt of the time before PyTorch 1.6, .module.pt a whole module,
.checkpoint.pt a checkpoint with other things in it.
"""

import collections
import io
import json
import os
import pickle
import struct
import sys
import types
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


# --- ONNX ---------------------------------------------------------------------

def varint(number):
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx(path):
    """One node for each layer; the initializers stand in another order."""
    graph, groups = b"", {}
    for name, _, _ in NETWORK:
        groups.setdefault(name.rsplit(".", 1)[0], []).append(name)
    last = "image"
    for layer, names in groups.items():
        kind = "BatchNormalization" if layer == "bn1" else "Conv"
        names = [name for name in names if "tracked" not in name]
        graph += field(1, b"".join(field(1, name) for name in [last] + names) +
                       field(2, layer) + field(4, kind))
        last = layer
    for name, shape, kind in sorted(NETWORK):
        packed = b"".join(map(varint, shape))
        graph += field(5, (field(1, packed) if name == "fc.weight" else
                           b"".join(field(1, size) for size in shape)) +
                       field(2, {"float32": 1, "int64": 7}[kind]) +
                       field(8, name) +
                       field(9, bytes(count(shape) * SIZES[kind])))
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(2, "test") + field(7, graph))


# --- PyTorch ------------------------------------------------------------------

def rebuild(*arguments):
    """Stands in for torch._utils._rebuild_tensor_v2; never called."""


def named(module, name, value):
    sys.modules.setdefault(module, types.ModuleType(module))
    setattr(sys.modules[module], name, value)
    value.__module__, value.__qualname__ = module, name
    return value


class Storage:
    def __init__(self, key, kind, elements):
        self.about = ("storage", kind, key, "cpu", elements)


class Weight:
    def __init__(self, storage, shape):
        strides = tuple(count(shape[i + 1:]) for i in range(len(shape)))
        self.about = (storage, 0, tuple(shape), strides, False,
                      collections.OrderedDict())

    def __reduce__(self):
        return rebuild, self.about


class Module:
    """Stands in for a class of a program that is not there when it is read."""


def state_dict():
    kinds = {"float32": type("FloatStorage", (), {}),
             "int64": type("LongStorage", (), {})}
    for kind in kinds.values():
        named("torch", kind.__name__, kind)
    named("torch._utils", "_rebuild_tensor_v2", rebuild)
    weights = collections.OrderedDict()
    for key, (name, shape, kind) in enumerate(NETWORK):
        weights[name] = Weight(Storage(str(key), kinds[kind], count(shape)),
                               shape)
    # The last layer's weights again, under another name.
    weights["head.weight"] = weights["fc.weight"]
    weights._metadata = {"version": 1}
    return weights


def module():
    named("program", "Module", Module)
    weights = state_dict()

    def part(prefix):
        made = Module()
        made._parameters, made._buffers = {}, {}
        made._modules, made.training = collections.OrderedDict(), True
        for name, weight in weights.items():
            if name.startswith(prefix):
                first, _, rest = name[len(prefix):].partition(".")
                if rest:
                    if first not in made._modules:
                        made._modules[first] = part(prefix + first + ".")
                elif "running" in first or "tracked" in first:
                    made._buffers[first] = weight
                else:
                    made._parameters[first] = weight
        return made
    return part("")


def pickled(value):
    stream = io.BytesIO()
    pickler = pickle.Pickler(stream, protocol=2)
    pickler.persistent_id = lambda value: getattr(value, "about", None) \
        if isinstance(value, Storage) else None
    pickler.dump(value)
    return stream.getvalue()


def torch_zip(path, value):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled(value))
        archive.writestr("archive/version", "3\n")
        for key in range(len(NETWORK)):
            archive.writestr("archive/data/%d" % key, bytes(64))


def torch_old(path):
    with open(path, "wb") as file:
        for value in (0x1950a86a20f9469cfc6c, 1001, {"little_endian": True},
                      state_dict(), ["0"]):
            file.write(pickled(value))


class Evil:
    def __reduce__(self):
        return os.system, ("touch ran",)


def main():
    path = sys.argv[-1]
    if sys.argv[1] == "--evil":
        torch_zip(path, {"state_dict": state_dict(), "args": Evil()})
    elif path.endswith(".safetensors"):
        safetensors(path)
    elif path.endswith(".npz"):
        npz(path)
    elif path.endswith(".onnx"):
        onnx(path)
    elif path.endswith(".old"):
        torch_old(path)
    elif path.endswith(".module.pt"):
        torch_zip(path, module())
    elif path.endswith(".checkpoint.pt"):
        torch_zip(path, {"epoch": 3, "optimizer": {"state": {}},
                         "rng": [1.5, None, True, b"x", {1, 2}],
                         "model_state_dict": state_dict()})
    elif path.endswith(".pt"):
        torch_zip(path, state_dict())
    else:
        sys.exit("layers.py: %s: unknown kind" % path)


if __name__ == "__main__":
    main()
