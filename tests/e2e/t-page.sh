#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-report --html: the page is well-formed, needs nothing else, has the numbers
# of the table, has figures if matplotlib is installed, and works in a browser if
# there is one (chromium, skipped otherwise).
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all "$PYTHON3 is missing"
MPLCONFIGDIR=$tmp/matplotlib
export MPLCONFIGDIR
figures=
"$PYTHON3" -c 'import matplotlib as m, numpy, sys
sys.exit(tuple(map(int, m.__version__.split(".")[:2])) < (3, 5))' 2>/dev/null &&
    figures=yes
log=$top_srcdir/tests/e2e/data/report.csv
head -n 1 "$log" >header

page()
{
    timed "$PYTHON3" "$report" --html page.html --csv table.csv "$@"
}
about()
{
    "$PYTHON3" "$top_srcdir/tests/e2e/page_check.py" page.html "$@"
}
# cells CLASS TEXT: a table of the page has this line
cells()
{
    about texts "$1" | tee cells
    grep -qxF -e "$2" cells
}
# drawn NAME COMMAND...: a check of the page's figures, skipped without matplotlib
drawn()
{
    if [ -n "$figures" ]; then
        check "$@"
    else
        skip "$1" 'there is no matplotlib 3.5 or later'
    fi
}
# maps TEXT, tips TEXT: a line of the page's maps, one of its tooltips
maps()
{
    about map | tee cells
    grep -qxF -e "$1" cells
}
tips()
{
    about tips | tee cells
    grep -qxF -e "$1" cells
}

# --- errors -------------------------------------------------------------------

page absent.csv
check 'a missing log is an error' has err 'absent.csv: No such file'
check '... without a page' test ! -e page.html
timed "$PYTHON3" "$report" --html no/such/page.html "$log"
check 'a page that cannot be written is an error' status_is 2
check '... which names it' has err 'no/such/page.html: No such file'
timed "$PYTHON3" "$report" --html page.html --snr "$log"
check '--html with --snr is a usage error' has err '--html shows logs alone'
timed "$PYTHON3" "$report" --html page.html --comm nobody "$log"
check 'filters that leave nothing are reported' status_is 1
check '... on the page, too' grep -q 'no row matches the filters' page.html
page header
check 'a log without rows has a page' status_is 0
check '... which reports it' grep -q 'a header and no rows' page.html
check '... and is well-formed' about shape

# --- the numbers --------------------------------------------------------------

for by in layer step epoch format; do
    page --by $by "$log"
    check "by $by: the page is well-formed, and needs nothing else" about shape
    check '... with the numbers of the table' about table table.csv
done
page "$log"
check 'the total is on it' cells lines \
    '|total||11144|mixed|mixed|mixed|17|inf|inf|-inf|-3..7|2.65|1|1|69.1'
check 'events are on it' cells events \
    '2|desync: comm world, step 2: call 1 has 64 elements, 1000 expected'
check 'the desyncs are counted' grep -q '<b>2</b><span>desync events' page.html
check '... and the overflows' grep -q '<b>1</b><span>elements overfl' page.html
check '... and the bytes' grep -q '<b>69.1 %</b><span>of the bytes' page.html
drawn 'errors by layer and step' maps 'world 0  conv1.weight: 0.15 0.26 0.04 0.06'
drawn '... where one is infinite' maps 'world 1  fc, last: 0.05 0.17 - inf'
drawn '... and scale exponents' maps 'world 0  conv1.weight: 1 3 7 6'
drawn '... and bytes by layer' tips 'world 0  conv1.weight: 5.33 kB, FP32: 16 kB'
drawn '... and the error by step' tips 'step 1: 0.153'
drawn '... and overflows are marked' grep -q 'red: overflows in 1 row' page.html
page --last "$log"
drawn '--last' maps 'world 0  conv1.weight: 0.3 0.5'
# Without matplotlib.
mkdir -p hidden/matplotlib
echo 'raise ImportError("hidden by the test")' >hidden/matplotlib/__init__.py
PYTHONPATH=$tmp/hidden
export PYTHONPATH
page "$log"
unset PYTHONPATH
check 'without matplotlib there is a page' status_is 0
check '... and a note says why it has no figures' has err \
    'a figure of --html needs matplotlib 3.5 or later, which'
