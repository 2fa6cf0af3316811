# SPDX-License-Identifier: BSD-3-Clause
# compressors.py: the library accepts all of its policies, bytes are counted as
# sent, and claims are about each seed.
. "$top_srcdir/tests/mpi/run.sh"
cat >"$tmp/try.py" <<'END'
import importlib.util
import os
import subprocess
import sys

from compressor_claims import Network, claims
from compressor_rows import ROWS, low_rank, plain
from compressors import draw_table, table_of
from gradients import SETS
from output import draw_sets
from trained import PER_EPOCH, train, write_policy

folder = sys.argv[1]
apsmpi = os.path.join(os.environ["top_builddir"], "apsmpi")


def said(row, hidden, epochs):
    """Returns the library's errors for a policy."""
    path = write_policy(folder, hidden, row.rules(epochs), None)
    run = subprocess.run([apsmpi, "check", path], check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return run.stderr.decode() or run.returncode


bad = [text for row in ROWS for text in [said(row, 64, 20)] if text]
bad += [text for row in ROWS for text in [said(row, 512, 1)] if text and row.wide]
print("accepted", not bad, *bad)
print("named", len({row.name for row in ROWS}) == len(ROWS))

# 64-16-16-10.
matrices, vectors, r = 64 * 16 + 16 * 16 + 16 * 10, 16 + 16 + 10, 2
low = r * (64 + 16 + 16 + 16 + 16 + 10)
full = train(folder, 16, [plain("e8m23")], ["--epochs", "1"], 2, False)
less = train(folder, 16, [low_rank(r)], ["--epochs", "1"], 2, False)


def close(sent, values, reduced):
    """Two ranks send each value once as a contribution or as a sum, with a header
    or two for each of `reduced` vectors, and some bytes before the first step."""
    return 8 * values < sent <= 8 * values + 16 * reduced + 20


print("full", close(full.sent, matrices + vectors, 6), full.sent)
print("less", close(less.sent, low + vectors, 9), less.sent)
logged = train(folder, 16, [low_rank(r)], ["--epochs", "2"], 2, True)
print("logged", logged.sent is None and 0 < logged.residual < 1
      and logged.eq5 > 0, vars(logged))
print("learns", logged.loss < less.loss and logged.accuracy > 15)


def run(row, seed, loss):
    return {"hidden": 64, "row": row, "seed": seed, "loss": loss, "eq5": None,
            "residual": None, "accuracy": 90 - loss, "bytes": 100 * seed}


made = [run(row, seed, loss + seed) for seed in range(1, 6)
        for row, loss in (("fp32", 1), ("fp32, r1", 3), ("fp32, r2", 2))]
some = {claim.text: claim for claim in claims(made)}
better = some["hidden 64, fp32, r2: loss of training is below that of fp32, r1"]
print("five", better.asserted and better.holds() and better.seeds == 5)
near = some["hidden 64, fp32, r2: mean accuracy at most 0.5 points below fp32: 1.00"]
print("near", near.asserted and not near.holds())
made[1]["loss"] = 1.5
net = Network(made)
odd = net.below("fp32, r2", "fp32, r1", "loss")
print("one", odd.agree == 4 and not odd.holds())
print("few", not Network(made[:6]).below("fp32, r2", "fp32, r1", "loss").asserted)
line = next(line for line in table_of(made) if line["row"] == "fp32, r1")
print("table", line["fewer"] == "1.00" and line["least"] == 82
      and line["accuracy"] == "84.00", line)


def is_png(name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read(4) == b"\x89PNG"


draw_table(os.path.join(folder, "table.png"), table_of(made))
draw_sets(os.path.join(folder, "sets.png"),
          [{"set": name, "at": 1} for name in SETS],
          lambda mpl, ax, rows: ax.plot([r["at"] for r in rows], label="at"),
          (4, 3), "height")
if importlib.util.find_spec("matplotlib"):
    print("drawn", is_png("table.png"))
    print("sets", is_png("sets.png"))
END
PYTHONPATH=$top_srcdir/tests/figures \
    "$PYTHON3" "$tmp/try.py" "$tmp" >"$tmp/said" 2>"$tmp/stderr"
status=$?
[ $status -eq 0 ] || show_errors
check $status 'the parts of compressors.py are tried'
# tried WORD TEXT
tried()
{
    grep -q "^$1 True" "$tmp/said"
    check $? "$2"
    grep "^$1 False" "$tmp/said" | sed 's/^/# /' >&2
}
tried accepted 'the library accepts every policy'
tried named 'every row has a name of its own'
tried full 'full floats send their bytes and the headers of blocks'
tried less 'low rank sends two small matrices in place of a matrix'
tried logged 'with a log there are errors, and residuals below 1'
tried learns '... and two epochs teach more than one'
tried five 'what all of five seeds show is asserted'
tried near 'a mean that is too low fails'
tried one 'a seed that does not agree fails'
tried few 'fewer than five seeds assert nothing'
tried table 'the table has means and extremes'
if grep -q '^drawn' "$tmp/said"; then
    tried drawn 'the table is drawn'
    tried sets '... and what other scripts of this room draw for data sets'
else
    skip 'pictures: there is no matplotlib'
fi
finish
