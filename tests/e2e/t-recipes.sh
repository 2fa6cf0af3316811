#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of apsmpi-recipes(7), with the policies of that page: fused buffers
# that vary, names of layers from saved weights, one call for the whole network,
# and sub-communicators.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

page=$top_srcdir/pmpi/apsmpi-recipes.7
apps=$top_srcdir/tests/apps

# recipe SECTION: writes its policy to policy.yaml
recipe()
{
    awk -v section=".Sh $1" '
        /^\.Sh / { inside = $0 == section }
        inside && /^\.\\" policy/ { wanted = 1 }
        wanted && /^\.Bd/ { copying = 1; next }
        /^\.Ed/ { copying = wanted = 0 }
        copying' "$page" >policy.yaml
    check "$1: the page has a policy" test -s policy.yaml
}

# by_name LOG: prints layer=format of its rows, each once
by_name()
{
    column name "$1" | paste -d = - formats_of | sort -u | paste -s -d ' '
}
formats()
{
    column format "$1" >formats_of
    by_name "$1"
}

python=
if "$PYTHON3" -c 'import numpy, mpi4py' 2>/dev/null; then
    case $MPI,$("$PYTHON3" -c \
        'from mpi4py import MPI; print(MPI.Get_library_version())') in
    mpich,*MPICH* | openmpi,*'Open MPI'*) python=$PYTHON3 ;;
    esac
fi
# python_job RANKS [VARIABLE=VALUE]... PROGRAM...: writes no bytecode to the sources
python_job()
{
    ranks=$1
    shift
    job "$ranks" OPENBLAS_NUM_THREADS=1 "$@"
}

# --- Horovod ------------------------------------------------------------------

fused_varies()
{
    awk -F, '!/^#/ { n++ } END { exit !(n == 7) }' \
        apsmpi-discovered-layers.csv
}

# horovod PROGRAM PYTHON: discovers its layers unfused, and trains fused
horovod()
{
    recipe HOROVOD
    rm -f apsmpi-discovered*
    python_job 2 HOROVOD_FUSION_THRESHOLD=0 "$2" "$apps/$1" --epochs 1
    check "$1: unfused, discovery finds the layers" fused_varies
    check '... the first layer first' equal \
        "$(awk -F, '/^[0-9]/ { print $3 }' apsmpi-discovered-layers.csv |
            paste -s -d ' ')" '4096 64 4096 64 640 10'
    check '... and says that calls come the other way round' \
        has apsmpi-discovered.yaml 'steps: {order: backward}'
    layer_table >layers.csv # a table written by hand
    for run in 1 2 3 4 5; do
        rm -f roundoff.csv
        python_job 4 APSMPI_POLICY=policy.yaml "$2" "$apps/$1" --epochs 3
        check "$1, run $run: trains with calls that vary" trained 3
        check '... without desync' not has err desync
        check '... the library knows the layers in them' equal \
            "$(formats roundoff.csv)" \
            'fc1.bias=e4m3 fc1.weight=e4m3 fc2.bias=e4m3 fc2.weight=e4m3'
    done
}

if [ -n "$python" ]; then
    horovod fusion.py "$python"
else
    skip HOROVOD "$PYTHON3 has no numpy and mpi4py for $MPI"
fi
# Horovod itself, if the interpreter has one that was built for this MPI.
if "$PYTHON3" -c 'import sys, horovod.torch as hvd
sys.exit(not hvd.mpi_built())' 2>reason; then
    horovod digits_horovod.py "$PYTHON3"
else
    skip digits_horovod.py "$PYTHON3 has no Horovod with PyTorch and MPI"
fi

# --- PyTorch ------------------------------------------------------------------

