# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the stubs t-*.sh that run programs of layered.h: sources run.sh,
# and changes to the directory $tmp, with a layer table.
# shellcheck shell=sh

. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

cat >layers.csv <<END
layer,name,count
0,first,4096
1,second,1500
2,third,2048
END
more=

# layered_job PROGRAM RANKS POLICY ARG...: the output is left in `said` and
# `stderr`; POLICY none: without the library; `more`: arguments for mpiexec
layered_job()
{
    program=$mpi/$1 ranks=$2 policy=$3
    shift 3
    preload="-genv LD_PRELOAD $library -genv APSMPI_POLICY $policy"
    [ "$policy" != none ] || preload=
    # shellcheck disable=SC2086 # several words
    timeout "$seconds" $launch -n "$ranks" $preload $more "$program" "$@" \
        </dev/null >said 2>stderr || echo "it ends with $?" >>said
}