check '... with the file' has err '; page.html has no figures'
check '... the page says it, too' grep -q \
    'The page has no figures: a figure of --html needs' page.html
check '... and has none' not grep -q '<svg' page.html
check '... but is well-formed' about shape
check '... and has the numbers of the table' about table table.csv

# Errors of all sizes, and of one size; a trial too short for the clock.
for errors in 0 inf nan 0.1 5e-324 1e308 '1e-300 1e300' '0.375 0.3751' \
    '0 inf nan 1e-9 0.5'; do
    cp header sizes.csv
    step=0
    for error in $errors; do
        line=,0,0,fc,64,e4m3,aps,direct,300,$error,$error,$error,20,0,0,0,0,0,0,nan
        echo "1700000000,world,$step$line" >>sizes.csv
        step=$((step + 1))
    done
    echo '# world: auto: 64 to 127 elements: direct (native 0.0 us, direct 1.0 us)' \
        >>sizes.csv
    page sizes.csv
    check "errors of $errors: a page" about shape
    check '... with the numbers of the table' about table table.csv
done

# --- jobs: what ran, overflows, compressors, trials ---------------------------

layer_table >layers.csv
for kind in plain backoff power auto; do
    case $kind in
    plain) rule='format: e4m3, scale: aps' ;;
    backoff) rule='format: e3m2, scale: {backoff: {}}' ;;
    power) rule='format: e8m23, compress: {powersgd: {rank: 2}}' ;;
    auto) rule='format: e4m3, scale: aps, reduce: auto' ;;
    esac
    policy $kind.yaml -t 'layers: layers.csv' \
        -t "log: {file: $kind.csv, every: 5}" "$rule"
    # shellcheck disable=SC2086 # a command with arguments
    job 2 APSMPI_POLICY=$kind.yaml $digits --epochs 3
    check "$kind: a job" trained
    page $kind.csv
    check '... has a page' about shape
    check '... with the numbers of the table' about table table.csv
    run=$(distinct run $kind.csv)
    check '... and what ran' cells runs "1|$run|$PACKAGE_VERSION|2|1|$(
        uname -n)|$(sed -n 's/^# run.* mpi="\([^"]*\)".*/\1/p' $kind.csv
        )|$kind.yaml|$(sed -n 's/.*policy_hash=\([0-9a-f]*\).*/\1/p' $kind.csv
        )|$(column run $kind.csv | wc -l)"
    cp page.html $kind.html
done
redone=$(column redone backoff.csv | awk '{ s += $1 } END { print s }')
check 'backoff: chunks were reduced again' test "$redone" -gt 0
drawn '... as the page says' grep -q "$redone chunks reduced again" backoff.html
drawn 'a page without overflows marks none' not grep -q 'red: ' plain.html
drawn 'power: the ratio by layer and step' grep -q '>Signal-to-noise ratio<' power.html
drawn '... and by step' grep -q 'aria-label="Signal-to-noise ratio by step"' power.html
drawn '... no round-off error' not grep -q 'mean round-off error  |' power.html
drawn '... and no exponents of full floats' not grep -q '>Scale exponent<' power.html
drawn 'power: residuals' grep -q 'What compressors leave out' power.html
check '... of compressors alone' not grep -q 'compressors' plain.html
check '... its head names the compressor' grep -q 'UTC; .*powersgd rank 2.*; scale ' \
    power.html
check '... the headline is their residual' grep -q \
    '<span>mean residual of compressors</span>' power.html
check '... and a note says why' grep -q 'err_mean and err_max meaningless' power.html
cp power.html page.html
check '... the table names the compressor by layer' cells lines "$(about texts lines |
    grep '^0|fc1.weight|4096|powersgd rank 2|')"
