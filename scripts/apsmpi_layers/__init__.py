# SPDX-License-Identifier: BSD-3-Clause
"""Write the layer table of a model from the file that holds its weights.

Reads names and shapes, never the weights, of files of safetensors, numpy (.npz),
ONNX and PyTorch. Needs Python's standard library alone, and runs nothing that a
file says: a pickle is read by an interpreter that calls no function.

    command         the arguments, and what each leads to
    reading         which reader a file wants
    safetensors     npz     onnx    pytorch     one reader for each kind of file
    protobuf        fields of ONNX's messages
    pickled         PyTorch's pickles
    order           forward order, guessed from names
    table           what is a layer, and the table as text
    tensor          what a reader says of a tensor; errors
    library         the library's version

A module imports only from the lines below its own.
"""
