#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python_cluster.py LAUNCH LIBRARY REDUCED: a Cluster of the package apsmpi has the
bits of jobs. For each policy an MPI job with the library preloaded reduces floats from
a file, with all ranks on this host and APSMPI_TEST_NODES for nodes. TAP."""

import os
import subprocess
import sys

import numpy as np

sys.dont_write_bytecode = True

import apsmpi  # noqa: E402

CALLS = 3

# (nodes, ranks of a node, elements, rule)
JOBS = [
    # formats
    (2, 2, 5000, "format: e4m3, scale: aps"),
    (2, 2, 70001, "format: e5m2, scale: none"),
    (4, 1, 70001, "format: e5m10, scale: aps"),
    (1, 4, 200001, "format: e3m0, scale: aps"),
    (2, 2, 70001, "format: e4m3fn, scale: aps-tight"),
    (2, 2, 70001, "format: bfp3/96"),
    (1, 4, 70001, "format: mx-e4m3fn"),
    (3, 1, 70001, "format: nvfp4"),
    (2, 2, 70001, "format: int4/512"),
    (2, 2, 70001, "format: qsgd7/512"),
    (2, 2, 70001, "format: sign/64"),
    # scales
    (2, 2, 70001, "format: e4m3, scale: {fixed: 1000}"),
    (2, 2, 70001, "format: e4m3, scale: backoff"),
    (1, 3, 70001, "format: e4m3, scale: {backoff: {on_overflow: zero}}"),
    (2, 2, 70001, "format: e4m3, scale: {backoff: {on_overflow: inf}}, reduce: gather"),
    (2, 2, 70001, "format: e4m3, scale: {backoff: {on_overflow: saturate}}, "
                  "reduce: master"),
    (4, 1, 70001, "format: e4m3, scale: logmax"),
    (1, 4, 70001, "format: e4m3, scale: underflow"),
    (2, 2, 70001, "format: e5m2, scale: unit, reduce: master"),
    (2, 2, 70001, "format: flex16, scale: autoflex"),
    (3, 1, 70001, "format: e5m2, scale: delayed, reduce: ring"),
    (2, 2, 70001, "format: e5m2, scale: dfxp, accumulate: format"),
    # roundings
    (2, 2, 70001, "format: e4m3, scale: aps, rounding: stochastic"),
    (1, 4, 70001, "format: e4m3, scale: aps, rounding: {stochastic: {seed: 7}}"),
    (4, 1, 70001, "format: e4m3, scale: aps, rounding: correlated"),
    (3, 1, 70001, "format: e3m0, scale: aps, rounding: stochastic, reduce: ring, "
                  "accumulate: format"),
    # orders of additions
    (2, 2, 200001, "format: e4m3, scale: aps, node: fp32"),
    (1, 3, 5000, "format: e4m3, scale: aps, node: fp32"),
    (2, 3, 70001, "format: e4m3, scale: aps, group: 2"),
    (2, 2, 70001, "format: e4m3, scale: aps, reduce: direct"),
    (3, 1, 200001, "format: e4m3, scale: aps, reduce: ring"),
    (3, 1, 70001, "format: e4m3, scale: aps, reduce: ring, accumulate: format"),
    (2, 2, 70001, "format: e4m3, scale: aps, reduce: gather, accumulate: kahan"),
    (2, 2, 70001, "format: e4m3, scale: aps, reduce: master"),
    (2, 3, 70001, "format: e4m3, scale: aps, reduce: master, group: 4, "
                  "accumulate: format"),
    (2, 2, 70001, "format: e4m3, accumulate: {format: e8m7, chunk: 2}, scale: none"),
    (1, 1, 5000, "format: e4m3, scale: aps"),
]


def gradients(ranks, count):
    """CALLS x ranks x count floats over many binades."""
    random = np.random.default_rng(ranks * count)
    shape = CALLS, ranks, count
    x = random.standard_normal(shape) * np.exp2(random.integers(-22, 4, shape))
    return x.astype(np.float32)


def job(launch, library, reduced, nodes, ranks, policy, x):
    """The sums of all calls of an MPI job, or None with a diagnosis."""
    x.tofile("in.bin")
    with open("policy.yaml", "w", encoding="utf-8") as file:
        file.write(policy.text)
    result = subprocess.run(
        ["timeout", "120", *launch.split(), "-n", str(ranks), "env",
         "LD_PRELOAD=" + library, "APSMPI_POLICY=policy.yaml",
         "APSMPI_TEST_NODES=%d" % nodes, reduced, "in.bin", str(x.shape[2]),
         str(CALLS), "out.bin"], capture_output=True, text=True, check=False,
        env={name: value for name, value in os.environ.items() if name != "LIBAPS"})
    if result.returncode != 0:
        print("# job: status %d\n# %s" % (result.returncode,
                                          result.stderr.replace("\n", "\n# ")))
        return None
    return np.fromfile("out.bin", np.float32).reshape(CALLS, x.shape[2])


def main(launch, library, reduced):
    failed = 0
    for number, (nodes, per_node, count, rule) in enumerate(JOBS, 1):
        policy = apsmpi.Policy(rule)
        ranks = nodes * per_node
        x = gradients(ranks, count)
        wanted = job(launch, library, reduced, nodes, ranks, policy, x)
        cluster = apsmpi.Cluster(nodes, per_node, policy)
        # Without steps a job knows no index.
        got = np.stack([cluster.allreduce(list(call), layer=i % 2)
                        for i, call in enumerate(x)])
        same = wanted is not None and np.array_equal(got.view(np.uint32),
                                                     wanted.view(np.uint32))
        failed += not same
        print("%sok %d - %d x %d ranks, %d floats: %s"
              % ("" if same else "not ", number, nodes, per_node, count, rule),
              flush=True)
        if wanted is not None and not same:
            at = np.argwhere(got.view(np.uint32) != wanted.view(np.uint32))
            print("# %d of %d differ, first in call %d, element %d: %r, not %r"
                  % (len(at), got.size, *at[0], got[tuple(at[0])],
                     wanted[tuple(at[0])]))
    print("1..%d" % len(JOBS))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
