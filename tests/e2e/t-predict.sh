#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi explain's prediction of times: options, tables, JSON, the file of
# `apsmpi measure`, and errors in each.
# shellcheck disable=SC2016 # expressions of Python
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all 'there is no Python'

# predict OPTION...: explains the current policy
predict()
{
    timed "$apsmpi" explain policy.yaml "$@"
}

# holds EXPRESSION: true for the object `p`, the member `prediction`
holds()
{
    "$PYTHON3" - "$1" <<'PYTHON'
import json
import sys

o = json.load(open("out", encoding="utf-8"))
p = o.get("prediction")
sys.exit(0 if eval("(" + sys.argv[1] + ")") else 1)
PYTHON
}

# wrong NAME MESSAGE OPTION...: a usage error
wrong()
{
    name=$1 message=$2
    shift 2
    predict "$@"
    check "$name" status_is 2
    check "$name: the message" grep -E -e "$message" err
}

printf 'layer,name,count\n0,conv,1000000\n1,bias,64\n2,fc,65536\n3,last,2048\n' \
    >layers.csv
cat >policy.yaml <<'END2'
version: 1
steps: {per_epoch: 10}
layers: layers.csv
rules:
  - {layers: last, format: fp32}
  - {epochs: 2-, format: e4m3, scale: aps, reduce: master, group: 4,
     accumulate: format}
  - {format: e5m2, reduce: hierarchical}
END2

predict
check 'no options, no prediction' not grep -q prediction out
predict --hosts 4 --ranks-per-host 4 --rate 25gbit --latency 5us
check 'text' status_is 0
check 'text: the cluster' \
    grep -E -e 'prediction: 4 hosts, 4 ranks each, links of 25 Gbit/s and 5 us' out
tr '\n' ' ' <out | tr -s ' ' >flat
check 'text: what was measured and what is assumed' grep -E -e 'Assumed:' out
check 'text: the links inside a host are assumed' \
    grep -q 'Assumed: ranks of a host exchange messages at 80 Gbit/s and 500 ns,' flat
check 'text: small layers have a row' grep -E -e '1 small' out
check 'text: native algorithms' grep -E -e 'Rabenseifner' flat
check 'text: what MPICH takes between hosts of several ranks' \
    grep -q 'MPICH 4 takes for each count: the composition of a reduce' flat
check 'text: the best group' grep -E -e 'best' out
check 'text: bits of sums' grep -E -e 'mantissa bits' flat

predict --hosts 4 --ranks-per-host 4 --rate 25gbit --json
check 'JSON' holds 'p["cluster"]["hosts"] == 4 and len(p["spans"]) == 2'
check 'JSON: native is the composition where hosts have several ranks' holds '
    all(s["native"]["mpich"] == s["native"]["composition"] for s in p["spans"])'
check 'JSON: a step is the sum of its layers' holds 'all(abs(sum(
    l["seconds"] for l in s["layers"]) / s["seconds"] - 1) < 1e-9
    for s in p["spans"])'
check 'JSON: what is left to MPI takes what native takes' holds '
    p["spans"][0]["layers"][3]["seconds"]
    == p["spans"][0]["layers"][3]["native"]["mpich"]'
check 'JSON: the ring of four masters and of groups of four' holds '
    [(s["terms"], s["group_terms"], s["groups"]) for s in
     [r["sums"] for r in p["rules"]] if s] == [(4, 4, 4)]'
check 'JSON: fewer bits than needed for no sum' holds 'all(
    r["sums"]["variance_retained"] <= 1 for r in p["rules"] if r["sums"])'
cp out fast
predict --hosts 4 --ranks-per-host 4 --rate 100mbit --json
check 'a slower link: all takes longer' holds 'all(
    s["seconds"] > 10 * f["seconds"] for s, f in zip(p["spans"],
    json.load(open("fast"))["prediction"]["spans"]))'
check 'a slower link: few bits pay, as far as rates go' holds '
    p["spans"][0]["seconds"] < p["spans"][0]["native"]["mpich"] / 2'
