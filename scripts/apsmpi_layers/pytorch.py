# SPDX-License-Identifier: BSD-3-Clause
"""Reads files of torch.save with PyTorch: a state dict, or a checkpoint that holds
one.

torch.load(weights_only=True) builds tensors and plain containers and calls nothing
else that a file names. On the device `meta` a tensor has a shape and no values.
"""

import re
import warnings

from .tensor import LayersError, Model, Tensor, load_library

# Names under which checkpoints of known programs keep the state dict.
KEYS = ("state_dict", "model", "model_state_dict", "module", "net", "network",
        "params", "weights")
DEPTH_MAX = 3
ADVICE = ("save model.state_dict() with torch.save, without sparse and quantized "
          "tensors, and try again")


def is_archive(archive):
    """True if a zip is a file of PyTorch."""
    return any(name.rsplit("/", 1)[-1] == "data.pkl"
               for name in archive.namelist())


def cause_of(error):
    """Returns the line of PyTorch's message that says what was wrong."""
    text = str(error)
    found = re.search(r"WeightsUnpickler error: (.*)", text)
    text = re.split(r"\.\s", found[1] if found else text)[0].strip()
    return text or type(error).__name__


def load(torch, path, is_zip):
    """Returns the object in the file. Only a zip can be mapped into memory."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="meta", weights_only=True,
                              mmap=is_zip)
    except TypeError as error:      # an unknown argument, before PyTorch 2.1
        raise LayersError("PyTorch %s cannot read it without its values: install "
                          "PyTorch 2.1 or later, or save model.state_dict() by "
                          "numpy.savez (%s)"
                          % (torch.__version__, cause_of(error))) from None
    except (OSError, MemoryError):
        raise
    except Exception as error:      # the pickle decides which
        raise LayersError("PyTorch does not load it as weights: %s; %s"
                          % (cause_of(error), ADVICE)) from None


def find_weights(torch, value, others, depth=0):
    """Returns the dictionary of tensors in a checkpoint, or None. The usual places
    precede the checkpoint's own tensors, such as the best accuracy. Adds the names
    of values next to the dictionary that may hold tensors to `others`."""
    if not isinstance(value, dict):
        return None
    for key in KEYS if depth < DEPTH_MAX else ():
        found = find_weights(torch, value.get(key), others, depth + 1)
        if found is not None:
            others += [str(name) for name, item in value.items()
                       if name != key and isinstance(item, holders(torch))]
            return found
    if any(isinstance(item, torch.Tensor) for item in value.values()):
        return value
    return None


def holders(torch):
    """Returns the classes of values that are tensors or may hold some."""
    return torch.Tensor, dict, list, tuple


def read(path, is_zip):
    torch = load_library("torch", "it is a file of PyTorch")
    others = []
    weights = find_weights(torch, load(torch, path, is_zip), others)
    if weights is None:
        raise LayersError("it holds no state dict: " + ADVICE)
    tensors, owners, left = [], {}, {}
    if others:
        left["not in the state dict"] = others
    for name, value in weights.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            if isinstance(value, holders(torch)):
                left.setdefault("not a tensor with a name", []).append(str(name))
            continue
        shape = tuple(value.shape)
        # Tensors without values have no addresses, but storages are objects.
        memory = value.untyped_storage()._cdata, value.storage_offset(), shape
        tensors.append(Tensor(name, shape, str(value.dtype).rsplit(".", 1)[-1],
                              alias=owners.get(memory)))
        if tensors[-1].count:
            owners.setdefault(memory, name)
    return Model(tensors, True, left)
