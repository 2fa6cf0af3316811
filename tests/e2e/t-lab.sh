#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-lab: hosts, their links, and that nothing of them is left.
# shellcheck disable=SC2016 # programs of ranks expand their own variables
# shellcheck disable=SC2317 # functions that check calls
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ "$MPI" = mpich ] || skip_all "apsmpi-lab works with MPICH's mpiexec alone"

lab=$top_srcdir/scripts/apsmpi-lab
hosts=$top_builddir/tests/e2e/hosts
APSMPI_LAB_DIR=$top_builddir/scripts
export APSMPI_LAB_DIR MPIEXEC
unset UCX_TLS UCX_NET_DEVICES
# Programs that leave temporary files leave them here.
TMPDIR=$tmp/files
mkdir "$TMPDIR"
export TMPDIR

# lab [OPTION...] -- ARGUMENT...: a job, without the library
lab()
{
    timed "$lab" "$@"
}

# placed [OPTION...]: runs `hosts`, with the libraries for a build with sanitizers
placed()
{
    lab "$@" -- -genv LD_PRELOAD "${sanitizer%:}" "$hosts"
}

# refused TEXT [OPTION...]: exit status 125 and this text, nothing on stdout
refused()
{
    text=$1
    shift
    lab "$@"
    check "refused: $text" has err "apsmpi-lab: $text"
    check '... with exit status 125 and nothing on stdout' \
        equal "$status $(wc -c <out)" '125 0'
}

# quickest BYTES [OPTION...]: prints their microseconds to the last host
quickest()
{
    bytes=$1
    shift
    lab "$@" -- -genv LD_PRELOAD "${sanitizer%:}" "$hosts" "$bytes" 5
    [ "$status" -eq 0 ] || cat err >&2
    cat out
}

# exceeds A FACTOR B: A > FACTOR * B, and both are numbers
exceeds()
{
    echo "$1 > $2 * $3?"
    awk -v a="$1" -v b="$3" -v factor="$2" \
        'BEGIN { exit !(a > 0 && b > 0 && a + 0 > factor * b) }'
}

# A rank that prints its network namespace, and then runs a command.
rank='readlink /proc/self/ns/net >net.$PMI_RANK; '

# started RANKS: all have printed it
started()
{
    for _ in $(seq 300); do
        cat net.* >nets 2>/dev/null
        [ "$(grep -c net: nets)" -ne "$1" ] || return 0
        sleep 0.1
    done
    return 1
}

# gone: no process is in their namespaces, none of their links is on the
# machine, no file is left
gone()
{
    cat net.* >nets && rm net.* && grep -q net: nets || return 1
    for _ in $(seq 20); do
        left=$(readlink /proc/[0-9]*/ns/net 2>/dev/null | grep -cxFf nets)
        [ "$left" -ne 0 ] || break
        sleep 0.1
    done
    echo "$left processes left; files: $(ls -A "$TMPDIR")"
    [ "$left" -eq 0 ] && [ -z "$(ls -A "$TMPDIR")" ] &&
        ! ip link show dev switch && ! ip link show dev port1
}

# MPICH jobs whose ranks end at once sometimes end in SIGPIPE: mpiexec still
# forwards the end of its own input.
lab -- sleep 0.2
[ "$status" -ne 77 ] || skip_all "$(cat err)"
check 'a lab' status_is 0
cp err lab.err # on a machine that does not allow its TCP settings
check '... says nothing' equal "$(cat out)$(grep -v congestion lab.err)" ''
[ -s lab.err ] || {
    lab -- sh -c \
        'cat /proc/sys/net/ipv4/tcp_congestion_control; sleep 0.2'
    check 'the same congestion control everywhere' equal "$(sort -u out)" reno
}

# --- options ------------------------------------------------------------------

lab --help
check '--help' has out 'usage: apsmpi-lab'
check '... is not an error' status_is 0
refused 'no program to run'
refused 'no program to run' --hosts 2 --
refused '-- is missing in front of ./train' --hosts 2 ./train
refused 'unknown option --host' --host 2 -- ./train
refused '--hosts needs a value' --hosts
refused "--hosts: '0' is not a number from 1 to 250" --hosts 0 -- ./train
refused "--hosts: '251' is not a number from 1 to 250" --hosts 251 -- ./train
refused "--hosts: '2x' is not a number" --hosts 2x -- ./train
refused "--ranks-per-host: '' is not a number" --ranks-per-host '' -- ./train
refused "--ranks-per-host: '-1' is not a number" --ranks-per-host -1 -- ./train
refused "--rate: '1gb' is not a rate such as 1gbit" --rate 1gb -- ./train
refused "--rate: 'gbit' is not a rate" --rate gbit -- ./train
refused "--rate: '0' is not within 1mbit and 999gbit" --rate 0 -- ./train
refused "--rate: '9999tbit' is not within" --rate 9999tbit -- ./train
refused "--delay: '1h' is not a time such as 100us" --delay 1h -- ./train
refused "--delay: '-1ms' is not a time" --delay -1ms -- ./train
refused "--delay: '1.5s' is more than 1s" --delay 1.5s -- ./train
mpiexec=$MPIEXEC
MPIEXEC=no-such-mpiexec
refused 'no-such-mpiexec: no such command' -- ./train
MPIEXEC='echo'
refused "echo is not MPICH's" -- ./train
MPIEXEC=$mpiexec

# --- hosts and ranks ----------------------------------------------------------

placed --hosts 3 --ranks-per-host 2
check 'three hosts with two ranks each' equal "$(cat out)" \
    'rank 0 of 6 on host1
