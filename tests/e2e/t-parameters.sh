#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of parameters in apsmpi-policy(5): all parameters of all scales and
# compressors, and their defaults and limits, agree with the command.
# shellcheck disable=SC2016 # Python
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all 'there is no Python'

printf 'layer,name,count,scale\n0,a,4096,1\n' >table.csv
cat >parameters.py <<'END'
import json
import re
import subprocess
import sys

command, page = sys.argv[1:]
number = failed = 0


def ok(good, text):
    global number, failed
    number += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", number, text))


def rows():
    part = open(page).read().split(".Ss Parameters and their limits")[1]
    for line in part.split(".Ss ")[0].split("\n"):
        found = re.fullmatch(r"\.It Cm (\S+) Ta Ic (\S+) Ta (\S+) Ta (.*)", line)
        if found:
            yield found.groups()


scales = ["fixed", "backoff", "logmax", "underflow", "unit", "autoflex",
          "delayed", "dfxp"]
compressors = ["powersgd", "mstopk", "topk", "threshold", "mstopk+powersgd",
               "chunks", "vote", "ternary"]
needed = {"threshold": {"value": "1e-3"}}


def rule(word, parameters):
    text = "{%s}" % ", ".join("%s: %s" % item for item in parameters.items())
    if word == "accumulate":
        return "accumulate: %s" % text if parameters else "accumulate: format"
    key = {"hierarchical": "reduce", "stochastic": "rounding"}.get(word, "scale")
    key = "compress" if word in compressors else key
    return "%s: {%s: %s}" % (key, word, text)


def run(word, parameters, action="check"):
    """The exit status, standard output and standard error of the command."""
    with open("policy.yaml", "w") as file:
        file.write("version: 1\ntable: table.csv\nrules:\n  - {%s%s}\n"
                   % ("" if word in compressors else "format: e4m3, ",
                      rule(word, parameters)))
    done = subprocess.run([command, action, "policy.yaml"]
                          + ["--json"] * (action == "explain"),
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def plan(word, parameters):
    return json.loads(run(word, parameters, "explain")[1])["rules"][0]["plan"]


def accepts(word, parameter, value):
    return run(word, {**needed.get(word, {}), parameter: value})[0] == 0


def limits(values):
    """Returns the accepted and the refused ones."""
    words = values.split(", ")
    found = re.fullmatch(r"(\S+) to (\S+)", values)
    if found:
        low, high = found.groups()
        return [low, high], [str(float(low) - 0.5) if "." in high
                             else str(int(low) - 1),
                             "1" if "." in high else str(int(high) + 1)]
    found = re.match(r"above (\S+), and at most ([0-9.]+)$", values)
    if found:
        return [found[2]], [found[1], str(float(found[2]) * 1.01)]
    found = re.match(r"(above|at least) ([0-9.]+)", values)
    if found:
        below = found[2] if found[1] == "above" else "-1e-6"
        return ([] if found[1] == "above" else [found[2]]), [below, "1e39"]
    return words, ["nonsense"]


known = {}
for word, parameter, default, values in rows():
    known.setdefault(word, set()).add(parameter)
    good, bad = limits(values)
    ok(all(accepts(word, parameter, value) for value in good)
       and not any(accepts(word, parameter, value) for value in bad),
       "%s, %s: %s are accepted, %s are not" % (word, parameter, good, bad))
    if default == "required":
        ok(run(word, {})[0] != 0, "... it is required")
    elif default != "none":
        given = "2^14" if (parameter, default) == ("start", "max") else default
        more = needed.get(word, {})
        ok(plan(word, {**more, parameter: given}) == plan(word, more),
           "... the default is %s" % default)

# The page says that it has these parameters of powersgd as well.
known["mstopk+powersgd"] |= known["powersgd"]
for word in scales + compressors:
    said = run(word, {"zzzzzzzzzz": 1})[2]
    names = re.search(r"one of (.*)", said)
    names = set(names[1].split(", ")) if names else None
    states = word in scales and word != "fixed"
    ok(names == known[word] | ({"on_overflow"} if states else set())
       | ({"scope"} if word in ("backoff", "logmax") else set()),
       "the table has all parameters of %s" % word)
ok(set(known) == set(scales) | set(compressors)
   | {"accumulate", "hierarchical", "stochastic"},
   "the table has all words with parameters")
print("1..%d" % number)
END
"$PYTHON3" parameters.py "$apsmpi" "$top_srcdir/src/policy/apsmpi-policy.5"
