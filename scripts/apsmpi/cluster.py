# SPDX-License-Identifier: BSD-3-Clause
"""A job of many ranks in one process."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Optional, Sequence, Union

from .arrays import Array, floats, result_for
from .library import LIB, Handle, whole
from .policies import Policy, policy_of, request_of


class Cluster(Handle):
    """N = nodes * ranks_per_node simulated ranks, whose all-reduce returns the bits
    that MPI_Allreduce of a job on N ranks returns with this policy.

    >>> import numpy as np
    >>> cluster = Cluster(2, 2, "format: e4m3, scale: aps")
    >>> cluster.allreduce([np.float32([1, 0.3]) for rank in range(4)])
    array([4.  , 1.25], dtype=float32)

    Ranks follow each other on the nodes. Scales with a state learn from call to
    call. Refused are compressors, feedback, `reduce: auto`, `format: {auto: ...}`,
    groups of hardware, and layers that MPI reduces, in an order of its own.
    """

    def __init__(self, nodes: int, ranks_per_node: int,
                 policy: Union[str, Policy]) -> None:
        super().__init__(LIB.aps_simulation_destroy)
        nodes = whole("nodes", nodes, 1)
        ranks_per_node = whole("ranks_per_node", ranks_per_node, 1)
        self.policy = policy_of(policy)  # must live as long as the simulation
        self.ranks = nodes * ranks_per_node
        LIB.aps_simulation_create(self.policy.pointer, nodes, ranks_per_node,
                                  byref(self.pointer))

    def allreduce(self, gradients: Sequence[Array], *, name: Optional[str] = None,
                  layer: int = -1, epoch: int = 0, step: Optional[int] = None,
                  out: Optional[Array] = None) -> Any:
        """The sum of gradients[r] of all ranks r, as one call of one layer.

        step: number of the call's step. By default calls are numbered as a job numbers
        them: those of each layer, or those of a size if the policy has no steps."""
        if len(gradients) != self.ranks:
            raise ValueError("there are %d gradients, and the cluster has %d ranks; "
                             "pass one array for each rank"
                             % (len(gradients), self.ranks))
        values = [floats(x, "gradients[%d]" % r) for r, x in enumerate(gradients)]
        for r, x in enumerate(values):
            if x.shape != values[0].shape:
                raise ValueError("gradients[%d] has the shape %s, and gradients[0] "
                                 "has %s" % (r, x.shape, values[0].shape))
        array, result = result_for(gradients[0], out, values[0].shape, values)
        addresses = (ctypes.c_void_p * self.ranks)(*[x.ctypes.data for x in values])
        request = request_of(values[0].size, name, layer, epoch,
                             -1 if step is None else whole("step", step))
        LIB.aps_simulation_allreduce(self.pointer, byref(request), addresses,
                                     array.ctypes.data)
        return result


def sum_gradients(gradients: Sequence[Array], policy: Union[str, Policy],
                  out: Optional[Array] = None) -> Any:
    """The sum of one array of each rank, with every rank on its own node: the first
    call of Cluster(len(gradients), 1, policy).allreduce(), with its random bits and
    scales. Keep a Cluster for more calls.

    >>> import numpy as np
    >>> one, two = np.float32([1.06]), np.float32([2])
    >>> sum_gradients([one, two], "format: e4m3, scale: none")
    array([3.], dtype=float32)
    """
    return Cluster(len(gradients), 1, policy).allreduce(gradients, out=out)
