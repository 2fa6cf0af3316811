#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --json: always one valid object, with the content of the text.
# shellcheck disable=SC2016 # expressions of Python
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all 'there is no Python'

# both ARGUMENT...: runs the command as text, then with --json; leaves text,
# text_err (its standard error), $text_status, and out, err, $status
both()
{
    timed "$apsmpi" "$@"
    cp out text
    cp err text_err
    text_status=$status
    timed "$apsmpi" "$@" --json
}

# holds EXPRESSION: true for the object `o`, `text` and `said`
holds()
{
    "$PYTHON3" - "$1" <<'END'
import json
import re
import sys

def wrong_constant(name):
    raise ValueError(name)

text = open("text", encoding="utf-8", errors="replace").read()
said = open("text_err", encoding="utf-8", errors="replace").read()
raw = open("out", "rb").read()
o = json.loads(raw.decode("utf-8"), parse_constant=wrong_constant)
assert raw.endswith(b"}\n") and raw.count(b"\n") == 1, "not one line"

def places(problems, kind):
    """Returns the text's errors or warnings, a line each."""
    return "".join(
        ":".join(str(p[key]) for key in ("file", "line", "column")
                 if p[key] is not None)
        + (": " if p["file"] is not None else "apsmpi: ") + kind + p["text"]
        + "\n" for p in problems)

def spelled(plan):
    """The cells of a plan in the text's tables."""
    scale = plan["scale"]
    if plan["scale_value"] is not None:
        scale += " %g" % plan["scale_value"]
    format = plan["format"]
    if plan["rounding"] != "nearest":
        format += " " + plan["rounding"]
    return [format, scale, plan["reduce"]] + [
        "-" if plan[key] is None else str(plan[key])
        for key in ("group", "node", "accumulate")]

print(o)
sys.exit(not eval(f"({sys.argv[1]})"))
END
}

# alike: the exit status is the text's, and the object has all output
alike()
{
    echo "text: $text_status, object: $status"
    empty err && [ "$status" -eq "$text_status" ] && holds '
        o["schema"] == 1 and o["version"] == "'"$PACKAGE_VERSION"'"
        and o["ok"] == ('"$status"' == 0)'
}

# --- check --------------------------------------------------------------------

