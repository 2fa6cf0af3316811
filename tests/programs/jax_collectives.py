# SPDX-License-Identifier: BSD-3-Clause
"""Sums of floats by JAX's own collectives over MPI: jax_collectives.py PORT"""
import os
import sys

import jax
import numpy as np
from jax.experimental.shard_map import shard_map
from jax.sharding import Mesh, NamedSharding, PartitionSpec

COUNT = 20000
jax.config.update("jax_cpu_collectives_implementation", "mpi")
# JAX may call MPI in the thread alone that has initialised it.
jax.config.update("jax_cpu_enable_async_dispatch", False)
rank, ranks = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
jax.distributed.initialize("localhost:" + sys.argv[1], ranks, rank)


def values(rank):
    return np.random.default_rng(rank).standard_normal((1, COUNT)).astype(np.float32)


mesh = Mesh(np.array(jax.devices()), "ranks")
by_rank = PartitionSpec("ranks")
sum_of_all = jax.jit(shard_map(lambda x: jax.lax.psum(x, "ranks"), mesh=mesh,
                               in_specs=by_rank, out_specs=PartitionSpec()))
x = jax.make_array_from_process_local_data(NamedSharding(mesh, by_rank), values(rank),
                                           (ranks, COUNT))
for _ in range(5):
    total = np.asarray(sum_of_all(x).addressable_data(0))
exact = sum(values(r).astype(np.float64) for r in range(ranks))
if rank == 0:
    print("error", np.linalg.norm(total - exact) / np.linalg.norm(exact))
