# SPDX-License-Identifier: BSD-3-Clause
# A long job in which no memory, descriptor, mapping or thread may accumulate. At the
# same time random programs run, and ranks of others are killed, which may leave no
# file. `make soak HOURS=1` takes an hour, `make check` some seconds. With
# kernel.sched_autogroup_enabled=1 the kernel may let random programs stand still,
# because they have more threads than there are cores (apsmpi(7), CAVEATS).
. "$top_srcdir/tests/random/seeds.sh"

if [ "$MPI" = openmpi ]; then
    echo "1..0 # SKIP Open MPI does not survive these programs by itself"
    exit 0
fi
length=$(awk -v hours="${SOAK_HOURS:-0.002}" 'BEGIN { printf "%d", hours * 3600 }')
begin=$(date +%s)
programs=0 killed=0 bad= left=
mkdir kill temporary

elapsed()
{
    echo $(($(date +%s) - begin))
}

# --- the long job -----------------------------------------------------------

cat >soak.yaml <<END
version: 1
min_count: 64
progress: thread
fuse: 32KiB
steps: {calls: 7}
log: {file: soak.csv, every: 1}
rules:
  - {calls: [reduce_scatter, reduce, allgather, bcast], format: bf16}
  - {layers: 0, compress: {powersgd: {rank: 2}}}
  - {layers: 1, compress: {topk: 0.05}}
  - {layers: 2, compress: {mstopk: 0.05}, reduce: direct}
  - {layers: 3, compress: {chunks: {density: 0.3, size: 64}}}
  - {layers: 4, compress: ternary}
  - {layers: 5, format: e4m3, scale: {backoff: {start: 2^4, window: 20}}}
  - {layers: 6, format: sign/64, feedback: on}
END
# shellcheck disable=SC2086 # two words
timeout -k 5 $((length + 300)) $launch -genv LD_PRELOAD "$library" \
    -genv APSMPI_POLICY soak.yaml -n 2 "$top_builddir/tests/soak/soak" "$length" \
    </dev/null >soak.out 2>soak.err &
long=$!

# --- other jobs -------------------------------------------------------------

# kill_rank NUMBER: starts a random program on three ranks, and kills one within
# a second
kill_rank()
{
    rm -f pid.*
    # shellcheck disable=SC2086 # two words
    TMPDIR=$tmp/temporary timeout -k 5 "$seconds" $launch -n 3 \
        sh -c "echo \$\$ >pid.$launched_as; cd kill &&
            LD_PRELOAD=$library exec $(realpath "$random") $1" \
        </dev/null >stdout 2>stderr &
    job=$!
    sleep "$(awk -v n="$1" 'BEGIN { srand(n); print 0.1 + rand() * 0.7 }')"
    kill -KILL "$(cat pid.$(($1 % 3)) 2>/dev/null)" 2>/dev/null &&
        killed=$((killed + 1))
    wait $job
    status=$?
    [ $status -ne 124 ] && [ $status -ne 137 ] ||
        failed "$1" 3 'does not end after the death of a rank'
    left="$left $(find temporary kill -type f ! -name 'random*.yaml' \
        ! -name 'random*.csv')"
    rm -rf kill temporary
    mkdir kill temporary
}

# Prints a line each minute.
progress()
{
    [ "$(elapsed)" -ge $((${lines:-0} * 60)) ] || return 0
    lines=$((${lines:-0} + 1))
    echo "# $(elapsed) s: $programs random programs, $killed jobs killed;" \
        "$(sed -n 's/^# \(.*: rank 0 .*\)/\1/p' soak.err | tail -n 1)" >&2
}

while [ "$(elapsed)" -lt "$length" ]; do
    number=$((5001 + programs))
    seed "$number" $((2 + number % 4))
    programs=$((programs + 1))
    kill_rank "$number"
    progress
done
wait $long
ended=$?

# --- results ----------------------------------------------------------------

sed -n 's/^# \(rank .*: from .*\)/# \1/p' soak.err | sort >&2
grep '^# .* cycles' soak.err | tail -n 2 >&2
while read -r line; do
    case $line in
    'ok '*) check 0 "${line#*- }" ;;
    'not ok '*) check 1 "${line#*- }" ;;
    esac
done <soak.out
grep -q '^1\.\.' soak.out && [ $ended -eq 0 ]
check $? 'the long job comes to its end'
rewritten=$(sed -n 's/^# expect \([0-9]*\) rewritten$/\1/p' soak.out)
rows=$(grep -v -c '^#\|^time,' soak.csv)
[ "$rows" -eq "$rewritten" ]
check $? "the log has a row for each of ${rewritten:-no} reductions"
[ "$rows" -eq "${rewritten:-0}" ] || tail -n 20 soak.err >&2
[ -z "$bad" ]
check $? "$programs random programs${bad:+, but$bad}"
# shellcheck disable=SC2086 # words
set -- $left
[ $# -eq 0 ] && [ $killed -gt 0 ]
check $? "$killed killed jobs leave nothing${*:+, but $*}"
finish_seeds
