#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# README.md and the manual pages: they are well-formed, document all names in the code,
# and every policy and every command in them works.
#
# In a manual page a comment declares the literal block after it:
#
#   .\" policy     a policy, which apsmpi check accepts without a warning
#   .\" table      a layer table
#   .\" program    a C program that uses libaps
#   .\" command    commands, with the library where make install puts it
#
# A line `.Dl $ COMMAND` is a command, too. In README.md policies are blocks of yaml,
# commands the lines of blocks of sh. Commands find the files that they name in their
# directory: ./train trains for one epoch, mpiexec always starts two ranks.
# shellcheck disable=SC2086 # some variables are lists of words
# shellcheck disable=SC2013 # ... and what sed prints here
. "${top_srcdir:-.}/tests/e2e/lib.sh"

readme=$top_srcdir/README.md
pages=$(cd "$top_srcdir" &&
    find src pmpi cuda scripts tests/papers -name '*.[1357]' | sort)
policy_page=$top_srcdir/src/policy/apsmpi-policy.5
log_page=$top_srcdir/src/roundoff/apsmpi-log.5
variables_page=$top_srcdir/pmpi/apsmpi.7

# --- form ---------------------------------------------------------------------

# silent COMMAND...: it prints only the page, and succeeds
silent()
{
    timed "$@"
    cat err
    status_is 0 && empty err
}

lint()
{
    timed mandoc -T lint -W warning "$1"
    cat out err
    empty out && empty err
}

for page in $pages; do
    if command -v mandoc >/dev/null; then
        check "$page: mandoc has nothing to say" lint "$top_srcdir/$page"
    else
        skip "$page: mandoc" 'there is no mandoc'
    fi
    if command -v groff >/dev/null; then
        check "$page: groff has nothing to say" \
            silent groff -ww -mandoc -T ascii -z "$top_srcdir/$page"
    else
        skip "$page: groff" 'there is no groff'
    fi
    if command -v man >/dev/null && man --help 2>/dev/null | grep -q warnings
    then
        check "$page: man has nothing to say" \
            silent man --warnings -l "$top_srcdir/$page"
    else
        skip "$page: man" 'there is no man that warns'
    fi
done

# Pages of this project that pages name: `name.section`.
printf '%s\n' $pages >pages
for name in $(cd "$top_srcdir" && cat $pages |
    sed -n 's/^\.\(It \)\{0,1\}Xr \(apsmpi[a-z-]*\|libaps\) \([0-9]\).*/\2.\3/p' |
    sort -u); do
    check "$name, which a page names, exists" \
        has pages "/$name"
done
for page in $pages; do
    check "README.md links to $page" has "$readme" "]($page)"
done
for name in $(sed -n 's/.*](\([a-z][^):]*\)).*/\1/p' "$readme"); do
    check "$name, to which README.md links, exists" test -s "$top_srcdir/$name"
done
# at_most LINES FILE
at_most()
{
    echo "$(wc -l <"$2") lines, at most $1"
    [ "$(wc -l <"$2")" -le "$1" ]
}
check 'README.md has at most 140 lines' at_most 140 "$readme"

timed "$PYTHON3" "$top_srcdir/tests/bench/speed.py" picture \
    "$top_srcdir/tests/bench/speed.csv"
check "README.md's picture is what its script draws" \
    cmp out "$top_srcdir/tests/bench/speed.svg"

# targets FILE: prints the targets of each `make ...` in it, one a line
targets()
{
    sed -n 's/.*\(`\|Ql \)make \(-C build \)\{0,1\}\([a-z][a-z-]*\).*/\3/p' \
        "$1" | sort -u
}
for page in README.md $pages; do
    for target in $(targets "$top_srcdir/$page"); do
        check "$page: make $target is a target" \
            grep -E -q "^([a-z-]+ )*$target( [a-z-]+)*:" "$top_builddir/Makefile"
    done
done
for name in $(sed -n 's|^ *\./\(scripts/[a-z]*\).*|\1|p' "$readme"); do
    check "README.md: ./$name is a command" test -x "$top_srcdir/$name"
done

# --- nothing is left out ------------------------------------------------------

# documented PAGE MACRO WORD: the page has an entry for it, alone or with others
documented()
{
    grep -E "^\.It $2 (.*[ ,])?$3( |\$)" "$1"
}

timed "$apsmpi" help
found=$(awk '$1 ~ /^APSMPI_/ { print $1 }' out)
check 'apsmpi help lists the variables' test -n "$found"
for name in $found; do
    check "the variable $name" documented "$variables_page" Ev "$name"
done

# choices POLICY-LINES...: prints the keywords offered for a misspelt one
choices()
{
    printf '%s\n' 'version: 1' "$@" >bad.yaml
    "$apsmpi" check bad.yaml 2>&1 |
        sed -n "s/.*'zzzzzzzzzz'; one of \(.*\)/\1/p" |
        sed 's/, or .*//; s/,//g' | head -n 1
}
rules='rules: [{format: e4m3}]'
for place in 'zzzzzzzzzz: 1' 'steps: {zzzzzzzzzz: 1}' 'log: {zzzzzzzzzz: 1}' \
    'gemm: {zzzzzzzzzz: 1}' 'rules: [{zzzzzzzzzz: 1}]'; do
    keys=$(choices "$place" "$rules")
    check "the keys in '$place' are known" test -n "$keys"
    for key in $keys; do
        check "the key $key in '$place'" documented "$policy_page" Ic "$key"
    done
