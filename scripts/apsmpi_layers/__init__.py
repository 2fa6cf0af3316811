# SPDX-License-Identifier: BSD-3-Clause
"""Write the layer table of a model from the file that holds its weights.

Reads names and shapes, never the weights, of files of safetensors, numpy (.npz),
ONNX and PyTorch. The first two need Python's standard library alone; a file of
ONNX or PyTorch needs the package onnx or torch, which is imported for such a file
only.

    command         arguments, and the work of the command
    reading         selects the reader of a file
    safetensors     npz     onnx    pytorch     one reader for each kind of file
    order           forward order, guessed from names
    ddp             order and sizes of the calls of DistributedDataParallel
    table           which tensors are layers, and the table as text
    tensor          tensors as readers return them; errors; loading of packages
    limits          limits of processor time and memory
    library         the library's version

A module imports only from the lines below its own line.
"""