predict --hosts 4 --ranks-per-host 4 --rate 25gbit --cores 1 --json
check 'cores: ranks share one' holds 'p["cluster"]["ranks_per_core"] == 4'

wrong 'a rate of another kind' "^apsmpi: --rate '25 furlongs' is not a rate; give a" \
    --hosts 2 --rate '25 furlongs'
wrong 'a negative latency' "^apsmpi: --latency '-1us' is not a time; give a" \
    --hosts 2 --rate 1gbit --latency=-1us
wrong 'no hosts' '--hosts .0. is not a number from 1 to 1000000' --hosts 0 \
    --rate 1gbit
wrong 'one rank' 'is a single rank' --hosts 1
wrong 'more ranks than are predicted' \
    '^apsmpi: 600000 hosts with 4096 ranks each are more than 1000000000 ranks' \
    --hosts 600000 --ranks-per-host 4096 --rate 1gbit
wrong 'no rate' '[-]-hosts needs --rate' --hosts 2
wrong 'a rate without hosts' '--rate needs --hosts or --measured' --rate 1gbit
wrong 'no core' "--cores '0' is not a number above 0" --hosts 2 --rate 1gbit \
    --cores 0
wrong 'bad counts' "--counts '1Mi,x': give up to 16" --hosts 2 --rate 1gbit \
    --counts 1Mi,x
predict --hosts 2 --rate fast --json
check 'JSON: the same message' holds 'not o["ok"] and
    o["errors"][0]["text"].startswith("--rate")'

# Without a layer table: for each rule the counts that it matches.
cp policy.yaml layered.yaml
printf '%s\n' 'version: 1' 'rules:' '  - {max_count: 8192, format: e4m3}' \
    '  - {min_count: 1Mi, format: e5m2}' >policy.yaml
predict --hosts 4 --rate 1gbit
check 'counts: those that the first rule takes' \
    equal "$(awk '$1 == 3 && $2 + 0 > 0 { print $2 }' out)" 4096
check 'counts: those that the second rule takes' \
    equal "$(awk '$1 == 4 && $2 + 0 > 0 { print $2 }' out | paste -s -d ' ')" \
    '1048576 16777216'
tr '\n' ' ' <out | tr -s ' ' >flat
check 'counts: where a rule pays stays in what it takes' grep -q \
    'line 3: faster .* every count that the rule takes (1024 to 8192 floats)\.' flat
check 'counts: from the least one of a rule on' grep -q \
    'line 4: faster .* that the rule takes (1048576 floats and more)\.' flat
predict --hosts 4 --rate 1gbit --counts 1,5000,64Ki
check 'counts: of those that are named, the ones that a rule takes' \
    equal "$(awk '$1 == 3 && $2 + 0 > 0 { print $2 }' out)" 5000
check 'counts: named, below min_count' \
    grep -E -e '^- +1 +native \(min_count\) .* 1\.00 ' out
check 'counts: named, of no rule' \
    grep -E -e '^- +65536 +native \(no rule matches\) .* 1\.00 ' out
predict --hosts 4 --rate 1gbit --counts 1,5000,64Ki --json
check 'counts: JSON' holds '
    [[c["count"] for c in r["counts"]] for r in p["rules"]] == [[5000], []]
    and [(c["count"], c["why"]) for c in p["counts_native"]]
    == [(1, "min_count"), (65536, "no rule matches")]
    and [r["least_count"] for r in p["rules"]] == [1024, 2**20]'
printf '%s\n' 'version: 1' 'rules:' '  - {max_count: 2000, format: e4m3}' \
    '  - {max_count: 64Ki, format: e5m2}' >policy.yaml
predict --hosts 4 --rate 1gbit --json
check 'counts: one that a rule takes, where it takes no usual one' holds '
    [[c["count"] for c in r["counts"]] for r in p["rules"]]
    == [[2000], [4096, 65536]]'
check 'counts: a rule in front takes its own' holds '
    p["rules"][1]["least_count"] >= 2001 and p["counts_native"] == []'
mv layered.yaml policy.yaml

