# SPDX-License-Identifier: BSD-3-Clause
# Functions of the end-to-end tests, which begin with
#
#     . "${top_srcdir:-.}/tests/e2e/lib.sh"
#
# and are then in an empty directory of their own. tests/local.mk sets the
# environment; by hand, run
#
#     top_srcdir=. top_builddir=build sh tests/e2e/t-native.sh
#
# shellcheck shell=sh

LC_ALL=C
export LC_ALL
unset LD_PRELOAD MPIR_CVAR_COLLECTIVE_FALLBACK
for variable in $(env | sed -n 's/^\(APSMPI_[A-Za-z0-9_]*\)=.*/\1/p') \
    $(env | sed -n 's/^\(HWLOC_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$variable"
done

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
. "$top_srcdir/tests/tap/logs.sh"
yield_when_idle
MPICC=${MPICC:-mpicc.$MPI}
CC=${CC:-cc}
PYTHON3=${PYTHON3:-python3}
PACKAGE_VERSION=${PACKAGE_VERSION:-$(sed -n \
    's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$top_builddir/config.h")}
library=$top_builddir/.libs/libapsmpi.so
apsmpi=$top_builddir/apsmpi
report=$top_srcdir/scripts/apsmpi-report
suggest=$top_srcdir/scripts/apsmpi-suggest
layers_command=$top_srcdir/scripts/apsmpi-layers
digits_program=$top_builddir/tests/apps/digits
digits="$digits_program --data $top_srcdir/tests/apps/digits.csv"
probe=$top_builddir/tests/e2e/probe
export top_srcdir top_builddir

for file in "$library" "$apsmpi" "$digits_program" "$probe"; do
    [ -e "$file" ] || { echo "Bail out! there is no $file"; exit 1; }
done

# A build with sanitizers: their library must be the first of all. MPI never
# frees all its memory.
sanitizer=$(ldd "$library" 2>/dev/null | awk '/libasan/ { print $3 ":" }')
if [ -n "$sanitizer" ]; then
    ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
    UBSAN_OPTIONS=halt_on_error=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
    export ASAN_OPTIONS UBSAN_OPTIONS
fi

tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" || exit 1

number=0
failures=0

# --- TAP ----------------------------------------------------------------------

diag()
{
    printf '# %s\n' "$*"
}

# check NAME COMMAND...: one test, that the command succeeds. If it does not,
# prints the output of the command and of the last job.
check()
{
    name=$1
    shift
    number=$((number + 1))
    if "$@" >said 2>&1; then
        echo "ok $number - $name"
        return
    fi
    failures=$((failures + 1))
    echo "not ok $number - $name"
    diag "$*"
    sed 's/^/# /' said
    diag "last job: exit status ${status-none}"
    for stream in out err; do
        [ ! -f $stream ] || head -n 30 $stream | sed "s/^/# $stream: /"
    done
}

# skip NAME REASON
skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

skip_all()
{
    echo "1..0 # SKIP $*"
    exit 0
}

# finish: the end of a test. pandas, if it is installed, reads all logs that are
# left (except larger ones than any real log: a test makes one with a hole).
finish()
{
    cd "$tmp" || exit 1
    left=$(logs_left .)
    [ -z "$left" ] || check 'pandas reads every log' logs_read "$left"
    echo "1..$number"
    [ "$failures" -eq 0 ]
    exit
}

# --- running ------------------------------------------------------------------

# timed COMMAND...: run it, for two minutes at most; leaves out, err, $status and
# $taken, in seconds
timed()
{
    status=0
    taken=$(date +%s)
    timeout -k 5 "${limit:-120}" "$@" </dev/null >out 2>err || status=$?
    taken=$(($(date +%s) - taken))
}

# native RANKS [VARIABLE=VALUE...] PROGRAM...: an MPI job without the library
native()
{
    ranks=$1
    shift
    # shellcheck disable=SC2086 # two words
    timed $launch -n "$ranks" env "$@"
}

# job RANKS [VARIABLE=VALUE...] PROGRAM...: an MPI job with the library
job()
{
    ranks=$1
    shift
    native "$ranks" LD_PRELOAD="$sanitizer$library" "$@"
}

# --- checks -------------------------------------------------------------------

not()
{
    ! "$@"
}

# status_is WANTED: the status of the last job
status_is()
{
    [ "$status" -eq "$1" ]
}

# The job failed by itself: 137 is the status of a job that timeout killed, and
# of one that lost a rank to a signal.
failed()
{
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] &&
        { [ "$status" -ne 137 ] || [ "$taken" -lt "${limit:-120}" ]; }
}

# has FILE TEXT: a line has the text
has()
{
    grep -F -e "$2" "$1"
}

# library_of_mpi: the library of MPI that the programs need
library_of_mpi()
{
    ldd "$probe" | awk '/libmpi(ch)?\.so/ { print $3; exit }'
}

# lines N FILE TEXT: N lines have the text
lines()
{
    found=$(grep -c -F -e "$3" "$2")
    echo "'$3' is in $found lines of $2, not in $1"
    [ "$found" -eq "$1" ]
}

empty()
{
    [ -f "$1" ] && [ ! -s "$1" ]
}

# equal WHAT WANTED
equal()
{
    printf "got '%s', wanted '%s'\n" "$1" "$2"
    [ "$1" = "$2" ]
}

# rewritten N: the last job's summary reports N rewritten calls
rewritten()
{
    if [ "$1" -eq 0 ]; then
        lines 1 err 'none rewritten'
    else
        lines 1 err " calls of MPI_Allreduce, $1 rewritten ("
    fi
}

# trained [EPOCHS]: the last job ended well, with equal replicas; with EPOCHS,
# the last epoch's loss is less than half the first one's
trained()
{
    status_is 0 && has out 'replicas equal' || return 1
    [ $# -eq 0 ] ||
        awk -v epochs="$1" '
            $1 == "epoch" { loss[$2] = $4 }
            END { exit !(loss[1] > 0 && loss[epochs] < loss[1] / 2) }' out
}

# --- logs ---------------------------------------------------------------------

# column NAME LOG [CONDITION]: prints that column of every row, by the header's
# names; CONDITION is an awk expression over v["name"]
column()
{
    awk -F, -v name="$1" '
        /^#/ { next }
        /^time,/ { for (i = 1; i <= NF; i++) header[i] = $i; next }
        { for (i = 1; i <= NF; i++) v[header[i]] = $i }
        '"${3:-1}"' { print v[name] }' "$2"
}

# distinct NAME LOG [CONDITION]: prints the column's values, each once, in one line
distinct()
{
    column "$@" | sort -u | sort -n | tr '\n' ' ' | sed 's/ $//'
}

# whole_log FILE: the log has one header, and then only whole rows and events
whole_log()
{
    [ "$(tail -c 1 "$1" | od -An -tx1 | tr -d ' ')" = 0a ] &&
        awk -F, '
            NR == 1 { columns = NF; if (!/^time,comm,step,/) exit bad = 1
                      next }
            /^#/ { next }
            NF != columns || !/^[0-9]+\.[0-9]+,/ {
                print FILENAME ":" NR ": " $0; bad = 1 }
            END { exit bad }' "$1"
}

# --- policies -----------------------------------------------------------------

# machine_file FORMAT: writes possible output of apsmpi measure, on idle machines
machine_file()
{
    cat <<END
# by hand
version: 1
hosts: 2
ranks_per_host: 1
copy: 1e-12
add: 1e-12
mark: 1e-9
between: {latency: 1e-3, rate: 1e8, bulk: 5e7, wait: 1e-3, message: 0, byte: 0}
inside: {latency: 1e-6, rate: 1e10, bulk: 1e10, wait: 1e-6, message: 0, byte: 0}
codecs:
  $1: {magnitude: 1e-12, encode: 1e-12, decode: 1e-12, add: 1e-12, round: 1e-12}
END
}

# Prints the layers of tests/apps/digits in forward order.
layer_table()
{
    cat <<'END'
layer,name,count
0,fc1.weight,4096
1,fc1.bias,64
2,fc2.weight,4096
3,fc2.bias,64
4,fc3.weight,640
5,fc3.bias,10
END
}

# policy FILE [-t LINE]... RULE...: writes a policy that matches every call; -t
# adds a line at the top, a rule is the inside of a YAML mapping
policy()
{
    file=$1
    shift
    printf 'version: 1\nmin_count: 1\n' >"$file"
    while [ "$1" = -t ]; do
        printf '%s\n' "$2" >>"$file"
        shift 2
    done
    printf 'rules:\n' >>"$file"
    printf '  - {%s}\n' "$@" >>"$file"
}
