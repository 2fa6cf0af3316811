# SPDX-License-Identifier: BSD-3-Clause
"""Rounding inside a model of PyTorch."""

from __future__ import annotations

import itertools
from typing import Any, Optional

import torch
from torch.autograd.function import once_differentiable

from .formats import format_of
from .quantizing import Scale, quantize, rounding_of

numbers = itertools.count()         # the modules by the order of their making


class QuantizeFunction(torch.autograd.Function):
    """Rounds values on the way forward and gradients on the way back."""

    @staticmethod
    def forward(ctx: Any, x: Any, module: "Quantizer") -> Any:
        ctx.module = module
        return module.rounded(x, module.forward_format)

    @staticmethod
    @once_differentiable  # type: ignore
    def backward(ctx: Any, *gradients: Any) -> Any:
        return ctx.module.rounded(gradients[0], ctx.module.backward_format), None


class Quantizer(torch.nn.Module):
    """A layer that rounds its input to one format, and the gradient to another: CPD's
    `quantizer`. None leaves values as they are. The gradient of the rounding itself
    is 1. Random bits depend on the seed, on the module and on its call: ranks need
    different seeds, and a copy of a module draws the same bits."""

    def __init__(self, forward: Optional[str] = None, backward: Optional[str] = None,
                 scale: Scale = None, rounding: str = "nearest", seed: int = 0) -> None:
        super().__init__()
        self.forward_format = format_of(forward) if forward else None
        self.backward_format = format_of(backward) if backward else None
        rounding_of(rounding)       # refuses other names
        self.scale, self.rounding, self.seed = scale, rounding, seed
        # The key of random bits.
        self.number, self.calls = next(numbers), 0

    def rounded(self, x: Any, format: Any) -> Any:
        if format is None:
            return x.clone()
        self.calls += 1
        return quantize(x.contiguous(), format, self.scale, self.rounding,
                        seed=self.seed, layer=self.number, step=self.calls)

    def forward(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            raise TypeError("x is %s; pass a tensor" % type(x).__name__)
        return QuantizeFunction.apply(x, self)

    def extra_repr(self) -> str:
        return "forward=%s, backward=%s, scale=%s, rounding=%s" % (
            self.forward_format and self.forward_format.name,
            self.backward_format and self.backward_format.name,
            self.scale, self.rounding)