# --- measured -----------------------------------------------------------------

machine_file e5m2 >machine.yaml
printf 'version: 1\nrules: [{format: e5m2, reduce: direct}]\n' >policy.yaml
predict --measured machine.yaml --counts 16Mi --json
# 2 ms and 16 Mi bytes at 100 MB/s; native: 2 ms and 64 Mi bytes at 50 MB/s.
check 'measured: the file says all' holds '
    abs(p["rules"][0]["counts"][0]["seconds"] / 0.1698 - 1) < 0.01 and
    abs(p["rules"][0]["counts"][0]["native"]["mpich"] / 1.3442 - 1) < 0.01'
predict --measured machine.yaml --rate 1.6gbit --counts 16Mi --json
check 'measured: options say otherwise' holds '
    abs(p["rules"][0]["counts"][0]["seconds"] / 0.0859 - 1) < 0.01'
predict --measured machine.yaml
check 'measured: the text names the file' grep -E -e 'machine.yaml' out
# Native MPI measured faster than 16 KiB messages: no faster than another link.
sed 's/bulk: 5e7/bulk: 5e9/' machine.yaml >bulk.yaml
predict --measured bulk.yaml --rate 1gbit --latency 2us --counts 16Mi --json
check 'measured: native is bound by the rate that is given' holds '
    p["rules"][0]["counts"][0]["native"]["mpich"] >= 4 * 2**24 / 125e6'
sed 's/hosts: 2/hosts: 1/; s/ranks_per_host: 1/ranks_per_host: 2/' \
    machine.yaml >single.yaml
predict --measured single.yaml --hosts 32 --rate 1gbit --json
check 'measured on one host: the assumed latency' holds '
    p["cluster"]["between"]["latency"] == 2e-6
    and p["cluster"]["between"]["wait"] == 2e-6
    and not p["cluster"]["links_measured"]'
predict --measured single.yaml --hosts 32 --rate 1gbit
tr '\n' ' ' <out | tr -s ' ' >flat
check 'measured on one host: reported' \
    grep -q 'The file is of one host, without links: the latency is assumed' flat
predict --measured single.yaml --hosts 32 --rate 1gbit --latency 5us --json
check 'measured on one host: a latency given' holds '
    abs(p["cluster"]["between"]["latency"] / 5e-6 - 1) < 1e-9'
sed 's/e5m2:/e4m3:/' machine.yaml >other.yaml
# Native MPI's wait in a step is the measured one, however short.
sed 's/wait: 1e-3, message: 0, byte: 0}/wait: 1e-6, message: 0, byte: 0}/' \
    machine.yaml >quick.yaml
predict --measured quick.yaml --counts 1 --json
check 'measured: native steps shorter than the latency' holds '
    p["counts_native"][0]["native"]["mpich"] < 1e-5'
printf 'version: 1\nmin_count: 1\nrules: [{format: e5m2, reduce: auto}]\n' \
    >policy.yaml
predict --measured quick.yaml --counts 1,16Mi
check 'auto: left to native MPI' grep -E -e '^3 +1 +e5m2 +auto \(native\)' out
check 'auto: what it takes' \
    grep -E -e '^3 +16777216 +e5m2 +auto \((direct|hierarchical)\)' out
predict --measured quick.yaml --counts 1,16Mi --json
check 'auto: JSON' holds '
    p["rules"][0]["counts"][0]["taken"] == "native" and
    p["rules"][0]["counts"][1]["taken"] in ("direct", "hierarchical")'
printf '%s\n' 'version: 1' 'rules:' \
    '  - {format: {auto: [e3m0, e4m3], target: snr 20dB}, reduce: direct}' \
    >policy.yaml
predict --measured machine.yaml --counts 16Mi
check 'format auto: a row says that it is of FP32, by MPI' \
    grep -E -e '^3 +16777216 +auto \(fp32\) .* 1\.00 ' out
check 'format auto: the text names the formats' \
    [ "$(grep -c -E -e '^rule of line 3, (e3m0|e4m3): ' out)" -eq 2 ]