# The savings, by the trial's own numbers.
event=$(sed -n 's/^# .*auto: 4096 to 8191 elements: //p' auto.csv | head -n 1)
check 'auto: a trial is over' test -n "$event"
cp auto.html page.html
trial="4096 to 8191|MPI_COMM_WORLD|$(
    echo "$event" | awk '
        function shown(usec)
        {
            if (usec >= 1e6)
                return sprintf("%.3g s", usec / 1e6)
            if (usec >= 1e3)
                return sprintf("%.3g ms", usec / 1e3)
            return sprintf("%.3g us", usec)
        }
        {
        chosen = $1
        gsub(/[(),]/, "")
        for (i = 2; i < NF; i += 3) usec[$i] = $(i + 1)
        printf "%s|%s|%s|%.1f %%", chosen, shown(usec["native"]),
            shown(usec[chosen]), 100 * (1 - usec[chosen] / usec["native"]) }')"
check '... as the page says' cells trials "$trial"
why='; a reduction must save 10 % of its own time and 5 us'
sed "s/^\(# .*auto: 4096 to 8191 elements: [^)]*)\).*/\1$why/" auto.csv >why.csv
check '... an event may say why it is native' grep -q "elements: .*$why\$" why.csv
page why.csv
check '... as the page says, too' cells trials "$trial"
sed 's/^\(# .*auto: \)4096/\1bcast, 4096/' auto.csv >bcast.csv
page bcast.csv
check '... also of a broadcast' cells trials "bcast, $trial"
cp auto.html page.html
check '... and plain has no such table' not grep -q 'Time against' plain.html

# Several logs, several runs in one log, and half a line at its end.
page plain.csv backoff.csv power.csv
check 'three logs' about shape
check '... with the numbers of the tables' about table table.csv
# fact TEXT: prints the number above this text on backoff's page
fact()
{
    sed -n "s/.*<b>\([^<]*\)<\/b><span>$1<.*/\1/p" backoff.html
}
sent=$(column wire_bytes backoff.csv | awk '{ s += $1 }
    END { printf "%.3g kB", s / 1000 }')
ratio=$(fact 'signal-to-noise ratio')
saved=$(fact 'of the bytes saved')
line="backoff|e3m2|backoff|$(column run backoff.csv | wc -l)"
line="$line|$(fact 'mean round-off error')|${ratio% dB}|$sent|${saved% %}"
line="$line|$(fact 'time of a sampled reduction')|0|$redone|0"
check '... and a line for each' cells overview "$line"
{
    cat plain.csv
    sed 1d backoff.csv
    printf '1700000000,MPI_COMM_WO'
} >jobs.csv
page jobs.csv
check 'a log of two jobs, cut within a row' about shape
check '... names both' cells runs "2|$(sed -n 2p backoff.csv |
    sed 's/# run=\([^ ]*\) apsmpi=\([^ ]*\) .*/\1|\2/')|2|1|$(uname -n)|$(
    sed -n 's/^# run.* mpi="\([^"]*\)".*/\1/p' plain.csv)|backoff.yaml|$(
    sed -n 's/.*policy_hash=\([0-9a-f]*\).*/\1/p' backoff.csv)|$(
    column run backoff.csv | wc -l)"
drawn '... which its figures keep apart' grep -q ', run 2 step 0: ' page.html
check '... says that there are two' grep -q 'the rows of 2 runs' page.html
check '... and that a line is not whole' grep -q 'last line is not whole' page.html
check '... as does the text' has err 'truncated last line ignored'
check '... which names both jobs, too' has out 'the rows of 2 runs;'
cp page.html jobs.html

# --- candidates -----------------------------------------------------------------

"$PYTHON3" "$top_srcdir/tests/e2e/suggest_log.py" shadow.csv \
    candidates=e3m2/aps/6/24,26,12+e4m3/aps/8/30+e5m2/none/8/26
