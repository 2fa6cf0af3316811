#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The library in unsuitable processes, with other libraries, and from inside.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

policy aps.yaml 'format: e4m3, scale: aps'
policy fp32.yaml 'format: fp32'
counter=$top_builddir/tests/e2e/.libs/counter.so

# --- no MPI -------------------------------------------------------------------

# same_with_us NAME COMMAND...
same_with_us()
{
    name=$1
    shift
    timed "$@"
    cp out out.without
    cp err err.without
    without=$status
    timed env LD_PRELOAD="$sanitizer$library" APSMPI_POLICY=missing.yaml "$@"
    check "$name works" status_is "$without"
    check '... prints the same' cmp out.without out
    check '... and nothing else' cmp err.without err
}

same_with_us ls ls /
# shellcheck disable=SC2016 # for the inner shell
same_with_us 'a shell' sh -c 'echo $((1 + 1)); ls /nonexistent; exit 3'
same_with_us 'Python' "$PYTHON3" -c 'import os, sys; print(sys.byteorder)'
same_with_us 'a pipeline' sh -c 'yes | head -n 3 | sort'

# --- MPI ----------------------------------------------------------------------

job 2 APSMPI_POLICY=aps.yaml "$probe" nothing
check 'a program that never reduces' status_is 0
check '... prints what it prints' equal "$(cat out)" nothing

job 2 "$probe" nothing
check '... and without a policy no line is printed' empty err

job 2 APSMPI_POLICY=aps.yaml "$probe" threads 50
check 'MPI_Init_thread and three threads at a time' lines 3 out '50 sums right'
check '... are seen' rewritten 150

job 2 APSMPI_POLICY=missing.yaml "$probe" threads 3
check '... and stops the job for a bad policy' failed
check '... before it does anything' empty out

job 3 APSMPI_POLICY=aps.yaml "$probe" children
check 'children of the ranks' status_is 0
check '... print what they print' lines 3 out 'child 42'
check '... and the ranks go on' lines 1 out '2 sums right'
check '... rewritten' rewritten 2
check '... and only rank 0 says something, first and last' equal "$(wc -l <err)" 2

job 3 APSMPI_POLICY=aps.yaml "$probe" shells
check 'system() and popen() on the ranks' status_is 0
check '... and the ranks go on' lines 3 out '1 sums right'
check '... rewritten' rewritten 3
check '... and only rank 0 says something, first and last' equal "$(wc -l <err)" 2

# More communicators than context ids, and slow on a busy machine.
limit=240
job 2 APSMPI_POLICY=aps.yaml "$probe" communicators 2500
check '2500 communicators, one after the other, are all right' \
    lines 2500 out '1 sums right'
check '... and rewritten' rewritten 2500
limit=60

# The library frees everything: contexts, context ids, their memory and MPI's.
policy direct.yaml 'format: e4m3, reduce: direct'
job 2 APSMPI_POLICY=direct.yaml "$probe" recreated 10000
check '10000 communicators with blocking and nonblocking calls' \
    lines 1 out '10000 communicators right'
diag "$(cat out)"
check '... take 4 MB at most' test \
    "$(sed -n 's/.*right, \(-*[0-9]*\) KB more/\1/p' out)" -le 4096

policy rows.yaml -t 'log: {file: sessions.csv, every: 1}' 'format: e4m3'
job 2 APSMPI_POLICY=rows.yaml "$probe" sessions
if grep -q 'no sessions' out; then
    skip 'sessions' 'this MPI has none'
else
    check 'sessions work' lines 1 out '3 sums right'
    check '... to their end' status_is 0
    check '... with every call rewritten, whatever MPI_Pcontrol says' equal \
        "$(column format sessions.csv | grep -c e4m3)" 5
    check '... without a word of trouble' not has err cannot
    check '... and a summary when the last session ends' lines 1 err \
        '5 eligible calls of MPI_Allreduce, 5 rewritten'
fi

job 1 APSMPI_POLICY=aps.yaml "$probe" sums 3
check 'one rank' lines 1 out '3 sums right'

timed env LD_PRELOAD="$sanitizer$library" APSMPI_POLICY="$tmp/aps.yaml" "$probe" sums 3
check 'a rank without mpiexec' lines 1 out '3 sums right'

timed env LD_PRELOAD="$sanitizer$library" APSMPI_POLICY="$tmp/aps.yaml" \
    $launch -n 2 "$probe" sums 3