rank 1 of 6 on host1
rank 2 of 6 on host2
rank 3 of 6 on host2
rank 4 of 6 on host3
rank 5 of 6 on host3'
check '... and nothing on stderr' cmp err lab.err
placed
check 'two hosts with one rank each, by default' equal "$(cat out)" \
    'rank 0 of 2 on host1
rank 1 of 2 on host2'
"$lab" -- -genv LD_PRELOAD "${sanitizer%:}" "$hosts" </dev/null >other 2>&1 &
placed
wait $!
check 'two labs at a time' status_is 0
check '... both right' cmp out other

mkdir 'a folder'
cp "$lab" 'a folder/the lab'
(cd 'a folder' && timed './the lab' -- pwd)
check 'names with blanks' equal "$(cat 'a folder/out')" \
    "$(printf '%s/a folder\n%s/a folder' "$tmp" "$tmp")"

echo words | timeout 60 "$lab" --hosts 1 -- cat >out
check 'stdin goes to the program' equal "$(cat out)" words
lab --hosts 1 -- sh -c 'echo "$UCX_TLS $UCX_NET_DEVICES"'
check 'messages go over the link' equal "$(cat out)" 'tcp,self eth0'
timed env UCX_TLS=all "$lab" --hosts 1 -- sh -c 'echo "$UCX_TLS"'
check '... unless UCX has other settings' equal "$(cat out)" all

policy e4m3.yaml 'format: e4m3, scale: aps'
lab --hosts 2 --ranks-per-host 2 -- -genv APSMPI_POLICY e4m3.yaml \
    -genv LD_PRELOAD "$sanitizer$library" "$probe" sums 3
check 'a job with the library' equal "$(cat out)" '3 sums right'
check '... is rewritten' rewritten 3
timed env LD_PRELOAD="$sanitizer$library" APSMPI_POLICY=e4m3.yaml \
    "$lab" -- "$probe" sums 3
check '... also preloaded to the lab itself' rewritten 3

# Python loads MPI and UCX into a separate scope.
if "$PYTHON3" -c 'from mpi4py import MPI; import numpy' 2>said; then
    sums=$top_srcdir/tests/e2e/sums.py
    lab -- -genv LD_PRELOAD "${sanitizer%:}" "$PYTHON3" "$sums"
    check 'a Python program' equal "$(cat out)" 'right 9 calls'
    check '... ends without a word' cmp err lab.err
    policy exact.yaml 'format: e8m23'
    lab --hosts 2 --ranks-per-host 2 -- -genv APSMPI_POLICY exact.yaml \
        -genv LD_PRELOAD "$sanitizer$library" "$PYTHON3" "$sums"
    check '... with the library' equal "$(cat out)" 'right 12 calls'
    check '... is rewritten' rewritten 12
else
    skip 'a Python program' "$PYTHON3 has no mpi4py or numpy: $(tail -n 1 said)"
fi

# --- links --------------------------------------------------------------------

# 2 MB at 50 Mbit/s take 320 ms; the first 128 KiB may be sent at once.
slow=$(quickest 2000000 --rate 50mbit)
fast=$(quickest 2000000 --rate 500mbit)
check 'a rate limits' exceeds "$slow" 0.9 320000
check '... more than one ten times as high' exceeds "$slow" 3 "$fast"
inside=$(quickest 2000000 --rate 50mbit --hosts 1 --ranks-per-host 2)
check '... but not inside a host' exceeds "$slow" 3 "$inside"

lab --delay 20ms -- sleep 0.2
if [ "$status" -eq 77 ]; then
    skip 'a delay' "$(cat err)"
else
    near=$(quickest 1)
    far=$(quickest 1 --delay 20ms)
    check 'a delay, there and back' exceeds "$far" 0.99 40000
    check '... is met once each way' exceeds 80000 1 "$far"
    check '... more than without one' exceeds "$far" 3 "$near"
    far=$(quickest 2000000 --delay 20ms --rate 50mbit)
    check 'rate and delay' exceeds "$far" 0.95 "$((slow + 40000))"
fi

# --- nothing is left ----------------------------------------------------------

lab -- sh -c "$rank"
check 'success leaves nothing' gone
lab -- sh -c "$rank exit 3"
check "the program's exit status is the lab's" status_is 3
check 'failure leaves nothing' gone
lab -- sh -c "$rank"'[ $PMI_RANK = 0 ] || kill -KILL $$; exec sleep 1000'
check 'a killed rank ends the job' failed
check '... and leaves nothing' gone

# Like Ctrl-C: INT goes to the whole process group. The shell that runs the
# tests may ignore these signals.
for signal in INT:130 TERM:143 HUP:129 KILL:137; do
    wanted=${signal#*:}
    signal=${signal%:*}
    setsid env --default-signal=INT,HUP,TERM "$lab" -- \
        sh -c "$rank exec sleep 1000" </dev/null >out 2>err &
    job=$!
    check "a job to be ended by $signal" started 2
    [ "$signal" = INT ] && group=- || group=
    kill -s "$signal" -- "$group$job"
    status=0
    wait $job || status=$?
    check "... ends by it" status_is "$wanted"
    check '... and leaves nothing' gone
    check '... nor a word of its own on stdout' not has out apsmpi
done

# --- without permission -------------------------------------------------------

if [ "$(id -u)" -eq 0 ]; then
    timed setpriv --bounding-set -sys_admin "$lab" -- true
    check 'without the right to make namespaces' status_is 77
    check '... it reports it' has err 'apsmpi-lab: no lab on this machine: unshare'
    check '... in one line' equal "$(wc -l <err)" 1
    check '... and nothing on stdout' empty out
else
    skip 'without the right to make namespaces' 'only root can give it up'
fi

finish