check 'format auto: and one of each format' \
    [ "$(grep -c -E -e '^3 +16777216 +auto \((e3m0|e4m3)\) ' out)" -eq 2 ]
predict --measured machine.yaml --counts 16Mi --json
check 'format auto: JSON has FP32 and the formats' holds '
    [f["format"] for f in p["rules"][0]["counts"][0]["formats"]]
    == ["e3m0", "e4m3"] and p["rules"][0]["counts"][0]["seconds"]
    > 3 * p["rules"][0]["counts"][0]["formats"][1]["seconds"]'
check 'format auto: JSON: FP32 is by MPI' holds '
    p["rules"][0]["counts"][0]["seconds"]
    == p["rules"][0]["counts"][0]["native"]["mpich"]
    and p["rules"][0]["least_count"] is None
    and [f["format"] for f in p["rules"][0]["formats"]] == ["e3m0", "e4m3"]
    and all(f["most_rate"] is None or f["most_rate"] > 0
            for f in p["rules"][0]["formats"])'
printf '%s\n' 'version: 1' 'table: layers.csv' 'rules:' \
    '  - {format: {auto: [e3m0, e4m3], target: snr 20dB}, reduce: direct}' \
    >policy.yaml
predict --measured machine.yaml
check 'format auto: with a layer table, FP32 and each format' \
    [ "$(grep -c -E -e '1067584 +auto \((fp32|e3m0|e4m3)\) ' out)" -eq 3 ]
predict --measured machine.yaml --json
check 'format auto: JSON has the formats of a layer' holds '
    [f["format"] for f in p["spans"][0]["layers"][0]["formats"]]
    == ["e3m0", "e4m3"] and p["spans"][0]["layers"][1]["formats"] is None'
# A link that sends bytes at once after it was idle, and vectors longer than caches.
sed 's/byte: 0}/byte: 0, burst: 1e6}/; s/^mark/memory: {4Mi: 1e-9, 16Mi: 2e-9}\nmark/' \
    machine.yaml >burst.yaml
printf 'version: 1\nrules: [{format: e5m2, reduce: ring}]\n' >policy.yaml
predict --measured machine.yaml --counts 1Mi --json
cp out idle
predict --measured burst.yaml --counts 1Mi --json
check 'measured: a burst hides waits of a ring' holds '
    p["rules"][0]["counts"][0]["seconds"] < 0.9 * json.load(open("idle"))
    ["prediction"]["rules"][0]["counts"][0]["seconds"]
    and p["cluster"]["between"]["burst"] == 1e6'
predict --measured machine.yaml --counts 16Mi --json
cp out idle
predict --measured burst.yaml --counts 16Mi --json
check 'measured: memory is slower than caches' holds '
    p["rules"][0]["counts"][0]["native"]["mpich"] > json.load(open("idle"))
    ["prediction"]["rules"][0]["counts"][0]["native"]["mpich"]'
printf 'version: 1\nrules: [{format: e5m2, reduce: direct}]\n' >policy.yaml
grep -v '^spread' machine.yaml >noisy.yaml
echo 'spread: 0.34' >>noisy.yaml
predict --measured noisy.yaml
tr '\n' ' ' <out | tr -s ' ' >flat
check 'measured: repetitions that disagree: not to be used' \
    grep -q 'busy when the file was measured (repetitions disagree by 34 %' flat
check 'measured: the table is there all the same' grep -q '^rule .*native' out
check '... and nothing of waits that are short' not grep -q 'native MPI waits' flat
sed 's/0.34/0.25/' noisy.yaml >noise.yaml
predict --measured noise.yaml
tr '\n' ' ' <out | tr -s ' ' >flat
check 'measured: repetitions that disagree less' \
    grep -q 'disagree by 25 %: the machines did other work' flat
sed 's/wait: 1e-6/wait: 5e-3/' machine.yaml >waiting.yaml
predict --measured waiting.yaml
tr '\n' ' ' <out | tr -s ' ' >flat
check 'measured: a long wait: not to be used' grep -q \
    'step of native MPI waits 5 ms): do not use these predictions' flat
