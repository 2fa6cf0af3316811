#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reinforcement learning: PPO of https://github.com/openai/spinningup, whose policy and
# value networks learn alternately, the policy until its distribution has changed too
# much. SPINNINGUP names its sources.
. "${top_srcdir:-.}/tests/programs/lib.sh"

[ -n "${SPINNINGUP:-}" ] || skip_all 'SPINNINGUP is not set'
# Spinning Up asks for this Gym, and for a cloudpickle that Python 3.11 cannot load.
install_ppo()
{
    pip_mpi4py && pip gym==0.15.3 'numpy<2' 'scipy<1.14' joblib tqdm psutil &&
        pip cloudpickle==3.1.3
}
debian python3-venv python3-torch
environment ppo install_ppo --system-site-packages

# The program writes into the folder of its sources. The package loads TensorFlow for
# other algorithms.
cp -R "$SPINNINGUP/spinup" . || exit 1
cat >tensorflow.py <<'END'
class Anything:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *arguments, **named):
        return Anything()

    def __mro_entries__(self, bases):
        return ()


__getattr__ = Anything().__getattr__
END
PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}
IN_MPI=1 # mpiexec is ours, not the program's
export PYTHONPATH IN_MPI

# ppo FUNCTION [VARIABLE=VALUE]: trains on two ranks, by `native` or `job`
ppo()
{
    "$1" 2 ${2:+"$2"} "$python" -m spinup.algos.pytorch.ppo.ppo --env CartPole-v1 \
        --steps 2000 --epochs 5
}

# balanced: prints the mean steps of an episode by epoch, which have to grow from
# about 20 to 40 or more
balanced()
{
    sed -n 's/[| ]*AverageEpRet[| ]*//p' out | tr -d ' |' | paste -s -d ' ' >balanced
    cat balanced
    status_is 0 && awk '{ good = NF == 5 && $5 >= 40 } END { exit !good }' balanced
}

ppo native
check 'native: learns to balance' balanced
diag "native: $(cat balanced)"

ppo job APSMPI_DISCOVERY=found
check 'discovery names steps alternately' lines 1 err \
    'repeats several steps alternately, with these numbers of calls: 5, 5:'
skeleton=$(sed -n 's/.*alternately.*a policy is in //p' err)
timed "$apsmpi" check "$skeleton"
check '... and has a warning that their large layers are alike' has err \
    'equal sizes in all layers of min_count elements'
sed -i 's/^min_count: 1024/min_count: 64/' "$skeleton"
ppo job APSMPI_POLICY="$skeleton"
check '... with smaller layers in its policy it learns' balanced
diag "discovered: $(cat balanced)"
check '... all calls of layers are rewritten' share 100
check '... without desync' not has err desync
check '... and each network has its layers' equal \
    "$(distinct layer roundoff.csv)" '0 1 2 3 4 5 6 7 8 9'

# The table with names, as in apsmpi-recipes(7).
"$python" - data/*/*/pyt_save/model.pt <<'END'
import sys

import numpy as np
import torch

np.savez("ppo.npz", **{name: p.detach().numpy() for name, p in
                       torch.load(sys.argv[1]).named_parameters()})
END
"$layers_command" ppo.npz | sed '/^#/d; s/$/,pi/; s/shape,pi/shape,network/
    /,v\./s/pi$/v/' >layers.csv
policy named.yaml -t 'table: layers.csv' \
    -t 'log: {file: named.csv, every: 1}' 'layers: "*.bias", format: fp32' \
    'layers: "v.*", format: e5m2, scale: aps' 'format: e4m3, scale: aps'
sed -i 's/^min_count: 1$/min_count: 64/' named.yaml # as the statistics are smaller
ppo job APSMPI_POLICY=named.yaml
check 'with names it learns' balanced
diag "named: $(cat balanced)"
check '... without desync' not has err desync
check '... the policy network has the format of its rule' equal "$(names named.csv)" \
    "$(sed -n 's/.*,\(.*weight\),.*/\1/p' layers.csv | paste -s -d ' ')"
finish