cp "$top_srcdir"/config/policies/*.yaml .
mkdir policies layers && mv ./*.yaml policies
cp "$top_srcdir"/config/layers/*.csv layers

both check policies/*.yaml
check 'check: right policies' alike
check '... with their summaries' holds '"".join(
    f["file"] + ": ok: " + f["summary"] + "\n" for f in o["files"]) == text'
check '... and numbers' holds 'all(
    f["summary"].startswith("%d rule" % f["rules"])
    and ("no layer table" in f["summary"] if f["layers"] is None
         else ", %d layers," % f["layers"] in f["summary"])
    for f in o["files"])'

cat >bad.yaml <<'END'
version: 1
rules:
  - format: e9m9
    scal: aps
  - {format: e4m3, reduce: "\u0001\"\\"}
  - {epochs: 9-3, format: e5m2, group: true}
END
both check bad.yaml policies/auto.yaml missing.yaml
check 'check: wrong policies' alike
check '... with every error and its place' holds '
    "".join(places(f["errors"], "") for f in o["files"]) == said
    and [f["ok"] for f in o["files"]] == [False, True, False]
    and o["files"][0]["errors"][0]["line"] == 3
    and o["files"][0]["errors"][0]["column"] > 0'

{ echo 'version: 1'; echo 'rules:'; for i in $(seq 70); do
    echo "  - {format: e4m3, wrong$i: 1}"; done; } >many.yaml
both check many.yaml
check 'check: more errors than are shown' alike
check '... the others are counted' holds '
    "%d more errors are not shown" % o["files"][0]["errors_not_shown"] in said
    and o["files"][0]["errors_not_shown"] + len(o["files"][0]["errors"]) == 70'

layer_table >table.csv
printf 'version: 1\nlayers: table.csv\nmin_count: 64\nrules:\n  - {layers: fc3.bias, format: bf16}\n  - format: e4m3\n' >unused.yaml
both check unused.yaml
check 'check: a warning' alike
check '... is in the object' holds '
    places(o["files"][0]["warnings"], "warning: ") == said != ""'

# Names of files are bytes.
odd=$(printf 'a\377\n"\\.yaml')
printf 'version: 1\nrules: [{format: e4m3}]\n' >"$odd"
both check "$odd"
check 'check: a name that is not text' alike
check '... is written as text' holds \
    'o["files"][0]["file"] == "a\ufffd\n\"\\.yaml"'

# --- explain ------------------------------------------------------------------

for file in policies/*.yaml unused.yaml; do
    both explain "$file"
    check "explain: $file" alike
    check '... the rules' holds '
        all(str(r["line"]) in text for r in o["rules"])
        and o["summary"] in text
        and all((r["plan"] or {}).get("scale_behaviour") is None
                or r["plan"]["scale_behaviour"] in " ".join(text.split())
                for r in o["rules"])
        and places(o["warnings"], "warning: ") == said'
done

both explain policies/backoff-e5m2.yaml
check 'explain: what a scale does that keeps a state' holds '
    o["rules"][0]["plan"]["scale"] == "backoff"
    and o["rules"][0]["plan"]["scale_behaviour"].startswith(
        "The scale starts at 2^14. ")'

check '... with its parameters' holds '
    o["rules"][0]["plan"]["scale_parameters"] == {
        "start": 16384, "max": 16384, "min": 1, "factor": 2, "window": 2000}
    and o["rules"][0]["plan"]["scope"] == "model"
    and o["rules"][0]["plan"]["on_overflow"] == "redo"
    and o["rules"][0]["plan"]["seed"] is None'

cat >states.yaml <<'END'
version: 1
rules:
  - {max_count: 2000, format: mx-e5m2, rounding: {stochastic: {seed: 7}}}
  - {max_count: 3000, format: e4m3, scale: {fixed: 1024}, rounding: correlated}
  - {max_count: 4000, format: e4m3, scale: {delayed: {algo: most-recent, on_overflow: zero}}}
  - {max_count: 5000, format: e4m3, scale: aps}
  - {format: e4m3, scale: {underflow: {gamma: 0.25}}}
END
both explain states.yaml
check 'explain: scales with and without parameters' holds '
    [[r["plan"][key] for key in ("scale", "scale_parameters", "scope",
                                 "on_overflow", "seed")]
     for r in o["rules"]] == [
        ["per block", None, None, None, 7],
        ["fixed", {"factor": 1024}, None, None, 0],
        ["delayed", {"history": None, "margin": 0, "algo": "most_recent"},
         "count", "zero", None],
        ["aps", None, None, None, None],
        ["underflow", {"model": "normal", "gamma": 0.25, "every": 100,
                       "min": 1}, "count", "redo", None]]'

cat >compressed.yaml <<'END'
version: 1
table: shapes.csv
rules:
  - {layers: "0, 1", compress: {powersgd: {rank: 2, warm: off}}, feedback: off}
  - {layers: 2, format: e4m3, compress: {topk: 0.05}}
  - {layers: 3, compress: ternary, reduce: direct}
END
cat >shapes.csv <<'END'
layer,name,count,shape
0,matrix,3072,64x6x8
1,vector,2000,2000
2,square,4000,
3,integers,5000,
END
both explain compressed.yaml
check 'explain: compressors' holds '
    [[r["plan"][key] for key in ("format", "reduce", "compress", "feedback",
                                 "compress_parameters")]
     + [r["bytes_per_element"]] for r in o["rules"][:2]] == [
        ["e8m23", "hierarchical", "powersgd", False,
         {"rank": 2, "warm": False, "min_ratio": 2, "seed": 0}, None],
        ["e4m3", "gather", "topk", True, {"density": 0.05}, None]]'
check '... what they take, as which matrix, and what that saves' holds '
    [[s[key] for key in ("compressed", "matrix", "saved_bytes")]
     for l in o["layers"] for s in l["spans"]] == [
        [True, {"rows": 64, "columns": 48}, 4 * (3072 - 2 * (64 + 48))],
        [False, {"rows": 1, "columns": 2000}, 0],
        [True, {"rows": 64, "columns": 64},
         4 * 4000 - 16 - (200 * 12 // 8 + 4) - (4 + 200 + 4)],
        [True, {"rows": 71, "columns": 71},
         4 * 5000 - (5000 // 5 + 5000 * 5 // 8 + 1) // 2]]'

# The rows of --layer-counts equal the layers of the object.
cat >rows.yaml <<'END'
version: 1
layers: table.csv
steps: {per_epoch: 10, order: forward}
fuse: 8KiB
min_count: 64
rules:
  - {layers: fc2.weight, epochs: 0-1, format: fp32}
  - {layers: fc1.weight, format: e3m0, scale: {fixed: 1024}}
  - {layers: "fc3.*, fc2.*", epochs: 0-5, format: e5m2, reduce: master, group: 2}
  - {layers: fc2.bias, epochs: 6-, format: bf16, reduce: direct, name: the-bias}
END
both explain --layer-counts rows.yaml
check 'explain: a policy with a layer table' alike
check '... has a row for each layer and time' holds '
    [[w for w in line.split() if w != "->"]
     for line in text.split("\n\n")[1].split("\n")[1:]] ==
    [([str(l["layer"]), l["name"], str(l["count"])] if s is l["spans"][0]
      else [])
     + ["all" if (s["first"], s["last"]) == (0, None)
        else "%d-%s" % (s["first"], "" if s["last"] is None else s["last"])]
     + ((" ".join(spelled(s["plan"])).split()) if s["plan"] else
        ["native"] + {"min_count": "(count < min_count 64)",
                      "no rule matches": "(no rule matches)",
                      "by rule": "(by rule)"}[s["native"]].split())
     + (["-"] if s["rule"] is None else
        (str(o["rules"][s["rule"]]["line"]) + " "
         + (o["rules"][s["rule"]]["name"] or "")).split())
     + ["%g" % s["bytes_per_element"], str(s["saved_bytes"])]
     for l in o["layers"] for s in l["spans"]]'
check '... and the totals' holds '
    [line.split() for line in text.split("\n\n")[2].split("\n")[2:]] ==
    [["%d-%s" % (t["first"], "" if t["last"] is None else t["last"]),
      str(t["wire_bytes"]), str(t["fp32_bytes"]),
      "%.1f%%" % (100 - 100 * t["wire_bytes"] / t["fp32_bytes"]),
      str(t["batches"])] for t in o["totals"]]'
both explain rows.yaml --epochs 1-2
check 'explain: some epochs' alike
check '... alone' holds '
    [(t["first"], t["last"]) for t in o["totals"]] == [(1, 1), (2, 2)]'

# --- info ---------------------------------------------------------------------

# informed: the object has the content of the text
informed()
{
    check "info: $*" alike
    check '... the problems' holds '
        places(o["errors"], "") + places(o["warnings"], "warning: ") == said'
    check '... every variable' holds '
        [line.split() for line in text.split("\n\n")[1].split("\n")[1:] if line]
        == [[v["name"], v["value"] or "-", v["source"]] for v in o["variables"]]
        and len(o["variables"]) >= 12'
    check '... the build, the kernels and the libraries' holds '
        "apsmpi     %s, built with %s\n" % (o["version"], o["mpi"]) in text
        and "CUDA       %s\n" % (o["cuda"] or "no: " + o["cuda_missing"]) in text
        and "kernels    %s\n" % " ".join(
            v + " (chosen)" * (v == o["kernels"]["chosen"])
            for v in o["kernels"]["variants"]) in text
        and all(l["file"] in text and l["plugin"] in text
                and "version %s, for %s\n" % (l["version"], l["mpi"]) in text
                and "sources %s\n" % l["sources"] in text
                and len(l["sources"]) == 16
                and l["version"] == o["version"] and l["mpi"] == o["mpi"]
                and ("there is no" in text) != l["plugin_found"]
                for l in o["libraries"])'
}
both info
informed 'no variable is set'
check '... the library of the build' holds '
    [l["file"] for l in o["libraries"]] == ["'"$library"'"]'
check '... all values are defaults' holds '
    all(v["source"] == "default" for v in o["variables"]) and o["ok"]'
APSMPI_SUMMARY=0 APSMPI_DISCOVERY=YES APSMPI_LOG=$odd APSMPI_CPU=PLAIN
export APSMPI_SUMMARY APSMPI_DISCOVERY APSMPI_LOG APSMPI_CPU
timed "$apsmpi" info --json
: >text
check 'info: variables that are set' holds '
    {v["name"]: v["value"] for v in o["variables"]
     if v["source"] == "environment"} ==
    {"APSMPI_SUMMARY": "off", "APSMPI_DISCOVERY": "apsmpi-discovered",
     "APSMPI_LOG": "a\ufffd\n\"\\.yaml", "APSMPI_CPU": "plain"}
    and o["kernels"]["chosen"] == "plain"'
unset APSMPI_LOG
APSMPI_ENABLE=maybe APSMPI_POLCY=x APSMPI_CUDA=$library
export APSMPI_ENABLE APSMPI_POLCY APSMPI_CUDA
both info
informed 'a wrong variable and an unknown one'
check '... have the status 1' status_is 1
check '... the default stands' holds '
    [(v["value"], v["source"]) for v in o["variables"]
     if v["name"] == "APSMPI_ENABLE"] == [("on", "default")]
    and "APSMPI_ENABLE" in o["errors"][0]["text"]
    and "APSMPI_POLCY" in o["warnings"][0]["text"]'
check '... the plugin is the one that is named' holds \
    'all(l["plugin_found"] for l in o["libraries"])'
unset APSMPI_ENABLE APSMPI_POLCY APSMPI_CUDA APSMPI_SUMMARY APSMPI_DISCOVERY \
    APSMPI_CPU

# --- errors -------------------------------------------------------------------

# refused TEXT ARGUMENT...: the object's error is the text's
refused()
{
    text=$1
    shift
    both "$@"
    check "refused: $*" alike
    check "... $text" holds '
        places(o["errors"], "") == said.split("usage:")[0] != ""
        and "'"$text"'" in o["errors"][0]["text"]'
}
refused 'e9m9' explain bad.yaml
refused 'No such file' explain missing.yaml
refused 'is missing' explain
refused 'is missing' check
refused 'one argument too many' explain rows.yaml bad.yaml
refused 'runs backwards' explain --epochs 3-1 rows.yaml
refused 'needs a layer table' explain --epochs 3 policies/auto.yaml
refused 'needs a layer table' explain --layer-counts policies/auto.yaml
refused 'one argument too many' info now
refused 'unknown option' check --quick rows.yaml
refused 'takes no value' explain --layer-counts=3 rows.yaml

finish
