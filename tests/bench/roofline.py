# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of roofline.sh: the bounds of an all-reduce on one node.

    roofline.py [--ranks P --cores C] PREFIX

PREFIX-instructions.txt, PREFIX-kernels-1.txt and -2.txt are output of `codec`,
PREFIX-passes.txt of `passes`, PREFIX-aps.csv and PREFIX-aps-tight.csv of `apsmpi-bench
--csv`. The last three are of P (2) ranks on C (2) cores.

Kernels: bytes that a value takes in memory, instructions, the rate in GB/s of FP32,
and the bound of the same, for arrays in memory. It follows from two rates that were
measured at the same time: that of a search for the greatest value, which only reads,
and that of memcpy. A byte read costs 1 / search, a byte written 1 / memcpy - 1 /
search.

Calls: a rank of P that reduces n floats in codes of w bits
  aps:       searches its n floats in memory, and encodes them from there
             (`bounded`);
  aps-tight: searches each block in memory, and encodes it from the L2 cache;
  all:       add the codes of n / P values of P ranks, in the L2 cache, and encode the
             sum (`sum_encode`, measured for two ranks), and decode n values to memory,
             past the caches (`stream`) or not, as is faster.
FP32 bytes are those of the program's buffers that a rank reads and writes, per
value; wire bytes those of the shared memory. `bytes` is the time that the FP32 bytes
alone take, as `passes` measured it: no library can be faster there. `kernels` is the
sum of these kernels' times at the rates measured, for the ranks that share a core:
the time without waits and messages, if a core did not compute while it waits for
memory. `codes` is the time in which codes of 4, 8 or 16 bits go from core to core
and the sums back, as `passes` measured it. A call of one chunk (128 Ki floats and
less of two ranks) needs that time after its kernels, a longer one during them.
"""

import argparse
import csv


def read_table(path):
    """Returns [{column: value}] of each table of a file of `codec`, by its heading."""
    tables, columns = {}, None
    with open(path, encoding="ascii") as file:
        for line in file:
            if not line.startswith(" "):
                table = tables.setdefault(line.split(":")[0].strip(), {})
                columns = None
            elif columns is None:
                columns = line.split()[3:]
            elif line.strip().startswith(("plain", "avx")):
                name, values = line.split()[1], line.split()[3:]
                numbers = [v for v in values if not v.endswith("x")]
                table[name] = {
                    c: None if v == "-" else float(v)
                    for c, v in zip(columns, numbers)
                }
                table[name]["bits"] = int(line.split()[2])
    return tables


def slower(a, b):
    """Returns the lesser rate of two processes that ran at the same time."""
    return {
        place: {
            name: {c: v if c == "bits" else min(v, b[place][name][c])
                   for c, v in row.items()}
            for name, row in rows.items()
        }
        for place, rows in a.items()
    }


# Bytes of FP32 and arrays of codes that a kernel reads and writes.
KERNELS = {
    "max": (4, 0, 0, 0),
    "encode": (4, 0, 0, 1),
    "bounded": (4, 0, 0, 1),
    "decode": (0, 4, 1, 0),
    "decode_add": (4, 4, 1, 0),
    "stream": (0, 4, 1, 0),
    "sum_encode": (0, 0, 2, 1),
}


class Costs:
    """Nanoseconds per byte of memory, from two rates in GB/s."""

    def __init__(self, row):
        self.read = 1 / row["max"]
        self.written = max(0.0, 1 / row["memcpy"] - self.read)

    def of(self, read, written):
        return self.read * read + self.written * written


def kernel_table(rates, instructions, place):
    print(f"{place}, two processes at once")
    print(f"  {'format':<10}{'kernel':<11}{'read':>6}{'written':>8}"
          f"{'instructions':>14}{'GB/s':>7}{'memcpy':>8}{'bound':>7}")
    for name, row in rates[place].items():
        costs = Costs(row)
        for kernel, (read, written, from_, to) in KERNELS.items():
            code = row["bits"] / 8
            bytes_read, bytes_written = read + from_ * code, written + to * code
            each = instructions.get(name, {}).get(kernel)
            bound = 4 / costs.of(bytes_read, bytes_written)
            large = int(place.split()[0]) >= 65536
            print(f"  {name:<10}{kernel:<11}{bytes_read:>6.3g}"
                  f"{bytes_written:>8.3g}"
                  f"{'-' if each is None else format(each, '.3f'):>14}"
                  f"{row[kernel]:>7.1f}{row[kernel] / row['memcpy']:>8.2f}"
                  f"{format(bound, '.1f') if large else '-':>7}")
    print()


def call_bytes(scale, width, ranks):
    """Returns a rank's bytes per value, read and written: FP32 and codes."""
    code = width / 8
    return (8 if scale == "aps" else 4), 4, 2 * code, code + code / ranks


