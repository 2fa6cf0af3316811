#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# JAX's own collectives over MPI: mpitrampoline in jaxlib takes MPI's functions from a
# wrapper of MPI by dlsym, so that they need apsmpi-run --audit. The wrapper is that of
# https://github.com/eschnett/MPIwrapper for MPICH; MPITRAMPOLINE_LIB names it.
. "${top_srcdir:-.}/tests/programs/lib.sh"

[ -n "${MPITRAMPOLINE_LIB:-}" ] || skip_all 'MPITRAMPOLINE_LIB is not set'
install_collectives()
{
    pip jax==0.4.35 jaxlib==0.4.35
}
debian python3-venv
environment jax-collectives install_collectives
# UCX, which the wrapper loads with RTLD_DEEPBIND, reads another `environ` than that of
# Debian's Python when it looks for variables that nothing has read, and crashes.
UCX_WARN_UNUSED_ENV_VARS=n
export UCX_WARN_UNUSED_ENV_VARS
policy e4m3.yaml 'format: e4m3, scale: aps'

# error_is LEAST MOST: the error of the sums, which rank 0 has printed
error_is()
{
    awk -v least="$1" -v most="$2" '/^error/ { right += $2 >= least && $2 < most }
        END { exit right != 1 }' out
}

# port: prints a free one
port()
{
    "$python" -c 'import socket; s = socket.create_server(("localhost", 0))
print(s.getsockname()[1])'
}
native 2 "$python" "$here/jax_collectives.py" "$(port)"
check 'native: the job ends' status_is 0
check '... the sums are exact' error_is 0 1e-6
job 2 APSMPI_POLICY=e4m3.yaml "$python" "$here/jax_collectives.py" "$(port)"
check 'preloaded: the job ends' status_is 0
check '... no call reaches the library, as a line says' has err \
    'no call reached the library'
timed "$top_builddir/scripts/apsmpi-run" --library "$library" --audit -p e4m3.yaml \
    $MPIEXEC -n 2 "$python" "$here/jax_collectives.py" "$(port)"
check 'apsmpi-run --audit: the job ends' status_is 0
check '... its sums are rewritten' rewritten 5
check '... with the error of e4m3' error_is 0.01 0.1
diag "JAX $(version jax): $(cat out)"
finish
