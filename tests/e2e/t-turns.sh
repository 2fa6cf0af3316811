#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that train several networks alternately, and programs that sum weights before
# their gradients.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import numpy, mpi4py' 2>/dev/null ||
    skip_all 'there is no numpy or no mpi4py'

# sums.py COUNT[xTIMES],... ...: sums vectors of these sizes; each argument is a step
# and the number of its repetitions.
cat >sums.py <<'END'
import sys
import numpy as np
from mpi4py import MPI

for argument in sys.argv[1:]:
    step, _, times = argument.partition("x")
    for _ in range(int(times or 1)):
        for count in step.split(","):
            MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, np.ones(int(count), np.float32))
END
actor=4096,64,2048
critic=4096,64,1024
turns=
for turn in 1 2 3 4 5; do
    turns="$turns ${actor}x10 ${critic}x10"
done

# --- networks alternately ----------------------------------------------------------

# shellcheck disable=SC2086 # $turns is a list
job 2 "$PYTHON3" sums.py $turns
check 'discovery names steps alternately' lines 1 err \
    'repeats several steps alternately, with these numbers of calls: 3, 3'
skeleton=$(sed -n 's/.*alternately.*a policy is in //p' err)
timed "$apsmpi" check "$skeleton"
check '... its policy is accepted' status_is 0
check '... with the warning that both networks begin with 4096 elements' has err \
    'networks of the table begin with layers of one size'
check '... and its table names the networks' equal \
    "$(grep -v '^#' "${skeleton%.yaml}-layers.csv" | cut -d, -f3,4 | tr '\n' ' ')" \
    'count,network 4096,network0 64,network0 2048,network0 4096,network1 64,network1 1024,network1 '
# shellcheck disable=SC2086
job 2 APSMPI_POLICY="$skeleton" "$PYTHON3" sums.py $turns
check 'all large layers are rewritten under it' rewritten 200
check '... without desync' not has err desync
check '... and each network has its layers' equal \
    "$(distinct layer roundoff.csv)" '0 2 3 5'

# The table of apsmpi-recipes(7): names, and a network for each of them.
"$PYTHON3" - <<'END'
import numpy as np

shapes = {"0.weight": (64, 64), "0.bias": 64}
np.savez("ppo.npz", **{n + "." + w: np.zeros(shape, np.float32)
                       for n, more in (("actor", 32), ("critic", 16)) for w, shape
                       in {**shapes, "2.weight": (more, 64)}.items()})
END
awk '/^\.Sh / { inside = /SEVERAL/ }
    inside && /^\.Ed/ { exit }
    inside && copying
    /^\.Bd/ { copying = inside }' "$top_srcdir/pmpi/apsmpi-recipes.7" >recipe.sh
PATH="$top_srcdir/scripts:$PATH" sh recipe.sh
policy named.yaml -t 'table: layers.csv' -t 'log: {file: named.csv, every: 1}' \
    'layers: ["*.bias"], format: fp32' 'format: e4m3'
# shellcheck disable=SC2086
job 2 APSMPI_POLICY=named.yaml "$PYTHON3" sums.py $turns
check 'the table of the recipe has names and networks' rewritten 200
check '... for all layers but those of a rule' equal "$(distinct name named.csv)" \
    'actor.0.weight actor.2.weight critic.0.weight critic.2.weight'

# --- communicators ---------------------------------------------------------------

cat >groups.py <<'END'
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
pair = world.Split(world.rank // 2)
for comm in (world, pair) * 5:
    comm.Allreduce(MPI.IN_PLACE, np.ones(4096, np.float32))
END
policy groups.yaml 'name: pairs, communicators: 2, format: e4m3' \
    'communicators: [3-], format: fp32'
job 4 APSMPI_POLICY=groups.yaml "$PYTHON3" groups.py
check 'a rule for communicators of two ranks rewrites half of the calls' rewritten 5
policy groups.yaml 'communicators: data, format: e4m3'
timed "$apsmpi" check groups.yaml
check 'a name of a communicator is refused' has err "communicators 'data'"

# --- mirrors --------------------------------------------------------------------

job 2 "$PYTHON3" sums.py 4096,2048,1024,1024,2048,4096x20
check 'discovery names mirrors' lines 1 err \
    'whose second half mirrors the first, so that weights may be among them'
skeleton=$(sed -n 's/.*mirrors.*a policy is in //p' err)
job 2 APSMPI_POLICY="$skeleton" "$PYTHON3" sums.py \
    4096,2048,1024,1024,2048,4096x20
check '... and its policy spares the first half' rewritten 60
finish
