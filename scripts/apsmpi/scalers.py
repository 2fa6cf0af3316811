# SPDX-License-Identifier: BSD-3-Clause
"""Scales with their state, also as torch.amp.GradScaler has them."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref, c_int
from typing import Any, Iterable, Optional, Union

import numpy as np

from .arrays import Array, floats
from .formats import Format
from .library import (EXPONENT_ZERO, LIB, ApsError, Handle, ScalerFacts, ScalerRecord,
                      whole)
from .policies import Policy

LEARNT = ("logmax", "delayed", "autoflex", "dfxp")  # scales by the past values


class Unscaled:
    """An optimizer whose gradients are unscaled. While this refers to it, no other
    object gets its id()."""

    def __init__(self, optimizer: Any, found_inf: bool) -> None:
        self.optimizer, self.found_inf, self.stepped = optimizer, found_inf, False


class Scaler(Handle):
    """A scale of apsmpi-policy(5), by its name and parameters.

    >>> scaler = Scaler("backoff", "e4m3", start=64)
    >>> scaler.exponent()
    6
    >>> scaler.update(in_max=2.0, over=True)
    >>> scaler.exponent()
    5

    As a loss scale it has the methods of torch.amp.GradScaler: scale, unscale_, step,
    update, get_scale, state_dict, load_state_dict, is_enabled. The first losses of
    logmax, delayed, autoflex and dfxp have the scale 1, until the gradients of some
    steps are known. The scales aps, underflow and unit follow from the values of their
    own call, and cannot scale a loss.
    """

    def __init__(self, name: str, format: Union[str, Format] = "fp16", ranks: int = 1,
                 **parameters: Any) -> None:
        super().__init__(LIB.aps_scaler_destroy)
        self.name = name
        kind = format.name if isinstance(format, Format) else format
        words = ", ".join(
            "%s: %s" % (key, float(value) if isinstance(value, float) else value)
            for key, value in parameters.items())
        scale = "{%s: {%s}}" % (name, words) if words else name
        policy = Policy("{format: %s, scale: %s}" % (kind, scale))
        self.plan, self.ranks = policy.plan(1), whole("ranks", ranks, 1)
        LIB.aps_scaler_create(self.plan.pointer, ranks, byref(self.pointer))
        # These describe one step, until update().
        self.unscaled: dict[int, Unscaled] = {}     # by id()
        self.greatest = 0.0         # greatest finite magnitude of unscaled gradients

    @property
    def asks(self) -> bool:
        """True if the next exponent depends on the values of its call."""
        return bool(LIB.aps_scaler_asks(self.pointer))

    def exponents(self, arrays: Iterable[Array] = ()) -> tuple[int, int]:
        """The exponents of contributions and of sums, of a call in which the ranks
        contribute these arrays."""
        facts = ScalerFacts(max_exponent=EXPONENT_ZERO)
        exponent, sums, values = c_int(), c_int(), list(arrays)
        if self.asks and not values:
            raise ApsError("scale %s depends on the values; pass the arrays of a call"
                           % self.name)
        if len(values) > self.ranks:
            raise ValueError("there are %d arrays, and %d ranks; pass at most one for "
                             "each rank" % (len(values), self.ranks))
        for i, x in enumerate(values):
            array = floats(x, "arrays[%d]" % i)
            LIB.aps_scaler_measure(self.pointer, array.ctypes.data, array.size,
                                   byref(facts))
        LIB.aps_scaler_exponent(self.pointer, byref(facts), byref(exponent),
                                byref(sums))
        return exponent.value, sums.value

    def exponent(self, *arrays: Array) -> int:
        """The exponent of the contributions `arrays`, one for each rank."""
        return self.exponents(arrays)[0]

    def overflows(self, magnitude: float, exponent: int) -> bool:
        """True if a value of that magnitude, times 2^exponent, overflows."""
        whole("exponent", exponent, -2 ** 31)
        return bool(LIB.aps_scaler_overflows(self.pointer, magnitude, exponent))

    # --- the interface of torch.amp.GradScaler ---------------------------------------

    def get_scale(self) -> float:
        """The factor of the next loss."""
        if self.name in LEARNT and self.asks:
            return 1.0
        return float(2.0 ** self.exponent())

    def scale(self, outputs: Any) -> Any:
        """A loss, or a list of them, times the scale."""
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(x) for x in outputs)
        return outputs * self.get_scale()

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients by the scale, in place. optimizer: one of PyTorch, or
        a list of arrays."""
        if id(optimizer) in self.unscaled:
            raise RuntimeError("unscale_ has been called for this optimizer since the "
                               "last update; call update() after each step")
        inverse, found = np.float32(1 / self.get_scale()), False
        arrays = [floats(x, "gradient %d" % i, writable=True, strided=True)
                  for i, x in enumerate(gradients_of(optimizer))]
        for array in arrays:
            np.multiply(array, inverse, out=array)
            finite = np.isfinite(array)
            found |= not bool(finite.all())
            self.greatest = max(self.greatest, float(
                np.max(np.abs(array), where=finite, initial=0)))
        self.unscaled[id(optimizer)] = Unscaled(optimizer, found)

    def step(self, optimizer: Any, *arguments: Any, **named: Any) -> Optional[Any]:
        """Unscales, and calls optimizer.step() unless a gradient is not finite."""
        if id(optimizer) not in self.unscaled:
            self.unscale_(optimizer)
        unscaled = self.unscaled[id(optimizer)]
        if unscaled.stepped:
            raise RuntimeError("step has been called for this optimizer since the last "
                               "update; call update() after each step")
        unscaled.stepped = True
        if unscaled.found_inf:
            return None
        return optimizer.step(*arguments, **named)

    def update(self, new_scale: None = None, *, in_max: Optional[float] = None,
               sum_max: float = 0.0, over: Optional[bool] = None,
               nonfinite: bool = False) -> None:
        """Ends a step: the state learns from the gradients that were unscaled, or from
        these facts: the greatest finite magnitudes of contributions and sums, whether a
        finite value overflowed, and whether the program had an INF or a NaN."""
        if new_scale is not None:
            raise ApsError("the scale follows from its state; make a new Scaler with "
                           "start=...")
        greatest = self.greatest if in_max is None else in_max
        for name, value in (("in_max", greatest), ("sum_max", sum_max)):
            if not 0 <= value < math.inf:
                raise ApsError("%s is %g; pass a finite magnitude" % (name, value))
        found_inf = any(one.found_inf for one in self.unscaled.values())
        overflowed = found_inf if over is None else over
        # No gradient was finite and nonzero. The state ignores the magnitude 0.
        if overflowed and greatest == 0:
            greatest = float(np.finfo(np.float32).tiny)
        record = ScalerRecord(in_max=greatest, sum_max=sum_max, over=overflowed,
                              nonfinite=nonfinite)
        LIB.aps_scaler_update(self.pointer, byref(record))
        self.unscaled, self.greatest = {}, 0.0

    def is_enabled(self) -> bool:
        return True

    def state_dict(self) -> dict[str, Any]:
        """The state, for the same version of the library."""
        size = LIB.aps_scaler_save(self.pointer, None, 0)
        state = ctypes.create_string_buffer(size)
        LIB.aps_scaler_save(self.pointer, state, size)
        return {"name": self.name, "state": state.raw}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if "state" not in state_dict:
            raise ApsError("the dictionary has no 'state'; pass that of state_dict()")
        state = state_dict["state"]
        LIB.aps_scaler_load(self.pointer, state, len(state))


def gradients_of(optimizer: Any) -> list[Any]:
    """The gradients of an optimizer of PyTorch, or the arrays of a list."""
    if hasattr(optimizer, "param_groups"):
        return [parameter.grad for group in optimizer.param_groups
                for parameter in group["params"] if parameter.grad is not None]
    return list(optimizer)


class Backoff(Scaler):
    """The loss scale of mixed precision: less after an overflow, more later."""

    def __init__(self, format: Union[str, Format] = "fp16", ranks: int = 1,
                 **parameters: Any) -> None:
        super().__init__("backoff", format, ranks, **parameters)


class LogMax(Scaler):
    """A scale by log-normally distributed maxima."""

    def __init__(self, format: Union[str, Format] = "fp16", ranks: int = 1,
                 **parameters: Any) -> None:
        super().__init__("logmax", format, ranks, **parameters)


class Delayed(Scaler):
    """A scale by the greatest magnitude of many calls."""

    def __init__(self, format: Union[str, Format] = "e4m3", ranks: int = 1,
                 **parameters: Any) -> None:
        super().__init__("delayed", format, ranks, **parameters)
