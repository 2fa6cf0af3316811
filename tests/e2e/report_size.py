# SPDX-License-Identifier: BSD-3-Clause
"""Large logs: report_size.py write ROWS LOG [LAYERS] writes a log of ROWS rows,
of LAYERS (161) layers, with an event after every thousand rows; report_size.py
run COMMAND... runs a command and prints its memory and time.

Row i has the mean error (i % 7) / 8: sums of these are exact."""

import resource
import subprocess
import sys

LAYERS = 161
HEADER = ("time,comm,step,epoch,layer,name,count,format,scale,reduce,scale_exp,"
          "err_mean,err_max,err_l2,snr_db,underflow,overflow,nonfinite,skipped,"
          "wire_bytes,fp32_bytes,usec,run,call,rule,scale_value,group,node,"
          "accumulate,shadow,redone,overflowed,compress,density,rank,residual,"
          "entropy")
RUN = "20261122T143059.123456-4711"


def write(rows, path, layers=LAYERS):
    with open(path, "w", encoding="utf-8") as file:
        print(HEADER, file=file)
        print("# run=%s apsmpi=1.0 ranks=8 host=node1 policy=policy.yaml" % RUN,
              file=file)
        for row in range(rows):
            step, layer = divmod(row, layers)
            if row % 1000 == 999:
                print("# comm0: desync: the step was lost", file=file)
            print("%.6f,comm0,%d,%d,%d,layer%d.conv.weight,%d,e4m3,aps-tight,"
                  "hierarchical,%d,%g,%g,%.6g,%.4g,%d,0,0,%d,%d,%d,%.1f,%s,"
                  "allreduce,0,%.9g,node,format,fp32,0,0,0,,,,,"
                  % (1.7e9 + row / 128, 100 * step, step // 50, layer, layer,
                     4096 + layer, row % 11, row % 7 / 8, row % 7,
                     row % 7 / 16 + .001 * (row % 13), 20 + row % 29 / 3,
                     row % 50, row % 3, 4096 + layer, 16384 + 4 * layer,
                     100 + row % 1009 / 10, RUN, 2.0 ** (row % 11)), file=file)


def run(command):
    status = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("%d MB, %d s of processor time" % (
        used.ru_maxrss * 1024 / 1e6, used.ru_utime + used.ru_stime),
        file=sys.stderr)
    return status


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
    else:
        sys.exit(run(sys.argv[2:]))
