# SPDX-License-Identifier: BSD-3-Clause
"""apsmpi for Python: number formats, scales, compressors, and jobs that one process
plays, by the code of libapsmpi and without MPI.

    quantize(x, "e4m3", scale="aps")    rounds an array
    gemm(a, b, "e4m3", "e5m10")         multiplies matrices
    Policy("format: e4m3").plan(n)      what a policy does with a layer
    Cluster(nodes, ranks, policy)       a job: allreduce() has the bits of MPI_Allreduce
    sum_gradients(list, policy)         one sum, each rank on a node
    Scaler(name), Backoff(), Delayed(), LogMax()
                                        scales with torch.amp.GradScaler's interface
    Compressor(policy, n)               PowerSGD, MSTopK and others, with error memory
    snr(reference, x), Roundoff()       errors of rounded values
    Quantizer("e4m3", "e5m2")           a module of PyTorch
    read_log(path), read_summary(path)  DataFrames of pandas
    plot(path, kind="scales")           figures of matplotlib

Arrays are numpy.float32, torch.float32 on the CPU, or share their memory by DLPack or
the buffer protocol; they are not copied. quantize, gemm and Quantizer also take tensors
on a GPU, by libaps-cuda. Errors are exceptions that say what to do:
ApsError is a ValueError.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from .cluster import Cluster, sum_gradients
from .compressors import Compressor
from .formats import Format, formats
from .library import LIB, ApsError, NotPlayed
from .logs import plot, read_log, read_summary
from .policies import Plan, Policy
from .products import gemm
from .quantizing import quantize
from .roundoff import Roundoff, snr
from .scalers import Backoff, Delayed, LogMax, Scaler

__all__ = ["ApsError", "Backoff", "Cluster", "Compressor", "Delayed", "Format",
           "LogMax", "NotPlayed", "Plan", "Policy", "Roundoff", "Scaler", "formats",
           "gemm", "plot", "quantize", "read_log", "read_summary", "snr",
           "sum_gradients"]
if importlib.util.find_spec("torch"):
    __all__.append("Quantizer")
__version__ = LIB.aps_version_string().decode()


def __getattr__(name: str) -> Any:
    if name == "Quantizer":  # needs PyTorch
        from .torch_modules import Quantizer
        return Quantizer
    raise AttributeError("module 'apsmpi' has no attribute %r" % name)
