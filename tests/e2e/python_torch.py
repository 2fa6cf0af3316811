# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the Python package apsmpi with tensors of PyTorch."""

import contextlib
import os
import types

import apsmpi
from python_checks import ok, refuses, same, skip


def test_torch():
    try:
        import torch
    except ImportError:
        skip("tensors", "PyTorch is not installed")
        return
    x = torch.linspace(-3, 3, 24)
    want = apsmpi.quantize(x.numpy(), "e4m3")
    y = apsmpi.quantize(x, "e4m3")
    ok(isinstance(y, torch.Tensor) and same(y.numpy(), want), "tensors")
    refuses("double", TypeError, ".float()", apsmpi.quantize, x.double(), "e4m3")
    refuses("bfloat16", TypeError, ".float()", apsmpi.quantize, x.bfloat16(), "e4m3")
    ok(apsmpi.snr(x.double(), y) == apsmpi.snr(x.double().numpy(), y.numpy()),
       "references of torch.float64")
    leaf = x.clone().requires_grad_()
    refuses("out requires gradients", ValueError, "detach()", apsmpi.quantize, x,
            "e4m3", out=leaf)
    refuses("Quantizer of an array", TypeError, "pass a tensor",
            apsmpi.Quantizer("e4m3"), x.numpy())
    refuses("Quantizer's rounding", apsmpi.ApsError, "nearest", apsmpi.Quantizer,
            "e4m3", rounding="up")
    module = apsmpi.Quantizer("e4m3", "e5m2")
    z = x.clone().requires_grad_()
    module(z).backward(x)
    ok(same(module(x).numpy(), want) and
       same(z.grad.numpy(), apsmpi.quantize(x.numpy(), "e5m2")),
       "Quantizer rounds forward and backward")
    exact = apsmpi.Quantizer("fp32", "fp32")
    point = torch.linspace(0.5, 1, 4).requires_grad_()
    ok(torch.autograd.gradcheck(lambda t: exact(t) * 2, point, eps=1e-2, atol=1e-2,
                                rtol=1e-2), "gradcheck of the autograd function")
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scaler = apsmpi.Backoff(start=256.0)
    scaler.scale(parameter.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    ok(torch.equal(parameter.detach(), torch.zeros(2)), "a step of SGD by a Backoff")
    total = apsmpi.Cluster(1, 2, "format: e4m3").allreduce([x, x])
    ok(isinstance(total, torch.Tensor), "a Cluster's sum of tensors")
    if "CUDA_ON_HOST" in os.environ:
        test_gpu(torch, x)
    else:
        skip("tensors on a GPU", "the stand-in of libaps-cuda was not built")


def test_gpu(torch, x):
    """A tensor that says that it is on a GPU; CUDA_ON_HOST has the functions of
    libaps-cuda for it."""
    class OnGpu(torch.Tensor):
        device = property(lambda self: torch.device("cuda:0"))

    def on_gpu(tensor):
        return tensor.clone().as_subclass(OnGpu)

    torch.cuda.device = lambda device: contextlib.nullcontext()
    torch.cuda.current_stream = lambda: types.SimpleNamespace(cuda_stream=7)
    y = on_gpu(x)
    os.environ["LIBAPS_CUDA"] = "/nowhere.so"
    refuses("no libaps-cuda", apsmpi.ApsError, "pass x.cpu()", apsmpi.quantize, y,
            "e4m3")
    os.environ["LIBAPS_CUDA"] = os.environ["CUDA_ON_HOST"]
    y[3] = float("inf")
    for scale in (None, "aps", "aps-tight", 4):
        want = apsmpi.quantize(y.numpy(), "e4m3", scale, ranks=3)
        z = apsmpi.quantize(y, "e4m3", scale, ranks=3)
        ok(isinstance(z, OnGpu) and same(z.numpy(), want), "on a GPU, scale %s" % scale)
    out = on_gpu(x)
    ok(apsmpi.quantize(y, "e5m2", out=out) is out and
       same(out.numpy(), apsmpi.quantize(y.numpy(), "e5m2")), "... to an output")
    a, b = on_gpu(x.reshape(4, 6)), on_gpu(x.reshape(6, 4))
    ok(same(apsmpi.gemm(a, b, "e4m3", "e5m10").numpy(),
            apsmpi.gemm(a.numpy(), b.numpy(), "e4m3", "e5m10")), "... a product")
    refuses("... two devices", TypeError, "different devices", apsmpi.gemm, a,
            x.reshape(6, 4))
    refuses("... an output elsewhere", TypeError, "device of the input",
            apsmpi.quantize, y, "e4m3", out=x.clone())
    refuses("... double", TypeError, "float32 on GPUs", apsmpi.quantize,
            on_gpu(x.double()), "e4m3")
    refuses("... other functions", TypeError, "reads host memory",
            apsmpi.Backoff().exponent, y)