check 'mpiexec with the library preloaded into itself' rewritten 3
check '... and nothing said but the first call and the summary' \
    equal "$(wc -l <err)" 2

policy log.yaml -t 'log: {file: halves.csv, every: 1}' 'format: e4m3'
job 4 APSMPI_POLICY=log.yaml "$probe" halves 5
check 'two halves of the ranks' lines 1 out '5 sums right'
check '... write one log' whole_log halves.csv
check '... with one header' lines 1 halves.csv time,comm,step
check '... and the rows of both' equal "$(column step halves.csv | wc -l)" 10
check '... under names of their own' equal \
    "$(distinct comm halves.csv | wc -w)" 2
check '... and one id of the run' equal "$(distinct run halves.csv | wc -w)" 1
check '... whose beginning is reported once' lines 1 halves.csv '# run='

# --- a profiler after the library ---------------------------------------------

both="$sanitizer$library:$counter"
job 2 LD_PRELOAD="$both" APSMPI_DISCOVERY=off "$probe" sums 5
check 'a profiler behind us sees what passes through' \
    lines 1 err 'counter: 5 calls'
job 2 LD_PRELOAD="$both" APSMPI_POLICY=fp32.yaml $digits --epochs 1
check '... as a policy of fp32 leaves it' lines 1 err 'counter: 70 calls'
job 2 LD_PRELOAD="$both" APSMPI_POLICY=aps.yaml $digits --epochs 1
check '... and not what is rewritten' lines 1 err 'counter: 4 calls'
check '... nor messages of the library' rewritten 66

# Profilers of this machine, before and after the library: their paths, such as
# PROFILERS="/usr/lib/libmpiP.so /usr/lib/libdarshan.so".
for profiler in ${PROFILERS:-}; do
    job 4 LD_PRELOAD="$both:$profiler" APSMPI_POLICY=aps.yaml \
        DARSHAN_LOGFILE="$tmp/darshan.log" $digits --epochs 2
    check "${profiler##*/} after us: the job trains" trained 2
    check '... rewritten' rewritten 132
    cp out after
    job 4 LD_PRELOAD="$profiler:$both" APSMPI_POLICY=aps.yaml \
        DARSHAN_LOGFILE="$tmp/darshan.log" $digits --epochs 2
    check "${profiler##*/} before us: the job trains" trained 2
    if has err "$profiler defines MPI_Allreduce, too, and comes first"; then
        check '... natively, as a line says' not has err '(100.0 %'
    else
        check '... as after us' cmp after out
    fi
done
[ -n "${PROFILERS:-}" ] || skip 'profilers of this machine' 'PROFILERS is not set'

# --- from inside --------------------------------------------------------------

if command -v nm >/dev/null; then
    nm -D --defined-only "$library" | awk '{ print $NF }' | sort >exported
    check 'only names of MPI are exported' not grep -v -i '^mpi_' exported
    check '... among them MPI_Allreduce' grep -x MPI_Allreduce exported
    nm -D "$library" | awk '{ print $NF }' >all
    check 'libyaml is neither exported nor needed' not grep yaml_ all
    # UCX's sbrk(0) may take memory of malloc (pmpi/device/gpu_driver.c).
    check 'sbrk is not called' not grep -E '^s?brk(@|$)' all
else
    skip 'exported names' 'no nm'
fi
if command -v readelf >/dev/null; then
    readelf -d "$library" | grep NEEDED >needed
    check 'the C library alone is needed' not grep -v -e '\[libm\.so' -e '\[libc\.so' \
        -e '\[ld-linux' -e '\[libdl\.so' -e '\[libpthread\.so' needed
    [ -z "$(sed -n 's/^GLIBC_LIBS = //p' "$top_builddir/Makefile")" ] ||
        check '... with the parts that it had before 2.34' equal \
            "$(grep -c -e '\[libdl\.so' -e '\[libpthread\.so' needed)" 2
    readelf -VW "$library" | grep -o 'GLIBC_2\.[0-9]*' | sort -u >versions
    case $(uname -m) in
    x86_64 | aarch64)
        check '... of glibc 2.28 or later' equal \
            "$(awk -F. '$2 > 28' versions)" ''
        ;;
    *) skip '... of glibc 2.28 or later' "not on $(uname -m)" ;;
    esac
    readelf -dW "$library" >dynamic
    check 'no run path and no text relocations' \
        not grep -E 'RPATH|RUNPATH|TEXTREL' dynamic
else
    skip 'needed libraries' 'no readelf'
fi

finish
