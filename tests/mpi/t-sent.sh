# SPDX-License-Identifier: BSD-3-Clause
# Bytes on the wire: the bytes that compressors and formats with feedback send by MPI
# equal those of the log, the summary, `apsmpi explain` and formulas, to the byte.
. "$top_srcdir/tests/mpi/run.sh"

"$PYTHON3" -c '' 2>/dev/null || {
    skip 'bytes on the wire' "$PYTHON3 does not run here"
    finish
}
counting=$top_builddir/tests/figures/.libs/count.so

# Each rule has a layer of that shape.
cat >"$tmp/rules" <<'EOF'
64x48 reduce: direct, compress: {powersgd: {rank: 2, min_ratio: 1}}
33x37 reduce: ring, format: bf16, scale: none, compress: {powersgd: {rank: 3, min_ratio: 1}}
33x37 reduce: direct, format: e4m3, scale: aps, compress: {mstopk+powersgd: {rank: 2, density: 0.3, min_ratio: 1}}
500 reduce: direct, compress: {powersgd: 4}
3001 compress: {mstopk: 0.01}
3001 format: e4m3, compress: {topk: 0.05}
640 compress: {topk: 0.5}
3001 compress: {threshold: {value: 0.99, density: 0.5}}
6400 compress: {ternary: 0}
1221 reduce: gather, compress: {ternary: 0}
1221 reduce: direct, feedback: on, compress: {ternary: 1}
6400 reduce: hierarchical, group: 2, compress: {ternary: 0}
5000 reduce: direct, format: qsgd7/512
5000 reduce: direct, format: int4/64
5000 reduce: direct, format: sign/64
5000 reduce: direct, format: e5m2, scale: aps, feedback: on
5000 reduce: direct, format: e4m3, feedback: on
1221 reduce: direct, format: bfp7/64, feedback: on
1221 reduce: direct, format: nvfp4, feedback: on
1221 reduce: direct, format: e3m0, feedback: on
1221 reduce: direct, format: qsgd7/512, feedback: on
EOF
{
    printf 'version: 1\nmin_count: 1\ntable: layers.csv\nrules:\n'
    number=0
    while read -r shape rule; do
        echo "  - {layers: $number, $rule}"
        number=$((number + 1))
    done <"$tmp/rules"
} >"$tmp/counted.yaml"
awk 'BEGIN { print "layer,name,count,shape" }
     { n = split($1, side, "x"); all = side[1]; if (n > 1) all *= side[2]
       print NR - 1 ",l" NR - 1 "," all "," $1 }' "$tmp/rules" >"$tmp/layers.csv"
counts=$(awk -F, 'NR > 1 { print $3 }' "$tmp/layers.csv")
{
    cat "$tmp/counted.yaml"
    echo "log: {file: $tmp/log.csv, every: 1}"
} >"$tmp/logged.yaml"
"$top_builddir/apsmpi" explain --json "$tmp/counted.yaml" >"$tmp/plan.json"
check $? 'apsmpi explain knows the policy'

# For every call after the first step, compares the bytes that rank 0 sends by MPI with
# the log, formulas, and apsmpi explain, which gives the bytes of one copy of a layer.
cat >"$tmp/compare.py" <<'EOF'
import csv
import json
import math
import sys

tmp, ranks = sys.argv[1], int(sys.argv[2])
HEADER, SECTION, GROUP = 4, 16, 320
WIDTH = {"e8m23": 32, "e8m7": 16, "e4m3": 8, "e5m2": 8, "e3m0": 4}


