# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's files: what torch.save wrote of a state dict, of a checkpoint that
holds one, or of a module. PyTorch itself is not needed.

A file of PyTorch 1.6 and later is a zip with ARCHIVE/data.pkl. Before, it was
three pickles, a magic number, a version and facts on the machine, and then that
of the object. In either, a tensor is a call of torch._utils._rebuild_tensor_v2
with its storage (a persistent id: "storage", class, key, place, elements), its
offset, sizes and strides.
"""

import io

from . import pickled
from .tensor import LayersError, Model, Tensor

MAGIC = 0x1950a86a20f9469cfc6c
PICKLE_MAX = 256 << 20
TENSORS = ("torch._utils _rebuild_tensor", "torch._utils _rebuild_tensor_v2",
           "torch._utils _rebuild_tensor_v3")
PARAMETERS = ("torch._utils _rebuild_parameter",
              "torch._utils _rebuild_parameter_with_state",
              "torch.nn.parameter Parameter", "torch _rebuild_parameter")
STORAGES = {"FloatStorage": "float32", "DoubleStorage": "float64",
            "HalfStorage": "float16", "BFloat16Storage": "bfloat16"}
# Where checkpoints of known programs keep the state dict.
PLACES = ("state_dict", "model_state_dict", "model", "module", "net", "network",
          "params", "weights")
DEPTH_MAX = 200
WRAPPED_MAX = 4  # parameters of parameters


class Weights:
    """Collects tensors by name, in the order of the file."""

    def __init__(self):
        self.tensors = []
        self.memory = {}  # a tensor's storage, offset and sizes -> its name

    def add(self, name, value, buffer):
        for _ in range(WRAPPED_MAX):
            if isinstance(value, pickled.Opaque) and value.name in PARAMETERS:
                value = value.arguments[0]
        if not is_tensor(value):
            return
        storage, offset, shape = value.arguments[:3]
        if not isinstance(storage, pickled.Opaque) or \
                storage.name != "persistent" or \
                not isinstance(shape, tuple):
            raise LayersError("tensor %s: it is no plain tensor" % name)
        _, kind, key = storage.arguments[:3]
        if value.name.endswith("_v3"):  # the storage has no type, the call has
            kind = value.arguments[6]
        kind = getattr(kind, "name", "?").split(" ")[-1]
        where = (str(key), offset, shape)
        tensor = Tensor(name, shape, STORAGES.get(kind, kind.lower()),
                        alias=self.memory.get(where), buffer=buffer)
        self.tensors.append(tensor)
        if tensor.count:
            self.memory.setdefault(where, name)

    def add_module(self, module, prefix="", depth=0):
        """A whole module, pickled: its parameters, then its parts."""
        if depth > DEPTH_MAX:
            raise LayersError("its modules nest more than %d deep" % DEPTH_MAX)
        state = module.state
        for part, buffer in (("_parameters", False), ("_buffers", True)):
            for name, value in members(state, part):
                self.add(prefix + name, value, buffer)
        for name, value in members(state, "_modules"):
            if is_module(value):
                self.add_module(value, prefix + name + ".", depth + 1)


def members(state, part):
    found = state.get(part)
    return [(name, value) for name, value in found.items()
            if isinstance(name, str)] if isinstance(found, dict) else []


def is_tensor(value):
    return isinstance(value, pickled.Opaque) and value.name in TENSORS and \
        isinstance(value.arguments, tuple) and len(value.arguments) >= 3


def is_weight(value):
    return is_tensor(value) or (isinstance(value, pickled.Opaque) and
                                value.name in PARAMETERS)


def is_module(value):
    return isinstance(value, pickled.Opaque) and \
        isinstance(value.state, dict) and "_parameters" in value.state


def find(value, depth=0):
    """A dictionary of weights, or a module, in what was saved; or None."""
    if is_module(value) or (isinstance(value, dict) and
                            any(map(is_weight, value.values()))):
        return value
    if isinstance(value, dict) and depth < 3:
        for place in PLACES:
            found = find(value.get(place), depth + 1)
            if found is not None:
                return found
    return None


def model_of(value):
    found = find(value)
    if found is None:
        raise LayersError("it holds no state dict: save model.state_dict()")
    weights = Weights()
    try:
        if isinstance(found, dict):
            for name, tensor in found.items():
                if isinstance(name, str):
                    weights.add(name, tensor, False)
        else:
            weights.add_module(found)
    except (IndexError, TypeError, ValueError):
        raise LayersError("a tensor in it is described wrongly") from None
    return Model(weights.tensors, True)


def is_one(archive):
    return pickle_of(archive) is not None


def pickle_of(archive):
    """The zip's data.pkl, as an entry, or None."""
    for entry in archive.infolist():
        if entry.filename.rsplit("/", 1)[-1] == "data.pkl":
            return entry
    return None


def read(archive):
    entry = pickle_of(archive)
    if entry.file_size > PICKLE_MAX:
        raise LayersError("its pickle has %d bytes" % entry.file_size)
    if any(name.endswith("/constants.pkl") for name in archive.namelist()):
        raise LayersError("it is a TorchScript archive: save "
                          "model.state_dict() instead")
    return model_of(pickled.load(io.BytesIO(archive.read(entry))))


def read_old(stream, size):
    del size
    if pickled.load(stream) != MAGIC:
        raise LayersError("it is a pickle, but not one of PyTorch")
    pickled.load(stream)
    pickled.load(stream)
    return model_of(pickled.load(stream))
