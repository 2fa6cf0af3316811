# SPDX-License-Identifier: BSD-3-Clause
"""Compressors with error memories."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_size_t
from typing import Any, Optional, Sequence, Union

import numpy as np

from .arrays import Array, floats, result_for
from .library import LIB, Handle
from .policies import Policy, policy_of


class Compressor(Handle):
    """A rank's compressor of one layer: the rule of a policy with `compress` or
    `feedback`.

    >>> one = Compressor("format: fp32, compress: {topk: 0.5}, feedback: on", 4)
    >>> one.reduce([np.float32([1, -8, 2, 4])])
    array([ 0., -8.,  0.,  4.], dtype=float32)
    >>> one.memory
    array([1., 0., 2., 0.], dtype=float32)

    Calls with `rounds` rounds: encode() returns this rank's message of a round, and
    decode() takes those of all ranks.
    """

    def __init__(self, policy: Union[str, Policy], count: int, rank: int = 0,
                 ranks: int = 1, *, name: Optional[str] = None,
                 layer: int = -1) -> None:
        super().__init__(LIB.aps_layer_compressor_destroy)
        self.plan = policy_of(policy).plan(count, name=name, layer=layer, ranks=ranks)
        LIB.aps_layer_compressor_create(self.plan.pointer, rank, ranks,
                                        byref(self.pointer))
        self.count = count
        self.rounds = int(LIB.aps_layer_compressor_rounds(self.pointer))
        self.round = 0
        self.like: Any = None       # array of the call, whose kind the result has

    @property
    def memory(self) -> Any:
        """The error memory, a view that may be written between calls; or None."""
        address = LIB.aps_layer_compressor_memory(self.pointer)
        if not address:
            return None
        floats_at = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
        view = np.ctypeslib.as_array(floats_at, (self.count,))
        return OwnedView(view, self)

    def encode(self, x: Optional[Array] = None) -> bytes:
        """This rank's message of the next round; the first round of a call needs x."""
        address = None
        if self.round == 0:
            if x is None:
                raise ValueError("the first round of a call needs the layer; pass x")
            array = floats(x)
            if array.size != self.count:
                raise ValueError("x has %d elements, and the compressor %d"
                                 % (array.size, self.count))
            self.like, address = x, array.ctypes.data
        message = ctypes.create_string_buffer(
            LIB.aps_layer_compressor_bytes(self.pointer))
        size = c_size_t()
        LIB.aps_layer_compressor_encode(self.pointer, address, message, byref(size))
        return message.raw[:size.value]

    def decode(self, messages: Sequence[bytes]) -> Any:
        """Ends a round with the messages of all ranks. Returns the sum over the ranks
        in the last round, and None before."""
        count = len(messages)
        array, result = result_for(self.like, None, floats(self.like).shape)
        try:
            LIB.aps_layer_compressor_decode(
                self.pointer, count, (c_char_p * count)(*messages),
                (c_size_t * count)(*map(len, messages)), array.ctypes.data)
        except ValueError:
            self.round = 0
            raise
        self.round = (self.round + 1) % self.rounds
        return result if self.round == 0 else None

    def reduce(self, gradients: Sequence[Array],
               others: Sequence["Compressor"] = ()) -> Any:
        """The sum of gradients[r] of all ranks r, by one call in one process. This
        compressor is rank 0, and `others` are the other ranks."""
        ranks = [self, *others]
        result = None
        for turn in range(self.rounds):
            messages = [one.encode(x if turn == 0 else None)
                        for one, x in zip(ranks, gradients)]
            result = [one.decode(messages) for one in ranks][0]
        return result


class OwnedView(np.ndarray):
    """A view of a compressor's memory, which keeps the compressor alive."""

    def __new__(cls, view: Any, owner: Compressor) -> Any:
        made = view.view(cls)
        made.owner = owner
        return made

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __array_finalize__(self, other: Any) -> None:
        self.owner = getattr(other, "owner", None)
