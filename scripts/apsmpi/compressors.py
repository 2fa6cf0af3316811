# SPDX-License-Identifier: BSD-3-Clause
"""Compressors with error memories."""

from __future__ import annotations

import ctypes
import math
from ctypes import byref, c_char_p, c_size_t
from typing import Any, Optional, Sequence, Union

import numpy as np

from .arrays import Array, floats, result_for
from .library import LIB, ApsError, Handle, whole
from .policies import Policy, policy_of


class Compressor(Handle):
    """A rank's compressor of one layer: the rule of a policy with `compress` or
    `feedback`.

    >>> one = Compressor("format: fp32, compress: {topk: 0.5}, feedback: on", 4)
    >>> one.reduce([np.float32([1, -8, 2, 4])])
    array([ 0., -8.,  0.,  4.], dtype=float32)
    >>> one.memory
    array([1., 0., 2., 0.], dtype=float32)

    size: elements of the layer, or with one rule its shape, which PowerSGD needs: it
    takes the first dimension as rows. A whole policy has the shape in its table: pass
    the number of elements and `name`.

    Between processes, a call has `rounds` rounds: encode() returns this rank's message
    of a round, and decode() takes those of all ranks. restart() gives up a call that
    has begun.
    """

    def __init__(self, policy: Union[str, Policy], size: Union[int, tuple[int, ...]],
                 rank: int = 0, ranks: int = 1, *, name: Optional[str] = None,
                 layer: int = -1) -> None:
        super().__init__(LIB.aps_layer_compressor_destroy)
        count = size if not isinstance(size, tuple) else math.prod(size)
        whole("size", count, 1, 2 ** 48)
        if isinstance(size, tuple) and len(size) > 1:
            if isinstance(policy, Policy) or "\n" in policy or layer >= 0:
                raise ValueError("size is a shape; write it into the policy's table, "
                                 "or pass one rule as the policy, and no layer")
            name = name or "layer"
            policy = Policy(policy, "layer,name,count,shape\n0,%s,%d,%s\n"
                            % (name, count, "x".join(map(str, size))))
        self.rank, self.ranks = whole("rank", rank), whole("ranks", ranks, 1)
        self.plan = policy_of(policy).plan(count, name=name, layer=layer, ranks=ranks)
        LIB.aps_layer_compressor_create(self.plan.pointer, rank, ranks,
                                        byref(self.pointer))
        self.count = count
        self.rounds = int(LIB.aps_layer_compressor_rounds(self.pointer))
        self.round = 0
        self.encoded = False        # this round's message is
        self.like: Any = None       # array of the call, whose kind the result has

    @property
    def memory(self) -> Any:
        """The error memory, a view that may be written between calls; or None."""
        address = LIB.aps_layer_compressor_memory(self.pointer)
        if not address:
            return None
        buffer: Any = (ctypes.c_float * self.count).from_address(address)
        buffer.owner = self         # lives as long as a view
        return np.ctypeslib.as_array(buffer)

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
        self.encoded = True
        return ctypes.string_at(message, size.value)

    def decode(self, messages: Sequence[bytes]) -> Any:
        """Ends a round with the messages of all ranks. Returns the sum over the ranks
        in the last round, and None before."""
        if not self.encoded:
            raise ApsError("no message of this round is encoded yet; call encode()")
        if len(messages) != self.ranks:
            raise ApsError("there are %d messages, and %d ranks"
                           % (len(messages), self.ranks))
        for one in messages:
            if not isinstance(one, bytes):
                raise TypeError("a message is %s; pass the bytes of encode()"
                                % type(one).__name__)
        address = result = None
        if self.round == self.rounds - 1:
            array, result = result_for(self.like, None, floats(self.like).shape, ())
            address = array.ctypes.data
        try:
            LIB.aps_layer_compressor_decode(
                self.pointer, self.ranks, (c_char_p * self.ranks)(*messages),
                (c_size_t * self.ranks)(*map(len, messages)), address)
        except ValueError:
            self.encoded, self.round = False, 0
            raise
        self.encoded, self.round = False, (self.round + 1) % self.rounds
        return result

    def reduce(self, gradients: Sequence[Array],
               others: Sequence["Compressor"] = ()) -> Any:
        """The sum of gradients[r] of all ranks r, by one call in one process. This
        compressor is rank 0, and `others` are the other ranks. After an exception, for
        example because of an INF, the error memories are as before."""
        ranks = [self, *others]
        given = [(one.rank, one.ranks, one.count) for one in ranks]
        if given != [(r, self.ranks, self.count) for r in range(self.ranks)]:
            raise ValueError("the compressors are of the ranks %s; pass those of ranks "
                             "0 to %d of %d elements, in order" % (
                                 [one.rank for one in ranks], self.ranks - 1,
                                 self.count))
        if len(gradients) != self.ranks:
            raise ValueError("there are %d gradients, and %d ranks"
                             % (len(gradients), self.ranks))
        if any(one.encoded or one.round > 0 for one in ranks):
            raise ApsError("a call has begun; end it, or call restart() on all ranks")
        try:
            for turn in range(self.rounds):
                messages = [one.encode(x if turn == 0 else None)
                            for one, x in zip(ranks, gradients)]
                result = self.decode(messages)
                for one in others:
                    one.decode(messages)
        except BaseException:
            for one in ranks:
                one.restart()
            raise
        return result

    def restart(self) -> None:
        """Gives up a call that has begun; the error memory is that before the call."""
        LIB.aps_layer_compressor_restart(self.pointer)
        self.encoded, self.round = False, 0
