# SPDX-License-Identifier: BSD-3-Clause
"""Tensors and models as readers return them; errors; packages that readers need."""

import importlib
import sys

from .limits import unlimited

DIMENSIONS_MAX = 64     # of PyTorch and numpy
SIZE_MAX = 2 ** 63 - 1
FLOATS = ("float", "bfloat")  # beginnings of the names of types of gradients


class LayersError(Exception):
    """Ends the command. The text is the cause, without the name of the file."""


def load_library(name, about):
    """Imports a package that only some files need. `about` says which file."""
    try:
        with unlimited():
            return importlib.import_module(name)
    except (ImportError, OSError) as error:
        raise LayersError(
            "%s: reading it needs the Python package %s, which %s cannot load: %s; "
            "install it (pip install %s)"
            % (about, name, sys.executable, error, name)) from None


class Tensor:
    """One tensor of a file.

    name    as the file has it
    shape   a tuple of sizes; () is a scalar
    kind    the type of its values, in lower case: float32, bfloat16, int64 ...
    alias   the name of an earlier tensor with the same memory, or None
    buffer  True if the file says that the tensor is not a parameter
    """

    def __init__(self, name, shape, kind, alias=None, buffer=False):
        if not isinstance(name, str) or not name:
            raise LayersError("a tensor has no name")
        if len(shape) > DIMENSIONS_MAX or not all(
                type(size) is int and 0 <= size <= SIZE_MAX for size in shape):
            raise LayersError("tensor %s: its shape is not a list of at most %d "
                              "sizes below 2^63" % (name, DIMENSIONS_MAX))
        self.name = name
        self.shape = tuple(shape)
        self.kind = kind
        self.alias = alias
        self.buffer = buffer

    @property
    def count(self):
        product = 1
        for size in self.shape:
            product *= size
        return product

    def is_float(self):
        return self.kind.startswith(FLOATS)


class Model:
    """The tensors of a file, in the file's order.

    ordered     True if the file's order is the forward order: the order of the
                graph, or the order in which the program made its parameters
    left        reason -> names of what the file holds in addition to these tensors
    """

    def __init__(self, tensors, ordered, left=None):
        self.tensors = tensors
        self.ordered = ordered
        self.left = left or {}
