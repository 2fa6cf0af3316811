#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compressors from a user's view: a program trains, and sends the bytes that
# apsmpi explain prints.
# shellcheck disable=SC2016 # Python
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all 'there is no Python'

cat >layers.csv <<'END'
layer,name,count,shape
0,fc1.weight,4096,64x64
1,fc1.bias,64,64
2,fc2.weight,4096,64x64
3,fc2.bias,64,64
4,fc3.weight,640,
5,fc3.bias,10,10
END
policy low.yaml -t 'table: layers.csv' \
    -t 'log: {file: log.csv, every: 1}' \
    'layers: fc1.*, reduce: direct, compress: {powersgd: 2}' \
    'layers: fc2.*, format: e4m3, compress: {mstopk: 0.05}' \
    'format: bf16, reduce: direct, compress: {mstopk+powersgd: {rank: 1, density: 0.5}}'

"$apsmpi" explain --json low.yaml >plan.json
job 2 APSMPI_POLICY=low.yaml APSMPI_SUMMARY=json:summary.json \
    $digits --epochs 1
check 'a program trains with compressors' trained
check '... a layer without a shape is reported once' lines 1 err \
    'takes 1 layer without a shape in the layer table as square matrices'
check '... all of its layers have rows' equal "$(distinct layer log.csv)" \
    '0 1 2 3 4 5'

cat >sent.py <<'END'
import csv
import json
import sys

plan = json.load(open("plan.json"))
layers = [(l["count"], l["spans"][0]) for l in plan["layers"]]
seen = 0
good = True
for row in csv.DictReader(line for line in open("log.csv") if line[0] != "#"):
    layer = int(row["layer"])
    seen |= 1 << layer
    count, span = layers[layer]
    more = int(row["wire_bytes"]) - count * span["bytes_per_element"]
    # Each of two ranks sends one copy. The reduction sends one vector, and the
    # low rank two, in one block or in two, with a header of 4 bytes each.
    # apsmpi explain counts the headers of selected elements.
    vectors = 0 if span["plan"]["reduce"] == "gather" else 1 + span["compressed"]
    if more not in (4 * vectors, 8 * vectors):
        print("layer %d: %g bytes more than apsmpi explain says" % (layer, more))
        good = False
compressed = [span["compressed"] for count, span in layers]
print(compressed)
sys.exit(not (good and seen == 63
              and compressed == [True, False, True, True, True, False]))
END
check '... and send the bytes that apsmpi explain says' "$PYTHON3" sent.py

# --- the summary --------------------------------------------------------------

# summed EXPRESSION: true for `sums`, the counts of MPI_Allreduce
summed()
{
    "$PYTHON3" - "$1" <<'END'
import json
import sys

sums = json.load(open("summary.json"))["calls"][0]
print(sums)
sys.exit(not eval("(%s)" % sys.argv[1]))
END
}
# 2 of 6 layers are vectors.
check 'the summary counts layers that are compressed' summed \
    'sums["compressed_layers"] == sums["rewritten"] * 4 // 6'
# Feedback: 4 bytes an element. Then Q of 64 x 2 floats, and of 26 x 1.
check '... and the most bytes that are kept' summed 'sums["compressor_bytes"] ==
    4 * (4096 + 4096 + 64 + 640 + 64 * 2 + 26)'

# --- the log ------------------------------------------------------------------

# kinds LAYER: prints the distinct compress, density and rank of its rows
kinds()
{
    for name in compress density rank; do
        distinct "$name" log.csv "v[\"layer\"] == $1"
        echo
    done | paste -s -d '|'
}
check 'the log says how a layer is compressed' equal "$(kinds 0)" \
    'powersgd rank 2||2'
check '... its density' equal "$(kinds 2)" 'mstopk 0.05|0.05|'
check '... or both' equal "$(kinds 4)" 'mstopk 0.5 + powersgd rank 1|0.5|1'
check '... and nothing of a vector' equal "$(kinds 1)" '||'
check 'vectors have no residual' equal "$(distinct residual log.csv \
    'v["layer"] == 1 || v["layer"] == 5')" ''

# residuals LAYER: prints those of its rows
residuals()
{
    column residual log.csv "v[\"layer\"] == $1"
}
policy kept.yaml -t 'table: layers.csv' -t 'log: {file: log.csv, every: 1}' \
    'layers: 0, compress: {topk: 0.25}' \
    'layers: 2, compress: {topk: 1}' \
    'layers: 4, compress: {topk: 0.25}, feedback: off' \
    'format: fp32'
rm log.csv
job 2 APSMPI_POLICY=kept.yaml $digits --epochs 1
check 'the quarter of largest elements is sent' trained
# 4 bytes for each element, and for each that rank 0 sums.
check '... the summary says what is kept' has err \
    ' times (up to 32.8 KB kept)'
# The residuals are at least a quarter of the square of the norm.
first_is_bounded()
{
    residuals 0 | awk 'NR == 1 { print; good = $1 > 0 && $1 <= sqrt(0.75) }
        END { exit !good }'
}
check '... the residual is of what is left' first_is_bounded
grows()
{
    residuals 0 | awk 'NR == 1 { first = $1 } { last = $1 }
        END { print first, last; exit !(last > first && last < 1) }'
}
check '... and of what was left before' grows
check 'the residual is 0 if all is sent' equal "$(residuals 2 | sort -u)" 0
check 'there is none without feedback' equal "$(residuals 4 | sort -u)" ''

# --- a format with feedback ---------------------------------------------------

policy rounded.yaml -t 'table: layers.csv' -t 'log: {file: log.csv, every: 1}' \
    'format: e3m0, feedback: on'
"$apsmpi" explain rounded.yaml >out 2>err
check 'apsmpi explain says what feedback of a format keeps' has out \
    "feedback (line 6): What a call rounds off is added to the layer's next call"
"$apsmpi" explain --json rounded.yaml >plan.json
in_plan()
{
    "$PYTHON3" - <<'END'
import json
import sys

layers = json.load(open("plan.json"))["layers"]
spans = [layer["spans"][0] for layer in layers]
print(spans[0])
sys.exit(any(span["plan"]["compress"] is not None or not span["plan"]["feedback"]
             or span["bytes_per_element"] != 0.5 for span in spans))
END
}
check '... and no compressor, as JSON' in_plan
rm log.csv summary.json
job 2 APSMPI_POLICY=rounded.yaml $digits --epochs 1
check 'a program trains with it' trained
# 4 bytes for each element, and for each that rank 0 sums.
check '... the summary says what is kept' has err ', up to 54.1 KB kept by feedback'
check '... the log has no compressor' equal "$(distinct compress log.csv)" ''
check '... but a residual of each layer' equal \
    "$(distinct layer log.csv 'v["residual"] > 0 && v["residual"] < 0.5')" \
    '0 1 2 3 4 5'

# --- no shapes ----------------------------------------------------------------

policy shapeless.yaml -t 'steps: auto' \
    'min_count: 2000, compress: powersgd' 'format: e4m3'
why="takes every layer as a square matrix, because the policy has no layer table"
"$apsmpi" check shapeless.yaml >out 2>err
check 'no layer table: check warns of low rank' lines 1 err \
    "warning: compress: powersgd $why"
"$apsmpi" explain shapeless.yaml >out 2>err
check '... explain, too' lines 1 err "$why"
job 2 APSMPI_POLICY=shapeless.yaml $digits --epochs 1
check '... and a job, once' lines 1 err "$why"
check '... which trains' trained

finish