def whole(x, unit):
    return -(-x // unit) * unit


def packed(bits, n):
    return -(-bits * n // 8)


def block(form, n):
    """Bytes of n values in a format, with the header of their block."""
    if n == 0:
        return 0
    if form in WIDTH:
        return HEADER + packed(WIDTH[form], n)
    if form.startswith("bfp"):
        mantissa, length = map(int, form[3:].split("/"))
        return HEADER + sum(1 + packed(1 + mantissa, min(length, n - i))
                            for i in range(0, n, length))
    if form == "nvfp4":
        return HEADER + 4 + -(-n // 16) + packed(4, n)
    if form.startswith("qsgd"):
        levels, length = map(int, form[4:].split("/"))
        bits = 1 + math.ceil(math.log2(levels + 1))
    else:
        kind, length = form.split("/")
        bits, length = 1 if kind == "sign" else int(kind[3:]), int(length)
    return HEADER + 4 * -(-n // length) + packed(bits, n)


def granule(form):
    return math.lcm(64, int(form.split("/")[1])) if "/" in form else 64


def slices(n, unit, owners=ranks):
    """Those of the owners, in units; the first ones are longer."""
    units, left = -(-n // unit), n
    for i in range(owners):
        length = min(left, (units // owners + (i < units % owners)) * unit)
        left -= length
        yield length


def direct(size, n, unit):
    """To the owners of the others' slices, and the own sums to all others."""
    of = list(slices(n, unit))
    return sum(map(size, of[1:])) + (ranks - 1) * size(of[0])


def reduction(plan, n):
    """Bytes of n values in a plain format, by rank 0."""
    form = plan["format"]
    if plan["reduce"] == "direct":
        return direct(lambda length: block(form, length), n, granule(form))
    # The ring sends partial sums in FP32, without a header, of all slices
    # except its own, and then results of all except the next rank's.
    of = list(slices(n, granule(form)))
    return sum(4 * of[-i] for i in range(1, ranks)) + \
        sum(block(form, of[-i]) for i in range(ranks - 1))


def selected(form, n, k):
    indices = min(packed(math.ceil(math.log2(n)), k), packed(1, n))
    return SECTION + whole(indices, 16) + whole(block(form, k), 16)


def formula(plan, layer):
    """Bytes that rank 0 sends, and one copy."""
    n, span = layer["count"], layer["spans"][0]
    parameters, matrix = plan["compress_parameters"] or {}, span["matrix"]
    kind = plan["compress"] if span["compressed"] else None
    form = plan["format"]
    if kind is None:
        if plan["feedback"] and not plan["compress"]:
            return direct(lambda length: SECTION + whole(block(form, length), 16),
                          n, granule(form)), block(form, n) - HEADER
        return reduction(plan, n), block(form, n) - HEADER
    if "powersgd" in kind:
        rows, columns = matrix["rows"], matrix["columns"]
        rank = parameters["rank"]
        p, q = reduction(plan, rows * rank), reduction(plan, columns * rank)
        copy = packed(WIDTH[form], (rows + columns) * rank)
        if plan["reduce"] == "ring":
            copy = (copy + packed(32, (rows + columns) * rank)) / 2
        return p + q, copy
    if kind == "ternary":
        digits = lambda length: -(-length // 5)
        bits = lambda all: math.ceil(math.log2(2 * all + 1))
        if plan["reduce"] == "gather":
            return (ranks - 1) * digits(n), digits(n)
        copy = -(-(digits(n) + packed(bits(8), n)) // 2)
        if plan["reduce"] == "hierarchical":
            # `owners` ranks in each of `groups` groups: 2, 2 + 1 or 2 + 2 ranks.
            owners, groups = 1 if ranks == 3 else 2, -(-ranks // 2)
            of = list(slices(n, GROUP, owners))
            parts = list(slices(of[0], GROUP, groups))
            return sum(map(digits, of[1:])) + \
                sum(packed(bits(2), length) for length in parts[1:]) + \
                (groups - 1) * packed(bits(ranks), parts[0]) + \
                packed(bits(ranks), of[0]), copy
        of = list(slices(n, GROUP))
        return sum(map(digits, of[1:])) + \
            (ranks - 1) * packed(bits(ranks), of[0]), copy
    copy = selected(form, n, max(1, int(parameters["density"] * n)))
    return (ranks - 1) * copy, copy


layers = json.load(open(tmp + "/plan.json"))["layers"]
plans = [layer["spans"][0]["plan"] for layer in layers]
sent, logged, bad = {}, {}, 0
for line in open(tmp + "/sent"):
    step, layer, messages, size = map(int, line.split()[:4])
    sent[step, layer] = size
for row in csv.DictReader(x for x in open(tmp + "/log.csv") if x[0] != "#"):
    logged[int(row["step"]), int(row["layer"])] = int(row["wire_bytes"])
if sorted(sent) != sorted(logged):
    print("rows differ")
    bad += 1
for (step, layer), size in sorted(sent.items()):
    plan, count = plans[layer], layers[layer]["count"]
    wire, copy = formula(plan, layers[layer])
    # Messages of agreement before the data, a number and a checksum each: one, or one
    # for P and one for Q.
    before = 8 * (ranks - 1) * (
        (plan["scale"] == "aps") * (1 + ("powersgd" in (plan["compress"] or "")))
        + (plan["compress"] in ("ternary", "threshold")))
    # The mean bits of a block, if apsmpi explain does not know better.
    explained = layers[layer]["spans"][0]["bytes_per_element"] * count
    # All elements above the threshold; explain gives the maximum.
    varies = plan["compress"] == "threshold"
    if step == 0:
        continue
    if size != logged[step, layer] + before or \
            (logged[step, layer] > wire if varies
             else logged[step, layer] != wire) or \
            abs(explained - copy) > (5.5 if "/" in plan["format"]
                                     or plan["format"] == "nvfp4" else 0.51):
        print("step %d, layer %d, %s %s: sent %d, of these %d before the data; "
              "log %d, formula %d; apsmpi explain %g, formula %g"
              % (step, layer, plan["compress"], plan["format"], size, before,
                 logged[step, layer], wire, explained, copy))
        bad += 1
summary = json.load(open(tmp + "/summary.json"))["calls"][0]
if summary["wire_bytes"] != sum(logged.values()):
    print("summary %d, log %d" % (summary["wire_bytes"], sum(logged.values())))
    bad += 1
sys.exit(bad > 0)
EOF

for ranks in 2 3 4; do
    rm -f "$tmp/log.csv" "$tmp/summary.json"
    library=$counting:$library
    # shellcheck disable=SC2086 # words
    run "$ranks ranks, counted" $ranks \
        -genv APSMPI_POLICY "$tmp/counted.yaml" \
        -genv APSMPI_SUMMARY "json:$tmp/summary.json" \
        "$mpi/sent" 3 "$tmp/sent" $counts
    # shellcheck disable=SC2086 # words
    run "$ranks ranks, logged" $ranks \
        -genv APSMPI_POLICY "$tmp/logged.yaml" \
        "$mpi/sent" 3 "$tmp/also" $counts
    library=${library#"$counting":}
    "$PYTHON3" "$tmp/compare.py" "$tmp" $ranks >"$tmp/differences"
    check $? "$ranks ranks: what is sent, log, summary, explain and formulas agree"
    sed 's/^/# /' "$tmp/differences" >&2
done

# A slice of 18.5 MiB is sent in two messages, and arrives.
cat >"$tmp/long.yaml" <<EOF
version: 1
steps: {calls: 1}
rules: [{format: e8m22, feedback: on}]
EOF
library=$counting:$library
run "a long layer" 2 -genv APSMPI_POLICY "$tmp/long.yaml" \
    "$mpi/sent" 2 "$tmp/sent" 10000001
awk '{ print "# " $0;  if ($1 == 1) good = $3 == 4 && $5 < 1e-5 }
    END { exit !good }' \
    "$tmp/sent" >&2
check $? "a long layer: its slices go in two messages"
finish
