#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Python program: mpi4py loads MPI with RTLD_LOCAL, and its version 4 calls
# MPI_Allreduce_c.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

for module in numpy mpi4py; do
    "$PYTHON3" -c "import $module" 2>/dev/null ||
        skip_all "$PYTHON3 has no module $module"
done
mpi=$("$PYTHON3" -c 'from mpi4py import MPI; print(MPI.Get_library_version())')
case $MPI,$mpi in
mpich,*MPICH* | openmpi,*'Open MPI'*) ;;
*) skip_all "mpi4py was built for another MPI: $(echo "$mpi" | head -n 1)" ;;
esac
diag "mpi4py $("$PYTHON3" -c 'import mpi4py; print(mpi4py.__version__)')"

python_job()
{
    ranks=$1
    shift
    # No bytecode: the sources may be read-only.
    job "$ranks" OPENBLAS_NUM_THREADS=1 "$@"
}

program="$top_srcdir/tests/apps/digits.py"
policy aps.yaml -t 'log: {file: log.csv, every: 10}' 'format: e4m3, scale: aps'

native 2 OPENBLAS_NUM_THREADS=1 \
    "$PYTHON3" "$program" --epochs 2
cp out native
python_job 2 APSMPI_DISCOVERY=off "$PYTHON3" "$program" --epochs 2
check 'the output is the same where nothing is rewritten' cmp native out

for ranks in 2 4; do
    python_job "$ranks" APSMPI_POLICY=aps.yaml APSMPI_LOG="log$ranks.csv" \
        "$PYTHON3" "$program" --epochs 2
    check "e4m3 with APS trains on $ranks ranks" trained 2
    check '... the gradients were seen' rewritten 132
    check '... about three quarters saved' has err '(74.'
    check '... one summary' lines 1 err 'calls of MPI_Allreduce'
    check '... the log is whole' whole_log log$ranks.csv
    check '... and knows the sizes' equal "$(distinct count log$ranks.csv)" \
        '10 64 640 4096'
done
check 'other weights than without the library' not cmp native out

layer_table >layers.csv
policy named.yaml -t 'layers: layers.csv' \
    -t 'log: {file: named.csv, every: 5}' \
    'layers: "fc3.*", format: fp32' 'format: e5m2'
python_job 2 APSMPI_POLICY=named.yaml "$PYTHON3" "$program" --epochs 1
check 'a policy by names trains' trained
check '... with these layers' equal "$(distinct layer named.csv)" '0 1 2 3'

# A solver's dot products are doubles, which only a rule that names them rounds.
solver="$top_srcdir/tests/e2e/conjugate.py"
policy floats.yaml 'format: e4m3'
native 2 OPENBLAS_NUM_THREADS=1 "$PYTHON3" "$solver"
cp out native
check 'a solver by conjugate gradients converges' has native converged
python_job 2 APSMPI_POLICY=floats.yaml "$PYTHON3" "$solver"
check '... a rule without types: its bits stay' cmp native out
check '... no sum is rewritten' rewritten 0
policy doubles.yaml 'types: double, format: e11m44'
python_job 2 APSMPI_POLICY=doubles.yaml "$PYTHON3" "$solver"
check '... types: double, e11m44: it converges' has out converged
check '... with other bits' not cmp native out

finish