check '... and nothing of repetitions that agree' not grep -q 'disagree by' flat
predict --measured waiting.yaml --json
check 'measured: reported in JSON' holds 'p["cluster"]["busy"]'
check '... and why' holds \
    'p["cluster"]["busy_because"] == "a step of native MPI waits 5 ms"'
predict --measured machine.yaml --json
check 'measured: JSON of idle machines' holds 'not p["cluster"]["busy"]'
check '... has no reason' holds 'p["cluster"]["busy_because"] is None'
predict --measured noisy.yaml
predict --measured noisy.yaml --json
check 'measured: JSON has the spread' holds 'p["cluster"]["spread"] == 0.34'
predict --measured other.yaml
check 'measured: codecs that the file lacks are measured now' \
    grep -q lacks out
wrong 'measured: with cores' '--cores cannot be combined with --measured' \
    --measured machine.yaml --cores 1
sed 's/mark: 1e-9/mark: soon/' machine.yaml >bad.yaml
predict --measured bad.yaml
check 'measured: a word for a number' status_is 1
check 'measured: its place' grep -E -e '^bad.yaml:7:7: mark is not a number$' err
printf 'version: 1\nhosts: 2\n' >bad.yaml
predict --measured bad.yaml
check 'measured: cut short' grep -E -e '^bad.yaml:1:1: codecs is missing$' err
predict --measured bad.yaml --json
check 'measured: errors as JSON' holds 'not o["ok"] and len(o["errors"]) > 3'
predict --measured none.yaml
check 'measured: no such file' grep -E -e '^none.yaml: No such file' err
printf 'version: 1\nsteps: {calls: 3}\nrules: [{compress: powersgd}]\n' \
    >policy.yaml
predict --hosts 2 --rate 1gbit --json
check 'compressors are not predicted' holds 'p["rules"] == [] and
    p["rules_not_predicted"] == [{"rule": 0, "not_predicted": "compress"}]'
predict --hosts 2 --rate 1gbit
check 'compressors: reported in the text' grep -q '^3 .*not predicted (compress) ' out
printf 'layer,name,count,shape\n0,conv,1000000,1000x1000\n1,bias,65536,65536\n' \
    >layers.csv
printf '%s\n' 'version: 1' 'steps: {per_epoch: 10}' 'layers: layers.csv' \
    'rules:' '  - {epochs: 0-1, compress: powersgd}' '  - {format: e5m2}' \
    >policy.yaml
predict --hosts 2 --rate 1gbit
check 'compressors: their floats have no time' \
    grep -q '^0-1 .* 1000000 .*not predicted (compress)  *-  *-  *-$' out
check 'compressors: other layers have one' \
    grep -q '^0-1 .*not compressed  *65536 .* [mu]s ' out
check 'compressors: the sum says of what' grep -q '^0-1 .*all predicted' out
check 'compressors: a note, though the last epochs have none' \
    grep -q '^not predicted (compress): ' out
predict --hosts 2 --rate 1gbit --json
check 'compressors: JSON has null and the reason' holds '
    p["spans"][0]["layers"][0]["seconds"] is None
    and p["spans"][0]["layers"][0]["not_predicted"] == "compress"
    and p["spans"][0]["layers"][1]["not_predicted"] is None'
check 'compressors: both sums are of the others' holds '
    p["spans"][0]["seconds"] == p["spans"][0]["layers"][1]["seconds"]
    and p["spans"][0]["native"] == p["spans"][0]["layers"][1]["native"]
    and p["spans"][0]["layers_not_predicted"] == 1'
printf '%s\n' 'version: 1' 'table: layers.csv' 'rules: [{compress: mstopk}]' \
    >policy.yaml
predict --hosts 2 --rate 1gbit
tr '\n' ' ' <out | tr -s ' ' >flat
check 'compressors take all: no time, and that of native' \
    grep -q '^all  *all  *-  *[1-9][0-9.]* ms  *- *$' out
