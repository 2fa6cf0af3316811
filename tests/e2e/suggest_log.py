# SPDX-License-Identifier: BSD-3-Clause
"""Writes the log of a made-up shadow run: suggest_log.py FILE [OPTION=VALUE...].

A candidate's bits per value and its error in each layer determine its rows: a
row has err_l2 = 10^(-dB/20), the layer's norm, and bits * count / 8 bytes of 4
* count in FP32. Options:

    layers      counts of the layers, with + between them; a name may follow a :
    candidates  format/scale/bits/dB, with + between them; dB is that of all layers,
                or one for each layer with , between them; in epoch e it is e less
    norms       of each layer, with + between them (default: 1)
    epochs, samples     how many of each (default: 3 of 2)
    steps       of the samples, with + between them (default: 0, 1, ...)
    run, comm, sizes    the run's id, the communicator, 1: no step is known
    factor      the log's scale_value
    begin       the first event, after run=ID
    event       another event, after it
    end         1: the run ends
"""

import sys

HEADER = ("time,comm,step,epoch,layer,name,count,format,scale,reduce,scale_exp,"
          "err_mean,err_max,err_l2,snr_db,underflow,overflow,nonfinite,skipped,"
          "wire_bytes,fp32_bytes,usec,run,call,rule,scale_value,group,node,"
          "accumulate,shadow,redone,overflowed,compress,density,rank,residual,entropy,"
          "ref_l2")
DEFAULTS = {
    "layers": "4096+64+640", "candidates": "e5m2/aps/8/18+e4m3/aps/8/24",
    "norms": "", "steps": "", "epochs": "3", "samples": "2",
    "run": "20261123T060000.000000-1",
    "comm": "MPI_COMM_WORLD", "sizes": "0", "factor": "8",
    "event": "", "end": "0",
    "begin": "apsmpi=1.0 ranks=4 steps=auto"}


def rows(options):
    layers = [layer.partition(":") for layer in options["layers"].split("+")]
    norms = options["norms"].split("+") if options["norms"] else ["1"] * len(layers)
    samples = int(options["samples"])
    steps = options["steps"].split("+") if options["steps"] else []
    for step in range(samples * int(options["epochs"])):
        epoch = 0 if options["sizes"] == "1" else step // samples
        for i, (count, _, name) in enumerate(layers):
            for number, candidate in enumerate(options["candidates"].split("+"), 1):
                form, scale, bits, ratios = candidate.split("/")
                ratios = ratios.split(",")
                ratio = float(ratios[i if len(ratios) > 1 else 0]) - step // samples
                error = 10 ** (-ratio / 20)
                yield ("%d,%s,%d,%d,%d,%s,%s,%s,%s,direct,3,%.6g,%.6g,%.6g,%.4g,0,%d,0,"
                       "0,%d,%d,50,%s,allreduce,0,%s,,,fp32,%d,0,0,,,,,%s,%s" % (
                           1.7e9 + step, options["comm"],
                           int(steps[step]) if steps else step, epoch,
                           -1 if options["sizes"] == "1" else i, name, count, form,
                           scale, error, error, error, ratio,
                           error == float("inf"), float(bits) * int(count) / 8,
                           4 * int(count), options["run"], options["factor"], number,
                           float(bits) / 2, norms[i]))


def main():
    options = dict(DEFAULTS, **dict(word.split("=", 1) for word in sys.argv[2:]))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        print(HEADER, file=file)
        print("# run=%s %s" % (options["run"], options["begin"]), file=file)
        if options["event"]:
            print("# MPI_COMM_WORLD: " + options["event"], file=file)
        for row in rows(options):
            print(row, file=file)
        if options["end"] == "1":
            print("# end run=" + options["run"], file=file)


if __name__ == "__main__":
    main()
