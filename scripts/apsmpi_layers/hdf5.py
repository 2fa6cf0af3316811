# SPDX-License-Identifier: BSD-3-Clause
"""Reads HDF5 with the package h5py: the weights that Keras saved. Files of Keras 2
have the order of the layers and weights in attributes. Links are not followed."""

import math

from .tensor import LayersError, Model, Tensor, load_library

MAGIC = b"\x89HDF\r\n\x1a\n"
KERAS = "model.weights.h5"      # member of a .keras file
OPTIMIZER = ("optimizer", "_optimizer")


def texts(item, name):
    """Returns the texts in an attribute, or nothing."""
    values = item.attrs.get(name, ()) if item is not None else ()
    return [value.decode("utf-8", "replace") if isinstance(value, bytes)
            else str(value) for value in values]


def keras_order(items, top):
    """Returns the paths of the weights in the order of Keras 2, or nothing."""
    group = items.get(top)
    paths = []
    for layer in texts(group, "layer_names"):
        path = top + "/" + layer if top else layer
        paths += [path + "/" + weight
                  for weight in texts(items.get(path), "weight_names")]
    return [path for path in paths if hasattr(items.get(path), "shape")]


def matrix(shape):
    """Returns the shape with the outputs apart, which Keras has last."""
    return (math.prod(shape[:-1]), shape[-1]) if len(shape) > 2 else shape


def read(stream):
    h5py = load_library("h5py", "it is an HDF5 file, as of Keras")
    try:
        with h5py.File(stream, "r") as file:
            items = {"": file}
            file.visititems(items.__setitem__)
            top = "model_weights" if "model_weights" in items else ""
            ordered = keras_order(items, top)
            paths = ordered or sorted(
                path for path, item in items.items() if hasattr(item, "shape"))
            rest = [path for path in paths if path.startswith(OPTIMIZER)]
            tensors = []
            for path in paths:
                if path not in rest:
                    name = path[len(top) + 1:] if top else path
                    shape = tuple(map(int, items[path].shape or ()))
                    tensors.append(Tensor(name.removesuffix(":0"), matrix(shape),
                                          items[path].dtype.name))
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise LayersError("it is not an HDF5 file that h5py reads: %s"
                          % error) from None
    return Model(tensors, bool(ordered),
                 {"of the optimizer": rest} if rest else None)
