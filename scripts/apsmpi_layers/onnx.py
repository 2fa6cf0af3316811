# SPDX-License-Identifier: BSD-3-Clause
"""ONNX: the initializers of the graph, in the order in which its nodes use them
(https://github.com/onnx/onnx, onnx.proto; the numbers of fields are from there).

Nodes stand in topological order, so the order of use is the forward order.
"""

import mmap

from .protobuf import fields, message, numbers, text
from .tensor import LayersError, Model, Tensor

MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER = 1, 5
NODE_INPUT, NODE_OUTPUT, NODE_KIND, NODE_ATTRIBUTE = 1, 2, 4, 5
ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS = 6, 11
TENSOR_DIMENSIONS, TENSOR_KIND, TENSOR_NAME = 1, 2, 8
KINDS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16",
         6: "int32", 7: "int64", 9: "bool"}
# Inputs of nodes that are statistics, not parameters.
STATISTICS = {"BatchNormalization": (3, 4)}
DEPTH_MAX = 32


class Node:
    def __init__(self, data):
        self.inputs, self.outputs, self.graphs, self.kind = [], [], [], ""
        for number, value in fields(data):
            if number == NODE_INPUT:
                self.inputs.append(text(value))
            elif number == NODE_OUTPUT:
                self.outputs.append(text(value))
            elif number == NODE_KIND:
                self.kind = text(value)
            elif number == NODE_ATTRIBUTE:
                self.graphs += [message(graph) for inner, graph
                                in fields(message(value)) if inner in
                                (ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS)]


def read_tensor(data):
    shape, name, kind = [], "", 0
    for number, value in fields(data):
        if number == TENSOR_DIMENSIONS:
            shape += numbers(value)
        elif number == TENSOR_KIND:
            kind = numbers(value)[0] if numbers(value) else 0
        elif number == TENSOR_NAME:
            name = text(value)
    return name, shape, KINDS.get(kind, "type %d" % kind)


class Graph:
    """What is used, in the order of use, over a graph and those inside it."""

    def __init__(self):
        self.initializers = {}
        self.used = {}
        self.statistics = set()

    def read(self, data, depth=0):
        if depth > DEPTH_MAX:
            raise LayersError("its graphs nest more than %d deep" % DEPTH_MAX)
        nodes = []
        for number, value in fields(data):
            if number == GRAPH_NODE:
                nodes.append(Node(message(value)))
            elif number == GRAPH_INITIALIZER:
                name, shape, kind = read_tensor(message(value))
                self.initializers[name] = (shape, kind)
        for node in nodes:
            for place, name in enumerate(node.inputs):
                self.used.setdefault(name)
                if place in STATISTICS.get(node.kind, ()):
                    self.statistics.add(name)
            for graph in node.graphs:
                self.read(graph, depth + 1)


def read(stream, size):
    if size == 0:
        raise LayersError("it is empty")
    data = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    graph = Graph()
    found = False
    for number, value in fields(data):
        if number == MODEL_GRAPH:
            graph.read(message(value))
            found = True
    if not found:
        raise LayersError("it has no graph")
    names = [name for name in graph.used if name in graph.initializers]
    names += [name for name in graph.initializers if name not in graph.used]
    return Model([Tensor(name, *graph.initializers[name],
                         buffer=name in graph.statistics) for name in names],
                 True)
