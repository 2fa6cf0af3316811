# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for PyTorch in t-layers.sh and t-manual.sh: load() returns the network of
layers.py, and writes its arguments to the file `asked`."""

import pickle

import layers


class Storage:
    def __init__(self, number):
        self._cdata = number


class Tensor:
    def __init__(self, number, shape, dtype):
        self.storage, self.shape, self.dtype = Storage(number), shape, dtype

    def untyped_storage(self):
        return self.storage

    def storage_offset(self):
        return 0


def load(path, *, map_location, weights_only, mmap):
    with open("asked", "w") as file:
        print(path, map_location, weights_only, mmap, file=file)
    net = {name: Tensor(i, shape, "torch." + kind)
           for i, (name, shape, kind) in enumerate(layers.NETWORK)}
    net["head.weight"] = net["fc.weight"]   # the same memory
    net["extra"] = [1, 2]
    if path == "module.pt":
        raise pickle.UnpicklingError(
            "Weights only load failed. There are two options.\n\tWeightsUnpickler "
            "error: Unsupported global: GLOBAL program.Module was not allowed. "
            "Please do not.\n\nCheck the documentation.")
    if path == "data.pt":
        return {"a": [1, 2]}
    while path == "slow.pt":
        pass
    if path == "large.pt":
        return bytes(1 << 30)
    if path == "checkpoint.pt":
        return {"epoch": 3, "model_state_dict": net, "best": net["fc.bias"],
                "optimizer": {"state": {}}}
    return net
