#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py in its three kinds: version 3 and version 4, built against this MPI,
# and the wheels of version 4, which load any MPI. scripts/setup installs the
# other two next to the interpreter's own.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import numpy' 2>/dev/null ||
    skip_all "$PYTHON3 has no module numpy"
# The interpreter's own directory, not that of a link's target.
beside=$(dirname "$(dirname "$(command -v "$PYTHON3")")")
program=$top_srcdir/tests/e2e/sums.py
[ "$MPI" = mpich ] ||
    skip_all 'the kinds of mpi4py are installed for MPICH; see t-python.sh'
policy exact.yaml 'format: e8m23'
policy rounded.yaml 'format: e4m3'

# The wheels load libmpi.so.12, MPICH's own name; Debian's is libmpich.so.12.
mpich=$(ldd "$library" | awk '/libmpi/ { print $3; exit }')
mkdir names
ln -s "$mpich" names/libmpi.so.12

python_job()
{
    ranks=$1
    shift
    job "$ranks" OPENBLAS_NUM_THREADS=1 "$@"
}

# kind NAME VERSION VARIABLES...: tests one of the three; VERSION is the begin
# of its version
kind()
{
    name=$1 version=$2
    shift 2
    env "$@" "$PYTHON3" -c 'import mpi4py; print(mpi4py.__version__)' \
        >out 2>err
    case $(cat out) in
    $version*) ;;
    *)
        skip "$name" "not installed beside $PYTHON3: $(tail -n 1 out err | \
            tr '\n' ' ')"
        return
        ;;
    esac
    diag "$name: mpi4py $(cat out)"
    native 1 "$@" "$PYTHON3" -c \
        'from mpi4py import MPI; print(MPI.Get_library_version())'
    if ! grep -q MPICH out; then
        skip "$name" "not with MPICH: $(cat out err | tail -n 1)"
        return
    fi
    native 2 "$@" "$PYTHON3" "$program"
    check "$name works without the library" has out right
    for ranks in 1 2 3 4; do
        python_job "$ranks" "$@" APSMPI_POLICY=exact.yaml "$PYTHON3" "$program"
        check "$name on $ranks ranks: exact" has out right
        [ "$ranks" -eq 1 ] || check '... and every FP32 sum rewritten' \
            rewritten "$(sed -n 's/right \([0-9]*\) calls/\1/p' out)"
        python_job "$ranks" "$@" APSMPI_POLICY=exact.yaml \
            "$PYTHON3" "$program" nonblocking
        check '... without blocking, too' has out right
        diag "$(cat err)"
    done
    # Not by chance: the result shows few bits.
    python_job 3 "$@" APSMPI_POLICY=rounded.yaml "$PYTHON3" "$program"
    check '... and rounded where it is asked for' has out WRONG
    python_job 2 "$@" "$PYTHON3" "$program"
    check '... and watched without a policy' has out right
}

kind "mpi4py 4" 4 APSMPI_DISCOVERY=off
kind "mpi4py 3" 3 APSMPI_DISCOVERY=off PYTHONPATH="$beside/mpi4py-3"
kind "mpi4py's wheel" 4 APSMPI_DISCOVERY=off \
    PYTHONPATH="$beside/mpi4py-wheel" LD_LIBRARY_PATH="$tmp/names"
finish