# saved PROGRAM FILE NAMES: trains, saves, makes the table, and trains with it
saved()
{
    rm -f "$2"
    python_job 2 APSMPI_DISCOVERY=off "$python" "$apps/$1" --epochs 1 \
        --save "$tmp/$2"
    check "$1: saves its weights" test -s "$2"
    timed "$python" "$layers_command" --output layers.csv "$2"
    check '... apsmpi-layers makes a table of them' status_is 0
    rm -f roundoff.csv
    python_job 4 APSMPI_POLICY=policy.yaml "$python" "$apps/$1" --epochs 3
    check '... trains by it' trained 3
    check '... without desync' not has err desync
    check '... the names are those of the weights' equal \
        "$(formats roundoff.csv)" "$3"
}
if [ -n "$python" ]; then
    recipe 'PYTORCH WITH MPI4PY'
    saved digits.py digits.npz \
        'fc1.weight=e4m3 fc2.weight=e4m3 fc3.weight=e4m3'
    if "$python" -c 'import torch' 2>/dev/null; then
        saved digits_torch.py digits.npz \
            '0.weight=e4m3 2.weight=e4m3 4.weight=e4m3'
    else
        skip digits_torch.py 'there is no PyTorch'
    fi
else
    skip 'PYTORCH WITH MPI4PY' "$PYTHON3 has no numpy and mpi4py for $MPI"
fi

# --- one call -----------------------------------------------------------------

recipe 'ONE CALL FOR THE WHOLE NETWORK'
layer_table >layers.csv
awk '/^\.\\" table/ { wanted = 1 } wanted && /^\.Bd/ { copying = 1; next }
     /^\.Ed/ { copying = wanted = 0 } copying' "$page" >shown.csv
check '... the table of the page is that of the program' cmp shown.csv layers.csv
rm -f roundoff.csv
job 4 APSMPI_POLICY=policy.yaml $digits --fused --epochs 3
check '... trains' trained 3
check '... one call a step is rewritten' rewritten 33
check '... each layer by its own rule' equal "$(formats roundoff.csv)" \
    'fc1.bias=e4m3 fc1.weight=e4m3 fc2.bias=e5m2 fc2.weight=e5m2'

# --- sums on one rank ---------------------------------------------------------

if [ -n "$python" ]; then
    recipe 'SUMS BY WAY OF ONE RANK'
    rm -f roundoff.csv
    python_job 4 APSMPI_POLICY=policy.yaml "$python" "$apps/rooted.py" --epochs 3
    check '... trains, and all ranks have the same weights' trained 3
    for call in Reduce Bcast; do
        check "... MPI_$call is rewritten" \
            grep -q "^apsmpi: .* of MPI_$call, 33 rewritten " err
    done
    check '... the log has both' equal "$(distinct format roundoff.csv)" \
        'e4m3 e8m7'
else
    skip 'SUMS BY WAY OF ONE RANK' "$PYTHON3 has no numpy and mpi4py for $MPI"
fi

# --- sub-communicators --------------------------------------------------------

recipe SUB-COMMUNICATORS
compiler=
for candidate in ${FC:-} "$(echo "$MPICC" | sed 's/mpicc/mpifort/')" \
    "mpif90.$MPI"; do
    # Debian's Fortran wrappers link the machine's default MPI.
    libraries=$("$MPICC" -show | tr ' ' '\n' | grep '^-L')
    command -v "$candidate" >/dev/null &&
        "$candidate" -fallow-argument-mismatch -o groups "$apps/groups.f90" \
            $libraries >reason 2>&1 && compiler=$candidate && break
done
if [ -n "$compiler" ]; then
    native 4 ./groups
    check '... the program works without the library' has out 'close T'
    rm -f roundoff.csv
    job 4 APSMPI_POLICY=policy.yaml ./groups
    check '... and with it' has out 'close T'
    check '... all ranks of a group have the same weights' has out 'alike T'
    check '... every sum of gradients is rewritten' rewritten 40
    check '... by size' equal "$(distinct format roundoff.csv 'v["count"] == 4096')" \
        e4m3
    job 5 APSMPI_POLICY=policy.yaml APSMPI_LOG=odd.csv ./groups
    check '... groups of other sizes, too' has out 'alike T'
else
    skip '... groups.f90' "no Fortran compiler for MPI: $(tail -n 1 reason)"
fi

finish
