#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Starts an MPI job: the arguments are those of MPICH's mpiexec, of which
#
#   [-genv NAME VALUE]... {[-n RANKS] [-env NAME VALUE]... PROGRAM [ARG]...} : ...
#
# are translated for Open MPI's mpiexec if MPI=openmpi. `env` before the program
# sets the variables: Open MPI's -x applies to one PROGRAM only.
#
# $APS_TEST_YIELD is a library that is preloaded after all others, into each
# rank of MPICH (yield_when_idle in mpi.sh).
set -eu

fail()
{
    echo "launch.sh: $*" >&2
    exit 99
}

# One word for eval.
quote()
{
    printf " '%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

MPIEXEC=${MPIEXEC:-mpiexec}
# shellcheck disable=SC2086 # MPIEXEC may carry options
case ${MPI:-mpich} in
mpich | abi)
    [ -n "${APS_TEST_YIELD:-}" ] || exec $MPIEXEC "$@"
    before=
    for word; do
        shift
        case $before,$word in
        LD_PRELOAD,* | *,LD_PRELOAD=*) set -- "$@" "$word:$APS_TEST_YIELD" ;;
        *) set -- "$@" "$word" ;;
        esac
        before=$word
    done
    LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$APS_TEST_YIELD
    export LD_PRELOAD
    exec $MPIEXEC "$@"
    ;;
openmpi) ;;
*) fail "MPI=$MPI: expected mpich, openmpi or abi" ;;
esac

command='' everywhere='' here=''
while [ $# -gt 0 ]; do
    case $1 in
    -n | -np | -genv | -env)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
        -genv) everywhere="$everywhere$(quote "$2=${3?}")"; shift 3 ;;
        -env) here="$here$(quote "$2=${3?}")"; shift 3 ;;
        *) command="$command -n$(quote "$2")"; shift 2 ;;
        esac
        ;;
    -*) fail "unknown option $1" ;;
    *)
        command="$command env$everywhere$here"
        here=''
        while [ $# -gt 0 ] && [ "$1" != : ]; do
            command="$command$(quote "$1")"
            shift
        done
        [ $# -eq 0 ] || { command="$command :"; shift; }
        ;;
    esac
done
eval "exec $MPIEXEC $command"