def call_seconds(scale, n, cache, memory, ranks):
    """Returns the time of a rank's kernels, by the rows `cache` and `memory`."""
    if scale == "aps":
        total = 1 / memory["max"] + 1 / memory["bounded"]
    else:
        total = 1 / memory["max"] + 1 / cache["bounded"]
    total += 1 / max(memory["decode"], memory["stream"])
    # two summands; each further one takes half of the time outside the encoder
    two, encode = 1 / cache["sum_encode"], 1 / cache["bounded"]
    total += (two + max(0, two - encode) * (ranks - 2) / 2) / ranks
    return 4e-9 * n * total


def read_passes(path):
    """Returns {(kind, floats): microseconds}, the medians of `passes`."""
    with open(path, encoding="ascii") as file:
        return {(kind, int(n)): float(median)
                for kind, n, median, _ in map(str.split, file)}


def given_or_dash(value, form):
    return "-" if value in (None, "") else format(float(value), form)


def call_table(scale, rows, rates, passes, given):
    cache, memory = list(rates)[0], list(rates)[-1]
    print(f"one node, {given.ranks} ranks, {given.cores} cores, scale: {scale}; "
          "bytes a value of a rank")
    print(f"  {'floats':>9} {'format':<8}{'FP32 read':>10}{'written':>8}"
          f"{'wire read':>10}{'written':>8}{'bytes us':>11}{'kernels us':>11}"
          f"{'codes us':>9}{'measured us':>12}{'of kernels':>11}{'native x':>9}{'floor':>7}")
    for row in rows:
        name, n = row["variant"], int(row["count"])
        if name not in rates[memory] or row["rewritten"] != "yes":
            continue
        in_cache, in_memory = rates[cache][name], rates[memory][name]
        read, written, codes_read, codes_written = call_bytes(
            scale, in_memory["bits"], given.ranks)
        kernels = 1e6 * max(1, given.ranks / given.cores) * call_seconds(
            scale, n, in_cache, in_memory, given.ranks)
        measured = float(row["median_usec"])
        codes = passes.get((f"codes{in_memory['bits']}", n))
        print(f"  {n:>9} {name:<8}{read:>10.3g}{written:>8.3g}"
              f"{codes_read:>10.3g}{codes_written:>8.3g}{passes[scale, n]:>11.0f}"
              f"{kernels:>11.0f}{given_or_dash(codes, '.0f'):>9}"
              f"{measured:>12.0f}{measured / kernels:>11.2f}"
              f"{float(row['ratio_native']):>9.2f}"
              f"{given_or_dash(row['ratio_floor'], '.2f'):>7}")
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("prefix")
    given = parser.parse_args()
    prefix = given.prefix
    rates = slower(read_table(f"{prefix}-kernels-1.txt"),
                   read_table(f"{prefix}-kernels-2.txt"))
    counted = read_table(f"{prefix}-instructions.txt")["instructions a value"]
    passes = read_passes(f"{prefix}-passes.txt")
    for place in rates:
        kernel_table(rates, counted, place)
    for scale in "aps", "aps-tight":
        with open(f"{prefix}-{scale}.csv", newline="", encoding="ascii") as file:
            call_table(scale, list(csv.DictReader(file)), rates, passes, given)


if __name__ == "__main__":
    main()