done
for key in progress; do
    words=$(choices "$key: zzzzzzzzzz" "$rules")
    check "the values of $key are known" test -n "$words"
    for word in $words; do
        check "the value $word of $key" grep -q "^\.Cm $word\$\|^\.Cm $word " \
            "$policy_page"
    done
done
words=$(choices 'steps: {order: zzzzzzzzzz}' "$rules")
for word in ${words:-none}; do
    check "the value $word of order" grep -q "^\.Cm $word\( \|\$\)" \
        "$policy_page"
done
for key in calls scale reduce group node accumulate rounding compress; do
    words=$(choices "rules: [{format: e4m3, $key: zzzzzzzzzz}]")
    check "the values of $key are known" test -n "$words"
    for word in $words; do
        check "the value $word of $key" grep -q -E \
            "^\.(It )?Cm $(echo "$word" | sed 's/+/[+]/')( |\$)" "$policy_page"
    done
done

# options COMMAND PAGE: the page has an entry for each long option of its help
options()
{
    timed $1 --help
    check "$2: --help" status_is 0
    for option in $(grep -oE '(^|[ [,])--[a-z][a-z-]*' out |
        sed 's/.*--//' | sort -u); do
        check "$2: --$option" \
            grep -E "^\.It Fl (.* , )?-$option( |\$)" "$top_srcdir/$2"
    done
}
options "$top_builddir/scripts/apsmpi-run" scripts/apsmpi-run.1
options "$PYTHON3 $report" scripts/apsmpi-report.1
options "$PYTHON3 $suggest" scripts/apsmpi-suggest.1
options "sh $top_srcdir/scripts/apsmpi-lab" scripts/apsmpi-lab.1
options "$PYTHON3 $layers_command" scripts/apsmpi-layers.1
options "$apsmpi bench" src/cli/apsmpi.1
for name in check explain formats cast info; do
    check "src/cli/apsmpi.1: $name" grep "^\.It Cm $name " \
        "$top_srcdir/src/cli/apsmpi.1"
done

# --- policies -----------------------------------------------------------------

# blocks KIND PAGE PREFIX: writes the page's blocks of that kind to PREFIX1, PREFIX2 ...
blocks()
{
    awk -v kind=".\\\\\" $1" -v prefix="$3" '
        $0 == kind { wanted = 1; next }
        wanted && /^\.Bd/ { n++; file = prefix n; next }
        /^\.Ed/ { wanted = 0; file = ""; next }
        file { gsub(/\\e/, "\\"); print >file }' "$2"
}
kind_is_marked()
{
    marked=$(find . -maxdepth 1 -name "$2[0-9]*" | wc -l)
    shown=$(grep -c "$3" "$1")
    echo "$shown shown, $marked marked"
    [ "$marked" -eq "$shown" ]
}