check '... and those of native algorithms' not grep -q ' 0 ns' flat
# 128 owners of a chunk with 256 bytes each, less than a block.
printf '%s\n' 'version: 1' 'steps: {per_epoch: 10}' 'layers: layers.csv' \
    'rules: [{format: int8/512, reduce: hierarchical}]' >policy.yaml
predict --hosts 1 --ranks-per-host 128 --rate 1gbit --json
check 'one host of many ranks, long blocks: there is a time' \
    holds 'p["spans"][0]["seconds"] > 0'
printf 'version: 1\nshadow: [{format: e4m3}]\n' >policy.yaml
predict --hosts 2 --rate 1gbit
check 'shadow alone: says why there is no prediction' \
    grep -q '^Nothing is predicted: no rule is for all-reduces' out
check 'shadow alone: no empty table' not grep -q '^rule .*native' out
predict --hosts 2 --rate 1gbit --json
check 'shadow alone: JSON says why' holds '"shadow" in p["nothing"]'

# --- apsmpi measure ----------------------------------------------------------------

timed "$apsmpi" measure
check 'measure: a single rank' status_is 2
check 'measure: says how to start it' grep -q 'mpiexec -n N apsmpi measure' err
limit=120
native 2 "$apsmpi" measure --output one.yaml
check 'measure: one host' status_is 0
check 'measure: nothing on standard output' empty out
check 'measure: says what it has written' grep -q 'one.yaml written' err
# For any noise of this machine the file and the warning agree.
check 'measure: warns where repetitions disagree, and only there' \
    awk -v warned="$(grep -c 'repetitions disagree by' err)" '
        $1 == "spread:" { seen = 1; above = $2 > 0.2; near = $2 > 0.19 && $2 < 0.21 }
        /wait: / { sub(/.*wait: /, ""); busy = busy || $1 > 0.001 }
        END { exit !seen || (!near && !busy && above != warned) }' one.yaml
check 'measure: tells of long waits, and only of them' \
    awk -v told="$(grep -c 'native MPI waits' err)" '
        /latency: .*wait: / {
            latency = wait = $0
            sub(/.*latency: /, "", latency)
            sub(/.*wait: /, "", wait)
            long = long || wait - 4 * latency > 0.001
            near = near || wait - 4 * latency > 0.00099 && wait - 4 * latency < 0.00101
        }
        END { exit !near && long != told }' one.yaml
check 'measure: as many ranks' grep -q '^ranks_per_host: 2$' one.yaml
predict --measured one.yaml --json
check 'measure: explain reads it' holds 'o["ok"] and
    p["cluster"]["ranks_per_host"] == 2'
native 2 APSMPI_TEST_NODES=2 "$apsmpi" measure --output=two.yaml
check 'measure: two hosts' grep -q '^hosts: 2$' two.yaml
native 3 APSMPI_TEST_NODES=2 "$apsmpi" measure --output=three.yaml
check 'measure: hosts with different ranks' failed
check 'measure: reports it' grep -q 'each host must have as many' err
check 'measure: and writes nothing' not [ -e three.yaml ]
cp one.yaml before.yaml
native 3 APSMPI_TEST_NODES=2 "$apsmpi" measure --output=one.yaml
check 'measure: a file that was there stays where nothing is measured' \
    cmp one.yaml before.yaml
# The hosts are wrong, too, but the command checks them after the file.
native 3 APSMPI_TEST_NODES=2 "$apsmpi" measure --output none/file.yaml
check 'measure: a folder that is not there' failed
check 'measure: which one, before anything is measured' grep -q \
    'none/file.yaml: No such file or directory; nothing was measured' err
check 'measure: that alone' not grep -q 'each host must have as many' err
{
    cat one.yaml
    yes '# an older one' | head -n 1000
} >long.yaml
native 2 "$apsmpi" measure --output long.yaml
check 'measure: nothing is left of an older file' not grep -q 'an older' long.yaml
native 2 "$apsmpi" measure --output /dev/full
check 'measure: a full disk' failed
check 'measure: reports it' grep -q '/dev/full: No space left' err
finish
