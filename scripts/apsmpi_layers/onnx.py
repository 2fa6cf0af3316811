# SPDX-License-Identifier: BSD-3-Clause
"""Reads ONNX with the package onnx: the initializers of the graph, in the order in
which its nodes use them. Nodes are in topological order, so the order of use is the
forward order.
"""

from .tensor import LayersError, Model, Tensor, load_library

KINDS = {"FLOAT": "float32", "DOUBLE": "float64"}
# Inputs of nodes that are statistics, not parameters.
STATISTICS = {"BatchNormalization": (3, 4)}


def walk(graph):
    """Yields a graph and then its nodes, each followed by the graphs inside it."""
    yield graph
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from walk(inner)


def read(stream):
    onnx = load_library("onnx", "it is neither safetensors, .npz, HDF5 nor a "
                        "file of PyTorch, and may be ONNX")
    try:
        # The format is named, or onnx would take it from the name of the file.
        model = onnx.load(stream, format="protobuf", load_external_data=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:      # protobuf's, whose package may change
        raise LayersError("it is not an ONNX file: %s" % error) from None
    initializers, used, statistics, sparse = {}, {}, set(), []
    for item in walk(model.graph):
        if not hasattr(item, "op_type"):
            initializers.update((tensor.name, tensor)
                                for tensor in item.initializer)
            sparse += [tensor.values.name for tensor in item.sparse_initializer]
            continue
        for position, name in enumerate(item.input):
            used.setdefault(name)
            if position in STATISTICS.get(item.op_type, ()):
                statistics.add(name)
    names = [name for name in used if name in initializers]
    names += [name for name in initializers if name not in used]
    tensors = []
    for name in names:
        kind = onnx.TensorProto.DataType.Name(initializers[name].data_type)
        tensors.append(Tensor(name, tuple(initializers[name].dims),
                              KINDS.get(kind, kind.lower()),
                              buffer=name in statistics))
    return Model(tensors, True, {"sparse": sparse} if sparse else None)