cp "$top_srcdir/config/layers/resnet50-layers.csv" .
layer_table >layers.csv # for apsmpi-recipes(7)
for page in $pages; do
    name=${page##*/}
    blocks policy "$top_srcdir/$page" "$name.yaml"
    check "$page: every policy is marked" kind_is_marked "$top_srcdir/$page" \
        "$name.yaml" '^version: 1$'
done
awk '/^```yaml/ { file = "README.yaml" ++n; next }
     /^```/ { file = ""; next }
     file { print >file }' "$readme"
for file in *.yaml[0-9]*; do
    timed "$apsmpi" check "$file"
    check "$file is right" status_is 0
    check '... without a warning' empty err
done
blocks table "$policy_page" table
printf 'version: 1\ntable: table1\nrules: [{format: e4m3}]\n' >table.yaml
timed "$apsmpi" check table.yaml
check "the policy page's layer table is right" has out '3 layers'

blocks program "$top_srcdir/src/libaps.3" program
# program FILE OUTPUT
program()
{
    mv "$1" program.c
    timed $CC -std=c99 -Wall -Werror \
        -I"$top_srcdir/src" -I"$top_builddir/src" -o program program.c \
        -L"$top_builddir/.libs" -laps
    check "libaps(3)'s $1 compiles" status_is 0
    [ -z "$sanitizer" ] || return 0
    timed env LD_LIBRARY_PATH="$top_builddir/.libs" ./program
    check '... and runs' equal "$(cat out)" "$2"
}
program program1 '3.3 is 3.25 in e4m3'
program program2 'the sum is 6'

# --- commands -----------------------------------------------------------------

mv README.yaml1 policy.yaml
cp apsmpi-policy.5.yaml1 resnet50.yaml
cp "$top_srcdir/tests/e2e/data/report.csv" e5m2.csv
cp e5m2.csv e4m3.csv
cp "$top_srcdir/tests/e2e/data/bench.csv" .
"$PYTHON3" "$top_srcdir/tests/e2e/suggest_log.py" shadow.csv
mkdir bin
# stand_in NAME LINE...: makes a command of that name
stand_in()
{
    file=$1
    shift
    { echo '#!/bin/sh'; printf '%s\n' "$@"; } >"$file"
    chmod +x "$file"
}
stand_in train "exec $digits --epochs 1"
stand_in bin/apsmpi "exec '$apsmpi' \"\$@\""
stand_in bin/apsmpi-run \
    "exec '$top_builddir/scripts/apsmpi-run' --library '$library' \"\$@\""
stand_in bin/apsmpi-report "exec '$PYTHON3' '$report' \"\$@\""
stand_in bin/apsmpi-suggest "exec '$PYTHON3' '$suggest' \"\$@\""
stand_in bin/apsmpi-layers \
    "PYTHONPATH='$top_srcdir/tests/e2e/standin:$top_srcdir/tests/e2e'" \
    'export PYTHONPATH' "exec '$PYTHON3' -B '$layers_command' \"\$@\""
"$PYTHON3" "$top_srcdir/tests/e2e/layers.py" model.npz
"$PYTHON3" "$top_srcdir/tests/e2e/layers.py" digits.npz
stand_in bin/apsmpi-lab "APSMPI_LAB_DIR='$top_builddir/scripts'" \
    'export APSMPI_LAB_DIR' "exec sh '$top_srcdir/scripts/apsmpi-lab' \"\$@\""
# shellcheck disable=SC2016 # for the stand-in
stand_in bin/mpiexec "MPIEXEC='$MPIEXEC' last=" \
    'for word; do' \
    '    shift' \
    '    [ "$last" != -n ] || word=2' \
    '    set -- "$@" "$word"' \
    '    last=$word' \
    'done' \
    'exec $MPIEXEC "$@"'
# shellcheck disable=SC2016 # for the stand-in
stand_in bin/srun 'export "${1##*,}"' 'export "$(echo "$1" | cut -d, -f2)"' \
    'shift' 'exec mpiexec "$@"'
PATH=$tmp/bin:$PATH
export PATH MPIEXEC

# runs PAGE COMMAND [AS]: the command, or AS, succeeds or has a known cause
runs()
{
    case $sanitizer,$2 in
    ?*,*mpiexec* | ?*,*apsmpi-lab* | ?*,*LD_PRELOAD*)
        skip "$1: $2" "the sanitizer's library would have to come first"
        return
        ;;
    esac
    case $2 in
    *apsmpi-lab*)
        [ "$MPI" = mpich ] || { skip "$1: $2" 'the lab needs MPICH'; return; }
        ;;
    *-genv*)
        [ "$MPI" = mpich ] || { skip "$1: $2" "these are MPICH's words"; return; }
        ;;
    *--plot*)
        "$PYTHON3" -c 'import matplotlib' 2>/dev/null ||
            { skip "$1: $2" 'there is no matplotlib'; return; }
        ;;
    esac
    timed sh -c "${3-$2}"
    case $status,$2 in
    77,*apsmpi-lab*) skip "$1: $2" "$(tail -n 1 err)" ;;
    *) check "$1: $2" status_is 0 ;;
    esac
}

: >commands
awk '/^```sh/ { inside = 1; next }
     /^```/ { inside = 0; next }
     inside { print "README.md", $0 }' "$readme" >>commands
for page in $pages; do
    sed -n "s|^\.Dl \\$ |$page |p" "$top_srcdir/$page" >>commands
done
check 'README.md and the pages show commands' test -s commands
check '... which fit into a line of a terminal' \
    awk '{ sub(/^[^ ]* /, "") } length > 70 { print; bad = 1 } END { exit bad }' \
    commands
exec 3<commands
while read -r page command <&3; do
    runs "$page" "$command"
    # README.md's job has left a log, which later commands read.
    [ -f roundoff.csv ] || continue
    [ -f header ] || head -n 1 roundoff.csv | tr , '\n' >header
done
exec 3<&-

for page in $pages; do
    blocks command "$top_srcdir/$page" "${page##*/}.command"
done
grep -l '^gemm:' apsmpi-policy.5.yaml* | head -n 1 | xargs -I FILE cp FILE gemm.yaml
echo 'import os; os.execv("./train", ["./train"])' >train.py
for file in *.command[0-9]*; do
    # The command as the page shows it, then as it can run here.
    command=$(sed -e :a -e '/\\$/N; s/\\\n *//; ta' "$file" |
        paste -s -d '|' | sed 's/|/ \&\& /g')
    runs "${file%.command*}" "$command" "$(echo "$command" |
        sed -e "s,/usr/local/lib/\(apsmpi/mpich/\)\{0\,1\},$top_builddir/.libs/," \
            -e "s,/home/me/,$tmp/,")"
done

# --- the log ------------------------------------------------------------------

check 'a command has written a log' test -s header
while read -r column; do
    check "the log's column $column" documented "$log_page" Li "$column"
done <header

finish