page shadow.csv
check 'a log of candidates alone has a page' about shape
check '... with the numbers of the table' about table table.csv
check '... and how many they are' grep -q '54 rows of candidates, 3 layers' page.html
check '... their table' cells candidates '0|4096|e3m2 aps|6|18.8|7.11e-02|23.0|3.00|0'
check '... of which each line has the candidate' cells candidates \
    '||e5m2|6|25.0|5.65e-02|25.0|4.00|0'
drawn '... a figure by layer' tips \
    '2: e3m2 aps 0.283 (11.0 dB), e4m3 aps 0.0356 (29.0 dB), e5m2 0.0565 (25.0 dB)'
check '... the command that suggests a policy' grep -q \
    'apsmpi suggest --target snr=20dB -o suggested.yaml shadow.csv' page.html
timed "$apsmpi" suggest shadow.csv
check '... and the policy' "$PYTHON3" -c '
import html
assert html.escape(open("out").read()) in open("page.html").read()'
check 'without histograms the page has none' not grep -q 'Exponents of' page.html
cat >shadow-exponents.csv <<'END'
run,comm,call,step,epoch,layer,name,count,zeros,infinite,nan,binades
20261123T060000.000000-1,MPI_COMM_WORLD,allreduce,0,0,0,,4096,1024,0,0,-3:1024 -1:2048
20261123T060000.000000-1,MPI_COMM_WORLD,allreduce,1,0,0,,4096,0,0,0,-3:3072 -2:1024
20261123T060000.000000-1,MPI_COMM_WORLD,allreduce,0,0,1,,64,0,32,16,5:16
20261124T060000.000000-2,MPI_COMM_WORLD,allreduce,0,0,1,,64,0,0,0,9:64
20261123T060000.000000-1,MPI_COMM_WORLD,allreduce,0,0,2,,640,0,0,0,5:x
20261123T060000.000000-1,MPI_COMM_WORLD,allreduce,0,0,2,,640,0,0,0,1000000000:1
20261123T060000.000000-1,MPI_COMM_WORLD,allreduce,0,0,2,,640,0,0,0,5:0
20261123T060000.000000-1,MPI_COMM_WORLD,allreduce,0,0,2,,640,-1,0,0,5:1
END
page --csv table.csv shadow.csv
check 'histograms of exponents' about shape
drawn '... by layer and binade' maps '0: 0.5 0.125 0.25 - - - - - -'
check '... and what is in no binade' cells exponents \
    '0|2|12.50|0.00|0.00|-3|-3|-3|-1|-1'
check '... INF and NaN' cells exponents '1|1|0.00|50.00|25.00|5|5|5|5|5'
check '... not of other runs, nor of bad lines' test "$(wc -l <cells)" -eq 3
check '... bad lines are noted' has err \
    'shadow-exponents.csv: 4 malformed lines skipped'
cp page.html shadow.html
{
    cat shadow.csv
    "$PYTHON3" "$top_srcdir/tests/e2e/suggest_log.py" second.csv run=2-2
    sed 1d second.csv
} >two.csv
page two.csv
check 'candidates of two runs: no policy' grep -q \
    'candidates of 2 runs; choose' page.html
page --last two.csv
check '... but with --last' grep -q 'name: e4m3-aps' page.html
check '... whose rows these are' grep -q 'two.csv: 36 rows of candidates' page.html
# Rows of the program and of candidates in one log are not mixed.
awk -F, -v OFS=, '/^2|^1/ && $30 == 2 { $30 = 0 } { print }' shadow.csv >mixed.csv
page mixed.csv
check 'rows of both kinds' grep -q '18 rows and 36 of candidates, 3 layers' page.html
check '... with the numbers of the tables' about table table.csv
check '... the program'"'"'s' cells lines \
    '0|4096|e4m3|aps|direct|6|3.56e-02|3.98e-02|29.0|3|0.00|0|0|75.0'
check '... the others' cells candidates '0|4096|e3m2 aps|6|18.8|7.11e-02|23.0|3.00|0'
drawn '... and the mean error by step without them' maps \
    '0: 0.0316 0.0316 0.0355 0.0355 0.0398 0.0398'

