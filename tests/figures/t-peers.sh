# SPDX-License-Identifier: BSD-3-Clause
# peers.py: a Python without PyTorch is skipped, the library accepts the
# policies for it, and the table has each seed's last epoch.
. "$top_srcdir/tests/mpi/run.sh"
figures=$top_srcdir/tests/figures

PEERS_PYTHON=false "$PYTHON3" "$figures/peers.py" "$tmp" >"$tmp/said" 2>"$tmp/stderr"
check $? 'without PyTorch'
grep -q '^skipped: false has no torch' "$tmp/said"
check $? '... the comparison is skipped, and says why'
[ "$(ls "$tmp")" = "$(printf 'said\nstderr')" ]
check $? '... and leaves nothing'

PYTHONPATH=$figures "$PYTHON3" - "$tmp" >"$tmp/said" 2>"$tmp/stderr" <<'END'
import os
import subprocess
import sys

from peers import EPOCHS, PAIRS, last, rows_of, write_policy

apsmpi = os.path.join(os.environ["top_builddir"], "apsmpi")
for method, rules in PAIRS:
    path = write_policy(sys.argv[1], rules)
    run = subprocess.run([apsmpi, "check", path], check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if run.returncode or run.stderr:
        print("refused:", method, run.stderr.decode())
rows = rows_of(["a,1,%d,0.25,90,7" % EPOCHS, "a,1,1,0.5,80,7", "b,1,20,1,2,3",
                "a,2,%d,0.75,91,7" % EPOCHS])
print("last", last(rows, "a", "loss") == [0.25, 0.75])
END
status=$?
[ $status -eq 0 ] || show_errors
check $status 'the parts of peers.py are tried'
grep '^refused' "$tmp/said" | sed 's/^/# /' >&2
! grep -q '^refused' "$tmp/said"
check $? 'the library accepts every policy'
grep -q '^last True' "$tmp/said"
check $? 'the table is of the last epoch of each seed'
finish
