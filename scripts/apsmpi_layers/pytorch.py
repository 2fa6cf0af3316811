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
KEYS = ("state_dict", "model_state_dict", "model", "module", "net", "network",
        "params", "weights")
DEPTH_MAX = 3
ADVICE = "save model.state_dict() with torch.save and try again"


def is_archive(archive):
    """True if a zip is a file of PyTorch."""
    return any(name.rsplit("/", 1)[-1] == "data.pkl"
               for name in archive.namelist())


def cause_of(error):
    """Returns the line of PyTorch's message that says what was wrong."""
    text = str(error) or type(error).__name__
    found = re.search(r"WeightsUnpickler error: (.*)", text)
    return re.split(r"\.\s", found[1] if found else text)[0].strip()


def load(torch, path, is_zip):
    """Returns the object in the file. Only a zip can be mapped into memory."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="meta", weights_only=True,
                              mmap=is_zip)
    except TypeError as error:      # an unknown argument, before PyTorch 2.1
        raise LayersError("PyTorch %s cannot read it without its values: install "
                          "PyTorch 2.1 or later (%s)"
                          % (torch.__version__, cause_of(error))) from None
    except OSError:
        raise
    except Exception as error:      # the pickle decides which
        raise LayersError("PyTorch does not load it as weights: %s; %s"
                          % (cause_of(error), ADVICE)) from None


def find_weights(torch, value, depth=0):
    """Returns the dictionary of tensors in a checkpoint, or None."""
    if not isinstance(value, dict):
        return None
    if any(isinstance(item, torch.Tensor) for item in value.values()):
        return value
    if depth < DEPTH_MAX:
        for key in KEYS:
            found = find_weights(torch, value.get(key), depth + 1)
            if found is not None:
                return found
    return None


def read(path, is_zip):
    torch = load_library("torch", "it is a file of PyTorch")
    weights = find_weights(torch, load(torch, path, is_zip))
    if weights is None:
        raise LayersError("it holds no state dict: " + ADVICE)
    tensors, owners = [], {}
    for name, value in weights.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            continue
        shape = tuple(value.shape)
        # Tensors without values have no addresses, but storages are objects.
        memory = value.untyped_storage()._cdata, value.storage_offset(), shape
        tensors.append(Tensor(name, shape, str(value.dtype).rsplit(".", 1)[-1],
                              alias=owners.get(memory)))
        if tensors[-1].count:
            owners.setdefault(memory, name)
    return Model(tensors, True)