# --- names that are HTML ------------------------------------------------------

cat >names.csv <<'END'
layer,name,count
0,<script>bad()</script>,4096
1,"a"" onload=""bad()",64
2,</title></svg>&lt;,4096
3,'&amp;',64
4,</script><b>,640
5,\u003c €,10
END
policy 'names<b>.yaml' -t 'layers: names.csv' \
    -t 'log: {file: hostile.csv, every: 5}' 'format: e4m3, scale: aps'
# shellcheck disable=SC2086 # a command with arguments
job 2 APSMPI_POLICY='names<b>.yaml' $digits --epochs 2
echo '# <script>bad()</script> </table>' >>hostile.csv
page hostile.csv
check 'names that are HTML' about shape
check '... are shown as they are' about table table.csv
drawn '... also in maps' maps "$(about map | grep -F '<script>bad()</script>' |
    head -n 1)"
check '... and in events' cells events '1|<script>bad()</script> </table>'
cp page.html hostile.html

# --- in a browser -------------------------------------------------------------

browser=
for kind in chromium chromium-browser google-chrome; do
    ! command -v $kind >/dev/null || browser=${browser:-$kind}
done
# dom PAGE WIDTH: the browser's DOM of the page, in `out`
dom()
{
    timed "$browser" --headless=new --no-sandbox --disable-gpu \
        --disable-dev-shm-usage --user-data-dir="$tmp/browser" \
        --window-size="$2",900 --virtual-time-budget=2000 \
        --dump-dom "file://$tmp/$1"
}
# A script that says which tooltip is at the middle of the first cell of the last
# figure with cells, and which widths the page has. The page forbids scripts, and the
# copy that is probed allows them.
cat >probe.html <<'END'
<script>
const cell = [...document.querySelectorAll("svg")].reverse().map((svg) =>
  [...svg.querySelectorAll(".tips path")].find((path) =>
    /, (run \d+ )?(step |2\^)/.test(path.textContent))).find((path) => path);
cell.scrollIntoView();
const box = cell.getBoundingClientRect();
const found = document.elementFromPoint(
  Math.min(box.x + box.width / 2, innerWidth - 20), box.y + box.height / 2);
const told = document.createElement("pre");
const root = document.documentElement;
told.textContent = "shown=" + found.textContent +
  " wide=" + (root.scrollWidth > root.clientWidth) +
  " drawn=" + cell.ownerSVGElement.getBoundingClientRect().width.toFixed() +
  " loaded=" + performance.getEntriesByType("resource").filter((entry) =>
    !entry.name.startsWith("data:")).length;
document.body.append(told);
</script>
END
[ -z "$browser" ] || {
    echo '<p>in a browser</p>' >blank.html
    dom blank.html 800
}
if [ -z "$browser" ] || ! grep -q 'in a browser' out; then
    skip 'in a browser' "there is no chromium that starts${browser:+: $browser}"
elif [ -z "$figures" ]; then
    skip 'in a browser' 'there is no matplotlib 3.5 or later'
else
    for kind in plain backoff jobs hostile shadow; do
        sed "s/style-src/script-src 'unsafe-inline'; style-src/" $kind.html |
            cat - probe.html >probed.html
        for width in 1280 500; do
            dom probed.html $width
            grep -o '<pre>shown=.*</pre>' out >told || :
            diag "$(cat told)"
            place='0  .*\(step 0: [0-9.e-]*\|2^-[0-9]*: no value\) '
            [ $kind != shadow ] || place='0, 2^-3: 0.5 '
            check "$browser, $width wide: $kind.html: a cell says what it is" \
                grep -q "shown=$place" told
            check '... the page is not wider than the window' \
                grep -q 'wide=false' told
            check '... the figure is drawn' grep -q 'drawn=[1-9][0-9][0-9]' told
            check '... and nothing was loaded' grep -q 'loaded=0' told
        done
    done
fi

finish
